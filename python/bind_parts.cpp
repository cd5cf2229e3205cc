// Bodies, joints, actuators and elastic bodies of a state, each found by name once.
#include <fmt/format.h>

#include "bindings.hpp"
#include "model/joint_rows.hpp"

namespace tenon::python {
namespace {

struct BodyOf {
    SharedState state;
    int index;
    Doubles pose() const { return pose_view(state->arrays(), state->q() + 12 * index, {}); }
    Doubles rate() const { return pose_view(state->arrays(), state->rate() + 12 * index, {}); }
    Doubles position() const { return column_view(state->arrays(), state->q() + 12 * index, {}); }
    Doubles velocity() const { return column_view(state->arrays(), state->rate() + 12 * index, {}); }
    Eigen::Map<Mat34> q() const { return Eigen::Map<Mat34>(state->q() + 12 * index); }
    Eigen::Map<Mat34> dq() const { return Eigen::Map<Mat34>(state->rate() + 12 * index); }
    const std::string& name() const { return state->compiled()->model().bodies.name[index]; }
};

struct JointOf {
    SharedState state;
    int index;
    JointNow now() const {
        const LiveState::Use use(*state);
        return joint_now(*state, index);
    }
    const Joint& joint() const { return state->compiled()->model().joints[static_cast<std::size_t>(index)]; }
    // What the last step found, while no other thread works with the state.
    JointOutput output() const {
        const LiveState::Use use(*state);
        return state->outputs().joints[static_cast<std::size_t>(index)];
    }
};

struct ActuatorOf {
    SharedState state;
    int index;
    const ActuatorSpec& spec() const {
        return state->compiled()->model().actuators[static_cast<std::size_t>(index)];
    }
};

struct ElasticOf {
    SharedState state;
    int index;
    const std::string& name() const {
        return state->compiled()->model().elastic[static_cast<std::size_t>(index)].name;
    }
    Doubles points(double* all) const {
        const auto& start = state->compiled()->elastic_start();
        const auto at = static_cast<std::size_t>(index);
        return flat_view(state->arrays(), all + 3 * start[at], {start[at + 1] - start[at], 3});
    }
};

// Spin of the linear part, the skew part of A' A^-1.
Doubles angular_velocity(const BodyOf& self) {
    const Mat3 spin = self.dq().leftCols<3>() * self.q().leftCols<3>().inverse();
    return to_array(
        Vec3(0.5 * Vec3(spin(2, 1) - spin(1, 2), spin(0, 2) - spin(2, 0), spin(1, 0) - spin(0, 1))));
}

void set_angular_velocity(const BodyOf& self, const py::object& values) {
    const Vec3 spin = to_vec3(values, "angular_velocity");
    for (int k = 0; k < 3; ++k) self.dq().col(k) = spin.cross(Vec3(self.q().col(k)));
}

Mat34 geometry_in_body(const BodyOf& self) {
    return to_matrix(self.state->compiled()->model().shape_of(self.index).geometry_frame);
}

Mat34 geometry_frame(const BodyOf& self) {
    const Mat34 inside = geometry_in_body(self);
    Mat34 frame;
    frame.leftCols<3>() = self.q().leftCols<3>() * inside.leftCols<3>();
    frame.col(3) = transform(Mat34(self.q()), Vec3(inside.col(3)));
    return frame;
}

void set_geometry_frame(const BodyOf& self, const py::object& values) {
    const Doubles given = checked_array(values, {3, 4}, "frame");
    const Mat34 inside = geometry_in_body(self);
    Mat34 frame;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c) frame(r, c) = given.at(r, c);
    Mat34 q;
    q.leftCols<3>() = frame.leftCols<3>() * inside.leftCols<3>().transpose();
    q.col(3) = frame.col(3) - q.leftCols<3>() * inside.col(3);
    self.q() = q;
}

Doubles rotation(const BodyOf& self) {
    const Quat turned = Quat(Mat3(geometry_frame(self).leftCols<3>())).normalized();
    return to_array(std::vector<double>{turned.w(), turned.x(), turned.y(), turned.z()});
}

py::object number_or_array(const std::vector<double>& all) {
    return all.size() == 1 ? py::object(py::float_(all[0])) : py::object(to_array(all));
}

py::object along_coordinates(const JointOf& self, const std::array<double, 3>& all) {
    const int count = std::min(joint_coordinate_count(self.joint().spec.type), 3);
    return number_or_array(std::vector<double>(all.begin(), all.begin() + count));
}

void bind_body(py::module_& module) {
    py::class_<BodyOf>(module, "StateBody",
                       R"(A body of a state. Positions and velocities are of its centre of mass.

>>> import tenon
>>> model = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 1, 2]}]}).compile("impulse")
>>> ball = model.state().body("ball")
>>> ball.velocity = [0, 2, 0]
>>> ball.velocity
array([0., 2., 0.])
)")
        .def_property_readonly("name", &BodyOf::name)
        .def_property_readonly(
            "index", [](const BodyOf& self) { return self.index; }, "Its row in the arrays of the state.")
        .def_property(
            "position", &BodyOf::position,
            [](const BodyOf& self, const py::object& to) { assign(self.position(), to, "position"); },
            "(3,) view: centre of mass, m.")
        .def_property(
            "velocity", &BodyOf::velocity,
            [](const BodyOf& self, const py::object& to) { assign(self.velocity(), to, "velocity"); },
            "(3,) view: of the centre of mass, m/s.")
        .def_property(
            "pose", &BodyOf::pose,
            [](const BodyOf& self, const py::object& to) { assign(self.pose(), to, "pose"); },
            "(3, 4) view: body frame (centre of mass, principal axes) to world.")
        .def_property(
            "rate", &BodyOf::rate,
            [](const BodyOf& self, const py::object& to) { assign(self.rate(), to, "rate"); },
            "(3, 4) view: d(pose)/dt.")
        .def_property("angular_velocity", &angular_velocity, &set_angular_velocity,
                      "(3,) rad/s, world frame; a copy.")
        .def_property(
            "frame", [](const BodyOf& self) { return to_array(geometry_frame(self)); }, &set_geometry_frame,
            "(3, 4): where the scene's `position` and `rotation` have come to; a copy.")
        .def_property_readonly("rotation", &rotation, "(4,) quaternion [w, x, y, z] of `frame`; a copy.")
        .def("__repr__", [](const BodyOf& self) {
            return fmt::format("<body '{}' at [{:g}, {:g}, {:g}]>", self.name(), self.q()(0, 3),
                               self.q()(1, 3), self.q()(2, 3));
        });
}

void bind_joint(py::module_& module) {
    py::class_<JointOf>(
        module, "StateJoint",
        "A joint of a state: coordinates as the arrays have them, forces as the last step left them.")
        .def_property_readonly("name", [](const JointOf& self) { return self.joint().spec.name; })
        .def_property_readonly("index", [](const JointOf& self) { return self.index; })
        .def_property_readonly(
            "position", [](const JointOf& self) { return number_or_array(self.now().position); },
            "rad or m: a number, or an array where the joint has several coordinates. With the articulated "
            "method "
            "angles count their turns.")
        .def_property_readonly(
            "velocity", [](const JointOf& self) { return number_or_array(self.now().velocity); },
            "rad/s or m/s.")
        .def_property_readonly(
            "force", [](const JointOf& self) { return to_array(self.output().force); },
            "(3,) on the second body, N, world frame; a copy.")
        .def_property_readonly(
            "torque", [](const JointOf& self) { return to_array(self.output().torque); },
            "(3,) on the second body at the anchor, N m, world frame; a copy.")
        .def_property_readonly(
            "motor_force",
            [](const JointOf& self) { return along_coordinates(self, self.output().motor_force); },
            "What motors and actuators put on the coordinates, N or N m.")
        .def_property_readonly(
            "limit_force",
            [](const JointOf& self) { return along_coordinates(self, self.output().limit_force); },
            "What limits put on the coordinates, N or N m.")
        .def_property_readonly(
            "broken",
            [](const JointOf& self) {
                const LiveState::Use use(*self.state);
                return self.state->state().broken[static_cast<std::size_t>(self.index)] != 0;
            },
            "Whether its break_force or break_torque was reached.")
        .def("__repr__",
             [](const JointOf& self) { return fmt::format("<joint '{}'>", self.joint().spec.name); });
}

}  // namespace

JointNow joint_now(const LiveState& state, int index) {
    const Joint& joint = state.compiled()->model().joints[static_cast<std::size_t>(index)];
    const auto map = [&](double* all, int body) -> Mat34 { return Eigen::Map<const Mat34>(all + 12 * body); };
    const Mat34 still = Mat34::Zero();
    const auto [a, b] = joint.bodies;
    const Mat34 qa = a < 0 ? world_map() : map(state.q(), a), qb = b < 0 ? world_map() : map(state.q(), b);
    const Mat34 va = a < 0 ? still : map(state.rate(), a), vb = b < 0 ? still : map(state.rate(), b);
    const auto& turns = state.state().joint_coordinate[static_cast<std::size_t>(index)];
    JointNow out;
    for (int k = 0; k < joint_coordinate_count(joint.spec.type); ++k) {
        const JointCoordinate now = joint_coordinate(joint, k, qa, qb);
        out.position.push_back(coordinate_is_angle(joint.spec.type, k)
                                   ? unwrapped(now.value, turns[static_cast<std::size_t>(std::min(k, 2))])
                                   : now.value);
        out.velocity.push_back(now.gradient[0].cwiseProduct(va).sum() +
                               now.gradient[1].cwiseProduct(vb).sum());
    }
    return out;
}

void bind_parts(py::module_& module, StateClass& state) {
    bind_body(module);
    bind_joint(module);
    py::class_<ActuatorOf>(module, "StateActuator", "An actuator of a state.")
        .def_property_readonly("name", [](const ActuatorOf& self) { return self.spec().name; })
        .def_property_readonly("index", [](const ActuatorOf& self) { return self.index; })
        .def_property(
            "target", [](const ActuatorOf& self) { return self.state->targets()[self.index]; },
            [](const ActuatorOf& self, double to) { self.state->targets()[self.index] = to; },
            "What it aims at from the next step on: rad, m, rad/s, m/s, N or N m.")
        .def("__repr__", [](const ActuatorOf& self) {
            return fmt::format("<actuator '{}', target {:g}>", self.spec().name,
                               self.state->targets()[self.index]);
        });
    py::class_<ElasticOf>(module, "StateElastic", "An elastic body of a state: views of its vertices.")
        .def_property_readonly("name", &ElasticOf::name)
        .def_property_readonly("index", [](const ElasticOf& self) { return self.index; })
        .def_property(
            "x", [](const ElasticOf& self) { return self.points(self.state->x()); },
            [](const ElasticOf& self, const py::object& to) {
                assign(self.points(self.state->x()), to, "x");
            },
            "(vertices, 3) view, m.")
        .def_property(
            "v", [](const ElasticOf& self) { return self.points(self.state->v()); },
            [](const ElasticOf& self, const py::object& to) {
                assign(self.points(self.state->v()), to, "v");
            },
            "(vertices, 3) view, m/s.")
        .def("__repr__", [](const ElasticOf& self) {
            return fmt::format(
                "<elastic '{}': {} vertices>", self.name(),
                self.state->compiled()->elastic_start()[static_cast<std::size_t>(self.index) + 1] -
                    self.state->compiled()->elastic_start()[static_cast<std::size_t>(self.index)]);
        });

    state
        .def(
            "body",
            [](const SharedState& self, const std::string& name) {
                return BodyOf{self, self->compiled()->body(name)};
            },
            py::arg("name"), "A body by its name.")
        .def(
            "joint",
            [](const SharedState& self, const std::string& name) {
                return JointOf{self, self->compiled()->joint(name)};
            },
            py::arg("name"), "A joint by its name.")
        .def(
            "actuator",
            [](const SharedState& self, const std::string& name) {
                return ActuatorOf{self, self->compiled()->actuator(name)};
            },
            py::arg("name"), "An actuator by its name.")
        .def(
            "elastic",
            [](const SharedState& self, const std::string& name) {
                return ElasticOf{self, self->compiled()->elastic(name)};
            },
            py::arg("name"), "An elastic body by its name.");
}

}  // namespace tenon::python

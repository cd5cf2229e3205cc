// tenon.Kinematics: joint-space quantities of the tree that a scene's bodies and joints make.
#include <cmath>

#include <fmt/format.h>

#include "bindings.hpp"
#include "tenon/error.hpp"
#include "tenon/kinematics.hpp"

namespace tenon::python {
namespace {

using kinematics::Frames;
using kinematics::Link;

class Robot {
  public:
    explicit Robot(SharedModel compiled)
        : compiled_(std::move(compiled)), scene_(kinematics::tree_of(compiled_->scene())) {}

    const kinematics::Tree& tree() const { return scene_.tree; }
    const kinematics::SceneTree& scene_tree() const { return scene_; }
    const Compiled& compiled() const { return *compiled_; }
    VecX q(const py::object& values) const { return to_vector(values, tree().positions, "q"); }
    VecX v(const py::object& values, const char* name) const {
        return to_vector(values, tree().freedoms, name);
    }
    Frames frames(const py::object& values) const { return kinematics::forward(tree(), q(values)); }

    // The link that carries a body, and where the body's frame is in it.
    int link(const std::string& body) const {
        const auto at = static_cast<std::size_t>(compiled_->body(body));
        if (at >= scene_.link_of_body.size() || scene_.link_of_body[at] < 0)
            throw InputError("", "bodies", fmt::format("'{}' does not move", body),
                             "name a body of the tree");
        return scene_.link_of_body[at];
    }
    const Pose& body_in_link(const std::string& body) const {
        return scene_.body_in_link[static_cast<std::size_t>(compiled_->body(body))];
    }
    // A point of a body's geometry frame, seen from its link.
    Vec3 local(const std::string& body, const py::object& point) const {
        const Pose& pose = body_in_link(body);
        return point.is_none() ? pose.position
                               : Vec3(pose.position + pose.rotation * to_vec3(point, "point"));
    }

  private:
    SharedModel compiled_;
    kinematics::SceneTree scene_;
};

py::list freedom_names(const Robot& self) {
    py::list names;
    for (const Link& link : self.tree().links) {
        const int count = kinematics::freedom_count(link.motion);
        for (int k = 0; k < count; ++k)
            names.append(count == 1 ? link.name : fmt::format("{}.{}", link.name, k));
    }
    return names;
}

Mat34 frame_of(const Robot& self, const Frames& frames, const std::string& body) {
    const auto link = static_cast<std::size_t>(self.link(body));
    const Pose& inside = self.body_in_link(body);
    Mat34 out;
    out.leftCols<3>() = frames.rotation[link] * inside.rotation.toRotationMatrix();
    out.col(3) = frames.origin[link] + frames.rotation[link] * inside.position;
    return out;
}

// Poses and rates of the bodies at q and v, written into a state: its next step checks them.
void set_state(const Robot& self, LiveState& state, const py::object& q, const py::object& v) {
    if (state.compiled().get() != &self.compiled())
        throw py::value_error("this state belongs to another model: make one with model.state()");
    const LiveState::Use use(state);
    const Frames frames = self.frames(q);
    const VecX speed = v.is_none() ? VecX(VecX::Zero(self.tree().freedoms)) : self.v(v, "v");
    const Model& model = self.compiled().model();
    for (int i = 0; i < model.bodies.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (at >= self.scene_tree().link_of_body.size() || self.scene_tree().link_of_body[at] < 0) continue;
        const Mat34 frame = frame_of(self, frames, model.bodies.name[i]);
        const Mat34 inside = to_matrix(model.shape_of(i).geometry_frame);
        Eigen::Map<Mat34> pose(state.q() + 12 * i), rate(state.rate() + 12 * i);
        pose.leftCols<3>() = frame.leftCols<3>() * inside.leftCols<3>().transpose();
        pose.col(3) = frame.col(3) - pose.leftCols<3>() * inside.col(3);
        const int link = self.scene_tree().link_of_body[at];
        const auto l = static_cast<std::size_t>(link);
        const Vec3 local = frames.rotation[l].transpose() * (Vec3(pose.col(3)) - frames.origin[l]);
        const VecX twist = kinematics::jacobian(self.tree(), frames, link, local) * speed;
        const Vec3 spin = twist.tail<3>();
        for (int k = 0; k < 3; ++k) rate.col(k) = spin.cross(Vec3(pose.col(k)));
        rate.col(3) = twist.head<3>();
    }
}

// Joint positions and speeds of a state. Link frames follow from the bodies they carry.
struct JointState {
    VecX q, v;
};
JointState read_state(const Robot& self, LiveState& state) {
    if (state.compiled().get() != &self.compiled())
        throw py::value_error("this state belongs to another model: make one with model.state()");
    const LiveState::Use use(state);
    const Model& model = self.compiled().model();
    const auto& tree = self.tree();
    JointState out{tree.zero(), VecX::Zero(tree.freedoms)};
    const std::size_t links = tree.links.size();
    std::vector<Mat3> rotation(links, Mat3::Identity());
    std::vector<Vec3> origin(links, Vec3::Zero()), spin(links, Vec3::Zero()), velocity(links, Vec3::Zero());
    for (int i = 0; i < model.bodies.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (at >= self.scene_tree().link_of_body.size() || self.scene_tree().link_of_body[at] < 0) continue;
        const auto l = static_cast<std::size_t>(self.scene_tree().link_of_body[at]);
        const Eigen::Map<const Mat34> pose(state.q() + 12 * i), rate(state.rate() + 12 * i);
        const Pose& geometry = model.shape_of(i).geometry_frame;
        const Pose& inside = self.scene_tree().body_in_link[at];
        const Mat3 turned = pose.leftCols<3>() * geometry.rotation.toRotationMatrix();
        rotation[l] = turned * inside.rotation.toRotationMatrix().transpose();
        origin[l] = transform(Mat34(pose), geometry.position) - rotation[l] * inside.position;
        const Mat3 w = rate.leftCols<3>() * pose.leftCols<3>().inverse();
        spin[l] = 0.5 * Vec3(w(2, 1) - w(1, 2), w(0, 2) - w(2, 0), w(1, 0) - w(0, 1));
        velocity[l] = Vec3(rate.col(3)) + spin[l].cross(origin[l] - Vec3(pose.col(3)));
    }
    const auto put_quaternion = [&](int first, const Mat3& turn) {
        const Quat quat = Quat(turn).normalized();
        out.q.segment<4>(first) << quat.w(), quat.x(), quat.y(), quat.z();
    };
    for (std::size_t l = 0; l < links; ++l) {
        const Link& link = tree.links[l];
        const Mat3 parent =
            link.parent < 0 ? Mat3(Mat3::Identity()) : rotation[static_cast<std::size_t>(link.parent)];
        const Vec3 parent_spin =
            link.parent < 0 ? Vec3(Vec3::Zero()) : spin[static_cast<std::size_t>(link.parent)];
        if (link.motion == Link::Motion::ball) {
            put_quaternion(link.q, parent.transpose() * rotation[l]);
            out.v.segment<3>(link.v) = rotation[l].transpose() * (spin[l] - parent_spin);
        } else if (link.motion == Link::Motion::free) {
            out.q.segment<3>(link.q) = origin[l];
            put_quaternion(link.q + 3, rotation[l]);
            out.v.segment<3>(link.v) = velocity[l];
            out.v.segment<3>(link.v + 3) = rotation[l].transpose() * spin[l];
        }
    }
    for (std::size_t j = 0; j < self.scene_tree().joints.size(); ++j) {
        const auto& place = self.scene_tree().joints[j];
        const JointNow now = joint_now(state, static_cast<int>(j));
        for (int k = 0; k < place.count && place.first_link >= 0; ++k) {
            const Link& link = tree.links[static_cast<std::size_t>(place.first_link + k)];
            if (link.motion != Link::Motion::hinge && link.motion != Link::Motion::slide) continue;
            const auto coordinate = static_cast<std::size_t>(place.reversed ? place.count - 1 - k : k);
            out.q[link.q] = now.position.at(coordinate);
            out.v[link.v] = now.velocity.at(coordinate);
        }
    }
    return out;
}

kinematics::Target target_of(const Robot& self, const std::string& body, const py::object& position,
                             const py::object& rotation, const py::object& point) {
    kinematics::Target target;
    target.link = self.link(body);
    target.point = self.local(body, point);
    target.position = to_vec3(position, "position");
    if (!rotation.is_none()) {
        const Doubles given = checked_array(rotation, {4}, "rotation");
        const Quat wanted(given.at(0), given.at(1), given.at(2), given.at(3));
        if (!(wanted.norm() > 1e-9)) throw py::value_error("rotation is no quaternion [w, x, y, z]");
        target.rotation = wanted.normalized() * self.body_in_link(body).rotation.inverse();
    }
    return target;
}

// One body, or a list of bodies with as many positions; rotations and points then are lists with None where there is none.
std::vector<kinematics::Target> targets_of(const Robot& self, const py::object& body,
                                           const py::object& position, const py::object& rotation,
                                           const py::object& point) {
    if (py::isinstance<py::str>(body))
        return {target_of(self, body.cast<std::string>(), position, rotation, point)};
    const auto bodies = body.cast<std::vector<std::string>>();
    const auto entries = [&](const py::object& given, const char* what) {
        if (given.is_none()) return std::vector<py::object>(bodies.size(), py::none());
        auto list = given.cast<std::vector<py::object>>();
        if (list.size() != bodies.size())
            throw py::value_error(std::string(what) + " has " + std::to_string(list.size()) +
                                  " entries: give one for each of the " + std::to_string(bodies.size()) +
                                  " bodies");
        return list;
    };
    const auto positions = entries(position, "position"), rotations = entries(rotation, "rotation"),
               points = entries(point, "point");
    std::vector<kinematics::Target> targets;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        targets.push_back(target_of(self, bodies[i], positions[i], rotations[i], points[i]));
    return targets;
}

py::dict inverse_kinematics(const Robot& self, const py::object& start, const py::object& body,
                            const py::object& position, const py::object& rotation, const py::object& point,
                            int iterations, double tolerance) {
    const std::vector<kinematics::Target> targets = targets_of(self, body, position, rotation, point);
    kinematics::InverseOptions options;
    options.iterations = iterations;
    options.tolerance = tolerance;
    const kinematics::InverseResult found =
        kinematics::inverse_kinematics(self.tree(), targets, self.q(start), options);
    py::dict out;
    out["q"] = to_array(found.q);
    out["error"] = found.error;
    out["iterations"] = found.iterations;
    out["converged"] = found.converged;
    return out;
}

// Positions at equal steps of time, from one q to another, all joints together.
py::dict joint_trajectory(const Robot& self, const py::object& from, const py::object& to,
                          const py::object& max_speed, const py::object& max_acceleration, double dt) {
    if (!(dt > 0)) throw py::value_error("dt must be positive");
    const kinematics::JointTrajectory path =
        kinematics::joint_trajectory(self.tree(), self.q(from), self.q(to), self.v(max_speed, "max_speed"),
                                     self.v(max_acceleration, "max_acceleration"));
    const double duration = path.profile.duration;
    const auto count = static_cast<long>(std::ceil(duration / dt)) + 1;
    MatX q(count, self.tree().positions), v(count, self.tree().freedoms);
    std::vector<double> times;
    for (long i = 0; i < count; ++i) {
        times.push_back(std::min(static_cast<double>(i) * dt, duration));
        q.row(i) = path.at(times.back()).transpose();
        v.row(i) = path.rate(times.back()).transpose();
    }
    py::dict out;
    out["time"] = to_array(times);
    out["q"] = to_array(q);
    out["v"] = to_array(v);
    return out;
}

// A straight line of a body's point, as positions at equal steps of time.
py::dict line_trajectory(const Robot& self, const py::object& from, const std::string& body,
                         const py::object& position, double max_speed, double max_acceleration, double dt,
                         const py::object& rotation, const py::object& point,
                         const py::object& max_joint_speed) {
    if (!(dt > 0 && max_speed > 0 && max_acceleration > 0))
        throw py::value_error("dt, max_speed and max_acceleration must be positive");
    const kinematics::Tree& tree = self.tree();
    const kinematics::Target target = target_of(self, body, position, rotation, point);
    const VecX bound = max_joint_speed.is_none() ? VecX() : self.v(max_joint_speed, "max_joint_speed");
    const kinematics::LineTrajectory line =
        kinematics::line_trajectory(tree, self.q(from), target, max_speed, max_acceleration, dt, bound);
    const std::size_t count = line.q.size();
    MatX q(count, tree.positions), v = MatX::Zero(static_cast<long>(count), tree.freedoms);
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i) {
        const auto row = static_cast<long>(i);
        times.push_back(static_cast<double>(i) * dt);
        q.row(row) = line.q[i].transpose();
        if (i > 0 && i + 1 < count)  // it starts and ends at rest
            v.row(row) = kinematics::difference(tree, line.q[i - 1], line.q[i + 1]).transpose() / (2 * dt);
    }
    py::dict out;
    out["time"] = to_array(times);
    out["q"] = to_array(q);
    out["v"] = to_array(v);
    return out;
}

using Class = py::class_<Robot, std::shared_ptr<Robot>>;

void bind_motion(Class& robot) {
    robot
        .def(
            "frame",
            [](const Robot& self, const py::object& q, const std::string& body) {
                return to_array(frame_of(self, self.frames(q), body));
            },
            py::arg("q"), py::arg("body"), "(3, 4): where a body's frame is at q.")
        .def(
            "point",
            [](const Robot& self, const py::object& q, const std::string& body, const py::object& point) {
                return to_array(
                    kinematics::point_of(self.frames(q), self.link(body), self.local(body, point)));
            },
            py::arg("q"), py::arg("body"), py::arg("point") = py::none(),
            "(3,): where a point of a body's frame is at q.")
        .def(
            "jacobian",
            [](const Robot& self, const py::object& q, const std::string& body, const py::object& point) {
                return to_array(kinematics::jacobian(self.tree(), self.frames(q), self.link(body),
                                                     self.local(body, point)));
            },
            py::arg("q"), py::arg("body"), py::arg("point") = py::none(),
            "(6, freedoms): linear velocity of the point and angular velocity of the body, world frame.")
        .def("inverse_kinematics", &inverse_kinematics, py::arg("start"), py::arg("body"),
             py::arg("position"), py::arg("rotation") = py::none(), py::arg("point") = py::none(),
             py::arg("iterations") = 200, py::arg("tolerance") = 1e-10,
             "The q, within the joints' limits, that brings a point of a body to a position and its frame to "
             "a rotation [w, x, y, z]: a dict with q, error (m or rad), iterations, converged. With lists of "
             "bodies and positions (and rotations and points, None where there is none) all at once.")
        .def("line_trajectory", &line_trajectory, py::arg("start"), py::arg("body"), py::arg("position"),
             py::arg("max_speed"), py::arg("max_acceleration"), py::arg("dt"),
             py::arg("rotation") = py::none(), py::arg("point") = py::none(),
             py::arg("max_joint_speed") = py::none(),
             "A point of a body goes straight to a position while its frame turns evenly, within limits of "
             "its speed (m/s, m/s^2) and of the joints': a dict with time, q and v at equal steps. Raises "
             "RuntimeError where the line leaves reach.")
        .def("joint_trajectory", &joint_trajectory, py::arg("start"), py::arg("end"), py::arg("max_speed"),
             py::arg("max_acceleration"), py::arg("dt"),
             "All joints start and end together within these limits: a dict with time, q and v at equal "
             "steps.");
}

void bind_dynamics(Class& robot) {
    robot
        .def(
            "mass_matrix",
            [](const Robot& self, const py::object& q) {
                return to_array(kinematics::mass_matrix(self.tree(), self.frames(q)));
            },
            py::arg("q"), "(freedoms, freedoms), with armature.")
        .def(
            "gravity_torques",
            [](const Robot& self, const py::object& q) {
                return to_array(kinematics::gravity_torques(self.tree(), self.frames(q)));
            },
            py::arg("q"), "(freedoms,): what holds the links against gravity.")
        .def(
            "coriolis_torques",
            [](const Robot& self, const py::object& q, const py::object& v) {
                return to_array(kinematics::coriolis_torques(self.tree(), self.frames(q), self.v(v, "v")));
            },
            py::arg("q"), py::arg("v"), "(freedoms,)")
        .def(
            "inverse_dynamics",
            [](const Robot& self, const py::object& q, const py::object& v, const py::object& a) {
                return to_array(kinematics::inverse_dynamics(self.tree(), self.frames(q), self.v(v, "v"),
                                                             self.v(a, "a")));
            },
            py::arg("q"), py::arg("v"), py::arg("a"), "(freedoms,): torques that give the accelerations a.")
        .def(
            "forward_dynamics",
            [](const Robot& self, const py::object& q, const py::object& v, const py::object& torques) {
                return to_array(kinematics::forward_dynamics(self.tree(), self.frames(q), self.v(v, "v"),
                                                             self.v(torques, "torques")));
            },
            py::arg("q"), py::arg("v"), py::arg("torques"), "(freedoms,): accelerations.")
        .def(
            "integrate",
            [](const Robot& self, const py::object& q, const py::object& v, double time) {
                return to_array(kinematics::integrate(self.tree(), self.q(q), self.v(v, "v"), time));
            },
            py::arg("q"), py::arg("v"), py::arg("time"), "q moved along v for a time.")
        .def(
            "difference",
            [](const Robot& self, const py::object& from, const py::object& to) {
                return to_array(kinematics::difference(self.tree(), self.q(from), self.q(to)));
            },
            py::arg("start"), py::arg("end"), "The v that takes one q to another in unit time.");
}

}  // namespace

void bind_kinematics(py::module_& module) {
    Class robot(module, "Kinematics", R"(The tree of a model's bodies and joints, in joint coordinates.

A hinge or a slide has one position and one speed. A ball joint has a quaternion [w, x, y, z] and three speeds, a free body a
position with a quaternion and six speeds. Joints that close loops are cut.

>>> import tenon, numpy as np
>>> arm = tenon.Scene({"gravity": [0, -10, 0], "bodies": [
...     {"name": "rod", "shape": {"type": "box", "size": [1, 0.1, 0.1]}, "mass": 3, "position": [0.5, 0, 0]}],
...     "joints": [{"name": "hinge", "type": "hinge", "bodies": ["world", "rod"], "point": [0, 0, 0], "axis": [0, 0, 1]}]})
>>> kin = tenon.Kinematics(arm.compile("articulated"))
>>> kin.gravity_torques([0.0]).round(9)
array([15.])
>>> kin.point([np.pi / 2], "rod").round(9)
array([0. , 0.5, 0. ])
)");
    robot
        .def(py::init([](const SharedModel& model) { return std::make_shared<Robot>(model); }),
             py::arg("model"))
        .def_property_readonly(
            "positions", [](const Robot& self) { return self.tree().positions; }, "How many entries q has.")
        .def_property_readonly(
            "freedoms", [](const Robot& self) { return self.tree().freedoms; }, "How many entries v has.")
        .def_property_readonly("names", &freedom_names, "Names of the entries of v.")
        .def_property_readonly(
            "cut_joints",
            [](const Robot& self) {
                py::list names;
                for (const int j : self.scene_tree().cut_joints)
                    names.append(self.compiled().model().joints[static_cast<std::size_t>(j)].spec.name);
                return names;
            },
            "Names of the joints that close loops, which the tree does not know.")
        .def(
            "zero", [](const Robot& self) { return to_array(self.tree().zero()); },
            "q with all joints at zero.")
        .def(
            "q", [](const Robot& self, LiveState& state) { return to_array(read_state(self, state).q); },
            py::arg("state"), "Joint positions of a state.")
        .def(
            "v", [](const Robot& self, LiveState& state) { return to_array(read_state(self, state).v); },
            py::arg("state"), "Joint speeds of a state.")
        .def("set", &set_state, py::arg("state"), py::arg("q"), py::arg("v") = py::none(),
             "Writes the poses and velocities of all bodies at q and v (zero when left out) into a state.")
        .def("__repr__", [](const Robot& self) {
            return fmt::format("<tenon.Kinematics of '{}': {} links, {} freedoms>",
                               self.compiled().scene().name, self.tree().links.size(), self.tree().freedoms);
        });
    bind_motion(robot);
    bind_dynamics(robot);
    refuse_pickling(robot, "a tenon.Kinematics is not pickled: make it again from its model");
}

}  // namespace tenon::python

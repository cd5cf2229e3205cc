// tenon.State with its bodies, joints, actuators and elastic bodies by name, and tenon.step.
#include <fmt/format.h>

#include "bindings.hpp"
#include "model/joint_rows.hpp"
#include "tenon/error.hpp"

namespace tenon::python {
namespace {

using Shared = std::shared_ptr<LiveState>;

py::ssize_t body_count(const LiveState& self) {
    return self.model().bodies.size();
}

// One thing of a state, found by name once.
struct BodyOf {
    Shared state;
    int index;
    Doubles pose() const { return pose_view(state->arrays(), state->q() + 12 * index, {}); }
    Doubles rate() const { return pose_view(state->arrays(), state->rate() + 12 * index, {}); }
    Doubles position() const { return column_view(state->arrays(), state->q() + 12 * index, {}); }
    Doubles velocity() const { return column_view(state->arrays(), state->rate() + 12 * index, {}); }
    Mat34 q() const { return Eigen::Map<const Mat34>(state->q() + 12 * index); }
    Mat34 dq() const { return Eigen::Map<const Mat34>(state->rate() + 12 * index); }
};
struct JointOf {
    Shared state;
    int index;
};
struct ActuatorOf {
    Shared state;
    int index;
};
struct ElasticOf {
    Shared state;
    int index;
    Doubles points(double* all) const {
        const auto& start = state->compiled()->elastic_start();
        const auto at = static_cast<std::size_t>(index);
        return view(state->arrays(), all + 3 * start[at], {start[at + 1] - start[at], 3}, {3, 1});
    }
};

// Spin of the linear part, the skew part of A' A^-1.
Doubles angular_velocity(const BodyOf& self) {
    const Mat3 spin = self.dq().leftCols<3>() * self.q().leftCols<3>().inverse();
    return to_array(
        Vec3(0.5 * Vec3(spin(2, 1) - spin(1, 2), spin(0, 2) - spin(2, 0), spin(1, 0) - spin(0, 1))));
}

// The frame that `position` and `rotation` of the scene mean.
Doubles geometry_frame(const BodyOf& self) {
    const Mat34 inside = to_matrix(self.state->model().shape_of(self.index).geometry_frame);
    Mat34 frame;
    frame.leftCols<3>() = self.q().leftCols<3>() * inside.leftCols<3>();
    frame.col(3) = transform(self.q(), inside.col(3));
    Doubles out({3, 4});
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c) out.mutable_at(r, c) = frame(r, c);
    return out;
}

const Joint& joint_of(const JointOf& self) {
    return self.state->model().joints[static_cast<std::size_t>(self.index)];
}

py::object coordinates(const JointOf& self, const std::array<double, 3>& all) {
    const int count = joint_coordinate_count(joint_of(self).spec.type);
    if (count == 1) return py::float_(all[0]);
    return to_array(std::vector<double>(all.begin(), all.begin() + std::min(count, 3)));
}

std::string describe(const LiveState& self) {
    return fmt::format("<tenon.State of '{}' at {:g} s, step {}: {} bodies, {} contacts>",
                       self.compiled()->scene().name, self.state().time, self.state().step,
                       self.model().bodies.size(), self.outputs().contacts.size());
}

py::dict energy_numbers(LiveState& self) {
    const Energies now = energies(self.model(), self.state());
    double elastic = now.elastic;
    for (const auto& [name, value] : self.report().metrics)
        if (name == "elastic_energy") elastic = value;
    py::dict out;
    out["kinetic"] = now.kinetic;
    out["gravity"] = now.gravity;
    out["elastic"] = elastic;
    out["total"] = now.kinetic + now.gravity + elastic;
    return out;
}

void step(const std::shared_ptr<Compiled>& model, LiveState& state, long count) {
    if (state.compiled() != model)
        throw py::value_error("this state belongs to another model: make one with model.state()");
    step_state(state, count);
}

void bind_parts(py::module_& module) {
    const auto body_repr = [](const BodyOf& self) {
        const Mat34 q = self.q();
        return fmt::format("<body '{}' at [{:g}, {:g}, {:g}]>", self.state->model().bodies.name[self.index],
                           q(0, 3), q(1, 3), q(2, 3));
    };
    py::class_<BodyOf>(module, "StateBody",
                       "A body of a state. Positions and velocities are of its centre of mass.")
        .def_property_readonly("index", [](const BodyOf& self) { return self.index; })
        .def_property(
            "position", &BodyOf::position,
            [](const BodyOf& self, const py::object& to) { assign(self.position(), to, "position"); })
        .def_property(
            "velocity", &BodyOf::velocity,
            [](const BodyOf& self, const py::object& to) { assign(self.velocity(), to, "velocity"); })
        .def_property(
            "pose", &BodyOf::pose,
            [](const BodyOf& self, const py::object& to) { assign(self.pose(), to, "pose"); },
            "3x4 view: body frame (centre of mass, principal axes) to world.")
        .def_property("rate", &BodyOf::rate,
                      [](const BodyOf& self, const py::object& to) { assign(self.rate(), to, "rate"); })
        .def_property_readonly("angular_velocity", &angular_velocity, "rad/s, world frame; a copy.")
        .def_property_readonly("frame", &geometry_frame,
                               "3x4: where the scene's `position` and `rotation` have come to; a copy.")
        .def("__repr__", body_repr);
    py::class_<JointOf>(module, "StateJoint", "A joint of a state, as the last step left it.")
        .def_property_readonly("index", [](const JointOf& self) { return self.index; })
        .def_property_readonly(
            "coordinate",
            [](const JointOf& self) {
                return coordinates(
                    self, self.state->state().joint_coordinate[static_cast<std::size_t>(self.index)]);
            },
            "rad or m: a number, or an array where the joint has several. Angles count turns.")
        .def_property_readonly(
            "coordinate_rate",
            [](const JointOf& self) {
                return coordinates(
                    self, self.state->outputs().joints[static_cast<std::size_t>(self.index)].coordinate_rate);
            })
        .def_property_readonly(
            "force",
            [](const JointOf& self) {
                return to_array(self.state->outputs().joints[static_cast<std::size_t>(self.index)].force);
            },
            "On the second body, N, world frame.")
        .def_property_readonly(
            "torque",
            [](const JointOf& self) {
                return to_array(self.state->outputs().joints[static_cast<std::size_t>(self.index)].torque);
            },
            "On the second body at the anchor, N m, world frame.")
        .def_property_readonly("broken",
                               [](const JointOf& self) {
                                   return self.state->state().broken[static_cast<std::size_t>(self.index)] !=
                                          0;
                               })
        .def("__repr__",
             [](const JointOf& self) { return fmt::format("<joint '{}'>", joint_of(self).spec.name); });
    py::class_<ActuatorOf>(module, "StateActuator", "An actuator of a state.")
        .def_property(
            "target", [](const ActuatorOf& self) { return self.state->targets()[self.index]; },
            [](const ActuatorOf& self, double to) { self.state->targets()[self.index] = to; })
        .def("__repr__", [](const ActuatorOf& self) {
            return fmt::format(
                "<actuator '{}', target {:g}>",
                self.state->compiled()->scene().actuators[static_cast<std::size_t>(self.index)].name,
                self.state->targets()[self.index]);
        });
    py::class_<ElasticOf>(module, "StateElastic", "An elastic body of a state: views of its vertices.")
        .def_property_readonly(
            "x", [](const ElasticOf& self) { return self.points(self.state->x()); }, "m")
        .def_property_readonly(
            "v", [](const ElasticOf& self) { return self.points(self.state->v()); }, "m/s");
}

}  // namespace

py::dict metrics(const StepReport& report) {
    py::dict out;
    for (const auto& [name, value] : report.metrics) out[py::str(name)] = value;
    out["iterations"] = report.iterations;
    out["converged"] = report.converged;
    out["contacts"] = report.contacts;
    out["min_distance"] =
        report.min_distance < 1e299 ? py::object(py::float_(report.min_distance)) : py::none();
    out["joint_residual"] = report.joint_residual;
    py::dict phases;
    for (const auto& [name, value] : report.phases) phases[py::str(name)] = value;
    out["phases_ms"] = phases;
    out["warnings"] = report.warnings;
    out["solver"] = report.solver;
    return out;
}

void step_state(LiveState& state, long count) {
    if (count < 0) throw py::value_error("the number of steps must not be negative");
    const LiveState::Use use(state);
    for (long k = 0; k < count; ++k) {
        {
            const py::gil_scoped_release release;
            state.advance();
        }
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
}

void bind_state(py::module_& module) {
    bind_parts(module);
    py::class_<LiveState, Shared>(module, "State",
                                  R"(What moves. Its arrays are views: they never move and keep it alive.

>>> import tenon
>>> model = tenon.Scene({"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}}]}).compile("impulse")
>>> state = model.state()
>>> state.velocities[0] = [1, 0, 0]
>>> tenon.step(model, state, n=10)
>>> round(float(state.body("ball").position[0]), 6)
0.1
)")
        .def_property_readonly(
            "model", [](const LiveState& self) { return std::const_pointer_cast<Compiled>(self.compiled()); })
        .def_property_readonly(
            "time", [](const LiveState& self) { return self.state().time; }, "s")
        .def_property_readonly(
            "step", [](const LiveState& self) { return self.state().step; }, "Steps done.")
        .def_property(
            "q", [](LiveState& self) { return pose_view(self.arrays(), self.q(), {body_count(self)}); },
            [](LiveState& self, const py::object& to) {
                assign(pose_view(self.arrays(), self.q(), {body_count(self)}), to, "q");
            },
            "(bodies, 3, 4) view: body frame to world.")
        .def_property(
            "rate", [](LiveState& self) { return pose_view(self.arrays(), self.rate(), {body_count(self)}); },
            [](LiveState& self, const py::object& to) {
                assign(pose_view(self.arrays(), self.rate(), {body_count(self)}), to, "rate");
            },
            "(bodies, 3, 4) view: dq/dt.")
        .def_property(
            "positions",
            [](LiveState& self) { return column_view(self.arrays(), self.q(), {body_count(self)}); },
            [](LiveState& self, const py::object& to) {
                assign(column_view(self.arrays(), self.q(), {body_count(self)}), to, "positions");
            },
            "(bodies, 3) view: centres of mass, m.")
        .def_property(
            "velocities",
            [](LiveState& self) { return column_view(self.arrays(), self.rate(), {body_count(self)}); },
            [](LiveState& self, const py::object& to) {
                assign(column_view(self.arrays(), self.rate(), {body_count(self)}), to, "velocities");
            },
            "(bodies, 3) view: velocities of the centres of mass, m/s.")
        .def_property_readonly(
            "targets",
            [](LiveState& self) {
                return view(self.arrays(), self.targets(),
                            {static_cast<py::ssize_t>(self.compiled()->start_targets().size())}, {1});
            },
            "(actuators,) view: targets.")
        .def(
            "body",
            [](const Shared& self, const std::string& name) {
                return BodyOf{self, self->compiled()->body(name)};
            },
            py::arg("name"))
        .def(
            "joint",
            [](const Shared& self, const std::string& name) {
                return JointOf{self, self->compiled()->joint(name)};
            },
            py::arg("name"))
        .def(
            "actuator",
            [](const Shared& self, const std::string& name) {
                return ActuatorOf{self, self->compiled()->actuator(name)};
            },
            py::arg("name"))
        .def(
            "elastic",
            [](const Shared& self, const std::string& name) {
                return ElasticOf{self, self->compiled()->elastic(name)};
            },
            py::arg("name"))
        .def_property_readonly(
            "contacts", [](const LiveState& self) { return contact_arrays(self.outputs().contacts); },
            "Contacts of the last step: arrays bodies (n, 2), point, normal, force (n, 3), distance (n).")
        .def_property_readonly("energies", &energy_numbers, "kinetic, gravity, elastic, total, J.")
        .def_property_readonly(
            "metrics", [](const LiveState& self) { return metrics(self.report()); },
            "What the last step reported: iterations, converged, contacts, min_distance ...")
        .def_property_readonly(
            "sensors",
            [](const LiveState& self) {
                py::dict out;
                for (const auto& [name, value] : self.sensor_values()) out[py::str(name)] = value;
                return out;
            },
            "What the scene's sensors measured in the last step.")
        .def(
            "copy",
            [](LiveState& self) {
                const LiveState::Use use(self);
                return self.copy();
            },
            "A state of its own that goes on alike.")
        .def(
            "reset",
            [](LiveState& self) {
                const LiveState::Use use(self);
                self.reset();
            },
            "Back to the start of the scene.")
        .def(
            "save",
            [](LiveState& self) {
                const LiveState::Use use(self);
                return py::bytes(self.save());
            },
            "All of it, bit for bit: for model.load(bytes).")
        .def(
            "load",
            [](LiveState& self, const py::bytes& bytes) {
                const LiveState::Use use(self);
                self.load(bytes);
            },
            py::arg("bytes"))
        .def("__copy__",
             [](LiveState& self) {
                 const LiveState::Use use(self);
                 return self.copy();
             })
        .def("__deepcopy__",
             [](LiveState& self, const py::dict&) {
                 const LiveState::Use use(self);
                 return self.copy();
             })
        .def("__reduce_ex__",
             [](const LiveState&, int) -> py::object {
                 throw py::type_error(
                     "a tenon.State is not pickled: use state.save(), and model.load(bytes) with its model");
             })
        .def("__repr__", &describe);
    module.def("step", &step, py::arg("model"), py::arg("state"), py::arg("n") = 1,
               "Advances a state by n steps of model.dt. Other threads go on meanwhile; Ctrl-C works between "
               "steps.");
}

}  // namespace tenon::python

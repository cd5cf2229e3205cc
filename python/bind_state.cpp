// tenon.State: arrays over everything that moves, what the last step found, and tenon.step.
#include <chrono>

#include <fmt/format.h>

#include "bindings.hpp"
#include "interrupts.hpp"
#include "math/interrupt.hpp"
#include "model/joint_rows.hpp"
#include "tenon/error.hpp"

namespace tenon::python {
namespace {

using Use = LiveState::Use;
using Clock = std::chrono::steady_clock;

constexpr auto look_up = std::chrono::milliseconds(50);  // how often Python's signal handlers get their turn

py::ssize_t body_count(const LiveState& self) {
    return self.compiled()->model().bodies.size();
}

std::string describe(const LiveState& self) {
    return fmt::format("<tenon.State of '{}' at {:g} s, step {}: {} bodies, {} joints>",
                       self.compiled()->scene().name, self.state().time, self.state().step,
                       self.compiled()->model().bodies.size(), self.compiled()->model().joints.size());
}

void step(const SharedModel& model, LiveState& state, long count) {
    if (state.compiled() != model)
        throw py::value_error("this state belongs to another model: make one with model.state()");
    step_state(state, count);
}

// One row for each coordinate of every joint, in order.
Doubles joint_values(LiveState& self, bool velocity) {
    const Use use(self);
    std::vector<double> all;
    for (int j = 0; j < static_cast<int>(self.compiled()->model().joints.size()); ++j) {
        const JointNow now = joint_now(self, j);
        const std::vector<double>& of = velocity ? now.velocity : now.position;
        all.insert(all.end(), of.begin(), of.end());
    }
    return to_array(all);
}

py::dict sensors(const LiveState& self) {
    py::dict out;
    for (const SensorPlace& place : self.compiled()->sensors()) {
        const auto count = static_cast<py::ssize_t>(place.components.size());
        double* first = self.sensors() + place.first;
        out[py::str(place.name)] = count == 1 ? py::object(py::float_(*first))
                                              : py::object(flat_view(self.arrays(), first, {count}));
    }
    return out;
}

using Array = Doubles (*)(const LiveState&);

// A view that may also be assigned to as a whole.
void def_array(StateClass& state, const char* name, Array get, const char* words) {
    state.def_property(
        name, get, [get, name](const LiveState& self, const py::object& to) { assign(get(self), to, name); },
        words);
}

void bind_arrays(StateClass& state) {
    def_array(
        state, "q",
        [](const LiveState& self) { return pose_view(self.arrays(), self.q(), {body_count(self)}); },
        "(bodies, 3, 4) view: body frame (centre of mass, principal axes) to world.");
    def_array(
        state, "rate",
        [](const LiveState& self) { return pose_view(self.arrays(), self.rate(), {body_count(self)}); },
        "(bodies, 3, 4) view: dq/dt.");
    def_array(
        state, "positions",
        [](const LiveState& self) { return column_view(self.arrays(), self.q(), {body_count(self)}); },
        "(bodies, 3) view: centres of mass, m.");
    def_array(
        state, "velocities",
        [](const LiveState& self) { return column_view(self.arrays(), self.rate(), {body_count(self)}); },
        "(bodies, 3) view: velocities of the centres of mass, m/s.");
    def_array(
        state, "targets",
        [](const LiveState& self) {
            return flat_view(self.arrays(), self.targets(),
                             {static_cast<py::ssize_t>(self.compiled()->start_targets().size())});
        },
        "(actuators,) view: what actuators aim at.");
    def_array(
        state, "gravity", [](const LiveState& self) { return flat_view(self.arrays(), self.gravity(), {3}); },
        "(3,) view: this state's gravity, m/s^2.");
    def_array(
        state, "masses",
        [](const LiveState& self) { return flat_view(self.arrays(), self.mass(), {body_count(self)}); },
        "(bodies,) view: this state's masses, kg; moments of inertia follow.");
    def_array(
        state, "friction",
        [](const LiveState& self) { return flat_view(self.arrays(), self.friction(), {body_count(self)}); },
        "(bodies,) view: this state's friction coefficients. Rules for pairs of materials go before them.");
    def_array(
        state, "forces",
        [](const LiveState& self) {
            return flat_view(self.arrays(), self.force(), {body_count(self), 3});
        },
        "(bodies, 3) view: forces on the centres of mass from outside the scene, N. They act until they are "
        "changed.");
    def_array(
        state, "torques",
        [](const LiveState& self) {
            return flat_view(self.arrays(), self.torque(), {body_count(self), 3});
        },
        "(bodies, 3) view: torques from outside the scene, N m.");
}

void bind_results(StateClass& state) {
    state
        .def_property_readonly(
            "joint_positions", [](LiveState& self) { return joint_values(self, false); },
            "Coordinates of all joints, in the order of model.joint_coordinates; a copy.")
        .def_property_readonly(
            "joint_velocities", [](LiveState& self) { return joint_values(self, true); },
            "Their rates; a copy.")
        .def_property_readonly(
            "contacts",
            [](LiveState& self) {
                const Use use(self);
                return contact_arrays(self.outputs().contacts);
            },
            "Contacts of the last step: arrays bodies (n, 2), point, normal, force (n, 3), distance (n,). "
            "The force is "
            "on the second body, the normal points to it.")
        .def_property_readonly(
            "energies",
            [](LiveState& self) {
                const Use use(self);
                return energy_numbers(self);
            },
            "kinetic, gravity, elastic, total, J.")
        .def_property_readonly(
            "metrics",
            [](LiveState& self) {
                const Use use(self);
                return metrics(self.report());
            },
            "What the last step reported: iterations, converged, contacts, min_distance ...")
        .def_property_readonly("sensors", &sensors,
                               "What the scene's sensors measured in the last step: a number or a (k,) view "
                               "for each by name.");
}

void bind_keeping(StateClass& state) {
    const auto copy = [](LiveState& self) {
        const Use use(self);
        return self.copy();
    };
    state.def("copy", copy, "A state of its own that goes on alike.")
        .def("__copy__", copy)
        .def("__deepcopy__", [copy](LiveState& self, const py::dict&) { return copy(self); })
        .def(
            "reset",
            [](LiveState& self, bool keep_overrides) {
                const Use use(self);
                self.reset(keep_overrides);
            },
            py::arg("keep_overrides") = false,
            "Back to the start of the scene, without targets, forces and torques of its own; also gravity, "
            "masses and friction unless they are to be "
            "kept.")
        .def(
            "save",
            [](LiveState& self) {
                const Use use(self);
                return py::bytes(self.save());
            },
            "All of it, bit for bit, for `load`.")
        .def(
            "load",
            [](LiveState& self, const py::bytes& bytes) {
                const Use use(self);
                self.load(bytes);
            },
            py::arg("bytes"), "Becomes what was saved. Bytes of another scene are refused.");
    refuse_pickling(state,
                    "a tenon.State is not pickled: use state.save(), and model.load(bytes) with its model");
}

}  // namespace

py::dict energy_numbers(const LiveState& self) {
    const Energies now = energies(self.model(), self.seen());
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

void step_state(LiveState& state, long count, const std::function<void()>& after_each) {
    if (count < 0) throw py::value_error("the number of steps must not be negative");
    const Use use(state);
    CtrlC ctrl_c;
    for (long done = 0; done < count;) {
        {
            const py::gil_scoped_release release;
            const InterruptScope scope(ctrl_c.flag());
            const auto until = Clock::now() + look_up;
            try {
                do {
                    state.advance();
                    if (after_each) after_each();
                    ++done;
                } while (done < count && !ctrl_c.pressed() && Clock::now() < until);
            } catch (const Interrupted&) {
                // its step did not happen, and is made again unless a handler raises
            }
        }
        ctrl_c.raise_if_pressed();
    }
}

void bind_state(py::module_& module) {
    StateClass state(module, "State", R"(What moves. Its arrays are views: they never move and keep it alive.

>>> import tenon
>>> model = tenon.Scene({"gravity": [0, 0, 0], "bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}}]}).compile("impulse", dt=0.01)
>>> state = model.state()
>>> state.velocities[0] = [1, 0, 0]
>>> tenon.step(model, state, n=10)
>>> round(float(state.body("ball").position[0]), 6)
0.1
)");
    state
        .def_property_readonly(
            "model", [](const LiveState& self) { return shared_model(self.compiled()); },
            "The model it belongs to.")
        .def_property_readonly(
            "time", [](const LiveState& self) { return self.state().time; }, "s.")
        .def_property_readonly(
            "steps", [](const LiveState& self) { return self.state().step; }, "Steps done.")
        .def("__repr__", &describe);
    bind_parts(module, state);
    bind_arrays(state);
    bind_results(state);
    bind_keeping(state);
    module.def("step", &step, py::arg("model"), py::arg("state"), py::arg("n") = 1,
               "Advances a state by n steps of model.dt. Other threads go on meanwhile. Ctrl-C ends it, also "
               "within a "
               "step, which then did not happen.");
}

}  // namespace tenon::python

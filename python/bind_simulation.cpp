// tenon.Simulation: scene, model and state in one, and a report like that of `tenon run`.
#include <chrono>

#include <fmt/format.h>

#include "bindings.hpp"
#include "run/report_builder.hpp"

namespace tenon::python {
namespace {

using Clock = std::chrono::steady_clock;

class LiveSimulation {
  public:
    explicit LiveSimulation(SharedModel compiled)
        : state_(std::make_shared<LiveState>(std::move(compiled))), builder_(new_builder()) {}

    // The row of each step goes into the report.
    void step(long count) {
        auto last = Clock::now();
        step_state(*state_, count, [&] {
            const auto now = Clock::now();
            const double seconds = std::chrono::duration<double>(now - last).count();
            wall_seconds_ += seconds;
            builder_.add(run::measure(state_->model(), state_->state(), state_->report(), 1000 * seconds));
            last = Clock::now();
        });
    }

    py::object report() const {
        const LiveState::Use use(*state_);
        return json_loads(builder_.finish("done", wall_seconds_).to_json());
    }

    void restart() {
        builder_ = new_builder();
        wall_seconds_ = 0;
    }

    // A new model, and the state carried over to it by names.
    void change(const std::function<void(EditableScene&)>& edit) {
        const SharedState before = state_;
        const LiveState::Use use(*before);
        EditableScene scene{compiled()->scene(), py::list()};
        edit(scene);
        auto state = std::make_shared<LiveState>(std::make_shared<Compiled>(std::move(scene.scene)));
        state->take_over(*before);
        state->current();
        state_ = std::move(state);
        restart();
    }

    const std::shared_ptr<const Compiled>& compiled() const { return state_->compiled(); }
    const SharedState& state() const { return state_; }

  private:
    run::ReportBuilder new_builder() const {
        const State now = state_->seen();
        return {compiled()->scene(), state_->model(), now,
                run::measure(state_->model(), now, StepReport{}, 0.0)};
    }

    SharedState state_;
    run::ReportBuilder builder_;
    double wall_seconds_ = 0;
};

using Class = py::class_<LiveSimulation>;

// What a simulation answers as its state does.
void forward(Class& simulation) {
    for (const char* name : {"time", "steps", "q", "rate", "positions", "velocities", "targets", "gravity",
                             "masses", "friction", "forces", "torques", "joint_positions", "joint_velocities",
                             "contacts", "energies", "metrics", "sensors"}) {
        const auto get = [name](const LiveSimulation& self) -> py::object {
            return py::cast(self.state()).attr(name);
        };
        const auto set = [name](const LiveSimulation& self, const py::object& to) {
            py::cast(self.state()).attr(name) = to;
        };
        simulation.def_property(name, get, set, "As of the state.");
    }
    for (const char* name : {"body", "joint", "actuator", "elastic"})
        simulation.def(
            name,
            [name](const LiveSimulation& self, const std::string& which) -> py::object {
                return py::cast(self.state()).attr(name)(which);
            },
            py::arg("name"), "As of the state.");
}

}  // namespace

void bind_simulation(py::module_& module) {
    Class simulation(module, "Simulation", R"(The short way: scene, model and state in one.

>>> import tenon
>>> sim = tenon.Simulation("wrecking-ball", method="affine", dt=0.01)
>>> sim.step()
>>> sim.time
0.01
>>> sim.report["steps"]
1
)");
    simulation
        .def(py::init([](const py::object& scene, const py::object& method, const py::object& dt) {
                 return std::make_unique<LiveSimulation>(compile_scene(to_scene(scene)->scene, method, dt));
             }),
             py::arg("scene"), py::arg("method") = py::none(), py::arg("dt") = py::none(),
             "`scene` is a built-in's name, a file, a dict or a tenon.Scene.")
        .def("step", &LiveSimulation::step, py::arg("n") = 1, "Advances by n steps of dt.")
        .def_property_readonly("model",
                               [](const LiveSimulation& self) { return shared_model(self.compiled()); })
        .def_property_readonly("state", &LiveSimulation::state)
        .def_property_readonly(
            "dt", [](const LiveSimulation& self) { return self.compiled()->dt(); }, "Time step, s.")
        .def_property_readonly(
            "report", &LiveSimulation::report,
            "The report of the steps done so far, with the fields of `tenon run --report`.")
        .def(
            "reset",
            [](LiveSimulation& self) {
                const LiveState::Use use(*self.state());
                self.state()->reset();
                self.restart();
            },
            "Back to the start; the report begins anew.")
        .def(
            "save",
            [](const LiveSimulation& self) {
                const LiveState::Use use(*self.state());
                return py::bytes(self.state()->save());
            },
            "The state, bit for bit.")
        .def(
            "load",
            [](LiveSimulation& self, const py::bytes& bytes) {
                const LiveState::Use use(*self.state());
                self.state()->load(bytes);
                self.restart();
            },
            py::arg("bytes"), "The state becomes what was saved; the report begins anew.")
        .def(
            "add_body",
            [](LiveSimulation& self, const py::dict& body) {
                self.change([&](EditableScene& scene) { add_body(scene, body); });
            },
            py::arg("body"),
            "A new model and a new state with one body more; what was there goes on. Views of before stay as "
            "they are.")
        .def(
            "remove_body",
            [](LiveSimulation& self, const std::string& name) {
                self.change([&](EditableScene& scene) { remove_body(scene, name); });
            },
            py::arg("name"), "A new model and a new state without the body and its joints.")
        .def("__repr__", [](const LiveSimulation& self) {
            return fmt::format("<tenon.Simulation of '{}' by {} at {:g} s: {} bodies>",
                               self.compiled()->scene().name, self.compiled()->scene().method,
                               self.state()->state().time, self.compiled()->model().bodies.size());
        });
    forward(simulation);
    refuse_pickling(simulation, "a tenon.Simulation is not pickled: keep its scene and its save()");
}

}  // namespace tenon::python

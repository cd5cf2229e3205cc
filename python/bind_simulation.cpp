// tenon.Simulation: scene, model and state in one, and a report like that of `tenon run`.
#include <chrono>

#include <fmt/format.h>

#include "bindings.hpp"
#include "run/report_builder.hpp"

namespace tenon::python {
namespace {

class LiveSimulation {
  public:
    explicit LiveSimulation(std::shared_ptr<const Compiled> compiled)
        : compiled_(std::move(compiled)),
          state_(std::make_shared<LiveState>(compiled_)),
          builder_(compiled_->scene(), state_->model(), state_->state(),
                   run::measure(state_->model(), state_->state(), StepReport{}, 0.0)) {}

    void step(long count) {
        if (count < 0) throw py::value_error("the number of steps must not be negative");
        for (long k = 0; k < count; ++k) {
            const auto start = std::chrono::steady_clock::now();
            step_state(*state_, 1);
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            wall_seconds_ += took.count();
            builder_.add(
                run::measure(state_->model(), state_->state(), state_->report(), 1000 * took.count()));
        }
    }
    py::object report() const { return json_loads(builder_.finish("done", wall_seconds_).to_json()); }
    const std::shared_ptr<const Compiled>& compiled() const { return compiled_; }
    const std::shared_ptr<LiveState>& state() const { return state_; }

  private:
    std::shared_ptr<const Compiled> compiled_;
    std::shared_ptr<LiveState> state_;
    run::ReportBuilder builder_;
    double wall_seconds_ = 0;
};

}  // namespace

void bind_simulation(py::module_& module) {
    // What a simulation answers as its state does.
    const auto of_state = [](const char* name) {
        return [name](const LiveSimulation& self) { return py::cast(self.state()).attr(name); };
    };
    const auto call_state = [](const char* name) {
        return [name](const LiveSimulation& self, const std::string& which) {
            return py::cast(self.state()).attr(name)(which);
        };
    };
    py::class_<LiveSimulation>(module, "Simulation", R"(The short way: scene, model and state in one.

>>> import tenon
>>> sim = tenon.Simulation("wrecking-ball", method="affine", dt=0.01)
>>> sim.step()
>>> sim.time
0.01
)")
        .def(py::init([](const py::object& scene, const py::object& method, const py::object& dt) {
                 return std::make_unique<LiveSimulation>(compile_scene(to_scene(scene)->scene, method, dt));
             }),
             py::arg("scene"), py::arg("method") = py::none(), py::arg("dt") = py::none())
        .def("step", &LiveSimulation::step, py::arg("n") = 1, "Advances by n steps of dt.")
        .def_property_readonly(
            "model",
            [](const LiveSimulation& self) { return std::const_pointer_cast<Compiled>(self.compiled()); })
        .def_property_readonly("state", &LiveSimulation::state)
        .def_property_readonly("dt", [](const LiveSimulation& self) { return self.compiled()->dt(); })
        .def_property_readonly("time", of_state("time"))
        .def_property_readonly("positions", of_state("positions"))
        .def_property_readonly("velocities", of_state("velocities"))
        .def_property_readonly("contacts", of_state("contacts"))
        .def_property_readonly("energies", of_state("energies"))
        .def_property_readonly("metrics", of_state("metrics"))
        .def("body", call_state("body"), py::arg("name"))
        .def("joint", call_state("joint"), py::arg("name"))
        .def("actuator", call_state("actuator"), py::arg("name"))
        .def_property_readonly(
            "report", &LiveSimulation::report,
            "The report of the steps done so far, with the fields of `tenon run --report`.")
        .def("__reduce_ex__",
             [](const LiveSimulation&, int) -> py::object {
                 throw py::type_error("a tenon.Simulation is not pickled: keep its scene and state.save()");
             })
        .def("__repr__", [](const LiveSimulation& self) {
            return fmt::format("<tenon.Simulation of '{}' by {} at {:g} s: {} bodies>",
                               self.compiled()->scene().name, self.compiled()->scene().method,
                               self.state()->state().time, self.compiled()->model().bodies.size());
        });
}

}  // namespace tenon::python

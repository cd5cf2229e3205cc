// tenon._tenon: the parts put together.
#include "bindings.hpp"
#include "errors.hpp"
#include "interrupts.hpp"
#include "math/parallel.hpp"

PYBIND11_MODULE(_tenon, module) {
    using namespace tenon::python;
    module.doc() = "Tenon's library; import tenon instead.";
    module.attr("__version__") = TENON_VERSION;
    remember_main_thread();
    bind_errors(module);
    bind_scene(module);
    bind_model(module);
    bind_state(module);
    bind_simulation(module);
    bind_pool(module);
    bind_kinematics(module);
    bind_run(module);
    module.def(
        "set_threads",
        [](int count) {
            if (count < 0) throw py::value_error("threads must not be negative");
            tenon::set_threads(count);
        },
        py::arg("count"),
        "Threads inside a step, for all states; 0: as many as there are cores. Results do not depend on it.");
    module.def("threads", &tenon::thread_count, "Threads inside a step.");
}

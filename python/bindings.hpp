// The parts of the module, and how numbers become arrays.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "live_state.hpp"
#include "tenon/scene.hpp"

namespace tenon::python {

namespace py = pybind11;

void bind_scene(py::module_& module);
void bind_model(py::module_& module);
void bind_state(py::module_& module);
void bind_simulation(py::module_& module);
void bind_pool(py::module_& module);
void bind_run(py::module_& module);

// An editable scene, with what its import left out.
struct EditableScene {
    Scene scene;
    std::vector<std::string> losses;
};

// A scene, a built-in's name, a file (also URDF and MJCF) or a dict.
std::shared_ptr<EditableScene> to_scene(const py::object& source);
std::shared_ptr<const Compiled> compile_scene(Scene scene, const py::object& method, const py::object& dt);

py::object json_loads(const std::string& text);
std::string json_dumps(const py::object& value);

using Doubles = py::array_t<double>;

// Memory that `owner` keeps alive, without copying. Strides count doubles.
Doubles view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> shape,
             std::vector<py::ssize_t> strides);

// Poses as (..., 3, 4), the fourth column as (..., 3): in memory a pose lies by columns.
Doubles pose_view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> counts);
Doubles column_view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> counts);

// Copies.
Doubles to_array(const Vec3& value);
Doubles to_array(const std::vector<double>& values);
py::dict contact_arrays(const std::vector<Contact>& contacts);

// Writes `values`, of exactly this shape, into `target`; ValueError with both shapes otherwise.
void assign(Doubles target, const py::object& values, const char* name);

py::dict metrics(const StepReport& report);
void step_state(LiveState& state, long count);  // without the GIL; Ctrl-C between steps

}  // namespace tenon::python

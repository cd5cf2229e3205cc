// The parts of the module, and how numbers become arrays.
#pragma once

#include <functional>
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
void bind_kinematics(py::module_& module);
void bind_run(py::module_& module);

using SharedModel = std::shared_ptr<Compiled>;  // const for all but pybind11's holders
using SharedState = std::shared_ptr<LiveState>;

using StateClass = py::class_<LiveState, SharedState>;

void bind_parts(py::module_& module,
                StateClass& state);  // bodies, joints, actuators and elastic bodies by name

inline SharedModel shared_model(const std::shared_ptr<const Compiled>& compiled) {
    return std::const_pointer_cast<Compiled>(compiled);
}

// An editable scene, with what its import left out.
struct EditableScene {
    Scene scene;
    py::list losses;
};
using SharedScene = std::shared_ptr<EditableScene>;

// A scene, a built-in's name, a file (also URDF and MJCF) or a dict.
SharedScene to_scene(const py::object& source);
Scene with_method(Scene scene, const py::object& method, const py::object& dt);
SharedModel compile_scene(Scene scene, const py::object& method, const py::object& dt);
void add_body(EditableScene& scene, const py::dict& entry);
void remove_body(EditableScene& scene, const std::string& name);

py::object json_loads(const std::string& text);
std::string json_dumps(const py::object& value);
std::string file_name(const py::object& file);  // a str or a path; TypeError otherwise

using Doubles = py::array_t<double>;

// Memory that `owner` keeps alive, without copying. Strides count doubles.
Doubles view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> shape,
             std::vector<py::ssize_t> strides);
Doubles flat_view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> shape);

// Poses as (..., 3, 4), the fourth column as (..., 3): in memory a pose lies by columns.
Doubles pose_view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> counts);
Doubles column_view(const std::shared_ptr<void>& owner, double* data, std::vector<py::ssize_t> counts);

// Copies.
Doubles to_array(const Vec3& value);
Doubles to_array(const std::vector<double>& values);
Doubles to_array(const Mat34& value);
Doubles to_array(const VecX& value);
Doubles to_array(const MatX& value);
py::dict contact_arrays(const std::vector<Contact>& contacts);

// Numbers of exactly this shape; TypeError or ValueError with both shapes otherwise.
Doubles checked_array(const py::object& values, const std::vector<py::ssize_t>& shape, const char* name);
Vec3 to_vec3(const py::object& values, const char* name);
VecX to_vector(const py::object& values, py::ssize_t size, const char* name);

// Writes `values`, of exactly the target's shape, into it.
void assign(Doubles target, const py::object& values, const char* name);

// Coordinates of a joint and their rates, from what is in the arrays now.
struct JointNow {
    std::vector<double> position, velocity;
};
JointNow joint_now(const LiveState& state, int joint);

py::dict metrics(const StepReport& report);
py::dict energy_numbers(const LiveState& state);

// Steps without the GIL, in any thread; Ctrl-C ends it, also within a step, which then did not happen.
void step_state(LiveState& state, long count, const std::function<void()>& after_each = {});

// For __reduce_ex__ of what cannot be pickled.
template <class Class>
void refuse_pickling(Class& bound, const char* words) {
    bound.def("__reduce_ex__",
              [words](const py::object&, int) -> py::object { throw py::type_error(words); });
}

}  // namespace tenon::python

#include "errors.hpp"

namespace py = pybind11;

namespace tenon::python {
namespace {

PyObject* input_error = nullptr;  // never let go: translators outlive the module
PyObject* step_failure = nullptr;

PyObject* new_exception(py::module_& module, const char* name, PyObject* base, const char* words) {
    PyObject* made = PyErr_NewExceptionWithDoc((std::string("tenon.") + name).c_str(), words, base, nullptr);
    if (!made) throw py::error_already_set();
    module.add_object(name, py::reinterpret_borrow<py::object>(made));
    return made;
}

py::object instance(PyObject* type, const char* text) {
    return py::reinterpret_borrow<py::object>(type)(py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
        text, static_cast<Py_ssize_t>(std::char_traits<char>::length(text)), "replace")));
}

void raise(const InputError& error) {
    py::object made = instance(input_error, error.what());
    made.attr("file") = error.file();
    made.attr("path") = error.path();
    made.attr("problem") = error.problem();
    made.attr("cure") = error.cure();
    PyErr_SetObject(input_error, made.ptr());
}

void raise(const StepFailure& failure) {
    py::object made = instance(step_failure, failure.what());
    const auto* named = dynamic_cast<const NamedStepFailure*>(&failure);
    made.attr("body") = named && !named->name().empty() ? py::object(py::str(named->name())) : py::none();
    PyErr_SetObject(step_failure, made.ptr());
}

}  // namespace

void bind_errors(py::module_& module) {
    input_error = new_exception(module, "InputError", PyExc_ValueError,
                                "Bad input: .file, .path (the place inside it), .problem and .cure.");
    step_failure =
        new_exception(module, "StepFailure", PyExc_RuntimeError,
                      "A step that could not be completed; the state is as before it. .body is the "
                      "name of the body concerned, or None.");
    py::register_exception_translator([](std::exception_ptr pointer) {
        try {
            if (pointer) std::rethrow_exception(pointer);
        } catch (const InputError& error) {
            raise(error);
        } catch (const StepFailure& failure) {
            raise(failure);
        }
    });
}

}  // namespace tenon::python

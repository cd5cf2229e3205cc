// Faults of the library as Python's exceptions, with the same words.
#pragma once

#include <string>

#include <pybind11/pybind11.h>

#include "tenon/error.hpp"

namespace tenon::python {

// A failed step that knows its body by name.
class NamedStepFailure : public StepFailure {
  public:
    NamedStepFailure(const std::string& reason, int body, std::string name)
        : StepFailure(reason, body), name_(std::move(name)) {}
    const std::string& name() const { return name_; }

  private:
    std::string name_;
};

void bind_errors(pybind11::module_& module);

}  // namespace tenon::python

// JSON values as parameter values of shapes and methods.
#pragma once

#include <string>
#include <vector>

#include "scene/check.hpp"
#include "tenon/params.hpp"

namespace tenon::scene {

// Lengths among `known` are scaled to metres. Values that are no flag, number, text or list of numbers fail.
ParamValue to_param(const Context& context, const Where& where, const Value& value,
                    const std::vector<ParamInfo>& known, const std::string& name);

}  // namespace tenon::scene

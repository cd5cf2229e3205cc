// What the scene format has to know about methods: their names and parameters. Defined beside the methods.
#pragma once

#include <string>
#include <vector>

#include "tenon/params.hpp"

namespace tenon::scene {

struct MethodSchema {
    std::string name, summary;
    std::vector<ParamInfo> parameters;
};

const std::vector<MethodSchema>& method_schemas();

}  // namespace tenon::scene

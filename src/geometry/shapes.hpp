// The built-in shapes: names, parameters and generators. All centred on their own natural origin, y up.
#pragma once

#include <string>
#include <vector>

#include "tenon/mesh.hpp"
#include "tenon/params.hpp"
#include "tenon/shape.hpp"

namespace tenon::geometry {

struct ShapeInfo {
    std::string name;
    std::string summary;
    std::vector<ParamInfo> parameters;
    Mesh (*make)(const Params&) = nullptr;
    Primitive (*primitive)(const Params&) = nullptr;  // nullptr: none
};

const std::vector<ShapeInfo>& all_shapes();
const ShapeInfo* find_shape(const std::string& name);

}  // namespace tenon::geometry

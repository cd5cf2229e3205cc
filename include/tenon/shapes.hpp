// The built-in shapes as geometry for bodies made in code.
#pragma once

#include <map>
#include <string>

#include "tenon/params.hpp"
#include "tenon/scene.hpp"

namespace tenon {

// A built-in shape with the given parameters; the others have their defaults (docs/shapes.md). Throws InputError.
GeometrySpec shape_geometry(const std::string& shape,
                            const std::map<std::string, ParamValue>& parameters = {});

}  // namespace tenon

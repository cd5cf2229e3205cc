// Making built-in shapes in tests.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "geometry/shapes.hpp"

namespace tenon::geometry {

inline Mesh make_shape(const std::string& name, const std::map<std::string, ParamValue>& given = {}) {
    const ShapeInfo* shape = find_shape(name);
    if (!shape) throw std::logic_error("no shape named " + name);
    return shape->make(resolve_params(shape->parameters, given, {"test", name}));
}

inline Mesh moved(Mesh mesh, const Vec3& by) {
    for (Vec3& v : mesh.vertices) v += by;
    return mesh;
}

}  // namespace tenon::geometry

#include "tenon/shapes.hpp"

#include "geometry/shapes.hpp"
#include "tenon/error.hpp"

namespace tenon {

GeometrySpec shape_geometry(const std::string& shape, const std::map<std::string, ParamValue>& parameters) {
    const geometry::ShapeInfo* info = geometry::find_shape(shape);
    if (!info) {
        std::vector<std::string> names;
        for (const geometry::ShapeInfo& known : geometry::all_shapes()) names.push_back(known.name);
        throw InputError("", "shape", "unknown shape '" + shape + "'", suggestion(shape, names));
    }
    GeometrySpec spec;
    spec.shape = shape;
    spec.shape_params = resolve_params(info->parameters, parameters, {"", "shape"});
    return spec;
}

}  // namespace tenon

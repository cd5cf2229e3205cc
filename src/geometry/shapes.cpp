#include "geometry/shapes.hpp"

#include "geometry/shapes_build.hpp"

namespace tenon::geometry {

const std::vector<ShapeInfo>& all_shapes() {
    static const std::vector<ShapeInfo> shapes = [] {
        std::vector<ShapeInfo> list;
        for (auto family : {basic_shapes, mechanical_shapes, threaded_shapes, lathe_shapes, rough_shapes})
            for (ShapeInfo& shape : family()) list.push_back(std::move(shape));
        return list;
    }();
    return shapes;
}

const ShapeInfo* find_shape(const std::string& name) {
    for (const ShapeInfo& shape : all_shapes())
        if (shape.name == name) return &shape;
    return nullptr;
}

}  // namespace tenon::geometry

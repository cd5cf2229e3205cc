// Signed distances of simple solids in closed form.
#pragma once

#include "tenon/shape.hpp"

namespace tenon::geometry {

// Signed distance of a primitive and its gradient, in the primitive's frame.
struct FieldSample {
    double distance = 0.0;
    Vec3 normal = Vec3::UnitY();
};
bool has_closed_form(Primitive::Kind kind);
FieldSample primitive_distance(const Primitive& primitive, const Vec3& point);

}  // namespace tenon::geometry

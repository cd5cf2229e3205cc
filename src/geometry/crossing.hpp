// Whether a segment passes through a triangle, beyond rounding.
#pragma once

#include "tenon/types.hpp"

namespace tenon::geometry {

// True when the segment pq certainly passes through the triangle: signs of all volumes exceed their rounding errors.
// Touching, coplanar and degenerate configurations are not certain; their distance is zero.
bool crosses(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace tenon::geometry

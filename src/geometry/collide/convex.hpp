// Closest points and penetration of convex shapes: GJK for the distance, EPA for the depth.
#pragma once

#include "geometry/collide/collider.hpp"

namespace tenon::geometry::collide {

// The farthest point of the core (without the radius of spheres and capsules) along a direction, local frame.
Vec3 core_support(const Collider& collider, const Vec3& direction);

struct ConvexGap {
    double distance = 0.0;                          // between the surfaces; negative: depth of penetration
    Vec3 normal = Vec3::UnitY();                    // from a to b, world frame
    Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  // witness points on the surfaces
};

// False when the shapes are farther apart than `margin`; the gap is then not set.
bool convex_gap(const Collider& a, const Placement& pa, const Collider& b, const Placement& pb, double margin,
                ConvexGap& gap);

}  // namespace tenon::geometry::collide

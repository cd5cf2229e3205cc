// How deep two intersecting surfaces reach into each other.
#pragma once

#include "verify/bodies.hpp"

namespace tenon::verify {

// Distance from a point to the nearest cell of a surface.
double distance_to(const Placed& surface, const Vec3& point);

// The deepest point of one body's vertices, and of the edges that cross the other's surface, below that surface. Two open surfaces have
// no inside: what reaches through is measured by how far crossing edges end from the other surface.
double penetration_depth(const Placed& a, const Placed& b);

}  // namespace tenon::verify

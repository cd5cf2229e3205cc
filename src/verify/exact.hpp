// Exact predicates on points with double coordinates (CGAL's exact predicates kernel).
#pragma once

#include <array>

#include "tenon/types.hpp"

namespace tenon::verify {

// Three corners; two equal ones make a segment, three a point.
using Corners = std::array<Vec3, 3>;

// Closed sets: touching counts. Points and pairs of points and segments never meet in general position and
// are left to the check of motion.
bool cells_intersect(const Corners& a, const Corners& b);

// How a straight segment passes a triangle.
enum class Crossing { none, once, degenerate };
Crossing crossing(const Vec3& from, const Vec3& to, const Corners& triangle);

}  // namespace tenon::verify

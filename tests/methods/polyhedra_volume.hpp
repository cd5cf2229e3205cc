// The volume of the intersection of two closed meshes, exactly up to round-off: an independent reference.
#pragma once

#include "tenon/mesh.hpp"

namespace tenon {

// A closed mesh covers space as the signed sum of the tetrahedra over its triangles from any one point, so
//   |A n B| = sum over pairs of triangles of sign_a sign_b |tet_a n tet_b|,
// where the intersection of two tetrahedra is a convex polyhedron, clipped by four planes.
double intersection_volume(const Mesh& a, const Mesh& b);

}  // namespace tenon

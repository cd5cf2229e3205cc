// Cutting tetrahedra along a plane.
#pragma once

#include <array>
#include <vector>

#include "geometry/tet_mesh.hpp"

namespace tenon::geometry {

// Divides the tetrahedra that a plane crosses, so that none straddles it, and doubles the vertices in the plane that both
// sides use: the mesh falls in two, with the same faces on either side of the cut. Vertices nearer to the plane than a
// fifth of their shortest edge are moved into it first, so that no slivers arise. Returns the doubled vertices:
// {on the side against the normal, on the side of the normal}.
std::vector<std::array<int, 2>> cut_tets(TetMesh& mesh, const Vec3& point, const Vec3& normal);

}  // namespace tenon::geometry

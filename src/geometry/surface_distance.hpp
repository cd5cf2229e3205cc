// The distance between the surfaces of two bodies, as seen by a distance sensor.
#pragma once

#include <vector>

#include "tenon/mesh.hpp"

namespace tenon::geometry {

// Zero where the surfaces meet. `a` and `b` are the vertices of the two meshes in one frame.
double surface_distance(const Mesh& mesh_a, const std::vector<Vec3>& a, const Mesh& mesh_b,
                        const std::vector<Vec3>& b);

}  // namespace tenon::geometry

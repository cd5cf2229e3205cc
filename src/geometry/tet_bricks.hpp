// Tetrahedra for solids whose faces all meet at right angles: a grid of bricks whose planes are the solid's own.
#pragma once

#include <optional>

#include "geometry/tet_features.hpp"
#include "geometry/tet_mesh.hpp"

namespace tenon::geometry {

// Every interval between two planes of the solid is divided evenly into bricks of about `cell`; those inside become
// tetrahedra between their centres and corners, as in a body-centred lattice. Planes of `regions` are planes of the grid
// too. Nothing when the faces are at other angles, or planes lie too close for the cell.
std::optional<TetMesh> brick_tets(const FeatureSurface& surface, double cell,
                                  const std::vector<Box3>& regions);

}  // namespace tenon::geometry

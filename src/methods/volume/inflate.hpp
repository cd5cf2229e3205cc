// Surfaces moved outward, and solids made of planes.
#pragma once

#include "tenon/state.hpp"

namespace tenon::volume {

// Moves vertices so that every face ends up at least `margin` further out (at sharp corners, up to three times as far).
void inflate(Mesh& mesh, double margin);

// The solid under a plane: its rectangle, extruded against the normal.
Mesh slab_under(const Shape& plane);

}  // namespace tenon::volume

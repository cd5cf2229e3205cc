// What of a shape can touch first: shared by all bodies of that shape.
#pragma once

#include <vector>

#include "tenon/world.hpp"

namespace tenon::affine {

// Edges inside a flat part of the surface and vertices surrounded by it are left out: two surfaces cannot meet there
// before they meet at a corner, at a crease or on a face. Affine maps keep flat parts flat.
struct ContactShape {
    const Shape* shape = nullptr;
    std::vector<int> vertices;      // that may touch triangles
    std::vector<Edge> edges;        // creases, boundaries and loose edges: may touch edges
    std::vector<Edge> loose_edges;  // may be touched by points
    std::vector<int> points;        // loose vertices: may touch points and loose edges
    std::vector<double> edge_length_squared;
};

ContactShape contact_shape(const Shape& shape);

}  // namespace tenon::affine

// What of a shape can touch first: shared by all bodies of that shape.
#pragma once

#include <memory>
#include <vector>

#include "geometry/bvh_surface.hpp"
#include "tenon/state.hpp"

namespace tenon::affine {

// Edges inside a flat part of the surface and vertices surrounded by it are left out: two surfaces cannot meet there
// before they meet at a corner, at a crease or on a face. Affine maps keep flat parts flat.
//
// What lies within `rounding` of the surface belongs to the body as well; the surface then is the core of something round.
struct ContactShape {
    const Shape* shape = nullptr;
    std::unique_ptr<Shape>
        own;                // where the shape is not the drawn one: its mesh is the core, its box holds all
    double rounding = 0.0;  // m
    double facet_angle = 0.0;  // rad, between facets that stand for something round; 0: there are none
    Box3 core_box;             // of the mesh
    double core_radius = 0.0;  // of a ball around the middle of that box
    geometry::SurfaceTree tree;
    geometry::SurfaceTree elements;    // of shapes with a few large triangles: the same, each by itself
    double radius = 0.0;               // of a ball around the middle of the shape's box
    std::vector<char> vertex_touches;  // per vertex: may touch triangles
    std::vector<char> edge_touches;    // per edge of the tree: crease, boundary or loose
    std::vector<double> edge_length_squared;
    std::vector<int> flat_part;  // per triangle: the convex flat part that it shares with others, or -1

    const geometry::SurfaceTree& tree_against(const ContactShape& other) const;
    const Edge& edge(int k) const { return shape->all_edges[k]; }
};

std::unique_ptr<ContactShape> contact_shape(const Shape& shape);

// rad, between neighbouring facets of shapes that stand for something round; 0: of others.
double facet_angle(const Shape& drawn);

}  // namespace tenon::affine

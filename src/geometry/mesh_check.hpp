// What is wrong with a mesh, in counts; welding, orientation, components, edges.
#pragma once

#include <vector>

#include "tenon/mesh.hpp"

namespace tenon::geometry {

struct MeshReport {
    int duplicate_vertices = 0;
    int degenerate_triangles = 0;  // zero area or repeated corner
    int boundary_edges = 0;        // edges with one triangle
    int non_manifold_edges = 0;    // edges with more than two
    int inconsistent_edges = 0;    // neighbours that disagree on orientation
    int unused_vertices = 0;
    int components = 0;
    bool inside_out = false;  // closed, but its volume is negative
    double signed_volume = 0.0;
    bool closed() const { return boundary_edges == 0 && non_manifold_edges == 0; }
    bool clean() const {
        return closed() && inconsistent_edges == 0 && degenerate_triangles == 0 && !inside_out;
    }
};

MeshReport check_mesh(const Mesh& mesh);

// True when every edge is run as often one way as the other: what the divergence theorem needs. Weaker than
// `clean`: solids that touch along an edge pass.
bool is_closed_cycle(const Mesh& mesh);

// Merges vertices closer than `tolerance` (0: identical), drops unused vertices, and triangles and edges whose
// corners became one. Slivers with three different corners stay: without them the surface would be open.
Mesh weld(const Mesh& mesh, double tolerance);

// Makes neighbours agree and closed components face outward. False when a component cannot be oriented.
bool orient(Mesh& mesh);

std::vector<Edge> all_edges(const Mesh& mesh);         // each once, loose edges included, sorted
std::vector<Mesh> split_components(const Mesh& mesh);  // by shared vertices
bool is_convex(const Mesh& mesh, double tolerance);

}  // namespace tenon::geometry

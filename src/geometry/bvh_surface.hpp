// The surface of a shape, prepared for contact: a tree in the body frame, built once and shared by all bodies of
// that shape. Its items are elements: triangles, then loose edges, then loose points. Every edge and vertex is owned
// by one element that contains it, so that one search over elements finds all three kinds of primitives.
#pragma once

#include <span>
#include <vector>

#include "geometry/bvh.hpp"
#include "tenon/mesh.hpp"

namespace tenon::geometry {

class SurfaceTree {
  public:
    SurfaceTree() = default;
    // `edges` are all edges of the mesh, loose ones included. Keeps views of mesh and edges: both must outlive it.
    SurfaceTree(const Mesh& mesh, std::span<const Edge> edges);

    std::span<const Vec3> vertices() const { return vertices_; }
    std::span<const Triangle> triangles() const { return triangles_; }
    std::span<const Edge> edges() const { return edges_; }
    const Bvh& tree() const { return tree_; }
    const Box3& box() const { return box_; }  // of the vertices in use, body frame

    int elements() const { return static_cast<int>(element_start_.size()) - 1; }
    bool is_triangle(int element) const { return element < static_cast<int>(triangles_.size()); }
    // What an element owns: vertex numbers and numbers into edges().
    std::span<const int> owned_vertices(int element) const {
        return {owned_vertices_.data() + element_start_[element].vertex,
                owned_vertices_.data() + element_start_[element + 1].vertex};
    }
    std::span<const int> owned_edges(int element) const {
        return {owned_edges_.data() + element_start_[element].edge,
                owned_edges_.data() + element_start_[element + 1].edge};
    }
    bool loose_edge(int edge) const { return !loose_edge_.empty() && loose_edge_[edge]; }
    bool loose_point(int vertex) const { return !loose_point_.empty() && loose_point_[vertex]; }
    bool has_loose_edges() const { return !loose_edge_.empty(); }
    bool has_loose_points() const { return !loose_point_.empty(); }

  private:
    struct Start {
        int vertex = 0, edge = 0;
    };

    std::span<const Vec3> vertices_;
    std::span<const Triangle> triangles_;
    std::span<const Edge> edges_;
    Bvh tree_;
    Box3 box_;
    std::vector<Start> element_start_{{}};
    std::vector<int> owned_vertices_, owned_edges_;
    std::vector<char> loose_edge_, loose_point_;  // empty where there are none
};

// The exact box of the vertices under an affine map; a small part of the vertices is looked at.
Box3 world_box(const SurfaceTree& surface, const Mat34& q);

}  // namespace tenon::geometry

// The surface of a shape, prepared for contact: built once in the body frame, shared by all bodies of that shape.
//
// Neighbouring elements (triangles, loose edges, loose points) form blocks of up to 20. A block lists the vertices its
// elements use, and its triangles and edges by their place in that list, so that posing a block transforms
// each vertex once. Every vertex and edge is owned by one block, which contains it: a search over blocks finds
// all primitives. A tree over the blocks' boxes takes it from there.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/bvh.hpp"
#include "tenon/mesh.hpp"

namespace tenon::geometry {

class SurfaceTree {
  public:
    static constexpr int block_elements = 20;
    static constexpr int block_vertices = 3 * block_elements;

    struct BlockTriangle {
        int id;                              // into triangles()
        std::array<std::uint8_t, 3> corner;  // into the block's vertices
    };
    struct BlockEdge {
        int id;  // into edges()
        std::array<std::uint8_t, 2> corner;
    };
    // A vertex relative to the tree's origin, in single precision.
    struct alignas(16) LocalPoint {
        float x = 0, y = 0, z = 0, zero = 0;
    };
    struct Block {
        std::span<const int> vertices;       // all that its elements use, the owned ones first
        const LocalPoint* points = nullptr;  // the same
        int owned = 0;                       // number of owned vertices
        std::span<const BlockTriangle> triangles;
        std::span<const BlockEdge> edges;  // owned ones only
    };

    SurfaceTree() = default;
    // `edges` are all edges of the mesh, loose ones included. Keeps views of mesh and edges: both must outlive it. With
    // single elements every block has one: for surfaces of a few large elements against others of many small ones.
    enum class Blocks { neighbours, single_elements };
    SurfaceTree(const Mesh& mesh, std::span<const Edge> edges, Blocks blocks = Blocks::neighbours);
    bool of_single_elements() const { return single_elements_; }

    std::span<const Vec3> vertices() const { return vertices_; }
    std::span<const Triangle> triangles() const { return triangles_; }
    std::span<const Edge> edges() const { return edges_; }
    const Box3& box() const { return box_; }   // of the vertices in use, body frame
    const Bvh& tree() const { return tree_; }  // over blocks

    int blocks() const { return static_cast<int>(start_.size()) - 1; }
    Block block(int b) const {
        const Start &begin = start_[b], &end = start_[b + 1];
        return {{block_vertices_.data() + begin.vertex, block_vertices_.data() + end.vertex},
                block_points_.data() + begin.vertex,
                begin.owned,
                {block_triangles_.data() + begin.triangle, block_triangles_.data() + end.triangle},
                {block_edges_.data() + begin.edge, block_edges_.data() + end.edge}};
    }

    // A box around the block along the three directions, at right angles, that its triangles face most.
    struct OrientedBox {
        Eigen::Vector3f center;  // relative to the tree's origin
        Eigen::Matrix3f axes;    // unit vectors in the columns
        Eigen::Vector3f half;    // half of the box's sizes along them
        Eigen::Vector3f
            fourth;  // of one triangle: at right angles to its second longest edge; else one of the axes
    };
    const OrientedBox& oriented_box(int b) const { return oriented_boxes_[b]; }

    bool uses_all_vertices() const { return uses_all_vertices_; }
    bool loose_edge(int edge) const { return !loose_edge_.empty() && loose_edge_[edge]; }
    bool loose_point(int vertex) const { return !loose_point_.empty() && loose_point_[vertex]; }
    bool has_loose_edges() const { return !loose_edge_.empty(); }
    bool has_loose_points() const { return !loose_point_.empty(); }

  private:
    struct Start {
        int vertex = 0, triangle = 0, edge = 0;
        int owned = 0;  // of the block that starts here
    };
    struct Builder;

    std::span<const Vec3> vertices_;
    std::span<const Triangle> triangles_;
    std::span<const Edge> edges_;
    Box3 box_;
    bool uses_all_vertices_ = false, single_elements_ = false;
    Bvh tree_;
    std::vector<Start> start_{{}};
    std::vector<int> block_vertices_;
    std::vector<LocalPoint> block_points_;
    std::vector<BlockTriangle> block_triangles_;
    std::vector<BlockEdge> block_edges_;
    std::vector<OrientedBox> oriented_boxes_;
    std::vector<char> loose_edge_, loose_point_;  // empty where there are none
};

// The box of the vertices under an affine map, exact up to a widening by a few units in the last place. Large surfaces
// are searched, not scanned.
Box3 world_box(const SurfaceTree& surface, const Mat34& q);

}  // namespace tenon::geometry

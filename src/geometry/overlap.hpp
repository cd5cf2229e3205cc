// From a pair of bodies to pairs of primitives that may touch: the overlap of their boxes first (i-AABB), then only
// the primitives inside it, then pairs of primitive boxes: all against all while they are few, through a tree built
// inside the overlap when it is crowded.
#pragma once

#include <span>
#include <vector>

#include "geometry/bvh.hpp"
#include "geometry/bvh_surface.hpp"
#include "tenon/types.hpp"

namespace tenon::geometry {

// A surface in one pose, or on its straight way from one pose to another.
struct Posed {
    const SurfaceTree* surface = nullptr;
    Mat34 q0 = Mat34::Identity();
    Mat34 q1 = Mat34::Identity();
    bool swept = false;  // false: q1 is not looked at
    Box3 box;            // must contain the vertices at q0 (and q1)
};
Posed posed(const SurfaceTree& surface, const Mat34& q);
Posed posed(const SurfaceTree& surface, const Mat34& q0, const Mat34& q1);

// Pairs of primitives, one of body a and one of body b: those whose boxes come within the margin along every axis.
// Loose points and edges appear where no triangle or edge pair covers them.
struct Candidates {
    std::vector<ItemPair> vertex_triangle;  // vertex of a, triangle of b
    std::vector<ItemPair> triangle_vertex;  // triangle of a, vertex of b
    std::vector<ItemPair> edge_edge;
    std::vector<ItemPair> point_edge;   // loose point of a, loose edge of b
    std::vector<ItemPair> edge_point;   // loose edge of a, loose point of b
    std::vector<ItemPair> point_point;  // both loose

    void clear();
    std::size_t size() const;
};

// Primitives of one body inside a region, with their boxes.
struct Primitives {
    std::vector<int> id;
    std::vector<Box3> box;

    void clear();
    void add(int primitive, const Box3& primitive_box);
    std::size_t size() const { return id.size(); }
};
struct RegionPrimitives {
    Primitives triangles, edges, vertices;

    void clear();
    bool empty() const { return triangles.size() + edges.size() + vertices.size() == 0; }
};

struct OverlapStats {
    long node_tests = 0;  // boxes of tree nodes looked at
    long box_tests = 0;   // boxes of primitives, singly or in pairs
};

// The primitives whose (swept) box overlaps a region given in the world frame. Sub-linear for large surfaces.
void primitives_in_region(const Posed& body, const Box3& region, RegionPrimitives& out,
                          OverlapStats* stats = nullptr);

enum class OverlapMethod {
    automatic,   // region, with a local tree where it is crowded
    region,      // one level: all against all inside the overlap
    full_trees,  // both bodies' trees against each other, for comparison
};

// Buffers that grow to what is needed and are then reused; one per thread.
struct OverlapScratch {
    RegionPrimitives a, b;
    Bvh tree;
};

// Adds to nothing: `out` is cleared first. The same pairs for every method, in an order fixed by the input.
void find_candidates(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                     OverlapMethod method = OverlapMethod::automatic, OverlapStats* stats = nullptr);

}  // namespace tenon::geometry

// From a pair of bodies to pairs of primitives that may touch. Boxes of bodies first, then only what lies in their
// overlap (i-AABB): both surfaces' blocks are searched together, and within each pair of blocks only the primitives
// inside the overlap of the two blocks' boxes meet. The paper's one-level and two-level variants are kept to compare.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
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
    // Where given, only vertices and edges with a nonzero entry count: for searches by blocks.
    std::span<const char> vertex_counts, edge_counts;
};
// With the moved box of the body frame: conservative and cheap.
Posed posed(const SurfaceTree& surface, const Mat34& q);
Posed posed(const SurfaceTree& surface, const Mat34& q0, const Mat34& q1);

// Pairs of primitives, one of body a and one of body b: all that come within the margin, and others whose boxes do. The
// two bodies need not be equally far on their ways. The search by blocks has fewer others: its boxes are turned along.
// Loose points and edges appear where no triangle or edge pair covers them.
struct Candidates {
    std::vector<ItemPair> vertex_triangle;  // vertex of a, triangle of b
    std::vector<ItemPair> triangle_vertex;  // triangle of a, vertex of b
    std::vector<ItemPair> edge_edge;
    std::vector<ItemPair> point_edge;   // loose point of a, loose edge of b
    std::vector<ItemPair> edge_point;   // loose edge of a, loose point of b
    std::vector<ItemPair> point_point;  // both loose
    // From searches by blocks: the vertices of either body that these primitives have, those of two blocks twice.
    std::vector<int> vertices_a, vertices_b;

    void clear();
    std::size_t size() const;
};

// Edges of one body and triangles of the other whose boxes come within the margin: what an intersection shows in.
struct EdgeTriangles {
    std::vector<ItemPair> edge_triangle;  // edge of a, triangle of b
    std::vector<ItemPair> triangle_edge;  // triangle of a, edge of b
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
    blocks,       // both surfaces' block trees together, overlap regions of block pairs
    region,       // one level: all primitives in the overlap of the bodies' boxes, all against all
    region_tree,  // two levels: a tree built inside that overlap when it is crowded
};

// A box without a constructor, for arrays on the stack.
struct RawBox {
    double lo[3], hi[3];

    void set(const Box3& box) {
        for (int k = 0; k < 3; ++k) {
            lo[k] = box.lo[k];
            hi[k] = box.hi[k];
        }
    }
    void add(const RawBox& other) {
        for (int k = 0; k < 3; ++k) {
            lo[k] = std::min(lo[k], other.lo[k]);
            hi[k] = std::max(hi[k], other.hi[k]);
        }
    }
    void inflate(double margin) {
        for (int k = 0; k < 3; ++k) {
            lo[k] -= margin;
            hi[k] += margin;
        }
    }
    Box3 box() const {
        Box3 out;
        out.lo = Vec3(lo[0], lo[1], lo[2]);
        out.hi = Vec3(hi[0], hi[1], hi[2]);
        return out;
    }
    static RawBox nothing() { return {{1e300, 1e300, 1e300}, {-1e300, -1e300, -1e300}}; }
};

struct BlockStore;  // posed blocks that a search has met, each computed once

// Buffers that grow to what is needed and are then reused; one per thread.
struct OverlapScratch {
    OverlapScratch();
    ~OverlapScratch();

    std::unique_ptr<BlockStore> blocks;
    RegionPrimitives a, b;
    Bvh tree;
};

// `out` is cleared first. The order is fixed by the input.
void find_candidates(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                     OverlapMethod method = OverlapMethod::blocks, OverlapStats* stats = nullptr);

// The same by blocks, with the pairs of edges and triangles beside the candidates.
void find_candidates(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                     EdgeTriangles& crossings);

// A pair of large surfaces can be searched in parts, side by side: nodes of the two trees to start from. The parts'
// candidates together are those of the pair, each once; joined in the order of the parts their order is fixed too.
struct NodePair {
    int a = 0, b = 0;
};
// About `parts` of them, fewer where the surfaces meet in a small place; none when they are too far apart.
void split_search(const Posed& a, const Posed& b, double margin, int parts, std::vector<NodePair>& out);
void find_candidates(const Posed& a, const Posed& b, double margin, const NodePair& start,
                     OverlapScratch& scratch, Candidates& out);

}  // namespace tenon::geometry

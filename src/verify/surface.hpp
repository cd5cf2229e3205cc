// The surfaces that are checked, their culling trees, and where they are at a moment.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tenon/mesh.hpp"
#include "verify/exact.hpp"

namespace tenon::verify {

// Of the coordinates: far more than distances along a path can be wrong by.
constexpr double path_rounding = 1e-12;

// A binary tree of boxes over cells, in the surface's own frame. Node 0 is the root; the children of an inner
// node lie beside each other.
struct Node {
    Vec3 center = Vec3::Zero(), half = Vec3::Zero();
    int first = 0;  // leaf: first entry of `order`; inner: first child
    int count = 0;  // leaf: how many; inner: 0
};

class Tree {
  public:
    Tree() = default;
    explicit Tree(const std::vector<Box3>& boxes);

    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<int>& order() const { return order_; }
    bool empty() const { return nodes_.empty(); }

    // Boxes of all nodes for other boxes of the same items.
    std::vector<Box3> refit(const std::vector<Box3>& boxes) const;

  private:
    void build(const std::vector<Box3>& boxes);
    std::vector<Node> nodes_;
    std::vector<int> order_;
};

// One per shape (shared by its bodies) or elastic body.
struct Surface {
    std::vector<Vec3> vertices;   // body frame; rest positions of elastic bodies
    std::vector<Triangle> cells;  // triangles, then loose edges (a, b, b), then points (a, a, a)
    std::size_t triangles = 0;
    bool closed = false;
    Tree tree;
    double radius = 0.0;  // of the vertices about the frame's origin
    double extent = 0.0;  // largest coordinate, for rounding margins
};

Surface make_surface(const std::vector<Vec3>& vertices, const Mesh& mesh, bool closed);

// Written out: a call for each vertex and box would cost more than the product itself.
inline Vec3 carried(const Mat34& q, const Vec3& p) {
    return Vec3(q(0, 0) * p[0] + q(0, 1) * p[1] + q(0, 2) * p[2] + q(0, 3),
                q(1, 0) * p[0] + q(1, 1) * p[1] + q(1, 2) * p[2] + q(1, 3),
                q(2, 0) * p[0] + q(2, 1) * p[1] + q(2, 2) * p[2] + q(2, 3));
}

// A surface somewhere: moved by a matrix, or with vertices of its own.
struct Placed {
    const Surface* surface = nullptr;
    Mat34 q = Mat34::Zero();
    const std::vector<Vec3>* x = nullptr;           // elastic bodies
    const std::vector<Box3>* node_boxes = nullptr;  // elastic bodies

    Vec3 vertex(int index) const { return x ? (*x)[index] : carried(q, surface->vertices[index]); }
    Corners corners(int cell) const {
        const Triangle& c = surface->cells[cell];
        return {vertex(c[0]), vertex(c[1]), vertex(c[2])};
    }
    Box3 box() const;  // in the world, a little larger than needed
};

// Boxes in the world of the nodes of a placed surface, a little larger than needed.
class NodeBoxes {
  public:
    explicit NodeBoxes(const Placed& placed);
    Box3 operator()(int node) const {
        if (placed_.node_boxes) return (*placed_.node_boxes)[node];
        const Node& n = placed_.surface->tree.nodes()[node];
        const Vec3 center = carried(placed_.q, n.center);
        const Vec3 half = absolute_ * n.half + margin_;
        Box3 box;
        box.lo = center - half;
        box.hi = center + half;
        return box;
    }

  private:
    const Placed& placed_;
    Mat3 absolute_;  // of the matrix, entry by entry: it carries half sizes
    Vec3 margin_;    // for rounding
};

// Boxes of the tree's nodes for vertices that moved on their own.
std::vector<Box3> elastic_node_boxes(const Surface& surface, const std::vector<Vec3>& x);

// Calls visit(leaf_a, leaf_b) for leaves whose boxes overlap, until it returns true; says whether it did. The
// boxes are given by functions of the node.
template <class BoxA, class BoxB, class Visit>
bool visit_leaves(const Tree& a, const Tree& b, const BoxA& box_a, const BoxB& box_b, const Visit& visit) {
    if (a.empty() || b.empty()) return false;
    struct Pair {
        int a, b;
    };
    std::vector<Pair> stack{{0, 0}};
    while (!stack.empty()) {
        const Pair pair = stack.back();
        stack.pop_back();
        const Box3 first = box_a(pair.a), second = box_b(pair.b);
        if (!first.overlaps(second)) continue;
        const Node &na = a.nodes()[pair.a], &nb = b.nodes()[pair.b];
        if (na.count > 0 && nb.count > 0) {
            if (visit(na, nb)) return true;
        } else if (nb.count > 0 || (na.count == 0 && (first.hi - first.lo).squaredNorm() >=
                                                         (second.hi - second.lo).squaredNorm())) {
            stack.push_back({na.first + 1, pair.b});
            stack.push_back({na.first, pair.b});
        } else {
            stack.push_back({pair.a, nb.first + 1});
            stack.push_back({pair.a, nb.first});
        }
    }
    return false;
}

// The cells of a leaf with their corners, worked out once for all partners.
inline constexpr int leaf_size = 4;
template <class Cell>
struct LeafCells {
    std::array<Cell, leaf_size> cell;
    std::array<Box3, leaf_size> box;
    int count = 0;
};

// All pairs a < b of overlapping boxes, sorted. Empty boxes overlap nothing.
std::vector<std::array<int, 2>> overlapping_pairs(const std::vector<Box3>& boxes);

}  // namespace tenon::verify

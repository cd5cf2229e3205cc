// A flat binary tree of bounding boxes.
//
// One item per leaf, nodes in depth-first order: a subtree of m items takes 2 m - 1 consecutive nodes, its left child
// follows it, and `escape` is the first node after it. Traversal needs no stack: go to the next node where the box
// overlaps, to the escape where it does not. Boxes are kept in single precision relative to the tree's centre and
// rounded outward, 32 bytes a node: what is visited is a superset, by a hair, of what overlaps. The tree is never
// deeper than `max_depth`, so traversals that need an order have a stack of fixed size.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "geometry/morton.hpp"
#include "tenon/types.hpp"

namespace tenon::geometry {

// Single precision, outward-rounded.
struct FloatBox {
    std::array<float, 3> lo, hi;

    static FloatBox around(const Vec3& lo, const Vec3& hi);
    bool overlaps(const FloatBox& other) const {
        return (lo[0] <= other.hi[0]) & (other.lo[0] <= hi[0]) & (lo[1] <= other.hi[1]) &
               (other.lo[1] <= hi[1]) & (lo[2] <= other.hi[2]) & (other.lo[2] <= hi[2]);
    }
};

class Bvh {
  public:
    static constexpr int max_depth = 112;

    enum class Split {
        morton,  // fastest to build: highest differing bit of 63-bit codes
        area,    // binned surface area: better when sizes differ by orders of magnitude
    };

    struct Node {
        std::array<float, 3> lo;
        std::int32_t escape;
        std::array<float, 3> hi;
        std::int32_t item;  // -1 for inner nodes

        bool leaf() const { return item >= 0; }
        FloatBox box() const { return {lo, hi}; }
        bool overlaps(const FloatBox& other) const {
            return (lo[0] <= other.hi[0]) & (other.lo[0] <= hi[0]) & (lo[1] <= other.hi[1]) &
                   (other.lo[1] <= hi[1]) & (lo[2] <= other.hi[2]) & (other.lo[2] <= hi[2]);
        }
    };

    void build(std::span<const Box3> boxes, Split split = Split::morton);
    // New boxes for the same items: the tree keeps its shape. Same count as at build.
    void refit(std::span<const Box3> boxes);

    int size() const { return static_cast<int>((nodes_.size() + 1) / 2); }
    bool empty() const { return nodes_.empty(); }
    std::span<const Node> nodes() const { return nodes_; }
    const Vec3& origin() const { return origin_; }
    int right_child(int node) const { return nodes_[node + 1].escape; }
    // Node numbers of the leaves, in depth-first order.
    std::span<const std::int32_t> leaves() const { return leaves_; }

    // Box in the tree's frame, rounded outward; and a node's box back in double.
    FloatBox rounded(const Box3& box) const { return FloatBox::around(box.lo - origin_, box.hi - origin_); }
    Box3 node_box(int node) const;

    // Expected number of nodes a small query visits times the root's area, over it: grows as refits wear the tree out.
    double cost() const;

    // Calls visit(item) for all items whose box overlaps (and perhaps a few that miss by a rounding).
    template <class Visit>
    void visit_overlaps(const Box3& box, const Visit& visit) const {
        if (box.empty()) return;
        const FloatBox query = rounded(box);
        visit_from(0, query, visit);
    }

    // Calls visit(item) for items that follow leaf number `leaf` in tree order and overlap it: over all
    // leaves, each unordered pair once.
    template <class Visit>
    void visit_later_overlaps(int leaf, const Visit& visit) const {
        const int node = leaves_[leaf];
        visit_from(node + 1, nodes_[node].box(), visit);
    }

    // Visits items below nodes that pass test(node number); test is called for inner nodes and leaves.
    template <class Test, class Visit>
    void visit_where(const Test& test, const Visit& visit) const {
        const int count = static_cast<int>(nodes_.size());
        for (int i = 0; i < count;) {
            const Node& node = nodes_[i];
            if (test(i)) {
                if (node.leaf()) visit(node.item);
                ++i;
            } else {
                i = node.escape;
            }
        }
    }

    // Calls visit(item) for items whose box the ray origin + t direction, 0 <= t <= t_max, passes through.
    // The visitor may shrink t_max on the way.
    template <class Visit>
    void visit_ray(const Vec3& origin, const Vec3& direction, const double& t_max, const Visit& visit) const;

  private:
    template <class Visit>
    void visit_from(int start, const FloatBox& query, const Visit& visit) const {
        const int count = static_cast<int>(nodes_.size());
        const Node* nodes = nodes_.data();
        for (int i = start; i < count;) {
            const Node& node = nodes[i];
            if (node.overlaps(query)) {
                if (node.leaf()) visit(node.item);
                ++i;
            } else {
                i = node.escape;
            }
        }
    }

    void build_morton(std::span<const Box3> boxes);
    void build_area(std::span<const Box3> boxes);
    void refit_range(int begin, int end);
    void set_box(Node& node, const Box3& box);

    std::vector<Node> nodes_;
    std::vector<std::int32_t> leaves_;
    Vec3 origin_ = Vec3::Zero();
    std::vector<MortonItem> order_, scratch_;  // kept so that rebuilding does not allocate
    std::vector<int> items_;
};

// Calls visit(item of a, item of b) for items whose boxes overlap; both trees in the same frame.
template <class Visit>
void visit_tree_pairs(const Bvh& a, const Bvh& b, const Visit& visit);

struct ItemPair {
    int a = 0, b = 0;
    friend auto operator<=>(const ItemPair&, const ItemPair&) = default;
};

// All pairs of overlapping boxes within one set (a < b) or between two, exact and sorted; in parallel.
void self_pairs(const Bvh& tree, std::span<const Box3> boxes, std::vector<ItemPair>& pairs);
void tree_pairs(const Bvh& tree_a, std::span<const Box3> boxes_a, const Bvh& tree_b,
                std::span<const Box3> boxes_b, std::vector<ItemPair>& pairs);

// Sorts by (a, b), where 0 <= a < count_a, in linear time but for the few pairs that share an a.
void sort_pairs(std::vector<ItemPair>& pairs, int count_a);

// ---- implementation of templates ----

template <class Visit>
void Bvh::visit_ray(const Vec3& ray_origin, const Vec3& direction, const double& t_max,
                    const Visit& visit) const {
    const Vec3 start = ray_origin - origin_;
    const Vec3 inverse = direction.cwiseInverse();
    auto hits = [&](int i) {
        // Slabs, in double. A direction of zero gives infinities; 0 * inf = NaN is dropped by the comparisons
        // below, which widens the interval: conservative.
        const Node& node = nodes_[i];
        double enter = 0.0, leave = t_max;
        for (int k = 0; k < 3; ++k) {
            double near = (node.lo[k] - start[k]) * inverse[k], far = (node.hi[k] - start[k]) * inverse[k];
            if (near > far) std::swap(near, far);
            if (near > enter) enter = near;
            if (far < leave) leave = far;
        }
        return enter <= leave * (1.0 + 1e-12) + 1e-300;
    };
    visit_where(hits, visit);
}

template <class Visit>
void visit_tree_pairs(const Bvh& a, const Bvh& b, const Visit& visit) {
    if (a.empty() || b.empty()) return;
    // b's boxes in a's frame, widened by the rounding of the shift.
    const Vec3 shift = b.origin() - a.origin();
    const auto nodes_a = a.nodes(), nodes_b = b.nodes();
    auto shifted = [&](int j) {
        const Bvh::Node& node = nodes_b[j];
        return FloatBox::around(Vec3(node.lo[0], node.lo[1], node.lo[2]) + shift,
                                Vec3(node.hi[0], node.hi[1], node.hi[2]) + shift);
    };
    struct Entry {
        int i, j;
    };
    std::array<Entry, 2 * Bvh::max_depth + 2> stack;
    int top = 0;
    stack[top++] = {0, 0};
    while (top > 0) {
        const auto [i, j] = stack[--top];
        const Bvh::Node &na = nodes_a[i], &nb = nodes_b[j];
        if (!na.overlaps(shifted(j))) continue;
        if (na.leaf() && nb.leaf()) {
            visit(na.item, nb.item);
            continue;
        }
        // Descend into the subtree with more nodes.
        const bool into_a = !na.leaf() && (nb.leaf() || na.escape - i >= nb.escape - j);
        if (into_a) {
            stack[top++] = {a.right_child(i), j};
            stack[top++] = {i + 1, j};
        } else {
            stack[top++] = {i, b.right_child(j)};
            stack[top++] = {i, j + 1};
        }
    }
}

}  // namespace tenon::geometry

#include "geometry/bvh.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "math/parallel.hpp"

namespace tenon::geometry {
namespace {

// Rounded to single precision and one step further out, which also covers the rounding of the shift before it.
float round_down(double x) {
    const float f = static_cast<float>(std::clamp(x, -3e38, 3e38));
    return f - std::abs(f) * 2.4e-7f - 1e-37f;
}
float round_up(double x) {
    return -round_down(-x);
}

struct Range {
    int node, begin, end, depth;
};

double area(const Box3& box) {
    if (box.empty()) return 0.0;
    const Vec3 s = box.size();
    return s.x() * s.y() + s.y() * s.z() + s.z() * s.x();
}

}  // namespace

FloatBox FloatBox::around(const Vec3& lo, const Vec3& hi) {
    return {{round_down(lo[0]), round_down(lo[1]), round_down(lo[2])},
            {round_up(hi[0]), round_up(hi[1]), round_up(hi[2])}};
}

Box3 Bvh::node_box(int i) const {
    Box3 box;
    for (int k = 0; k < 3; ++k) {
        box.lo[k] = origin_[k] + nodes_[i].lo[k];
        box.hi[k] = origin_[k] + nodes_[i].hi[k];
    }
    return box;
}

void Bvh::set_box(Node& node, const Box3& box) {
    const FloatBox f = rounded(box);
    node.lo = f.lo;
    node.hi = f.hi;
}

void Bvh::build(std::span<const Box3> boxes, Split split) {
    nodes_.clear();
    leaves_.clear();
    if (boxes.empty()) return;
    nodes_.resize(2 * boxes.size() - 1);
    Box3 all;
    for (const Box3& box : boxes)
        if (!box.empty()) all.add(box);
    origin_ = all.empty() ? Vec3(Vec3::Zero()) : all.center();
    if (split == Split::morton)
        build_morton(boxes);
    else
        build_area(boxes);
    leaves_.reserve(boxes.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].leaf()) leaves_.push_back(static_cast<std::int32_t>(i));
    refit(boxes);
}

void Bvh::build_morton(std::span<const Box3> boxes) {
    const std::size_t count = boxes.size();
    Box3 all;
    for (const Box3& box : boxes)
        if (!box.empty()) all.add(box.center());
    const double side = all.empty() ? 0.0 : all.size().maxCoeff();
    const double scale = side > 0.0 ? 1.0 / side : 0.0;
    order_.resize(count);
    parallel_for(count, 4096, [&](std::size_t i) {
        order_[i] = {morton63((boxes[i].center() - all.lo) * scale), static_cast<int>(i)};
    });
    sort_by_code(order_, scratch_);

    std::vector<Range> stack{{0, 0, static_cast<int>(count), 0}};
    while (!stack.empty()) {
        const Range range = stack.back();
        stack.pop_back();
        const int items = range.end - range.begin;
        nodes_[range.node].escape = range.node + 2 * items - 1;
        nodes_[range.node].item = items == 1 ? order_[range.begin].item : -1;
        if (items == 1) continue;
        // First code with the highest bit in which the range's ends differ; equal codes are halved.
        int middle = range.begin + items / 2;
        const std::uint64_t difference = order_[range.begin].code ^ order_[range.end - 1].code;
        if (difference != 0) {
            const std::uint64_t bit = std::bit_floor(difference);
            middle = static_cast<int>(
                std::partition_point(order_.begin() + range.begin, order_.begin() + range.end,
                                     [&](const MortonItem& entry) { return (entry.code & bit) == 0; }) -
                order_.begin());
        }
        const int left = middle - range.begin;
        stack.push_back({range.node + 2 * left, middle, range.end, range.depth + 1});
        stack.push_back({range.node + 1, range.begin, middle, range.depth + 1});
    }
}

namespace {

struct AreaSplit {
    int axis = -1;
    int bin = 0;
    double lo = 0.0, scale = 0.0;
    int bin_of(const Vec3& center) const {
        return std::clamp(static_cast<int>((center[axis] - lo) * scale), 0, AreaSplit::bins - 1);
    }
    static constexpr int bins = 16;
};

// The cheapest of 15 planes per axis by (area x count) on both sides.
AreaSplit best_split(std::span<const int> items, std::span<const Box3> boxes) {
    Box3 centers;
    for (int item : items)
        if (!boxes[item].empty()) centers.add(boxes[item].center());
    AreaSplit best;
    if (centers.empty()) return best;
    double best_cost = 1e300;
    for (int axis = 0; axis < 3; ++axis) {
        const double width = centers.hi[axis] - centers.lo[axis];
        if (!(width > 0.0)) continue;
        AreaSplit split;
        split.axis = axis;
        split.lo = centers.lo[axis];
        split.scale = AreaSplit::bins / width;
        if (!std::isfinite(split.scale)) continue;
        std::array<Box3, AreaSplit::bins> box;
        std::array<int, AreaSplit::bins> count{};
        for (int item : items) {
            const int bin = split.bin_of(boxes[item].center());
            if (!boxes[item].empty()) box[bin].add(boxes[item]);
            ++count[bin];
        }
        std::array<double, AreaSplit::bins> right_cost{};
        Box3 right;
        int right_count = 0;
        for (int bin = AreaSplit::bins - 1; bin > 0; --bin) {
            right.add(box[bin]);
            right_count += count[bin];
            right_cost[bin] = area(right) * right_count;
        }
        Box3 left;
        int left_count = 0;
        for (int bin = 1; bin < AreaSplit::bins; ++bin) {
            left.add(box[bin - 1]);
            left_count += count[bin - 1];
            const double cost = area(left) * left_count + right_cost[bin];
            if (left_count == 0 || left_count == static_cast<int>(items.size()) || !(cost < best_cost))
                continue;
            best_cost = cost;
            best = split;
            best.bin = bin;
        }
    }
    return best;
}

}  // namespace

void Bvh::build_area(std::span<const Box3> boxes) {
    constexpr int halving_depth = 64;  // beyond it ranges are halved, which bounds the depth
    items_.resize(boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) items_[i] = static_cast<int>(i);
    std::vector<Range> stack{{0, 0, static_cast<int>(boxes.size()), 0}};
    while (!stack.empty()) {
        const Range range = stack.back();
        stack.pop_back();
        const int count = range.end - range.begin;
        nodes_[range.node].escape = range.node + 2 * count - 1;
        nodes_[range.node].item = count == 1 ? items_[range.begin] : -1;
        if (count == 1) continue;
        int middle = range.begin + count / 2;
        if (range.depth < halving_depth && count > 2) {
            const std::span<int> items(items_.data() + range.begin, count);
            const AreaSplit split = best_split(items, boxes);
            if (split.axis >= 0)
                middle = static_cast<int>(
                    std::stable_partition(
                        items_.begin() + range.begin, items_.begin() + range.end,
                        [&](int item) { return split.bin_of(boxes[item].center()) < split.bin; }) -
                    items_.begin());
        }
        if (middle == range.begin || middle == range.end) middle = range.begin + count / 2;
        stack.push_back({range.node + 2 * (middle - range.begin), middle, range.end, range.depth + 1});
        stack.push_back({range.node + 1, range.begin, middle, range.depth + 1});
    }
}

// Children come after their parents: backwards, both are ready.
void Bvh::refit_range(int begin, int end) {
    for (int i = end - 1; i >= begin; --i) {
        Node& node = nodes_[i];
        if (node.leaf()) continue;
        const Node &left = nodes_[i + 1], &right = nodes_[left.escape];
        for (int k = 0; k < 3; ++k) {
            node.lo[k] = std::min(left.lo[k], right.lo[k]);
            node.hi[k] = std::max(left.hi[k], right.hi[k]);
        }
    }
}

void Bvh::refit(std::span<const Box3> boxes) {
    if (nodes_.empty()) return;
    parallel_for(leaves_.size(), 4096, [&](std::size_t i) {
        Node& node = nodes_[leaves_[i]];
        set_box(node, boxes[node.item]);
    });
    constexpr int chunk = 8192;
    const int count = static_cast<int>(nodes_.size());
    if (count <= chunk) {
        refit_range(0, count);
        return;
    }
    // Disjoint subtrees side by side, then what is above them.
    std::vector<int> roots, above;
    for (int i = 0; i < count;) {
        if (nodes_[i].escape - i <= chunk) {
            roots.push_back(i);
            i = nodes_[i].escape;
        } else {
            above.push_back(i++);
        }
    }
    parallel_for(roots.size(), 1, [&](std::size_t k) { refit_range(roots[k], nodes_[roots[k]].escape); });
    for (auto it = above.rbegin(); it != above.rend(); ++it) refit_range(*it, *it + 1);
}

double Bvh::cost() const {
    if (nodes_.empty()) return 0.0;
    const double root = area(node_box(0));
    if (!(root > 0.0)) return static_cast<double>(nodes_.size());
    const double sum = parallel_sum<double>(nodes_.size(), 4096, 0.0, [&](std::size_t i) {
        const Node& node = nodes_[i];
        const double x = node.hi[0] - node.lo[0], y = node.hi[1] - node.lo[1], z = node.hi[2] - node.lo[2];
        return x > 0 && y > 0 && z > 0 ? x * y + y * z + z * x : 0.0;
    });
    return sum / root;
}

void sort_pairs(std::vector<ItemPair>& pairs, int count_a) {
    std::vector<std::size_t> start(count_a + 1, 0);
    for (const ItemPair& pair : pairs) ++start[pair.a + 1];
    for (int i = 0; i < count_a; ++i) start[i + 1] += start[i];
    std::vector<ItemPair> sorted(pairs.size());
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (const ItemPair& pair : pairs) sorted[next[pair.a]++] = pair;
    parallel_for(count_a, 1024, [&](std::size_t i) {
        if (start[i + 1] - start[i] > 1) std::sort(sorted.begin() + start[i], sorted.begin() + start[i + 1]);
    });
    pairs.swap(sorted);
}

namespace {

// Runs find(chunk index range of leaves, out) over chunks and joins what they found.
template <class Find>
void gather(int leaves, std::vector<ItemPair>& pairs, const Find& find) {
    constexpr int chunk = 128;
    const int chunks = (leaves + chunk - 1) / chunk;
    std::vector<std::vector<ItemPair>> found(chunks);
    parallel_for(chunks, 1, [&](std::size_t c) {
        const int begin = static_cast<int>(c) * chunk, end = std::min(leaves, begin + chunk);
        for (int leaf = begin; leaf < end; ++leaf) find(leaf, found[c]);
    });
    pairs.clear();
    std::size_t total = 0;
    for (const auto& part : found) total += part.size();
    pairs.reserve(total);
    for (const auto& part : found) pairs.insert(pairs.end(), part.begin(), part.end());
}

}  // namespace

void self_pairs(const Bvh& tree, std::span<const Box3> boxes, std::vector<ItemPair>& pairs) {
    gather(tree.size(), pairs, [&](int leaf, std::vector<ItemPair>& out) {
        const int a = tree.nodes()[tree.leaves()[leaf]].item;
        if (boxes[a].empty()) return;
        tree.visit_later_overlaps(leaf, [&](int b) {
            if (boxes[a].overlaps(boxes[b])) out.push_back({std::min(a, b), std::max(a, b)});
        });
    });
    sort_pairs(pairs, tree.size());
}

void tree_pairs(const Bvh& tree_a, std::span<const Box3> boxes_a, const Bvh& tree_b,
                std::span<const Box3> boxes_b, std::vector<ItemPair>& pairs) {
    gather(tree_a.size(), pairs, [&](int leaf, std::vector<ItemPair>& out) {
        const int a = tree_a.nodes()[tree_a.leaves()[leaf]].item;
        tree_b.visit_overlaps(boxes_a[a], [&](int b) {
            if (boxes_a[a].overlaps(boxes_b[b])) out.push_back({a, b});
        });
    });
    sort_pairs(pairs, tree_a.size());
}

}  // namespace tenon::geometry

#include "geometry/broad_phase.hpp"

#include <algorithm>

namespace tenon::geometry {
namespace {

constexpr double worn_out = 4.0 / 3.0;  // search cost relative to the fresh tree

}  // namespace

void BroadPhase::update(std::span<const Box3> boxes) {
    if (tree_.size() == static_cast<int>(boxes.size()) && !tree_.empty()) {
        tree_.refit(boxes);
        if (tree_.cost() <= worn_out * fresh_cost_) return;
    }
    tree_.build(boxes, Bvh::Split::area);
    fresh_cost_ = tree_.cost();
    ++rebuilds_;
}

void BroadPhase::find_pairs(std::span<const Box3> boxes, std::vector<ItemPair>& pairs,
                            std::span<const char> moves) {
    pairs.clear();
    if (boxes.empty()) return;
    update(boxes);
    self_pairs(tree_, boxes, pairs);
    if (moves.empty()) return;
    std::erase_if(pairs, [&](const ItemPair& pair) { return !moves[pair.a] && !moves[pair.b]; });
}

void BroadPhase::find_overlaps(const Box3& box, std::span<const Box3> boxes, std::vector<int>& bodies) const {
    bodies.clear();
    tree_.visit_overlaps(box, [&](int body) {
        if (boxes[body].overlaps(box)) bodies.push_back(body);
    });
    std::sort(bodies.begin(), bodies.end());
}

}  // namespace tenon::geometry

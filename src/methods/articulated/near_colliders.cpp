#include "methods/articulated/near_colliders.hpp"

#include <algorithm>

namespace tenon::articulated {

void NearColliders::begin(std::span<const Box3> colliders, std::size_t bodies, double largest_reach) {
    double moved = 0.0;
    const bool same = colliders.size() == boxes_.size();
    for (std::size_t f = 0; same && f < colliders.size(); ++f)
        moved = std::max({moved, (colliders[f].lo - boxes_[f].lo).cwiseAbs().maxCoeff(),
                          (colliders[f].hi - boxes_[f].hi).cwiseAbs().maxCoeff()});
    if (!same || moved > 0.0) {
        boxes_.assign(colliders.begin(), colliders.end());
        tree_.build(boxes_, geometry::Bvh::Split::area);
    }
    if (!same || sleeps_until_.size() != bodies) sleeps_until_.assign(bodies, -1.0);
    odometer_ += moved;
    reach_ = largest_reach;
    limit_ = odometer_ + reach_;
}

void NearColliders::find(std::size_t body, const Box3& box, double size, std::vector<int>& colliders) {
    colliders.clear();
    // near none for some steps to come, or near one
    const double slack = 16.0 * reach_ + 4.0 * size;
    Box3 wide = box;
    wide.inflate(slack);
    bool near = false;
    tree_.visit_overlaps(wide, [&](int collider) {
        near = true;
        if (boxes_[collider].overlaps(box)) colliders.push_back(collider);
    });
    sleeps_until_[body] = near ? -1.0 : odometer_ + slack;
    std::sort(colliders.begin(), colliders.end());
}

}  // namespace tenon::articulated

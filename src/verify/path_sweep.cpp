#include "verify/path_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"

namespace tenon::verify {
namespace {

// Of vertices that move each for itself: half the diagonal of the box of their displacements, about its centre.
struct Spread {
    Vec3 center = Vec3::Zero();
    double radius = 0.0;
};

Spread spread_of(const Placed& from, const Placed& to) {
    Vec3 lo = Vec3::Constant(1e300), hi = Vec3::Constant(-1e300);
    for (std::size_t i = 0; i < from.x->size(); ++i) {
        const Vec3 moved = (*to.x)[i] - (*from.x)[i];
        lo = lo.cwiseMin(moved);
        hi = hi.cwiseMax(moved);
    }
    return {0.5 * (lo + hi), 0.5 * (hi - lo).norm()};
}

// The displacement is linear over the surface's box: it is largest, as measured from `common`, at a corner.
double largest_displacement(const Node& root, const Mat34& change, const Vec3& common) {
    double largest = 0;
    for (int corner = 0; corner < 8; ++corner) {
        const Vec3 sign(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1);
        const Vec3 at = root.center + sign.cwiseProduct(root.half);
        largest = std::max(largest, (transform(change, at) - common).squaredNorm());
    }
    return std::sqrt(largest);
}

// The same where at least one of the two is elastic.
double approach_of_vertices(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1) {
    const auto middle = [](const Placed& from, const Placed& to) {
        return from.x ? spread_of(from, to).center
                      : transform(Mat34(to.q - from.q), from.surface->tree.nodes()[0].center);
    };
    const Vec3 common = 0.5 * (middle(a0, a1) + middle(b0, b1));
    const auto largest = [&](const Placed& from, const Placed& to) {
        if (!from.x) return largest_displacement(from.surface->tree.nodes()[0], to.q - from.q, common);
        const Spread spread = spread_of(from, to);
        return spread.radius + (spread.center - common).norm();
    };
    return largest(a0, a1) + largest(b0, b1);
}

double rounding_of(const Placed& a, const Placed& b) {
    return path_rounding * (largest_coordinate(a) + largest_coordinate(b));
}

}  // namespace

double largest_approach(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1) {
    if (a0.x || b0.x) return approach_of_vertices(a0, a1, b0, b1);
    const Mat34 da = a1.q - a0.q, db = b1.q - b0.q;
    const Node &na = a0.surface->tree.nodes()[0], &nb = b0.surface->tree.nodes()[0];
    // What both have in common brings nothing nearer.
    const Vec3 common = 0.5 * (transform(da, na.center) + transform(db, nb.center));
    return largest_displacement(na, da, common) + largest_displacement(nb, db, common);
}

std::vector<SweepHit> PathSweep::advance(const Placement& from, const Placement& to,
                                         const std::vector<Pair>& pairs) {
    std::vector<SweepHit> hits(pairs.size());
    std::vector<NearCells> cells(pairs.size());
    parallel_for(pairs.size(), 1, [&](std::size_t i) {
        const auto [a, b] = pairs[i];
        if (from[a].surface->tree.empty() || from[b].surface->tree.empty()) return;
        const auto known = std::lower_bound(pairs_.begin(), pairs_.end(), pairs[i]);
        if (known != pairs_.end() && *known == pairs[i]) cells[i] = std::move(cells_[known - pairs_.begin()]);
        const double approach = largest_approach(from[a], to[a], from[b], to[b]) + rounding_of(to[a], to[b]);
        hits[i] = cells[i].advance(from[a], to[a], from[b], to[b], approach);
    });
    const long closely = std::count_if(cells.begin(), cells.end(),
                                       [](const NearCells& near) { return near.looked_closely(); });
    swept_ += closely;
    skipped_ += static_cast<long>(pairs.size()) - closely;
    pairs_ = pairs;
    cells_ = std::move(cells);
    return hits;
}

}  // namespace tenon::verify

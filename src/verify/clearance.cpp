#include "verify/clearance.hpp"

#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"

namespace tenon::verify {
namespace {

constexpr double rounding = 1e-12;  // of the coordinates: far more than the distances can be wrong by

struct Cells {
    Corners corners;
};

LeafCells<Cells> gather(const Placed& placed, const Node& leaf) {
    LeafCells<Cells> cells;
    cells.count = leaf.count;
    for (int k = 0; k < leaf.count; ++k) {
        cells.cell[k].corners = placed.corners(placed.surface->tree.order()[leaf.first + k]);
        for (const Vec3& corner : cells.cell[k].corners) cells.box[k].add(corner);
    }
    return cells;
}

double squared_gap(const Box3& a, const Box3& b) {
    return (b.lo - a.hi).cwiseMax(a.lo - b.hi).cwiseMax(0.0).squaredNorm();
}

// Of the nearest cells of two leaves, when it is less than `bound`; of cells whose boxes are `enough` apart, that of the
// boxes.
double squared_distance(const LeafCells<Cells>& first, const LeafCells<Cells>& second, double bound,
                        double enough) {
    for (int i = 0; i < first.count; ++i)
        for (int j = 0; j < second.count; ++j) {
            const double gap = squared_gap(first.box[i], second.box[j]);
            if (gap >= bound) continue;
            if (gap >= enough) {
                bound = gap;
                continue;
            }
            const double distance = closest(first.cell[i].corners, second.cell[j].corners).distance;
            bound = std::min(bound, distance * distance);
        }
    return bound;
}

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
    const auto size = [](const Placed& placed) {
        if (placed.x) return placed.box().lo.cwiseAbs().maxCoeff() + placed.box().hi.cwiseAbs().maxCoeff();
        return placed.q.col(3).cwiseAbs().maxCoeff() + placed.surface->radius;
    };
    return rounding * (size(a) + size(b));
}

// At most the distance, and the distance where that is less than `enough`. Nearest boxes first, so that a small distance
// soon rules out most of the rest.
double bounded_clearance(const Placed& a, const Placed& b, double cap, double enough) {
    const NodeBoxes boxes_a(a), boxes_b(b);
    const auto &nodes_a = a.surface->tree.nodes(), &nodes_b = b.surface->tree.nodes();
    double least = cap * cap;
    struct Entry {
        int a, b;
        Box3 box_a, box_b;
        double gap;
    };
    std::vector<Entry> stack;
    const auto entry = [&](int node_a, int node_b, const Box3& box_a, const Box3& box_b) {
        return Entry{node_a, node_b, box_a, box_b, squared_gap(box_a, box_b)};
    };
    const auto push = [&](Entry first, Entry second) {
        if (first.gap < second.gap) std::swap(first, second);
        if (first.gap < least) stack.push_back(first);
        if (second.gap < least) stack.push_back(second);
    };
    stack.push_back(entry(0, 0, boxes_a(0), boxes_b(0)));
    while (!stack.empty()) {
        const Entry top = stack.back();
        stack.pop_back();
        if (top.gap >= least) continue;
        if (top.gap >= enough * enough) {
            least = top.gap;
            continue;
        }
        const Node &na = nodes_a[top.a], &nb = nodes_b[top.b];
        if (na.count > 0 && nb.count > 0) {
            least = std::min(least, squared_distance(gather(a, na), gather(b, nb), least, enough * enough));
        } else if (nb.count > 0 ||
                   (na.count == 0 && top.box_a.size().squaredNorm() >= top.box_b.size().squaredNorm())) {
            push(entry(na.first, top.b, boxes_a(na.first), top.box_b),
                 entry(na.first + 1, top.b, boxes_a(na.first + 1), top.box_b));
        } else {
            push(entry(top.a, nb.first, top.box_a, boxes_b(nb.first)),
                 entry(top.a, nb.first + 1, top.box_a, boxes_b(nb.first + 1)));
        }
    }
    return std::sqrt(least);
}

}  // namespace

double clearance(const Placed& a, const Placed& b, double cap) {
    return bounded_clearance(a, b, cap, cap);
}

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

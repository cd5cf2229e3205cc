#include "verify/near_cells.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::verify {
namespace {

constexpr double pieces_ahead = 8;        // cells are gathered for about so many pieces
constexpr double long_piece = 0.02;       // of the bodies' size: within that much too many cells are near
constexpr std::size_t most_cells = 4096;  // pairs in a list; more are not worth keeping

double squared_gap(const Box3& a, const Box3& b) {
    return (b.lo - a.hi).cwiseMax(a.lo - b.hi).cwiseMax(0.0).squaredNorm();
}

Box3 box_of(const Corners& corners) {
    Box3 box;
    for (const Vec3& corner : corners) box.add(corner);
    return box;
}

struct LeafBoxes {
    std::array<int, leaf_size> cell{};
    std::array<Box3, leaf_size> box;
    Box3 all;
    int count = 0;

    LeafBoxes(const Placed& placed, const Node& leaf) : count(leaf.count) {
        for (int k = 0; k < count; ++k) {
            cell[k] = placed.surface->tree.order()[leaf.first + k];
            box[k] = box_of(placed.corners(cell[k]));
            all.add(box[k]);
        }
    }
};

void shift(Corners& corners, const Vec3& by) {
    for (Vec3& corner : corners) corner -= by;
}

// Negative where the axis does not part them; the gap of vertices that move straight is concave in time.
double gap_along(const Vec3& axis, const Corners& a, const Corners& b) {
    const double top = std::max({axis.dot(a[0]), axis.dot(a[1]), axis.dot(a[2])});
    const double bottom = std::min({axis.dot(b[0]), axis.dot(b[1]), axis.dot(b[2])});
    return bottom - top;
}

// The unit normal of one of the cells along which they are farthest apart; zero when neither parts them.
Vec3 face_axis(const Corners& a, const Corners& b) {
    Vec3 best = Vec3::Zero();
    double widest = 0;
    for (const Corners* face : {&a, &b}) {
        const Vec3 normal = ((*face)[1] - (*face)[0]).cross((*face)[2] - (*face)[0]);
        const double length = normal.norm();
        if (!(length > 0)) continue;
        for (const double sign : {1.0, -1.0}) {
            const Vec3 axis = sign / length * normal;
            const double gap = gap_along(axis, a, b);
            if (gap <= widest) continue;
            widest = gap;
            best = axis;
        }
    }
    return best;
}

}  // namespace

double largest_coordinate(const Placed& placed) {
    if (placed.x) return placed.box().lo.cwiseAbs().cwiseMax(placed.box().hi.cwiseAbs()).maxCoeff();
    return placed.q.col(3).cwiseAbs().maxCoeff() + placed.surface->radius;
}

// All pairs of cells whose boxes are less than `reach` apart; false when they are too many.
bool NearCells::gather(const Placed& a, const Placed& b, double reach) {
    near_.clear();
    travelled_ = reach_ = 0.0;
    const NodeBoxes boxes_a(a), boxes_b(b);
    const auto inflated = [&](int node) {
        Box3 box = boxes_a(node);
        box.inflate(reach);
        return box;
    };
    const bool too_many = visit_leaves(
        a.surface->tree, b.surface->tree, inflated, boxes_b, [&](const Node& na, const Node& nb) {
            const LeafBoxes first(a, na), second(b, nb);
            for (int i = 0; i < first.count; ++i) {
                if (squared_gap(first.box[i], second.all) >= reach * reach) continue;
                for (int j = 0; j < second.count; ++j) {
                    const double gap = squared_gap(first.box[i], second.box[j]);
                    if (gap < reach * reach)
                        near_.push_back({first.cell[i], second.cell[j], std::sqrt(gap), Vec3::Zero()});
                }
            }
            return near_.size() > most_cells;
        });
    if (too_many) return false;
    reach_ = reach;
    return true;
}

SweepHit NearCells::advance(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1,
                            double approach) {
    looked_ = false;
    if (!touched_ && travelled_ + approach >= reach_) {
        const double most = long_piece * (a0.surface->radius + b0.surface->radius);
        const double reach = std::min(pieces_ahead * approach, most);
        looked_ = true;
        if (!(reach > approach) || !gather(a0, b0, reach)) {
            reach_ = travelled_ = 0.0;
            const SweepHit hit = sweep(a0, a1, b0, b1);
            touched_ = hit.hit;
            return hit;
        }
    }
    if (touched_) {
        looked_ = true;
        return sweep(a0, a1, b0, b1);
    }
    // Ends are taken in a frame that moves with b, as in `sweep`.
    const Vec3 travel =
        carried(b1.q, b1.surface->tree.nodes()[0].center) - carried(b0.q, b0.surface->tree.nodes()[0].center);
    const double margin = path_rounding * (largest_coordinate(a0) + largest_coordinate(b0));
    for (Entry& entry : near_) {
        if (entry.safe > travelled_ + approach) continue;
        looked_ = true;
        const Corners a = a0.corners(entry.a), b = b0.corners(entry.b);
        // Cells that meet face to face need no closest points.
        if (entry.axis.isZero(0)) entry.axis = face_axis(a, b);
        // Along the axis that parted them before: a bound of their distance, or all the way when it is so at both ends.
        const double gap = gap_along(entry.axis, a, b);
        if (gap > approach + margin) {
            entry.safe = travelled_ + gap - margin;
            continue;
        }
        Corners a_end = a1.corners(entry.a), b_end = b1.corners(entry.b);
        shift(a_end, travel);
        shift(b_end, travel);
        if (gap > margin && gap_along(entry.axis, a_end, b_end) > margin) continue;
        const Closest nearest = closest(a, b);
        entry.axis = nearest.direction;
        entry.safe = travelled_ + nearest.distance;
        if (entry.safe > travelled_ + approach) continue;
        SweepHit hit = sweep_cells(a, a_end, b, b_end);
        if (!hit.hit) continue;
        hit.cell_a = entry.a;
        hit.cell_b = entry.b;
        touched_ = true;
        return hit;
    }
    travelled_ += approach;
    return {};
}

}  // namespace tenon::verify

#include "verify/sweep.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::verify {
namespace {

constexpr double shortest_part = 1e-12;  // of the motion: what cannot be separated in it counts as touching
constexpr double touching = 1e-13;       // relative to the cells' coordinates
constexpr std::size_t small_surface = 40;

struct MovingCell {
    Corners start, end;
};

struct Interval {
    double lo = 1e300, hi = -1e300;
};

struct Candidate {
    double squared = 1e300;
    Vec3 offset = Vec3::Zero();  // from a to b

    void consider(const Vec3& from, const Vec3& to) {
        const Vec3 d = to - from;
        const double s = d.squaredNorm();
        if (s < squared) {
            squared = s;
            offset = d;
        }
    }
};

inline Vec3 nearest_on_segment(const Vec3& p, const Vec3& a, const Vec3& b) {
    const Vec3 ab = b - a;
    const double length = ab.squaredNorm();
    if (length == 0) return a;
    return a + std::clamp((p - a).dot(ab) / length, 0.0, 1.0) * ab;
}

// Where the nearest points lie inside both segments; other nearest pairs have a corner in them.
void inside_both(const Vec3& p0, const Vec3& p1, const Vec3& q0, const Vec3& q1, Candidate& best) {
    const Vec3 u = p1 - p0, v = q1 - q0, w = p0 - q0;
    const double uu = u.squaredNorm(), uv = u.dot(v), vv = v.squaredNorm();
    const double det = uu * vv - uv * uv;
    if (!(det > 1e-14 * uu * vv)) return;
    const double uw = u.dot(w), vw = v.dot(w);
    const double s = uv * vw - vv * uw, t = uu * vw - uv * uw;  // times det
    if (s > 0 && s < det && t > 0 && t < det) best.consider(p0 + s / det * u, q0 + t / det * v);
}

// The foot of p in the triangle's plane, when it lies inside; edges are covered by the segments.
bool foot_inside(const Vec3& p, const Corners& t, Vec3& foot) {
    const Vec3 e1 = t[1] - t[0], e2 = t[2] - t[0], normal = e1.cross(e2);
    const double area = normal.squaredNorm();
    if (area <= 1e-28 * e1.squaredNorm() * e2.squaredNorm()) return false;
    const Vec3 d = p - t[0];
    const double b1 = d.cross(e2).dot(normal) / area, b2 = e1.cross(d).dot(normal) / area;
    if (b1 < 0 || b2 < 0 || b1 + b2 > 1) return false;
    foot = p - normal * (d.dot(normal) / area);
    return true;
}

Corners between(const Corners& from, const Corners& to, double t) {
    return {from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]),
            from[2] + t * (to[2] - from[2])};
}

double largest_coordinate(const Corners& corners) {
    return std::max({corners[0].cwiseAbs().maxCoeff(), corners[1].cwiseAbs().maxCoeff(),
                     corners[2].cwiseAbs().maxCoeff()});
}

// Two cells at a time of their motion, with the direction between their closest points.
struct Stop {
    double t = 0.0;
    Corners a, b;
    Closest nearest;
};

// The axis turns evenly from n at `s` to m at `e`; along it the gap between two corners is a quadratic function of
// time, and positive when its three Bernstein coefficients are.
bool apart_along(const Stop& s, const Stop& e, const Vec3& n, const Vec3& m) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const Vec3 start = s.b[j] - s.a[i], end = e.b[j] - e.a[i];
            if (!(n.dot(start) > 0 && m.dot(end) > 0 && n.dot(end) + m.dot(start) > 0)) return false;
        }
    return true;
}

// The cell's normal on the side of `towards`.
Vec3 normal_towards(const Corners& cell, const Vec3& towards) {
    const Vec3 normal = (cell[1] - cell[0]).cross(cell[2] - cell[0]).stableNormalized();
    return normal.dot(towards) < 0 ? Vec3(-normal) : normal;
}

// Across one edge of each cell, on the side of `towards`.
Vec3 across_edges(const Corners& a, int i, const Corners& b, int j, const Vec3& towards) {
    const Vec3 across = (a[(i + 1) % 3] - a[i]).cross(b[(j + 1) % 3] - b[j]).stableNormalized();
    return across.dot(towards) < 0 ? Vec3(-across) : across;
}

// The closest points say where to look. Where edges are nearly parallel their place is lost to round-off, and with it
// the direction between cells that are microns apart: then the normals serve, or what is across two edges.
bool apart_between(const Stop& s, const Stop& e) {
    const Vec3 &n = s.nearest.direction, &m = e.nearest.direction;
    if (apart_along(s, e, n, m) || apart_along(s, e, normal_towards(s.a, n), normal_towards(e.a, m)) ||
        apart_along(s, e, normal_towards(s.b, n), normal_towards(e.b, m)))
        return true;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (apart_along(s, e, across_edges(s.a, i, s.b, j, n), across_edges(e.a, i, e.b, j, m)))
                return true;
    return false;
}

// Apart along `axis` on the same side at both ends, and therefore all the way.
bool apart_along(const Vec3& axis, double margin, const Corners& a0, const Corners& a1, const Corners& b0,
                 const Corners& b1) {
    const auto range = [&](const Corners& c) {
        const double p = axis.dot(c[0]), q = axis.dot(c[1]), r = axis.dot(c[2]);
        return Interval{std::min({p, q, r}), std::max({p, q, r})};
    };
    const Interval sa = range(a0), sb = range(b0);
    if (sb.lo > sa.hi + margin) return range(b1).lo > range(a1).hi + margin;
    if (sa.lo > sb.hi + margin) return range(a1).lo > range(b1).hi + margin;
    return false;
}

// The cheap axes first: those of the world and the two normals. They settle most pairs.
bool clearly_apart(const Corners& a0, const Corners& a1, const Corners& b0, const Corners& b1,
                   double margin) {
    for (int k = 0; k < 3; ++k)
        if (apart_along(Vec3::Unit(k), margin, a0, a1, b0, b1)) return true;
    for (const Corners* cell : {&a0, &b0}) {
        const Vec3 normal = ((*cell)[1] - (*cell)[0]).cross((*cell)[2] - (*cell)[0]);
        const double length = normal.norm();
        if (length > 0 && apart_along(normal / length, margin, a0, a1, b0, b1)) return true;
    }
    return false;
}

void shift(Corners& corners, const Vec3& by) {
    for (Vec3& corner : corners) corner -= by;
}

Box3 shifted(Box3 box, const Vec3& by) {
    box.lo -= by;
    box.hi -= by;
    return box;
}

Interval extent_along(const std::vector<Vec3>& points, const Vec3& axis) {
    Interval interval;
    for (const Vec3& point : points) {
        const double s = axis.dot(point);
        interval.lo = std::min(interval.lo, s);
        interval.hi = std::max(interval.hi, s);
    }
    return interval;
}

std::vector<Vec3> positions(const Placed& placed) {
    std::vector<Vec3> points;
    for (std::size_t i = 0; i < placed.surface->vertices.size(); ++i)
        points.push_back(placed.vertex(static_cast<int>(i)));
    return points;
}

}  // namespace

Closest closest(const Corners& a, const Corners& b) {
    Candidate best;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const Vec3 &a0 = a[i], &a1 = a[(i + 1) % 3], &b0 = b[j], &b1 = b[(j + 1) % 3];
            best.consider(a0, nearest_on_segment(a0, b0, b1));
            best.consider(nearest_on_segment(b0, a0, a1), b0);
            inside_both(a0, a1, b0, b1, best);
        }
    Vec3 foot;
    for (int k = 0; k < 3; ++k) {
        if (foot_inside(a[k], b, foot)) best.consider(a[k], foot);
        if (foot_inside(b[k], a, foot)) best.consider(foot, b[k]);
    }
    Closest result;
    result.distance = std::sqrt(best.squared);
    if (result.distance > 0) result.direction = best.offset / result.distance;
    return result;
}

// Halves the time until a turning axis separates the cells in each part, or until they touch.
SweepHit sweep_cells(const Corners& a0, const Corners& a1, const Corners& b0, const Corners& b1) {
    const double scale = std::max(
        {largest_coordinate(a0), largest_coordinate(a1), largest_coordinate(b0), largest_coordinate(b1)});
    SweepHit result;
    if (clearly_apart(a0, a1, b0, b1, 10 * touching * scale)) return result;
    const auto stop_at = [&](double t) {
        Stop stop{t, between(a0, a1, t), between(b0, b1, t), {}};
        stop.nearest = closest(stop.a, stop.b);
        return stop;
    };
    Stop from = stop_at(0.0);
    // Most that are near go on as they are: the direction between them at the start then serves all the way.
    if (from.nearest.distance > touching * scale &&
        apart_along(from.nearest.direction, 10 * touching * scale, a0, a1, b0, b1))
        return result;
    std::vector<Stop> ahead{stop_at(1.0)};  // ends of the parts still to be settled, the nearest last
    while (!ahead.empty()) {
        const Stop& to = ahead.back();
        if (from.nearest.distance <= touching * scale) break;
        if (apart_between(from, to)) {
            from = to;
            ahead.pop_back();
            continue;
        }
        result.normal = from.nearest.direction;
        if (to.t - from.t < shortest_part) break;
        ahead.push_back(stop_at(0.5 * (from.t + to.t)));
    }
    result.hit = !ahead.empty() || from.nearest.distance <= touching * scale;
    result.at = result.hit ? from.t : 1.0;
    return result;
}

SweepHit sweep(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1) {
    if (a0.surface->tree.empty() || b0.surface->tree.empty() || kept_apart(a0, a1, b0, b1)) return {};
    // Boxes are taken in a frame that moves with b: neighbours that travel together sweep little.
    const Vec3 travel = b1.box().center() - b0.box().center();
    const double margin = 1e-15 * travel.cwiseAbs().maxCoeff();
    const auto swept = [&](const Placed& start, const Placed& end) {
        return [&, at_start = NodeBoxes(start), at_end = NodeBoxes(end)](int node) {
            Box3 box = shifted(at_end(node), travel);
            box.inflate(margin);
            box.add(at_start(node));
            return box;
        };
    };
    const auto gather = [&](const Placed& start, const Placed& end, const Node& leaf) {
        LeafCells<MovingCell> cells;
        cells.count = leaf.count;
        for (int k = 0; k < leaf.count; ++k) {
            const int cell = start.surface->tree.order()[leaf.first + k];
            cells.cell[k] = {start.corners(cell), end.corners(cell)};
            shift(cells.cell[k].end, travel);
            for (const Vec3& corner : cells.cell[k].start) cells.box[k].add(corner);
            for (const Vec3& corner : cells.cell[k].end) cells.box[k].add(corner);
        }
        return cells;
    };
    SweepHit result;
    visit_leaves(a0.surface->tree, b0.surface->tree, swept(a0, a1), swept(b0, b1),
                 [&](const Node& na, const Node& nb) {
                     const auto first = gather(a0, a1, na), second = gather(b0, b1, nb);
                     for (int i = 0; i < first.count; ++i)
                         for (int j = 0; j < second.count; ++j) {
                             if (!first.box[i].overlaps(second.box[j])) continue;
                             const MovingCell &ca = first.cell[i], &cb = second.cell[j];
                             result = sweep_cells(ca.start, ca.end, cb.start, cb.end);
                             if (!result.hit) continue;
                             result.cell_a = a0.surface->tree.order()[na.first + i];
                             result.cell_b = b0.surface->tree.order()[nb.first + j];
                             return true;
                         }
                     return false;
                 });
    return result;
}

bool kept_apart(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1) {
    if (a0.surface->vertices.size() > small_surface || b0.surface->vertices.size() > small_surface)
        return false;
    const std::vector<Vec3> pa0 = positions(a0), pa1 = positions(a1), pb0 = positions(b0),
                            pb1 = positions(b1);
    const double margin = 1e-12 * (1 + std::max({pa0[0].norm() + a0.surface->radius, pa1[0].norm(),
                                                 pb0[0].norm() + b0.surface->radius, pb1[0].norm()}));
    const auto separates = [&](const Vec3& direction) {
        const double length = direction.norm();
        if (!(length > 1e-6)) return false;
        const Vec3 axis = direction / length;
        const Interval ia0 = extent_along(pa0, axis), ib0 = extent_along(pb0, axis);
        const bool above = ib0.lo > ia0.hi + margin, below = ia0.lo > ib0.hi + margin;
        if (!above && !below) return false;
        const Interval ia1 = extent_along(pa1, axis), ib1 = extent_along(pb1, axis);
        return above ? ib1.lo > ia1.hi + margin : ia1.lo > ib1.hi + margin;
    };
    for (const Placed* placed : {&a0, &b0, &a1, &b1}) {
        if (placed->x) continue;
        for (int k = 0; k < 3; ++k)
            if (separates(placed->q.col(k))) return true;
    }
    return separates(b0.box().center() - a0.box().center());
}

}  // namespace tenon::verify

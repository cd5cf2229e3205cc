#include "geometry/distance.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::geometry {
namespace {

// sin^2 of the angle below which two directions count as parallel. Above it an error in the angle is an error of
// round-off size in the distance, as long as the last weight is found by projection (see the feet below).
constexpr double parallel_sine_squared = 1e-30;

// Parameter of the point of e0 + t u nearest to e0 + offset, in [0, 1]; 0 for an edge without length.
double clamped_parameter(const Vec3& offset, const Vec3& u) {
    const double numerator = offset.dot(u), length = u.squaredNorm();
    if (!(numerator > 0.0)) return 0.0;
    return numerator < length ? numerator / length : 1.0;
}

// A vertex against an edge, as part of a larger pair. `sign` is the side of the point.
struct PointEdge {
    double squared = 1e300, t = 0.0;
    Vec3 difference;  // point minus edge
};

PointEdge point_edge(const Vec3& p, const Vec3& e0, const Vec3& e1) {
    PointEdge result;
    const Vec3 u = e1 - e0, offset = p - e0;
    result.t = clamped_parameter(offset, u);
    // From the nearer end: at t = 1 exactly the point-point difference.
    result.difference = result.t < 1.0 ? Vec3(offset - result.t * u) : Vec3(p - e1);
    result.squared = result.difference.squaredNorm();
    return result;
}

std::uint8_t bit(int i) {
    return static_cast<std::uint8_t>(1u << i);
}

// Fills in the sub-case "vertex `point` against edge (e0, e1)"; the point may be on either side.
void set_point_edge(Closest& c, const PointEdge& found, int point, int e0, int e1) {
    const double sign = point < c.first_side ? 1.0 : -1.0;
    c.squared = found.squared;
    c.difference = sign * found.difference;
    c.weight = {};
    c.weight[point] = sign;
    c.weight[e0] = -sign * (1.0 - found.t);
    c.weight[e1] = -sign * found.t;
    c.active = bit(point);
    if (found.t < 1.0) c.active |= bit(e0);
    if (found.t > 0.0) c.active |= bit(e1);
    const bool inside = found.t > 0.0 && found.t < 1.0;
    c.sub_case = inside ? SubCase::point_edge : SubCase::point_point;
}

// Where the plane of a triangle is nearest to the origin of `w` = p - t0: weights of t1 and t2.
struct PlaneFoot {
    bool degenerate = false;
    double b1 = 0.0, b2 = 0.0;
    bool inside() const { return !degenerate && b1 > 0.0 && b2 > 0.0 && b1 + b2 < 1.0; }
};

PlaneFoot plane_foot(const Vec3& w, const Vec3& u, const Vec3& v) {
    PlaneFoot foot;
    const Vec3 n = u.cross(v);
    const double n2 = n.squaredNorm();
    if (!(n2 > parallel_sine_squared * u.squaredNorm() * v.squaredNorm())) {
        foot.degenerate = true;
        return foot;
    }
    foot.b2 = u.cross(w).dot(n) / n2;
    // Projected, not computed alone: in slivers an error in b2 then moves the foot across the sliver, not along it.
    foot.b1 = u.dot(w - foot.b2 * v) / u.squaredNorm();
    return foot;
}

// Parameters of the closest points of two lines, or `parallel`.
struct LineFoot {
    bool parallel = false;
    double s = 0.0, t = 0.0;
    bool inside() const { return !parallel && s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0; }
};

LineFoot line_foot(const Vec3& w, const Vec3& u, const Vec3& v) {
    LineFoot foot;
    const Vec3 n = u.cross(v);
    const double n2 = n.squaredNorm(), v2 = v.squaredNorm();
    if (!(n2 > parallel_sine_squared * u.squaredNorm() * v2)) {
        foot.parallel = true;
        return foot;
    }
    foot.s = v.cross(w).dot(n) / n2;
    // Projected onto the second line rather than computed alone: for nearly parallel edges an error in s
    // then stays in the direction in which the distance hardly changes.
    foot.t = v.dot(w + foot.s * u) / v2;
    return foot;
}

}  // namespace

Closest closest_point_point(const Vec3& p, const Vec3& q) {
    Closest c;
    c.difference = p - q;
    c.squared = c.difference.squaredNorm();
    c.weight = {1.0, -1.0, 0.0, 0.0};
    c.active = 0b11;
    return c;
}

Closest closest_point_edge(const Vec3& p, const Vec3& e0, const Vec3& e1) {
    Closest c;
    c.vertices = 3;
    set_point_edge(c, point_edge(p, e0, e1), 0, 1, 2);
    return c;
}

Closest closest_point_triangle(const Vec3& p, const Vec3& t0, const Vec3& t1, const Vec3& t2) {
    Closest c;
    c.vertices = 4;
    const Vec3 u = t1 - t0, v = t2 - t0, w = p - t0;
    const PlaneFoot foot = plane_foot(w, u, v);
    if (foot.inside()) {
        c.difference = w - foot.b1 * u - foot.b2 * v;
        c.squared = c.difference.squaredNorm();
        c.weight = {1.0, -(1.0 - foot.b1 - foot.b2), -foot.b1, -foot.b2};
        c.active = 0b1111;
        c.sub_case = SubCase::point_triangle;
        return c;
    }
    // The closest point lies on an edge that the foot is beyond.
    c.squared = 1e300;
    auto try_edge = [&](int i, int j, const Vec3& e0, const Vec3& e1) {
        const PointEdge found = point_edge(p, e0, e1);
        if (found.squared < c.squared) set_point_edge(c, found, 0, i, j);
    };
    if (foot.degenerate || !(foot.b2 > 0.0)) try_edge(1, 2, t0, t1);
    if (foot.degenerate || !(foot.b1 + foot.b2 < 1.0)) try_edge(2, 3, t1, t2);
    if (foot.degenerate || !(foot.b1 > 0.0)) try_edge(1, 3, t0, t2);
    return c;
}

Closest closest_edge_edge(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
    Closest c;
    c.vertices = 4;
    c.first_side = 2;
    const Vec3 u = a1 - a0, v = b1 - b0, w = a0 - b0;
    const LineFoot foot = line_foot(w, u, v);
    if (foot.inside()) {
        c.difference = w + foot.s * u - foot.t * v;
        c.squared = c.difference.squaredNorm();
        c.weight = {1.0 - foot.s, foot.s, -(1.0 - foot.t), -foot.t};
        c.active = 0b1111;
        c.sub_case = SubCase::edge_edge;
        return c;
    }
    // A convex function over the unit square has its minimum on a side that its free minimum is beyond.
    c.squared = 1e300;
    auto try_point = [&](const Vec3& p, int point, const Vec3& e0, const Vec3& e1, int i, int j) {
        const PointEdge found = point_edge(p, e0, e1);
        if (found.squared < c.squared) set_point_edge(c, found, point, i, j);
    };
    if (foot.parallel || !(foot.s > 0.0)) try_point(a0, 0, b0, b1, 2, 3);
    if (foot.parallel || !(foot.s < 1.0)) try_point(a1, 1, b0, b1, 2, 3);
    if (foot.parallel || !(foot.t > 0.0)) try_point(b0, 2, a0, a1, 0, 1);
    if (foot.parallel || !(foot.t < 1.0)) try_point(b1, 3, a0, a1, 0, 1);
    return c;
}

double squared_distance_point_edge(const Vec3& p, const Vec3& e0, const Vec3& e1) {
    return point_edge(p, e0, e1).squared;
}

double squared_distance_point_triangle(const Vec3& p, const Vec3& t0, const Vec3& t1, const Vec3& t2) {
    const Vec3 u = t1 - t0, v = t2 - t0, w = p - t0;
    const PlaneFoot foot = plane_foot(w, u, v);
    if (foot.inside()) return (w - foot.b1 * u - foot.b2 * v).squaredNorm();
    double best = 1e300;
    if (foot.degenerate || !(foot.b2 > 0.0)) best = std::min(best, point_edge(p, t0, t1).squared);
    if (foot.degenerate || !(foot.b1 + foot.b2 < 1.0)) best = std::min(best, point_edge(p, t1, t2).squared);
    if (foot.degenerate || !(foot.b1 > 0.0)) best = std::min(best, point_edge(p, t0, t2).squared);
    return best;
}

double squared_distance_edge_edge(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
    const Vec3 u = a1 - a0, v = b1 - b0, w = a0 - b0;
    const LineFoot foot = line_foot(w, u, v);
    if (foot.inside()) return (w + foot.s * u - foot.t * v).squaredNorm();
    double best = 1e300;
    if (foot.parallel || !(foot.s > 0.0)) best = std::min(best, point_edge(a0, b0, b1).squared);
    if (foot.parallel || !(foot.s < 1.0)) best = std::min(best, point_edge(a1, b0, b1).squared);
    if (foot.parallel || !(foot.t > 0.0)) best = std::min(best, point_edge(b0, a0, a1).squared);
    if (foot.parallel || !(foot.t < 1.0)) best = std::min(best, point_edge(b1, a0, a1).squared);
    return best;
}

Curvature curvature(const Closest& c, const std::array<Vec3, 4>& x) {
    // Free parameters: on each side, weight moves from its first active vertex to each further one.
    Curvature result;
    std::array<int, 2> from{}, to{};
    std::array<double, 2> sign{};
    int base[2] = {-1, -1};
    for (int i = 0; i < c.vertices; ++i) {
        if (!c.takes_part(i)) continue;
        const int side = i < c.first_side ? 0 : 1;
        if (base[side] < 0) {
            base[side] = i;
            continue;
        }
        from[result.count] = base[side];
        to[result.count] = i;
        sign[result.count] = side == 0 ? 1.0 : -1.0;
        ++result.count;
    }

    // c_k = v_k (x) r + w (x) t_k, made conjugate by the LDL^T factors of G: sum scale u u^T = 2 C G^-1 C^T.
    std::array<Vec3, 2> t;
    for (int k = 0; k < result.count; ++k) {
        t[k] = sign[k] * (x[to[k]] - x[from[k]]);
        for (int i = 0; i < 4; ++i) result.direction[k][i] = c.weight[i] * t[k];
        result.direction[k][to[k]] += sign[k] * c.difference;
        result.direction[k][from[k]] -= sign[k] * c.difference;
    }
    if (result.count == 0) return result;
    const double g00 = t[0].squaredNorm();
    result.scale[0] = 2.0 / g00;
    if (result.count == 2) {
        // The Schur complement of G, as |t0 x t1|^2 / |t0|^2: no cancellation for small angles.
        const double ratio = t[0].dot(t[1]) / g00;
        result.scale[1] = 2.0 * g00 / t[0].cross(t[1]).squaredNorm();
        for (int i = 0; i < 4; ++i) result.direction[1][i] -= ratio * result.direction[0][i];
    }
    return result;
}

Mat3 hessian_block(const Closest& closest, const Curvature& curvature, int i, int j) {
    Mat3 block = Mat3::Zero();
    block.diagonal().setConstant(2.0 * closest.weight[i] * closest.weight[j]);
    for (int k = 0; k < curvature.count; ++k)
        block.noalias() -=
            curvature.scale[k] * curvature.direction[k][i] * curvature.direction[k][j].transpose();
    return block;
}

Mat12 hessian(const Closest& closest, const std::array<Vec3, 4>& x) {
    const Curvature factors = curvature(closest, x);
    Mat12 h;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j <= i; ++j) {
            const Mat3 block = hessian_block(closest, factors, i, j);
            h.block<3, 3>(3 * i, 3 * j) = block;
            if (i != j) h.block<3, 3>(3 * j, 3 * i) = block.transpose();
        }
    }
    return h;
}

Vec12 gradient(const Closest& closest) {
    Vec12 g;
    for (int i = 0; i < 4; ++i) g.segment<3>(3 * i) = closest.gradient(i);
    return g;
}

// c = |u x v|^2 = (u.u)(v.v) - (u.v)^2 and its derivatives.

Mollifier mollifier(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1, double threshold) {
    Mollifier m;
    const Vec3 u = a1 - a0, v = b1 - b0;
    const Vec3 n = u.cross(v);
    const double c = n.squaredNorm();
    if (!(c < threshold)) return m;
    const double ratio = c / threshold;
    m.active = true;
    m.value = (2.0 - ratio) * ratio;
    const double slope = 2.0 * (1.0 - ratio) / threshold;
    // dc/du = 2 v x n, dc/dv = 2 n x u: the same as 2((v.v) u - (u.v) v), without its cancellation.
    m.gradient[1] = 2.0 * slope * v.cross(n);
    m.gradient[3] = 2.0 * slope * n.cross(u);
    m.gradient[0] = -m.gradient[1];
    m.gradient[2] = -m.gradient[3];
    return m;
}

Mat12 mollifier_hessian(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1, double threshold) {
    const Vec3 u = a1 - a0, v = b1 - b0;
    const Vec3 n = u.cross(v);
    const double c = n.squaredNorm();
    if (!(c < threshold)) return Mat12::Zero();
    const double slope = 2.0 * (1.0 - c / threshold) / threshold, bend = -2.0 / (threshold * threshold);
    const Vec3 cu = 2.0 * v.cross(n), cv = 2.0 * n.cross(u);
    const Mat3 identity = Mat3::Identity();
    const Mat3 uu =
        2.0 * slope * (v.squaredNorm() * identity - v * v.transpose()) + bend * cu * cu.transpose();
    const Mat3 vv =
        2.0 * slope * (u.squaredNorm() * identity - u * u.transpose()) + bend * cv * cv.transpose();
    const Mat3 uv = 2.0 * slope * (2.0 * u * v.transpose() - v * u.transpose() - u.dot(v) * identity) +
                    bend * cu * cv.transpose();
    // u = a1 - a0 and v = b1 - b0.
    Mat12 h;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            const double sign = (i % 2 == j % 2) ? 1.0 : -1.0;
            if (i < 2 && j < 2) h.block<3, 3>(3 * i, 3 * j) = sign * uu;
            if (i >= 2 && j >= 2) h.block<3, 3>(3 * i, 3 * j) = sign * vv;
            if (i < 2 && j >= 2) h.block<3, 3>(3 * i, 3 * j) = sign * uv;
            if (i >= 2 && j < 2) h.block<3, 3>(3 * i, 3 * j) = sign * uv.transpose();
        }
    }
    return h;
}

}  // namespace tenon::geometry

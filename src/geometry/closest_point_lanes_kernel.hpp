// The arithmetic of closest_point_lanes.hpp on vectors of four numbers; included once for each instruction set.
#pragma once

#include <cstring>

#include "geometry/closest_point_lanes.hpp"
#include "geometry/four_lanes.hpp"

namespace tenon::geometry {
namespace {

constexpr double parallel_sine_squared = 1e-30;  // as in distance.cpp

inline Mask bit_where(const Mask& mask, int bit) {
    return mask & (std::int64_t{1} << bit);
}

inline Four3 load(const PairCorners* from, int corner) {
    return load(from[0][corner], from[1][corner], from[2][corner], from[3][corner]);
}

// The nearest point on an edge, where it is nearer than what was found before.
struct Nearest {
    Four squared, s, t;
    Four3 difference;
    Mask active;
};

// A point `offset` away from the start of an edge u, `beyond` away from its end.
struct PointEdge {
    Four squared, t;
    Four3 difference;
};

inline PointEdge point_edge(const Four3& offset, const Four3& beyond, const Four3& u, const Four& length) {
    PointEdge out;
    const Four numerator = dot(offset, u), zero = all(0.0), one = all(1.0);
    const Mask ahead = numerator > zero, inside = numerator < length;
    const Four quotient = numerator / (inside ? length : one);
    out.t = ahead ? (inside ? quotient : one) : zero;
    out.difference = choose(out.t < one, offset - out.t * u, beyond);
    out.squared = dot(out.difference, out.difference);
    return out;
}

inline void store(const Nearest& found, ClosestFour& out) {
    const auto put = [](double* to, const Four& value) { simd::store(to, value); };
    put(out.squared, found.squared);
    put(out.difference[0], found.difference.x);
    put(out.difference[1], found.difference.y);
    put(out.difference[2], found.difference.z);
    put(out.s, found.s);
    put(out.t, found.t);
    std::memcpy(out.active, &found.active, sizeof(Mask));
}

inline void keep_nearer(Nearest& best, const Mask& counts, const PointEdge& edge, const Four3& difference,
                        const Four& s, const Four& t, const Mask& active) {
    const Mask nearer = counts & (edge.squared < best.squared);
    best.squared = nearer ? edge.squared : best.squared;
    best.difference = choose(nearer, difference, best.difference);
    best.s = nearer ? s : best.s;
    best.t = nearer ? t : best.t;
    best.active = nearer ? active : best.active;
}

inline void point_triangle(const PairCorners* corners, ClosestFour& out) {
    const Four3 p = load(corners, 0), t0 = load(corners, 1), t1 = load(corners, 2), t2 = load(corners, 3);
    const Four zero = all(0.0), one = all(1.0);
    const Four3 u = t1 - t0, v = t2 - t0, w = p - t0, w1 = p - t1, w2 = p - t2, n = cross(u, v);
    const Four n2 = dot(n, n), uu = dot(u, u), vv = dot(v, v);
    const Mask flat = ~(n2 > parallel_sine_squared * uu * vv);
    const Four b2 = dot(cross(u, w), n) / (flat ? one : n2);
    const Four b1 = dot(u, w - b2 * v) / (flat ? one : uu);
    const Mask past01 = flat | ~(b2 > zero), past12 = flat | ~(b1 + b2 < one), past02 = flat | ~(b1 > zero);
    const Mask outside = past01 | past12 | past02;
    Nearest best;
    best.difference = w - b1 * u - b2 * v;
    best.squared = outside ? all(1e300) : dot(best.difference, best.difference);
    best.s = b1;
    best.t = b2;
    best.active = Mask{15, 15, 15, 15};
    const Mask point = {1, 1, 1, 1};
    const PointEdge e01 = point_edge(w, w1, u, uu);
    keep_nearer(best, past01, e01, e01.difference, e01.t, zero,
                point | bit_where(e01.t < one, 1) | bit_where(e01.t > zero, 2));
    const Four3 d = t2 - t1;
    const PointEdge e12 = point_edge(w1, w2, d, dot(d, d));
    keep_nearer(best, past12, e12, e12.difference, one - e12.t, e12.t,
                point | bit_where(e12.t < one, 2) | bit_where(e12.t > zero, 3));
    const PointEdge e02 = point_edge(w, w2, v, vv);
    keep_nearer(best, past02, e02, e02.difference, zero, e02.t,
                point | bit_where(e02.t < one, 1) | bit_where(e02.t > zero, 3));
    store(best, out);
}

inline void edge_edge(const PairCorners* corners, ClosestFour& out) {
    const Four3 a0 = load(corners, 0), a1 = load(corners, 1), b0 = load(corners, 2), b1 = load(corners, 3);
    const Four zero = all(0.0), one = all(1.0);
    const Four3 u = a1 - a0, v = b1 - b0, w = a0 - b0, n = cross(u, v);
    const Four n2 = dot(n, n), uu = dot(u, u), vv = dot(v, v);
    const Mask parallel = ~(n2 > parallel_sine_squared * uu * vv);
    const Four s = dot(cross(v, w), n) / (parallel ? one : n2);
    const Four t = dot(v, w + s * u) / (parallel ? one : vv);
    const Mask past_a0 = parallel | ~(s > zero), past_a1 = parallel | ~(s < one),
               past_b0 = parallel | ~(t > zero), past_b1 = parallel | ~(t < one);
    const Mask outside = past_a0 | past_a1 | past_b0 | past_b1;
    Nearest best;
    best.difference = w + s * u - t * v;
    best.squared = outside ? all(1e300) : dot(best.difference, best.difference);
    best.s = s;
    best.t = t;
    best.active = Mask{15, 15, 15, 15};
    const auto one_point = [](int i) { return Mask{1 << i, 1 << i, 1 << i, 1 << i}; };
    const auto turned = [](const Four3& d) { return Four3{-d.x, -d.y, -d.z}; };
    const Four3 a0b1 = a0 - b1, a1b0 = a1 - b0, a1b1 = a1 - b1;
    const PointEdge from_a0 = point_edge(w, a0b1, v, vv);
    keep_nearer(best, past_a0, from_a0, from_a0.difference, zero, from_a0.t,
                one_point(0) | bit_where(from_a0.t < one, 2) | bit_where(from_a0.t > zero, 3));
    const PointEdge from_a1 = point_edge(a1b0, a1b1, v, vv);
    keep_nearer(best, past_a1, from_a1, from_a1.difference, one, from_a1.t,
                one_point(1) | bit_where(from_a1.t < one, 2) | bit_where(from_a1.t > zero, 3));
    const PointEdge from_b0 = point_edge(turned(w), turned(a1b0), u, uu);
    keep_nearer(best, past_b0, from_b0, turned(from_b0.difference), from_b0.t, zero,
                one_point(2) | bit_where(from_b0.t < one, 0) | bit_where(from_b0.t > zero, 1));
    const PointEdge from_b1 = point_edge(turned(a0b1), turned(a1b1), u, uu);
    keep_nearer(best, past_b1, from_b1, turned(from_b1.difference), from_b1.t, one,
                one_point(3) | bit_where(from_b1.t < one, 0) | bit_where(from_b1.t > zero, 1));
    store(best, out);
}

void point_triangles(const PairCorners* corners, int groups, ClosestFour* out) {
    for (int g = 0; g < groups; ++g) point_triangle(corners + four * g, out[g]);
}

void edge_edges(const PairCorners* corners, int groups, ClosestFour* out) {
    for (int g = 0; g < groups; ++g) edge_edge(corners + four * g, out[g]);
}

}  // namespace
}  // namespace tenon::geometry

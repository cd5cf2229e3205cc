// Conservative continuous collision detection on straight vertex paths x(t) = x0 + t (x1 - x0), t in [0, 1].
//
// Additive advancement: time is added in steps, each of which provably keeps the distance above a target, so that
// stopping anywhere is safe. Two lower bounds on the distance d(t + h) of two convex primitives give a step:
//   - speed: every difference of a point on the first and one on the second is a convex combination of vertex
//     differences, so d falls no faster than l = max_ij |v_i - v_j|;
//   - support: along any unit direction n, d(t + h) >= min_ij n . (x_i - x_j + h (v_i - v_j)). With n from the
//     current closest points this ignores sliding and ends separating motion at once.
// Where neither reaches far, a longer step is tried and kept if a direction that turns from the closest points before
// it to those after it proves the way between clear: rotation then costs little more than translation.
// All bounds see velocity differences only: common translation is free, however fast.
#pragma once

#include <array>

#include "tenon/types.hpp"

namespace tenon::geometry {

struct CcdOptions {
    double min_separation = 0.0;  // distance that must never be undercut
    double keep = 0.1;            // share of the initial gap (distance - min_separation) that must remain
    double keep_at_most = 1e300;  // of the gap, in metres: all that a wide one must keep
    double keep_at_least = 0.0;   // of the gap, in metres: a narrower one may not shrink at all
    double t_max = 1.0;           // later times are of no interest
    int max_iterations = 256;     // reaching it returns an earlier, still safe time
};

// Largest proven t <= t_max at which the gap is still at least min(keep * gap(0), keep_at_most), and keep_at_least where
// it was that wide, on all of [0, t]; t_max when there is no hit. A result t < t_max is tight: the gap there has fallen to that within 5 %, unless the iteration cap
// was reached. Returns 0 when the start is not clear of min_separation (touching or intersecting included), as nothing
// can be guaranteed then. Vertices in the order of distance.hpp.
double ccd_point_point(const std::array<Vec3, 2>& start, const std::array<Vec3, 2>& end,
                       const CcdOptions& options = {});
double ccd_point_edge(const std::array<Vec3, 3>& start, const std::array<Vec3, 3>& end,
                      const CcdOptions& options = {});
double ccd_point_triangle(const std::array<Vec3, 4>& start, const std::array<Vec3, 4>& end,
                          const CcdOptions& options = {});
double ccd_edge_edge(const std::array<Vec3, 4>& start, const std::array<Vec3, 4>& end,
                     const CcdOptions& options = {});

// Whether an axis of the world keeps the first `split` of `count` vertices further from the others than `gap` all the
// way: a first look before the above, and much cheaper.
inline bool apart_along_axes(const std::array<Vec3, 4>& start, const std::array<Vec3, 4>& end, int split,
                             int count, double gap) {
    Vec3 lo[2][2], hi[2][2];  // of each side at each end
    for (int side = 0; side < 2; ++side) {
        const int first = side == 0 ? 0 : split, last = side == 0 ? split : count;
        lo[side][0] = hi[side][0] = start[first];
        lo[side][1] = hi[side][1] = end[first];
        for (int k = first + 1; k < last; ++k) {
            lo[side][0] = lo[side][0].cwiseMin(start[k]);
            hi[side][0] = hi[side][0].cwiseMax(start[k]);
            lo[side][1] = lo[side][1].cwiseMin(end[k]);
            hi[side][1] = hi[side][1].cwiseMax(end[k]);
        }
    }
    const Vec3 above = (lo[0][0] - hi[1][0]).cwiseMin(lo[0][1] - hi[1][1]);
    const Vec3 below = (lo[1][0] - hi[0][0]).cwiseMin(lo[1][1] - hi[0][1]);
    const double rounding = 1e-14 * (start[0].lpNorm<1>() + end[0].lpNorm<1>() + gap);
    return above.cwiseMax(below).maxCoeff() > gap + rounding;
}

}  // namespace tenon::geometry

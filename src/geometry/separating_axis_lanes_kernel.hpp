// The arithmetic of separating_axis_lanes.hpp; included once for each instruction set.
#pragma once

#include "geometry/four_lanes.hpp"
#include "geometry/separating_axis_lanes.hpp"

namespace tenon::geometry {
namespace {

inline Four3 load_directions(const LooseDirection* all_directions, const int* pairs) {
    const auto row = [&](int k) {
        return __builtin_convertvector(simd::load<simd::Vector<float, 4>>(all_directions[pairs[k]].data()),
                                       Four);
    };
    Four r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
    simd::transpose(r0, r1, r2, r3);
    return {r0, r1, r2};
}

// Heights of all corners along the directions, at the start and at the end; the first `Split` must stay above the rest.
template <int Split>
inline Mask stay_apart(const MovingSides& sides, const std::array<int, 4>* corners,
                       const LooseDirection* directions, double t_max, double gap_squared, const int* pairs) {
    const Four3 n = load_directions(directions, pairs);
    const std::array<int, 4>&v0 = corners[pairs[0]], &v1 = corners[pairs[1]], &v2 = corners[pairs[2]],
                          &v3 = corners[pairs[3]];
    Four start[4], end[4];
    for (int k = 0; k < 4; ++k) {
        const double *x = sides.start[k >= Split], *step = sides.step[k >= Split];
        const auto along = [&](const double* from) {
            return dot(n, load(from + 3 * v0[k], from + 3 * v1[k], from + 3 * v2[k], from + 3 * v3[k]));
        };
        start[k] = along(x);
        end[k] = start[k] + t_max * along(step);
    }
    Four thinnest = start[0] - start[3];
    for (int i = 0; i < Split; ++i)
        for (int j = Split; j < 4; ++j)
            thinnest = simd::smaller(thinnest, simd::smaller(start[i] - start[j], end[i] - end[j]));
    // Not a number anywhere: not apart.
    Four sum = all(0.0);
    for (int k = 0; k < 4; ++k) sum += end[k];
    return (thinnest > all(0.0)) & (thinnest * thinnest > gap_squared * dot(n, n)) & (sum == sum);
}

template <int Split>
int keep_near(const MovingSides& sides, const std::array<int, 4>* corners, const LooseDirection* directions,
              double t_max, double gap, int* list, int count) {
    const double sure = gap + 1e-14 * sides.reach, squared = sure * sure * (1.0 + 1e-14);
    int kept = 0;
    for (int n = 0; n < count; n += 4) {
        const int lanes = count - n < 4 ? count - n : 4;
        int pairs[4];
        for (int k = 0; k < 4; ++k) pairs[k] = list[k < lanes ? n + k : n];
        const Mask apart = stay_apart<Split>(sides, corners, directions, t_max, squared, pairs);
        for (int k = 0; k < lanes; ++k) {
            list[kept] = pairs[k];
            kept += apart[k] == 0;
        }
    }
    return kept;
}

}  // namespace
}  // namespace tenon::geometry

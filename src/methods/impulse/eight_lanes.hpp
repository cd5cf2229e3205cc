// Eight floats, one for each of eight patches.
#pragma once

#include <cstdint>

#include "math/simd.hpp"

namespace tenon::impulse {
namespace {

constexpr int lanes = 8;
using Eight = simd::Vector<float, lanes>;
using Mask8 = simd::MaskOf<Eight>;
using Eight3 = simd::Triple<Eight>;
using simd::any, simd::larger, simd::smaller, simd::store;

TENON_SIMD Eight all_lanes(float x) {
    return simd::all<Eight>(x);
}
TENON_SIMD Eight load(const float* from) {
    return simd::load<Eight>(from);
}
TENON_SIMD Eight absolute(const Eight& a) {
    return simd::magnitude(a);
}
TENON_SIMD Eight square_root(const Eight& a) {
    return simd::root(a);
}

TENON_SIMD Eight3 load3(const float (*from)[lanes]) {
    return {load(from[0]), load(from[1]), load(from[2])};
}
TENON_SIMD void store3(float (*to)[lanes], const Eight3& v) {
    store(to[0], v.x);
    store(to[1], v.y);
    store(to[2], v.z);
}
TENON_SIMD Eight3 times(const Eight3& m, const Eight3& p) {
    return {m.x * p.x, m.y * p.y, m.z * p.z};
}
// A symmetric matrix: xx xy xz yy yz zz.
struct Symmetric8 {
    Eight xx, xy, xz, yy, yz, zz;
    TENON_SIMD explicit Symmetric8(const float (*I)[lanes])
        : xx(load(I[0])), xy(load(I[1])), xz(load(I[2])), yy(load(I[3])), yz(load(I[4])), zz(load(I[5])) {}
    TENON_SIMD Eight3 operator*(const Eight3& v) const {
        return {xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z,
                xz * v.x + yz * v.y + zz * v.z};
    }
};

// Linear and angular velocities, or displacements, of eight bodies; in memory eight floats a body: linear, 0, angular, 0.
struct Motion8 {
    Eight3 v, w;

    TENON_SIMD Motion8(const float* bodies, const std::int32_t* index) {
        Eight low[2][3];  // x, y, z and below them their angular ones, of bodies 0 to 3 and 4 to 7
        for (int half = 0; half < 2; ++half) {
            const std::int32_t* i = index + 4 * half;
            const Eight r0 = load(bodies + 8 * i[0]), r1 = load(bodies + 8 * i[1]),
                        r2 = load(bodies + 8 * i[2]), r3 = load(bodies + 8 * i[3]);
            const Eight xy01 = interleave_low(r0, r1), z01 = interleave_high(r0, r1),
                        xy23 = interleave_low(r2, r3), z23 = interleave_high(r2, r3);
            low[half][0] = pairs_low(xy01, xy23);
            low[half][1] = pairs_high(xy01, xy23);
            low[half][2] = pairs_low(z01, z23);
        }
        v = {halves_low(low[0][0], low[1][0]), halves_low(low[0][1], low[1][1]),
             halves_low(low[0][2], low[1][2])};
        w = {halves_high(low[0][0], low[1][0]), halves_high(low[0][1], low[1][1]),
             halves_high(low[0][2], low[1][2])};
    }
    // Writes the bodies of the lanes marked in `moves`.
    TENON_SIMD void write(float* bodies, const std::int32_t* index, std::uint32_t moves) const {
        const Eight zero{};
        const Eight xs[2] = {halves_low(v.x, w.x), halves_high(v.x, w.x)},
                    ys[2] = {halves_low(v.y, w.y), halves_high(v.y, w.y)},
                    zs[2] = {halves_low(v.z, w.z), halves_high(v.z, w.z)};
        for (int half = 0; half < 2; ++half) {
            const std::int32_t* i = index + 4 * half;
            const std::uint32_t m = moves >> (4 * half);
            const Eight xy01 = interleave_low(xs[half], ys[half]), xy23 = interleave_high(xs[half], ys[half]),
                        z01 = interleave_low(zs[half], zero), z23 = interleave_high(zs[half], zero);
            if (m & 1) store(bodies + 8 * i[0], pairs_low(xy01, z01));
            if (m & 2) store(bodies + 8 * i[1], pairs_high(xy01, z01));
            if (m & 4) store(bodies + 8 * i[2], pairs_low(xy23, z23));
            if (m & 8) store(bodies + 8 * i[3], pairs_high(xy23, z23));
        }
    }

  private:
    // The shuffles that AVX has as single instructions.
    TENON_SIMD static Eight interleave_low(const Eight& a, const Eight& b) {
        return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    }
    TENON_SIMD static Eight interleave_high(const Eight& a, const Eight& b) {
        return __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    }
    TENON_SIMD static Eight pairs_low(const Eight& a, const Eight& b) {
        return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    }
    TENON_SIMD static Eight pairs_high(const Eight& a, const Eight& b) {
        return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    TENON_SIMD static Eight halves_low(const Eight& a, const Eight& b) {
        return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    }
    TENON_SIMD static Eight halves_high(const Eight& a, const Eight& b) {
        return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }
};

}  // namespace
}  // namespace tenon::impulse

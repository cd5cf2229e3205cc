// Vectors of eight floats, one for each of eight patches; included once for each instruction set.
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__AVX__)
#include <immintrin.h>
#endif

// Vectors are passed between functions of one file only.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace tenon::impulse {
namespace {

constexpr int lanes = 8;
typedef float Eight __attribute__((vector_size(32), may_alias));
typedef std::int32_t Mask8 __attribute__((vector_size(32)));

#define TENON_INLINE [[gnu::always_inline]] inline

TENON_INLINE Eight all_lanes(float x) {
    return Eight{x, x, x, x, x, x, x, x};
}
TENON_INLINE Eight load(const float* from) {
    return *reinterpret_cast<const Eight*>(from);
}
TENON_INLINE void store(float* to, const Eight& x) {
    *reinterpret_cast<Eight*>(to) = x;
}
TENON_INLINE Eight larger(const Eight& a, const Eight& b) {
    return a > b ? a : b;
}
TENON_INLINE Eight smaller(const Eight& a, const Eight& b) {
    return a < b ? a : b;
}
TENON_INLINE Eight absolute(const Eight& a) {
    return a < 0.0f ? -a : a;
}
TENON_INLINE bool any(const Mask8& mask) {
#if defined(__AVX__)
    return _mm256_movemask_ps(reinterpret_cast<const __m256&>(mask)) != 0;
#else
    std::int32_t bits = 0;
    for (int l = 0; l < lanes; ++l) bits |= mask[l];
    return bits != 0;
#endif
}
// Correctly rounded either way, so both give the same bits.
TENON_INLINE Eight square_root(const Eight& a) {
#if defined(__AVX__)
    const __m256 root = _mm256_sqrt_ps(reinterpret_cast<const __m256&>(a));
    return reinterpret_cast<const Eight&>(root);
#else
    Eight root{};
    for (int l = 0; l < lanes; ++l) root[l] = std::sqrt(a[l]);
    return root;
#endif
}

struct Eight3 {
    Eight x, y, z;
};
TENON_INLINE Eight3 load3(const float (*from)[lanes]) {
    return {load(from[0]), load(from[1]), load(from[2])};
}
TENON_INLINE void store3(float (*to)[lanes], const Eight3& v) {
    store(to[0], v.x);
    store(to[1], v.y);
    store(to[2], v.z);
}
TENON_INLINE Eight3 operator+(const Eight3& a, const Eight3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
TENON_INLINE Eight3 operator-(const Eight3& a, const Eight3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
TENON_INLINE Eight3 operator*(const Eight& s, const Eight3& a) {
    return {s * a.x, s * a.y, s * a.z};
}
TENON_INLINE Eight3 times(const Eight3& m, const Eight3& p) {
    return {m.x * p.x, m.y * p.y, m.z * p.z};
}
TENON_INLINE Eight dot(const Eight3& a, const Eight3& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
TENON_INLINE Eight3 cross(const Eight3& a, const Eight3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A symmetric matrix: xx xy xz yy yz zz.
struct Symmetric8 {
    Eight xx, xy, xz, yy, yz, zz;
    TENON_INLINE explicit Symmetric8(const float (*I)[lanes])
        : xx(load(I[0])), xy(load(I[1])), xz(load(I[2])), yy(load(I[3])), yz(load(I[4])), zz(load(I[5])) {}
    TENON_INLINE Eight3 operator*(const Eight3& v) const {
        return {xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z,
                xz * v.x + yz * v.y + zz * v.z};
    }
};

// Linear and angular velocities, or displacements, of eight bodies; in memory eight floats a body: linear, 0, angular, 0.
struct Motion8 {
    Eight3 v, w;

    TENON_INLINE Motion8(const float* bodies, const std::int32_t* index) {
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
    TENON_INLINE void write(float* bodies, const std::int32_t* index, std::uint32_t moves) const {
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
    TENON_INLINE static Eight interleave_low(const Eight& a, const Eight& b) {
        return __builtin_shuffle(a, b, Mask8{0, 8, 1, 9, 4, 12, 5, 13});
    }
    TENON_INLINE static Eight interleave_high(const Eight& a, const Eight& b) {
        return __builtin_shuffle(a, b, Mask8{2, 10, 3, 11, 6, 14, 7, 15});
    }
    TENON_INLINE static Eight pairs_low(const Eight& a, const Eight& b) {
        return __builtin_shuffle(a, b, Mask8{0, 1, 8, 9, 4, 5, 12, 13});
    }
    TENON_INLINE static Eight pairs_high(const Eight& a, const Eight& b) {
        return __builtin_shuffle(a, b, Mask8{2, 3, 10, 11, 6, 7, 14, 15});
    }
    TENON_INLINE static Eight halves_low(const Eight& a, const Eight& b) {
        return __builtin_shuffle(a, b, Mask8{0, 1, 2, 3, 8, 9, 10, 11});
    }
    TENON_INLINE static Eight halves_high(const Eight& a, const Eight& b) {
        return __builtin_shuffle(a, b, Mask8{4, 5, 6, 7, 12, 13, 14, 15});
    }
};

}  // namespace
}  // namespace tenon::impulse

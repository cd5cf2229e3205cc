// Vectors of numbers with a lane for each of several bodies, pairs or elements, on the compiler's vector types. Files that
// use it are compiled once for each instruction set: everything here is local to the file that includes it, and gives the
// same bits whatever the instructions.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __SSE2__
#include <immintrin.h>
#endif

// Vectors are passed between functions of one file only.
#pragma GCC diagnostic ignored "-Wpsabi"
#define TENON_SIMD [[gnu::always_inline]] inline

namespace tenon::simd {
namespace {

template <class Number, int Count>
struct VectorOf {
    typedef Number Type __attribute__((vector_size(Count * sizeof(Number))));
};
template <class Number, int Count>
using Vector = typename VectorOf<Number, Count>::Type;

template <class V>
using NumberOf = std::remove_cvref_t<decltype(V{}[0])>;
template <class V>
constexpr int lane_count = static_cast<int>(sizeof(V) / sizeof(NumberOf<V>));
template <class V>
using MaskOf = decltype(V{} < V{});
template <class V, class Number, int Count>
constexpr bool is = std::is_same_v<NumberOf<V>, Number>&& lane_count<V> == Count;

template <class V>
TENON_SIMD V all(NumberOf<V> value) {
    return value - V{};
}
template <class V>
TENON_SIMD V load(const NumberOf<V>* from) {  // from anywhere
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
template <class V>
TENON_SIMD void store(NumberOf<V>* to, const V& v) {
    std::memcpy(to, &v, sizeof v);
}

// The second where they are equal or not to be compared, as the instructions have it.
template <class V>
TENON_SIMD V larger(const V& a, const V& b) {
#ifdef __AVX__
    if constexpr (is<V, double, 4>) return V(_mm256_max_pd(__m256d(a), __m256d(b)));
    if constexpr (is<V, float, 8>) return V(_mm256_max_ps(__m256(a), __m256(b)));
#endif
#ifdef __SSE2__
    if constexpr (is<V, float, 4>) return V(_mm_max_ps(__m128(a), __m128(b)));
#endif
    return a > b ? a : b;
}
template <class V>
TENON_SIMD V smaller(const V& a, const V& b) {
#ifdef __AVX__
    if constexpr (is<V, double, 4>) return V(_mm256_min_pd(__m256d(a), __m256d(b)));
    if constexpr (is<V, float, 8>) return V(_mm256_min_ps(__m256(a), __m256(b)));
#endif
#ifdef __SSE2__
    if constexpr (is<V, float, 4>) return V(_mm_min_ps(__m128(a), __m128(b)));
#endif
    return a < b ? a : b;
}
template <class V>
TENON_SIMD V magnitude(const V& a) {
    using Bits = MaskOf<V>;
    constexpr auto without_sign = ~(NumberOf<Bits>(1) << (8 * sizeof(NumberOf<V>) - 1));
    return V(Bits(a) & without_sign);
}
template <class V>
TENON_SIMD V root(const V& a) {  // correctly rounded either way
#ifdef __AVX__
    if constexpr (is<V, double, 4>) return V(_mm256_sqrt_pd(__m256d(a)));
    if constexpr (is<V, float, 8>) return V(_mm256_sqrt_ps(__m256(a)));
#endif
    V r{};
    for (int k = 0; k < lane_count<V>; ++k) r[k] = std::sqrt(a[k]);
    return r;
}

// One bit for each lane of a mask, which is all ones or all zeros.
template <class Mask>
TENON_SIMD int bits(const Mask& mask) {
#ifdef __AVX__
    if constexpr (sizeof(Mask) == 32 && lane_count<Mask> == 4) return _mm256_movemask_pd(__m256d(mask));
    if constexpr (sizeof(Mask) == 32 && lane_count<Mask> == 8) return _mm256_movemask_ps(__m256(mask));
#endif
#ifdef __SSE2__
    if constexpr (sizeof(Mask) == 16 && lane_count<Mask> == 2) return _mm_movemask_pd(__m128d(mask));
    if constexpr (sizeof(Mask) == 16 && lane_count<Mask> == 4) return _mm_movemask_ps(__m128(mask));
#endif
    int result = 0;
    for (int k = 0; k < lane_count<Mask>; ++k) result |= (mask[k] != 0) << k;
    return result;
}
template <class Mask>
TENON_SIMD bool any(const Mask& mask) {
    return bits(mask) != 0;
}

// A point or direction for each lane.
template <class V>
struct Triple {
    V x, y, z;
};
template <class V>
TENON_SIMD Triple<V> operator+(const Triple<V>& a, const Triple<V>& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class V>
TENON_SIMD Triple<V> operator-(const Triple<V>& a, const Triple<V>& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class V>
TENON_SIMD Triple<V> operator*(const V& s, const Triple<V>& a) {
    return {s * a.x, s * a.y, s * a.z};
}
template <class V>
TENON_SIMD V dot(const Triple<V>& a, const Triple<V>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class V>
TENON_SIMD Triple<V> cross(const Triple<V>& a, const Triple<V>& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class V>
TENON_SIMD Triple<V> choose(const MaskOf<V>& mask, const Triple<V>& a, const Triple<V>& b) {
    return {mask ? a.x : b.x, mask ? a.y : b.y, mask ? a.z : b.z};
}

// Rows to columns of a 4 x 4 square.
template <class V>
TENON_SIMD void transpose(V& a, V& b, V& c, V& d) {
    static_assert(lane_count<V> == 4);
    const V ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const V cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
    c = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    d = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}

}  // namespace
}  // namespace tenon::simd

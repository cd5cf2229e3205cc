// The tile kernels that gain from AVX-512: two columns of twelve numbers are three registers of eight. Every number is made by the
// same operations in the same order as in AVX2, so that results do not depend on which of the two runs. The instructions are
// asked for function by function: the file itself is compiled for any processor.
#include "solve/tile_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#define TENON_AVX512 __attribute__((target("avx512f,avx2,fma")))

namespace tenon::solve {
namespace {

// Rows 8 to 11 of a column and rows 0 to 3 of the next, of one column in two registers: rows 0 to 7 and rows 4 to 11.
TENON_AVX512 [[gnu::always_inline]] inline __m512d middle(__m512d top, __m512d bottom) {
    return _mm512_shuffle_f64x2(bottom, top, 0x4E);
}

// x[0] in the lower half and x[1] in the upper one.
TENON_AVX512 [[gnu::always_inline]] inline __m512d halves(__m512d first, __m512d second) {
    return _mm512_mask_blend_pd(0xF0, first, second);
}

}  // namespace

TENON_AVX512 void update_avx512(double* c, const double* a, const double* b, int depth) {
    constexpr int pairs = kTile / 2;
    __m512d sum[3 * pairs];
#pragma GCC unroll 18
    for (int i = 0; i < 3 * pairs; ++i) sum[i] = _mm512_loadu_pd(c + 8 * i);
    for (int k = 0; k < depth; ++k, a += kTile, b += kTile) {
        const __m512d top = _mm512_loadu_pd(a), bottom = _mm512_loadu_pd(a + 4), mixed = middle(top, bottom);
#pragma GCC unroll 6
        for (int j = 0; j < pairs; ++j) {
            const __m512d s = _mm512_set1_pd(b[2 * j]), t = _mm512_set1_pd(b[2 * j + 1]);
            sum[3 * j] = _mm512_fnmadd_pd(top, s, sum[3 * j]);
            sum[3 * j + 1] = _mm512_fnmadd_pd(mixed, halves(s, t), sum[3 * j + 1]);
            sum[3 * j + 2] = _mm512_fnmadd_pd(bottom, t, sum[3 * j + 2]);
        }
    }
#pragma GCC unroll 18
    for (int i = 0; i < 3 * pairs; ++i) _mm512_storeu_pd(c + 8 * i, sum[i]);
}

// Even columns are summed up in the first twelve numbers, odd ones in the others.
TENON_AVX512 void multiply_avx512(double* y, const double* a, const double* x, int depth) {
    alignas(64) double sums[2 * kTile] = {};
    for (int i = 0; i < kTile; ++i) sums[i] = y[i];
    __m512d even = _mm512_load_pd(sums), mixed = _mm512_load_pd(sums + 8), odd = _mm512_load_pd(sums + 16);
    int k = 0;
    for (; k + 1 < depth; k += 2, a += 2 * kTile) {
        const __m512d s = _mm512_set1_pd(x[k]), t = _mm512_set1_pd(x[k + 1]);
        even = _mm512_fnmadd_pd(_mm512_loadu_pd(a), s, even);
        mixed = _mm512_fnmadd_pd(_mm512_loadu_pd(a + 8), halves(s, t), mixed);
        odd = _mm512_fnmadd_pd(_mm512_loadu_pd(a + 16), t, odd);
    }
    _mm512_store_pd(sums, even), _mm512_store_pd(sums + 8, mixed), _mm512_store_pd(sums + 16, odd);
    if (k < depth)
        for (int i = 0; i < kTile; ++i) sums[i] = __builtin_fma(-a[i], x[k], sums[i]);
    for (int i = 0; i < kTile; ++i) y[i] = sums[i] + sums[kTile + i];
}

}  // namespace tenon::solve

#else

namespace tenon::solve {
void update_avx512(double*, const double*, const double*, int) {}
void multiply_avx512(double*, const double*, const double*, int) {}
}  // namespace tenon::solve

#endif

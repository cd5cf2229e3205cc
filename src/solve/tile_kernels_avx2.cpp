// The tile kernels in AVX2 and FMA. A 12x4 piece of a tile lives in twelve registers.
#include "solve/tile_kernels.hpp"

#if defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

#include <cmath>

namespace tenon::solve {
namespace {

// C(:, 0..3) -= A B(0..3, :)^T
inline void update_12x4(double* c, const double* a, const double* b, int depth) {
    __m256d c00 = _mm256_loadu_pd(c), c10 = _mm256_loadu_pd(c + 4), c20 = _mm256_loadu_pd(c + 8);
    __m256d c01 = _mm256_loadu_pd(c + 12), c11 = _mm256_loadu_pd(c + 16), c21 = _mm256_loadu_pd(c + 20);
    __m256d c02 = _mm256_loadu_pd(c + 24), c12 = _mm256_loadu_pd(c + 28), c22 = _mm256_loadu_pd(c + 32);
    __m256d c03 = _mm256_loadu_pd(c + 36), c13 = _mm256_loadu_pd(c + 40), c23 = _mm256_loadu_pd(c + 44);
    for (int k = 0; k < depth; ++k, a += kTile, b += kTile) {
        const __m256d a0 = _mm256_loadu_pd(a), a1 = _mm256_loadu_pd(a + 4), a2 = _mm256_loadu_pd(a + 8);
        __m256d s = _mm256_broadcast_sd(b);
        c00 = _mm256_fnmadd_pd(a0, s, c00), c10 = _mm256_fnmadd_pd(a1, s, c10),
        c20 = _mm256_fnmadd_pd(a2, s, c20);
        s = _mm256_broadcast_sd(b + 1);
        c01 = _mm256_fnmadd_pd(a0, s, c01), c11 = _mm256_fnmadd_pd(a1, s, c11),
        c21 = _mm256_fnmadd_pd(a2, s, c21);
        s = _mm256_broadcast_sd(b + 2);
        c02 = _mm256_fnmadd_pd(a0, s, c02), c12 = _mm256_fnmadd_pd(a1, s, c12),
        c22 = _mm256_fnmadd_pd(a2, s, c22);
        s = _mm256_broadcast_sd(b + 3);
        c03 = _mm256_fnmadd_pd(a0, s, c03), c13 = _mm256_fnmadd_pd(a1, s, c13),
        c23 = _mm256_fnmadd_pd(a2, s, c23);
    }
    _mm256_storeu_pd(c, c00), _mm256_storeu_pd(c + 4, c10), _mm256_storeu_pd(c + 8, c20);
    _mm256_storeu_pd(c + 12, c01), _mm256_storeu_pd(c + 16, c11), _mm256_storeu_pd(c + 20, c21);
    _mm256_storeu_pd(c + 24, c02), _mm256_storeu_pd(c + 28, c12), _mm256_storeu_pd(c + 32, c22);
    _mm256_storeu_pd(c + 36, c03), _mm256_storeu_pd(c + 40, c13), _mm256_storeu_pd(c + 44, c23);
}

void update(double* c, const double* a, const double* b, int depth) {
    // pieces short enough that both panels stay in the first-level cache
    constexpr int piece = 120;
    for (int k = 0; k < depth; k += piece) {
        const int length = depth - k < piece ? depth - k : piece;
        for (int j = 0; j < kTile; j += 4)
            update_12x4(c + j * kTile, a + k * kTile, b + k * kTile + j, length);
    }
}

// Four rows at a time: their twelve columns stay in registers, and each column that is found is taken off all that follow.
void solve(double* c, const double* l) {
    __m256d inverse[kTile];
    for (int j = 0; j < kTile; ++j) inverse[j] = _mm256_set1_pd(1.0 / l[j * kTile + j]);
    for (int row = 0; row < kTile; row += 4) {
        __m256d x[kTile];
#pragma GCC unroll 12
        for (int j = 0; j < kTile; ++j) x[j] = _mm256_loadu_pd(c + j * kTile + row);
#pragma GCC unroll 12
        for (int j = 0; j < kTile; ++j) {
            x[j] = _mm256_mul_pd(x[j], inverse[j]);
#pragma GCC unroll 12
            for (int i = j + 1; i < kTile; ++i)
                x[i] = _mm256_fnmadd_pd(x[j], _mm256_broadcast_sd(l + j * kTile + i), x[i]);
            _mm256_storeu_pd(c + j * kTile + row, x[j]);
        }
    }
}

// Columns are computed whole in a copy, and only their lower parts are stored back.
int factor(double* a, double threshold) {
    alignas(32) double work[kTile * kTile];
    for (int j = 0; j < kTile; ++j) {
        __m256d x0 = _mm256_loadu_pd(a + j * kTile), x1 = _mm256_loadu_pd(a + j * kTile + 4),
                x2 = _mm256_loadu_pd(a + j * kTile + 8);
        for (int k = 0; k < j; ++k) {
            const double* y = work + k * kTile;
            const __m256d s = _mm256_broadcast_sd(y + j);
            x0 = _mm256_fnmadd_pd(_mm256_load_pd(y), s, x0);
            x1 = _mm256_fnmadd_pd(_mm256_load_pd(y + 4), s, x1);
            x2 = _mm256_fnmadd_pd(_mm256_load_pd(y + 8), s, x2);
        }
        double* column = work + j * kTile;
        _mm256_store_pd(column, x0), _mm256_store_pd(column + 4, x1), _mm256_store_pd(column + 8, x2);
        const double pivot = column[j];
        if (!(pivot > threshold)) return j;
        const double root = std::sqrt(pivot), inverse = 1.0 / root;
        for (int i = j + 1; i < kTile; ++i) column[i] *= inverse;
        column[j] = root;
    }
    for (int j = 0; j < kTile; ++j)
        for (int i = j; i < kTile; ++i) a[j * kTile + i] = work[j * kTile + i];
    return -1;
}

// Two sums for each entry, of even and odd columns: one alone would wait for itself.
void multiply(double* y, const double* a, const double* x, int depth) {
    __m256d y0 = _mm256_loadu_pd(y), y1 = _mm256_loadu_pd(y + 4), y2 = _mm256_loadu_pd(y + 8);
    __m256d z0 = _mm256_setzero_pd(), z1 = z0, z2 = z0;
    int k = 0;
    for (; k + 1 < depth; k += 2, a += 2 * kTile) {
        const __m256d s = _mm256_broadcast_sd(x + k), t = _mm256_broadcast_sd(x + k + 1);
        y0 = _mm256_fnmadd_pd(_mm256_loadu_pd(a), s, y0);
        y1 = _mm256_fnmadd_pd(_mm256_loadu_pd(a + 4), s, y1);
        y2 = _mm256_fnmadd_pd(_mm256_loadu_pd(a + 8), s, y2);
        z0 = _mm256_fnmadd_pd(_mm256_loadu_pd(a + 12), t, z0);
        z1 = _mm256_fnmadd_pd(_mm256_loadu_pd(a + 16), t, z1);
        z2 = _mm256_fnmadd_pd(_mm256_loadu_pd(a + 20), t, z2);
    }
    if (k < depth) {
        const __m256d s = _mm256_broadcast_sd(x + k);
        y0 = _mm256_fnmadd_pd(_mm256_loadu_pd(a), s, y0);
        y1 = _mm256_fnmadd_pd(_mm256_loadu_pd(a + 4), s, y1);
        y2 = _mm256_fnmadd_pd(_mm256_loadu_pd(a + 8), s, y2);
    }
    _mm256_storeu_pd(y, _mm256_add_pd(y0, z0)), _mm256_storeu_pd(y + 4, _mm256_add_pd(y1, z1)),
        _mm256_storeu_pd(y + 8, _mm256_add_pd(y2, z2));
}

// The entries of a column times w, as four sums.
inline __m256d products(const double* a, __m256d w0, __m256d w1, __m256d w2) {
    __m256d sum = _mm256_mul_pd(_mm256_loadu_pd(a), w0);
    sum = _mm256_fmadd_pd(_mm256_loadu_pd(a + 4), w1, sum);
    return _mm256_fmadd_pd(_mm256_loadu_pd(a + 8), w2, sum);
}

// Four columns at a time, so that one addition ends the sums of all.
void multiply_transposed(double* z, const double* a, const double* w, int depth) {
    const __m256d w0 = _mm256_loadu_pd(w), w1 = _mm256_loadu_pd(w + 4), w2 = _mm256_loadu_pd(w + 8);
    int k = 0;
    for (; k + 4 <= depth; k += 4, a += 4 * kTile) {
        const __m256d pair = _mm256_hadd_pd(products(a, w0, w1, w2), products(a + kTile, w0, w1, w2));
        const __m256d next =
            _mm256_hadd_pd(products(a + 2 * kTile, w0, w1, w2), products(a + 3 * kTile, w0, w1, w2));
        const __m256d sum =
            _mm256_add_pd(_mm256_permute2f128_pd(pair, next, 0x20), _mm256_permute2f128_pd(pair, next, 0x31));
        _mm256_storeu_pd(z + k, _mm256_sub_pd(_mm256_loadu_pd(z + k), sum));
    }
    for (; k < depth; ++k, a += kTile) {
        const __m256d sum = products(a, w0, w1, w2);
        const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(sum), _mm256_extractf128_pd(sum, 1));
        z[k] -= _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
    }
}

// Pieces of four unknowns: what one solves for is taken off the rest in vectors.
void solve_lower(double* z, const double* l) {
    __m256d x0 = _mm256_loadu_pd(z), x1 = _mm256_loadu_pd(z + 4), x2 = _mm256_loadu_pd(z + 8);
    alignas(32) double x[4];
    const auto piece = [&](__m256d& own, int first) {
        _mm256_store_pd(x, own);
        for (int j = 0; j < 4; ++j) {
            const double* column = l + (first + j) * kTile;
            x[j] /= column[first + j];
            for (int i = j + 1; i < 4; ++i) x[i] -= column[first + i] * x[j];
        }
        own = _mm256_load_pd(x);
    };
    piece(x0, 0);
    for (int j = 0; j < 4; ++j) {
        const __m256d s = _mm256_broadcast_sd(x + j);
        x1 = _mm256_fnmadd_pd(_mm256_loadu_pd(l + j * kTile + 4), s, x1);
        x2 = _mm256_fnmadd_pd(_mm256_loadu_pd(l + j * kTile + 8), s, x2);
    }
    piece(x1, 4);
    for (int j = 0; j < 4; ++j)
        x2 = _mm256_fnmadd_pd(_mm256_loadu_pd(l + (j + 4) * kTile + 8), _mm256_broadcast_sd(x + j), x2);
    piece(x2, 8);
    _mm256_storeu_pd(z, x0), _mm256_storeu_pd(z + 4, x1), _mm256_storeu_pd(z + 8, x2);
}

// Sums over four columns' entries in rows `row` to row + 3, and to row + 7 where `two`.
inline __m256d column_sums(const double* l, int row, __m256d x, bool two, __m256d y) {
    __m256d part[4];
    for (int j = 0; j < 4; ++j) {
        part[j] = _mm256_mul_pd(_mm256_loadu_pd(l + j * kTile + row), x);
        if (two) part[j] = _mm256_fmadd_pd(_mm256_loadu_pd(l + j * kTile + row + 4), y, part[j]);
    }
    const __m256d pair = _mm256_hadd_pd(part[0], part[1]), next = _mm256_hadd_pd(part[2], part[3]);
    return _mm256_add_pd(_mm256_permute2f128_pd(pair, next, 0x20), _mm256_permute2f128_pd(pair, next, 0x31));
}

void solve_upper(double* z, const double* l) {
    __m256d x0 = _mm256_loadu_pd(z), x1 = _mm256_loadu_pd(z + 4), x2 = _mm256_loadu_pd(z + 8);
    alignas(32) double x[4];
    const auto piece = [&](__m256d& own, int first) {
        _mm256_store_pd(x, own);
        for (int j = 3; j >= 0; --j) {
            const double* column = l + (first + j) * kTile;
            for (int i = j + 1; i < 4; ++i) x[j] -= column[first + i] * x[i];
            x[j] /= column[first + j];
        }
        own = _mm256_load_pd(x);
    };
    piece(x2, 8);
    x1 = _mm256_sub_pd(x1, column_sums(l + 4 * kTile, 8, x2, false, x2));
    piece(x1, 4);
    x0 = _mm256_sub_pd(x0, column_sums(l, 4, x1, true, x2));
    piece(x0, 0);
    _mm256_storeu_pd(z, x0), _mm256_storeu_pd(z + 4, x1), _mm256_storeu_pd(z + 8, x2);
}

}  // namespace

const TileKernels avx2_tile_kernels{update,      solve,      factor, multiply, multiply_transposed,
                                    solve_lower, solve_upper};

}  // namespace tenon::solve

#else

namespace tenon::solve {
const TileKernels avx2_tile_kernels = portable_tile_kernels;
}

#endif

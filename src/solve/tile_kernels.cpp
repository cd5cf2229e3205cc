#include "solve/tile_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::solve {
namespace {

void update(double* c, const double* a, const double* b, int depth) {
    for (int k = 0; k < depth; ++k, a += kTile, b += kTile)
        for (int j = 0; j < kTile; ++j)
            for (int i = 0; i < kTile; ++i) c[j * kTile + i] -= a[i] * b[j];
}

void solve(double* c, const double* l) {
    for (int j = 0; j < kTile; ++j) {
        for (int k = 0; k < j; ++k)
            for (int i = 0; i < kTile; ++i) c[j * kTile + i] -= c[k * kTile + i] * l[k * kTile + j];
        const double inverse = 1.0 / l[j * kTile + j];
        for (int i = 0; i < kTile; ++i) c[j * kTile + i] *= inverse;
    }
}

int factor(double* a, double threshold) {
    double work[kTile * kTile];
    std::copy_n(a, kTile * kTile, work);
    for (int j = 0; j < kTile; ++j) {
        for (int k = 0; k < j; ++k)
            for (int i = j; i < kTile; ++i) work[j * kTile + i] -= work[k * kTile + i] * work[k * kTile + j];
        const double pivot = work[j * kTile + j];
        if (!(pivot > threshold)) return j;
        const double root = std::sqrt(pivot), inverse = 1.0 / root;
        work[j * kTile + j] = root;
        for (int i = j + 1; i < kTile; ++i) work[j * kTile + i] *= inverse;
    }
    std::copy_n(work, kTile * kTile, a);
    return -1;
}

void multiply(double* y, const double* a, const double* x, int depth) {
    for (int k = 0; k < depth; ++k, a += kTile)
        for (int i = 0; i < kTile; ++i) y[i] -= a[i] * x[k];
}

void multiply_transposed(double* z, const double* a, const double* w, int depth) {
    for (int k = 0; k < depth; ++k, a += kTile) {
        double sum = 0;
        for (int i = 0; i < kTile; ++i) sum += a[i] * w[i];
        z[k] -= sum;
    }
}

void solve_lower(double* z, const double* l) {
    for (int j = 0; j < kTile; ++j) {
        z[j] /= l[j * kTile + j];
        for (int i = j + 1; i < kTile; ++i) z[i] -= l[j * kTile + i] * z[j];
    }
}

void solve_upper(double* z, const double* l) {
    for (int j = kTile - 1; j >= 0; --j) {
        for (int i = j + 1; i < kTile; ++i) z[j] -= l[j * kTile + i] * z[i];
        z[j] /= l[j * kTile + j];
    }
}

}  // namespace

const TileKernels portable_tile_kernels{update,      solve,      factor, multiply, multiply_transposed,
                                        solve_lower, solve_upper};

const TileKernels& tile_kernels() {
#if defined(__x86_64__)
    static const TileKernels fastest = [] {
        if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return portable_tile_kernels;
        TileKernels kernels = avx2_tile_kernels;
        if (__builtin_cpu_supports("avx512f")) {
            kernels.update = update_avx512;
            kernels.multiply = multiply_avx512;
        }
        return kernels;
    }();
    return fastest;
#else
    return portable_tile_kernels;
#endif
}

}  // namespace tenon::solve

// The steps of tree_kernel.hpp, compiled once for each instruction set.
#pragma once

#include <type_traits>

#include "math/simd.hpp"
#include "methods/articulated/tree_kernel.hpp"
#include "solve/small_cholesky.hpp"

namespace tenon::articulated {
namespace {

using Four = simd::Vector<double, 4>;

template <int N>
using Number = std::integral_constant<int, N>;

// y += factor x, or y -= factor x, over vectors of four.
template <class Count>
TENON_SIMD void add(Count vectors, double factor, const double* x, double* y) {
    for (int v = 0; v < vectors; ++v)
        simd::store(y + 4 * v, simd::load<Four>(y + 4 * v) + factor * simd::load<Four>(x + 4 * v));
}
template <class Count>
TENON_SIMD void subtract(Count vectors, double factor, const double* x, double* y) {
    for (int v = 0; v < vectors; ++v)
        simd::store(y + 4 * v, simd::load<Four>(y + 4 * v) - factor * simd::load<Four>(x + 4 * v));
}
template <class Count>
TENON_SIMD void scale(Count vectors, double factor, double* x) {
    for (int v = 0; v < vectors; ++v) simd::store(x + 4 * v, factor * simd::load<Four>(x + 4 * v));
}
template <class Count>
TENON_SIMD double dot(Count vectors, const double* x, const double* y) {
    Four sum{};
    for (int v = 0; v < vectors; ++v) sum += simd::load<Four>(x + 4 * v) * simd::load<Four>(y + 4 * v);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Calls `visit(size, vectors)`: unknowns of a body and the vectors that its rows take, both constants where rows are at most eight.
template <class Visit>
TENON_SIMD void by_size(int size, int rows, const Visit& visit) {
    const int vectors = padded(rows) / 4;
    const auto by_rows = [&](auto unknowns) __attribute__((always_inline)) {
        if (vectors == 1) return visit(unknowns, Number<1>());
        if (vectors == 2) return visit(unknowns, Number<2>());
        visit(unknowns, vectors);
    };
    if (size == 6)
        by_rows(Number<6>());
    else
        by_rows(Number<12>());
}

// Cholesky factor of the first `count` columns, zero above the diagonal. Where rows may be redundant, a pivot that has fallen below
// a small share of its column's own diagonal entry makes a zero column.
template <bool may_be_redundant, class Count, class Vectors>
TENON_SIMD void factor_columns(Count count, Vectors vectors, double* a) {
    const int ld = 4 * vectors;
    for (int j = 0; j < count; ++j) {
        double* column = a + j * ld;
        const double original = column[j];
        for (int k = 0; k < j; ++k) subtract(vectors, a[k * ld + j], a + k * ld, column);
        const double pivot = column[j];
        const bool redundant = may_be_redundant && !(pivot > solve::redundant_pivot * original);
        const double inverse = redundant ? 0.0 : 1.0 / __builtin_sqrt(pivot);
        scale(vectors, inverse, column);
        for (int i = 0; i < j; ++i) column[i] = 0.0;
        column[j] = inverse;
    }
}

template <class Count, class Vectors>
TENON_SIMD void solve_columns(Count count, Vectors vectors, const double* a, double* x) {
    const int ld = 4 * vectors;
    for (int j = 0; j < count; ++j) {
        const double value = x[j] * a[j * ld + j];
        subtract(vectors, value, a + j * ld, x);
        x[j] = value;
    }
}

template <class Count, class Vectors>
TENON_SIMD void solve_columns_transposed(Count count, Vectors vectors, const double* a, double* x) {
    const int ld = 4 * vectors;
    for (int j = count - 1; j >= 0; --j) {
        double value = x[j];
        for (int i = j + 1; i < count; ++i) value -= a[j * ld + i] * x[i];
        x[j] = value * a[j * ld + j];
    }
}

void eliminate(int size, int rows, double* K, double* own, double* S, const double* compliance) {
    by_size(
        size, rows, [&](auto unknowns, auto vectors) __attribute__((always_inline)) {
            constexpr int N = unknowns(), ld = padded(N);
            const int P = 4 * vectors;
            factor_columns<false>(unknowns, Number<ld / 4>(), K);  // definite: inertia is part of it
            for (int j = 0; j < N; ++j) {
                scale(vectors, K[j * ld + j], own + j * P);
                for (int i = j + 1; i < N; ++i) subtract(vectors, K[j * ld + i], own + j * P, own + i * P);
            }
            for (int r = 0; r < rows; ++r) {
                double* column = S + r * P;
                for (int v = 0; v < vectors; ++v) {
                    Four sum{};
                    for (int i = 0; i < N; ++i) sum += own[i * P + r] * simd::load<Four>(own + i * P + 4 * v);
                    simd::store(column + 4 * v, sum);
                }
                column[r] += compliance[r];
            }
            factor_columns<true>(rows, vectors, S);
        });
}

void pass_on(int parent_size, int rows, const double* S, double* above, double* parent_matrix) {
    by_size(
        parent_size, 4, [&](auto unknowns, auto) __attribute__((always_inline)) {
            constexpr int N = unknowns(), Q = padded(N);
            constexpr Number<Q / 4> vectors;
            const int P = padded(rows);
            for (int r = 0; r < rows; ++r) {
                double* z = above + r * Q;
                for (int s = 0; s < r; ++s) subtract(vectors, S[s * P + r], above + s * Q, z);
                scale(vectors, S[r * P + r], z);  // of a redundant row 0
            }
            for (int j = 0; j < N; ++j)
                for (int v = 0; v < vectors; ++v) {
                    double* to = parent_matrix + j * Q + 4 * v;
                    Four sum = simd::load<Four>(to);
                    for (int r = 0; r < rows; ++r)
                        sum += above[r * Q + j] * simd::load<Four>(above + r * Q + 4 * v);
                    simd::store(to, sum);
                }
        });
}

void forward(int size, int rows, const double* K, const double* own, const double* S, double* f, double* s) {
    by_size(
        size, rows, [&](auto unknowns, auto vectors) __attribute__((always_inline)) {
            constexpr int N = unknowns();
            solve_columns(unknowns, Number<padded(N) / 4>(), K, f);
            for (int i = 0; i < N; ++i) add(vectors, f[i], own + i * 4 * vectors, s);
            solve_columns(rows, vectors, S, s);
        });
}

void forward_parent(int parent_size, int rows, const double* above, const double* s, double* parent_f) {
    by_size(
        parent_size, 4, [&](auto unknowns, auto) __attribute__((always_inline)) {
            constexpr int Q = padded(unknowns());
            for (int r = 0; r < rows; ++r) subtract(Number<Q / 4>(), s[r], above + r * Q, parent_f);
        });
}

void backward_parent(int parent_size, int rows, const double* above, const double* parent_dq, double* s) {
    by_size(
        parent_size, 4, [&](auto unknowns, auto) __attribute__((always_inline)) {
            constexpr int Q = padded(unknowns());
            for (int r = 0; r < rows; ++r) s[r] += dot(Number<Q / 4>(), above + r * Q, parent_dq);
        });
}

void backward(int size, int rows, const double* K, const double* own, const double* S, double* f, double* s) {
    by_size(
        size, rows, [&](auto unknowns, auto vectors) __attribute__((always_inline)) {
            constexpr int N = unknowns();
            solve_columns_transposed(rows, vectors, S, s);
            for (int i = 0; i < N; ++i) f[i] -= dot(vectors, own + i * 4 * vectors, s);
            solve_columns_transposed(unknowns, Number<padded(N) / 4>(), K, f);
        });
}

constexpr TreeKernel kernel{eliminate, pass_on, forward, forward_parent, backward_parent, backward};

}  // namespace
}  // namespace tenon::articulated

// Cholesky factorisation of small dense matrices in place, tolerant of redundant rows, and of those whose size is known.
#pragma once

#include "tenon/types.hpp"

namespace tenon::solve {

// A row whose pivot falls below this share of its own diagonal entry says nothing new: its unknown becomes zero.
constexpr double redundant_pivot = 1e-14;

// Lower factor of the column-major n x n matrix `a` with leading dimension `ld`; the upper part is not read.
// The diagonal holds 1/L_jj afterwards, zero for redundant rows. `original[j]` is the diagonal entry that the
// pivot is compared with. Returns how many rows were redundant.
inline int cholesky_in_place(double* a, int n, int ld, const double* original) {
    int redundant = 0;
    for (int j = 0; j < n; ++j) {
        double* column = a + static_cast<long>(j) * ld;
        for (int k = 0; k < j; ++k) {
            const double* done = a + static_cast<long>(k) * ld;
            const double factor = done[j];
            if (factor == 0.0) continue;
            for (int i = j; i < n; ++i) column[i] -= factor * done[i];
        }
        const double pivot = column[j];
        if (!(pivot > redundant_pivot * original[j])) {
            ++redundant;
            for (int i = j; i < n; ++i) column[i] = 0.0;
            continue;
        }
        const double inverse = 1.0 / __builtin_sqrt(pivot);
        column[j] = inverse;
        for (int i = j + 1; i < n; ++i) column[i] *= inverse;
    }
    return redundant;
}

inline void solve_lower(const double* a, int n, int ld, double* x) {
    for (int j = 0; j < n; ++j) {
        const double* column = a + static_cast<long>(j) * ld;
        const double value = x[j] * column[j];
        x[j] = value;
        for (int i = j + 1; i < n; ++i) x[i] -= column[i] * value;
    }
}

inline void solve_lower_transposed(const double* a, int n, int ld, double* x) {
    for (int j = n - 1; j >= 0; --j) {
        const double* column = a + static_cast<long>(j) * ld;
        double value = x[j];
        for (int i = j + 1; i < n; ++i) value -= column[i] * x[i];
        x[j] = value * column[j];
    }
}

// A positive definite matrix of a size that is known when this is compiled: loops of constant length.
template <int N>
class FixedCholesky {
  public:
    using Matrix = Eigen::Matrix<double, N, N>;
    template <int Columns>
    using Block = Eigen::Matrix<double, N, Columns>;

    // Infinite or not a number where the matrix is not positive definite, as Eigen's LLT would leave it.
    void compute(const Matrix& matrix) {
        lower_ = matrix;
        for (int j = 0; j < N; ++j) {
            const double inverse = 1.0 / __builtin_sqrt(lower_(j, j));
            inverse_diagonal_[j] = inverse;
            for (int i = j + 1; i < N; ++i) lower_(i, j) *= inverse;
            for (int k = j + 1; k < N; ++k)
                for (int i = k; i < N; ++i) lower_(i, k) -= lower_(i, j) * lower_(k, j);
        }
    }

    // x becomes L^-1 x.
    template <int Columns>
    void forward(Block<Columns>& x) const {
        for (int j = 0; j < N; ++j)
            for (int c = 0; c < Columns; ++c) {
                const double value = x(j, c) *= inverse_diagonal_[j];
                for (int i = j + 1; i < N; ++i) x(i, c) -= lower_(i, j) * value;
            }
    }

    // x becomes L^-T x.
    template <int Columns>
    void backward(Block<Columns>& x) const {
        for (int j = N - 1; j >= 0; --j)
            for (int c = 0; c < Columns; ++c) {
                double value = x(j, c);
                for (int i = j + 1; i < N; ++i) value -= lower_(i, j) * x(i, c);
                x(j, c) = value * inverse_diagonal_[j];
            }
    }

  private:
    Matrix lower_;
    Eigen::Matrix<double, N, 1> inverse_diagonal_;
};

}  // namespace tenon::solve

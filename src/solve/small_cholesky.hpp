// Cholesky factorisation of small dense matrices in place, tolerant of redundant rows.
#pragma once

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

}  // namespace tenon::solve

#include "solve/incomplete_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "solve/block_symbolic.hpp"

namespace tenon::solve {

// Left-looking by columns: column j collects the updates of all earlier columns that have an entry in row j.
bool IncompleteCholesky::factor(const BlockMatrix& matrix, double drop) {
    if (matrix.dof != 1) throw std::invalid_argument("the incomplete factor is for scalar matrices");
    const BlockPattern& pattern = matrix.pattern;
    const int n = pattern.nodes;
    order_ = dissection_order(pattern);
    std::vector<int> position(n);
    for (int p = 0; p < n; ++p) position[order_[p]] = p;
    std::vector<std::vector<std::pair<int, double>>> column(n);  // of the matrix, below the diagonal
    for (int i = 0; i < n; ++i)
        for (int e = pattern.start[i]; e < pattern.start[i + 1]; ++e) {
            const int a = position[i], b = position[pattern.columns[e]];
            column[std::min(a, b)].emplace_back(std::max(a, b), matrix.lower[e]);
        }
    start_.assign(1, 0);
    row_.clear();
    value_.clear();
    diagonal_.assign(n, 0.0);
    for (int j = 0; j < n; ++j) diagonal_[j] = matrix.diagonal[order_[j]];
    std::vector<double> work(n, 0.0);
    std::vector<int> touched, head(n, -1), next_column(n, -1), cursor(n, 0);  // columns waiting for a row
    bool clean = true;
    for (int j = 0; j < n; ++j) {
        touched.clear();
        double norm = diagonal_[j] * diagonal_[j];
        const auto touch = [&](int row, double value) {
            if (work[row] == 0) touched.push_back(row);
            work[row] += value;
        };
        for (const auto& [row, value] : column[j]) {
            touch(row, value);
            norm += value * value;
        }
        const double limit = drop * std::sqrt(norm);
        for (int k = head[j]; k >= 0;) {
            const int following = next_column[k], at = cursor[k];
            const double factor = value_[at];
            for (int e = at + 1; e < start_[k + 1]; ++e) touch(row_[e], -factor * value_[e]);
            if (at + 1 < start_[k + 1]) {
                cursor[k] = at + 1;
                next_column[k] = head[row_[at + 1]];
                head[row_[at + 1]] = k;
            }
            k = following;
        }
        if (!(diagonal_[j] > 0)) {
            diagonal_[j] = std::max(std::abs(matrix.diagonal[order_[j]]) * 1e-3, 1e-300);
            clean = false;
        }
        const double pivot = std::sqrt(diagonal_[j]);
        diagonal_[j] = pivot;
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        for (int row : touched) {
            if (std::abs(work[row]) > limit) {
                row_.push_back(row);
                value_.push_back(work[row] / pivot);
                diagonal_[row] -= value_.back() * value_.back();
            }
            work[row] = 0;
        }
        start_.push_back(static_cast<int>(row_.size()));
        if (start_[j] < start_[j + 1]) {
            cursor[j] = start_[j];
            next_column[j] = head[row_[start_[j]]];
            head[row_[start_[j]]] = j;
        }
    }
    return clean;
}

void IncompleteCholesky::solve(const double* right_hand_side, double* x) const {
    const int n = static_cast<int>(order_.size());
    std::vector<double> y(n);
    for (int j = 0; j < n; ++j) y[j] = right_hand_side[order_[j]];
    for (int j = 0; j < n; ++j) {
        y[j] /= diagonal_[j];
        for (int e = start_[j]; e < start_[j + 1]; ++e) y[row_[e]] -= value_[e] * y[j];
    }
    for (int j = n - 1; j >= 0; --j) {
        for (int e = start_[j]; e < start_[j + 1]; ++e) y[j] -= value_[e] * y[row_[e]];
        y[j] /= diagonal_[j];
    }
    for (int j = 0; j < n; ++j) x[order_[j]] = y[j];
}

}  // namespace tenon::solve

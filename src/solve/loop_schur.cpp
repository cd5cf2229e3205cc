#include "solve/loop_schur.hpp"

#include <algorithm>

#include "solve/small_cholesky.hpp"

namespace tenon::solve {

LoopSchur::LoopSchur(const CliqueSystem& structure, const std::vector<int>& closers)
    : tree_(structure, closers), closer_index_(structure.rows(), -1), rows_(structure.rows()) {
    for (int block : closers)
        for (int r = structure.block_start[block]; r < structure.block_start[block + 1]; ++r) {
            closer_index_[r] = static_cast<int>(closer_row_.size());
            closer_row_.push_back(r);
        }
    const std::size_t k = closer_row_.size();
    coupling_.resize(k * rows_);
    solved_.resize(k * rows_);
    schur_.resize(k * k);
    small_.resize(k);
    original_.resize(k);
}

void LoopSchur::factor(const CliqueSystem& system) {
    tree_.factor(system);
    const int k = static_cast<int>(closer_row_.size());
    std::fill(coupling_.begin(), coupling_.end(), 0.0);
    std::fill(schur_.begin(), schur_.end(), 0.0);
    for (int j = 0; j < k; ++j) schur_[j + static_cast<std::size_t>(j) * k] = system.diagonal[closer_row_[j]];

    // closer columns of the cliques: against forest rows into X, against closers into the Schur complement
    std::vector<int> rows;
    for (int c = 0; c < system.cliques(); ++c) {
        rows.clear();
        bool any = false;
        for (int b = system.clique_start[c]; b < system.clique_start[c + 1]; ++b) {
            const int block = system.clique_block[b];
            for (int r = system.block_start[block]; r < system.block_start[block + 1]; ++r) {
                rows.push_back(r);
                any |= closer_index_[r] >= 0;
            }
        }
        if (!any) continue;
        const double* matrix = system.clique_matrix(c);
        for (std::size_t j = 0; j < rows.size(); ++j) {
            const int closer = closer_index_[rows[j]];
            if (closer < 0) continue;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double value = matrix[i + j * rows.size()];
                if (closer_index_[rows[i]] < 0)
                    coupling_[rows[i] + static_cast<std::size_t>(closer) * rows_] += value;
                else
                    schur_[closer_index_[rows[i]] + static_cast<std::size_t>(closer) * k] += value;
            }
        }
    }
    for (int j = 0; j < k; ++j) original_[j] = schur_[j + static_cast<std::size_t>(j) * k];

    solved_ = coupling_;
    for (int j = 0; j < k; ++j) tree_.solve(solved_.data() + static_cast<std::size_t>(j) * rows_);
    for (int j = 0; j < k; ++j)
        for (int i = j; i < k; ++i) {
            const double* x = coupling_.data() + static_cast<std::size_t>(i) * rows_;
            const double* s = solved_.data() + static_cast<std::size_t>(j) * rows_;
            double sum = 0.0;
            for (int r = 0; r < rows_; ++r) sum += x[r] * s[r];
            schur_[i + static_cast<std::size_t>(j) * k] -= sum;
        }
    redundant_ = tree_.redundant_rows() + cholesky_in_place(schur_.data(), k, k, original_.data());
}

void LoopSchur::solve(double* x) {
    const int k = static_cast<int>(closer_row_.size());
    for (int j = 0; j < k; ++j) {
        small_[j] = x[closer_row_[j]];
        x[closer_row_[j]] = 0.0;
    }
    tree_.solve(x);
    for (int j = 0; j < k; ++j) {
        const double* column = coupling_.data() + static_cast<std::size_t>(j) * rows_;
        for (int r = 0; r < rows_; ++r) small_[j] -= column[r] * x[r];
    }
    solve_lower(schur_.data(), k, k, small_.data());
    solve_lower_transposed(schur_.data(), k, k, small_.data());
    for (int j = 0; j < k; ++j) {
        const double* column = solved_.data() + static_cast<std::size_t>(j) * rows_;
        for (int r = 0; r < rows_; ++r) x[r] -= column[r] * small_[j];
    }
    for (int j = 0; j < k; ++j) x[closer_row_[j]] = small_[j];
}

}  // namespace tenon::solve

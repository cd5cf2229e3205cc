#include "solve/block_gauss_seidel.hpp"

#include <algorithm>
#include <cmath>

#include "solve/small_cholesky.hpp"

namespace tenon::solve {

BlockGaussSeidel::BlockGaussSeidel(const CliqueSystem& structure, double tolerance, int max_sweeps)
    : tolerance_(tolerance), max_sweeps_(max_sweeps), at_(structure.blocks()) {
    const auto cliques = cliques_of_blocks(structure);
    for (int c = 0; c < structure.cliques(); ++c) {
        int row = 0;
        for (int k = structure.clique_start[c]; k < structure.clique_start[c + 1]; ++k) {
            at_[structure.clique_block[k]].push_back({c, row});
            row += structure.block_rows(structure.clique_block[k]);
        }
    }
    // Threads by walking on to an unused block of the next body, opposite in its list to where we came in. A body
    // serves a thread once, so that the thread's own part of the system is block tridiagonal.
    std::vector<char> used(structure.blocks(), 0);
    std::vector<int> last_thread(structure.cliques(), -1);
    const auto onward = [&](int block, int thread) {
        for (int clique : cliques[block]) {
            if (last_thread[clique] == 2 * thread + 1) continue;  // passed through already
            const int begin = structure.clique_start[clique],
                      count = structure.clique_start[clique + 1] - begin;
            int here = 0;
            while (structure.clique_block[begin + here] != block) ++here;
            for (int step = 0; step < count; ++step) {
                const int other = structure.clique_block[begin + (here + count / 2 + step) % count];
                if (other == block || used[other]) continue;
                bool fresh = true;
                for (int far : cliques[other]) fresh &= far == clique || last_thread[far] / 2 != thread;
                if (!fresh) continue;
                last_thread[clique] = 2 * thread + 1;
                return other;
            }
        }
        return -1;
    };
    for (int start = 0; start < structure.blocks(); ++start) {
        if (used[start]) continue;
        Thread thread;
        const int number = static_cast<int>(threads_.size()) + 1;
        const auto take = [&](int block) {
            used[block] = 1;
            thread.blocks.push_back(block);
            for (int clique : cliques[block])
                if (last_thread[clique] / 2 != number) last_thread[clique] = 2 * number;
        };
        take(start);
        for (int direction = 0; direction < 2; ++direction) {
            for (int block = thread.blocks.back(); (block = onward(block, number)) >= 0;) take(block);
            std::reverse(thread.blocks.begin(), thread.blocks.end());
        }
        threads_.push_back(std::move(thread));
    }
    std::size_t size = 0;
    int longest = 0;
    for (Thread& thread : threads_) {
        int rows = 0;
        for (std::size_t k = 0; k < thread.blocks.size(); ++k) {
            const std::size_t n = structure.block_rows(thread.blocks[k]);
            const std::size_t m =
                k + 1 < thread.blocks.size() ? structure.block_rows(thread.blocks[k + 1]) : 0;
            thread.diagonal.push_back(size);
            size += n * n;
            thread.upper.push_back(size);
            size += n * m;
            rows += static_cast<int>(n);
        }
        longest = std::max(longest, rows);
    }
    values_.resize(size);
    work_.resize(longest);
    rhs_.resize(structure.rows());
    product_.resize(structure.rows());
}

void BlockGaussSeidel::factor(const CliqueSystem& system) {
    system_ = &system;
    redundant_ = 0;
    // sum over shared cliques of the part between two blocks
    const auto gather = [&](int row_block, int column_block, double* to) {
        const int n = system.block_rows(row_block), m = system.block_rows(column_block);
        std::fill(to, to + n * m, 0.0);
        for (const auto& [clique, row] : at_[row_block])
            for (const auto& [other, column] : at_[column_block]) {
                if (clique != other) continue;
                const double* matrix = system.clique_matrix(clique);
                const int size = system.clique_rows(clique);
                for (int j = 0; j < m; ++j)
                    for (int i = 0; i < n; ++i)
                        to[i + j * n] += matrix[row + i + static_cast<std::size_t>(column + j) * size];
            }
    };
    std::vector<double> B, original;
    for (const Thread& thread : threads_) {
        B.clear();
        for (std::size_t k = 0; k < thread.blocks.size(); ++k) {
            const int block = thread.blocks[k], n = system.block_rows(block);
            double* D = values_.data() + thread.diagonal[k];
            gather(block, block, D);
            original.assign(n, 0.0);
            for (int i = 0; i < n; ++i) {
                D[i + i * n] += system.diagonal[system.block_start[block] + i];
                original[i] = D[i + i * n];
            }
            if (k > 0) {  // D -= B^T D_before^-1 B
                const int before = system.block_rows(thread.blocks[k - 1]);
                const double* G = values_.data() + thread.upper[k - 1];
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < n; ++i)
                        for (int l = 0; l < before; ++l)
                            D[i + j * n] -= B[l + i * before] * G[l + j * before];
            }
            redundant_ += cholesky_in_place(D, n, n, original.data());
            if (k + 1 == thread.blocks.size()) continue;
            const int next = thread.blocks[k + 1], m = system.block_rows(next);
            B.resize(static_cast<std::size_t>(n) * m);
            gather(block, next, B.data());
            double* G = values_.data() + thread.upper[k];
            std::copy(B.begin(), B.end(), G);
            for (int j = 0; j < m; ++j) {
                solve_lower(D, n, n, G + j * n);
                solve_lower_transposed(D, n, n, G + j * n);
            }
        }
    }
}

// x += (thread's tridiagonal part)^-1 (residual on the thread).
void BlockGaussSeidel::relax(const Thread& thread, double* x) {
    const CliqueSystem& system = *system_;
    int place = 0;
    for (int block : thread.blocks) {
        const int n = system.block_rows(block), first = system.block_start[block];
        for (int i = 0; i < n; ++i)
            work_[place + i] = rhs_[first + i] - system.diagonal[first + i] * x[first + i];
        for (const auto& [clique, row] : at_[block]) {
            const double* matrix = system.clique_matrix(clique);
            const int size = system.clique_rows(clique);
            int column = 0;
            for (int k = system.clique_start[clique]; k < system.clique_start[clique + 1]; ++k) {
                const int other = system.clique_block[k];
                for (int r = system.block_start[other]; r < system.block_start[other + 1]; ++r, ++column)
                    for (int i = 0; i < n; ++i)
                        work_[place + i] -= matrix[row + i + static_cast<std::size_t>(column) * size] * x[r];
            }
        }
        place += n;
    }
    place = 0;
    for (std::size_t k = 0; k < thread.blocks.size(); ++k) {
        const int n = system.block_rows(thread.blocks[k]);
        double* own = work_.data() + place;
        if (k + 1 < thread.blocks.size()) {
            const int m = system.block_rows(thread.blocks[k + 1]);
            const double* G = values_.data() + thread.upper[k];
            for (int j = 0; j < m; ++j)
                for (int l = 0; l < n; ++l) own[n + j] -= G[l + j * n] * own[l];
        }
        solve_lower(values_.data() + thread.diagonal[k], n, n, own);
        solve_lower_transposed(values_.data() + thread.diagonal[k], n, n, own);
        place += n;
    }
    for (std::size_t k = thread.blocks.size(); k-- > 0;) {
        const int block = thread.blocks[k], n = system.block_rows(block);
        place -= n;
        double* own = work_.data() + place;
        if (k + 1 < thread.blocks.size()) {
            const int m = system.block_rows(thread.blocks[k + 1]);
            const double* G = values_.data() + thread.upper[k];
            for (int j = 0; j < m; ++j)
                for (int l = 0; l < n; ++l) own[l] -= G[l + j * n] * own[n + j];
        }
        for (int i = 0; i < n; ++i) x[system.block_start[block] + i] += own[i];
    }
}

// z = M^-1 r: every thread in turn, forwards and backwards, which makes M symmetric.
void BlockGaussSeidel::sweep(const std::vector<double>& r, std::vector<double>& z) {
    rhs_ = r;
    std::fill(z.begin(), z.end(), 0.0);
    for (const Thread& thread : threads_) relax(thread, z.data());
    for (auto thread = threads_.rbegin(); thread != threads_.rend(); ++thread) relax(*thread, z.data());
    ++sweeps_;
}

namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace

// Sweeps alone contract by 1 - 1/(condition number): on nets they would take thousands. As the preconditioner of conjugate
// gradients they take the square root of that. The recurrence's residual drifts from the true one, so that each round ends
// with the true one and starts again from it until that is small enough or falls no more.
void BlockGaussSeidel::solve(double* x) {
    const std::size_t rows = static_cast<std::size_t>(system_->rows());
    b_.assign(x, x + rows);
    std::fill(x, x + rows, 0.0);
    sweeps_ = 0;
    residual_ = 0.0;
    const double scale = std::sqrt(dot(b_, b_));
    if (scale == 0.0) return;
    r_ = b_;
    z_.resize(rows), p_.resize(rows), best_.assign(rows, 0.0);
    residual_ = 1.0;
    while (sweeps_ < max_sweeps_) {
        round(x, tolerance_ * scale);
        multiply(*system_, x, product_.data());
        for (std::size_t i = 0; i < rows; ++i) r_[i] = b_[i] - product_[i];
        const double now = std::sqrt(dot(r_, r_)) / scale, before = residual_;
        if (!(now < before)) {  // round-off has the last word
            std::copy(best_.begin(), best_.end(), x);
            return;
        }
        residual_ = now;
        best_.assign(x, x + rows);
        if (now <= tolerance_ || now > 0.5 * before) return;
    }
}

// Conjugate gradients from x with residual r_ until its recurrence is below `target`.
void BlockGaussSeidel::round(double* x, double target) {
    const std::size_t rows = r_.size();
    double rho_before = 0.0;
    while (sweeps_ < max_sweeps_) {
        sweep(r_, z_);
        const double rho = dot(r_, z_);
        if (!(rho > 0.0)) return;
        const double beta = rho_before > 0.0 ? rho / rho_before : 0.0;
        for (std::size_t i = 0; i < rows; ++i) p_[i] = z_[i] + (beta > 0.0 ? beta * p_[i] : 0.0);
        multiply(*system_, p_.data(), product_.data());
        const double curvature = dot(p_, product_);
        if (!(curvature > 0.0)) return;
        const double alpha = rho / curvature;
        for (std::size_t i = 0; i < rows; ++i) x[i] += alpha * p_[i], r_[i] -= alpha * product_[i];
        if (std::sqrt(dot(r_, r_)) <= target) return;
        rho_before = rho;
    }
}

}  // namespace tenon::solve

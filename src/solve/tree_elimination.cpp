#include "solve/tree_elimination.hpp"

#include <algorithm>

#include "solve/small_cholesky.hpp"

namespace tenon::solve {

TreeElimination::TreeElimination(const CliqueSystem& structure, const std::vector<int>& closers)
    : block_start_(structure.block_start), left_out_(structure.blocks(), 0) {
    for (int block : closers) left_out_[block] = 1;
    const auto cliques = cliques_of_blocks(structure);

    // breadth-first from any unseen clique: the reverse order is leaf to root
    std::vector<char> seen(structure.cliques(), 0);
    std::vector<int> order, parent_block(structure.cliques(), -1);
    for (int root = 0; root < structure.cliques(); ++root) {
        if (seen[root]) continue;
        seen[root] = 1;
        order.push_back(root);
        for (std::size_t head = order.size() - 1; head < order.size(); ++head) {
            const int clique = order[head];
            for (int k = structure.clique_start[clique]; k < structure.clique_start[clique + 1]; ++k) {
                const int block = structure.clique_block[k];
                if (left_out_[block] || block == parent_block[clique]) continue;
                for (int other : cliques[block])
                    if (!seen[other]) {
                        seen[other] = 1;
                        parent_block[other] = block;
                        order.push_back(other);
                    }
            }
        }
    }
    std::reverse(order.begin(), order.end());

    std::size_t factor_size = 0;
    int largest = 0;
    place_.assign(structure.clique_block.size(), -1);
    for (int clique : order) {
        Node node;
        node.clique = clique;
        node.parent_block = parent_block[clique];
        node.first_child = static_cast<int>(child_block_.size());
        for (int k = structure.clique_start[clique]; k < structure.clique_start[clique + 1]; ++k) {
            const int block = structure.clique_block[k];
            if (left_out_[block] || block == node.parent_block) continue;
            child_block_.push_back(block);
            place_[k] = node.child_rows;
            node.child_rows += structure.block_rows(block);
        }
        for (int k = structure.clique_start[clique]; k < structure.clique_start[clique + 1]; ++k)
            if (structure.clique_block[k] == node.parent_block) place_[k] = node.child_rows;
        node.child_end = static_cast<int>(child_block_.size());
        node.parent_rows = node.parent_block < 0 ? 0 : structure.block_rows(node.parent_block);
        node.factor_start = factor_size;
        factor_size += static_cast<std::size_t>(node.child_rows) * (node.child_rows + node.parent_rows);
        largest = std::max(largest, node.child_rows + node.parent_rows);
        nodes_.push_back(node);
    }
    factors_.resize(factor_size);
    passed_start_.resize(structure.blocks() + 1, 0);
    for (int b = 0; b < structure.blocks(); ++b)
        passed_start_[b + 1] =
            passed_start_[b] + static_cast<std::size_t>(structure.block_rows(b)) * structure.block_rows(b);
    passed_.resize(passed_start_.back());
    front_.resize(static_cast<std::size_t>(largest) * largest);
    buffer_.resize(largest);
    original_.resize(largest);
}

// front_ = the clique's matrix, children first and the parent block last, plus what was passed up.
void TreeElimination::gather(const CliqueSystem& system, const Node& node) {
    const int size = node.child_rows + node.parent_rows;
    const int begin = system.clique_start[node.clique], end = system.clique_start[node.clique + 1];
    const int clique_rows = system.clique_rows(node.clique);
    const double* matrix = system.clique_matrix(node.clique);
    int column = 0;
    for (int kj = begin; kj < end; ++kj) {
        const int cols = system.block_rows(system.clique_block[kj]);
        const int to_column = place_[kj];
        int row = 0;
        for (int ki = begin; ki < end; ++ki) {
            const int rows = system.block_rows(system.clique_block[ki]);
            const int to_row = place_[ki];
            if (to_row >= 0 && to_column >= 0)
                for (int j = 0; j < cols; ++j)
                    for (int i = 0; i < rows; ++i)
                        front_[to_row + i + static_cast<std::size_t>(to_column + j) * size] =
                            matrix[row + i + static_cast<std::size_t>(column + j) * clique_rows];
            row += rows;
        }
        column += cols;
    }
    int place = 0;
    for (int c = node.first_child; c < node.child_end; ++c) {
        const int block = child_block_[c], rows = block_start_[block + 1] - block_start_[block];
        const double* up = passed_.data() + passed_start_[block];
        for (int j = 0; j < rows; ++j) {
            for (int i = 0; i < rows; ++i)
                front_[place + i + static_cast<std::size_t>(place + j) * size] += up[i + j * rows];
            original_[place + j] = front_[place + j + static_cast<std::size_t>(place + j) * size];
        }
        place += rows;
    }
}

void TreeElimination::factor(const CliqueSystem& system) {
    redundant_ = 0;
    std::fill(passed_.begin(), passed_.end(), 0.0);
    for (int b = 0; b < system.blocks(); ++b) {
        const int rows = system.block_rows(b);
        for (int i = 0; i < rows; ++i)
            passed_[passed_start_[b] + i + i * rows] = system.diagonal[block_start_[b] + i];
    }
    for (const Node& node : nodes_) {
        const int n = node.child_rows, p = node.parent_rows, size = n + p;
        gather(system, node);
        double* factor = factors_.data() + node.factor_start;
        double* G = factor + static_cast<std::size_t>(n) * n;
        for (int j = 0; j < n; ++j)
            for (int i = j; i < n; ++i)
                factor[i + static_cast<std::size_t>(j) * n] = front_[i + static_cast<std::size_t>(j) * size];
        redundant_ += cholesky_in_place(factor, n, n, original_.data());
        for (int j = 0; j < p; ++j) {
            double* g = G + static_cast<std::size_t>(j) * n;
            const double* cp = front_.data() + static_cast<std::size_t>(n + j) * size;
            std::copy(cp, cp + n, g);
            solve_lower(factor, n, n, g);
            solve_lower_transposed(factor, n, n, g);
        }
        if (node.parent_block < 0) continue;
        double* up = passed_.data() + passed_start_[node.parent_block];
        for (int j = 0; j < p; ++j)
            for (int i = 0; i < p; ++i) {
                const double* cp = front_.data() + static_cast<std::size_t>(n + i) * size;  // column of F_cp
                double value = cp[n + j];
                for (int k = 0; k < n; ++k) value -= cp[k] * G[k + static_cast<std::size_t>(j) * n];
                up[i + j * p] += value;
            }
    }
}

void TreeElimination::solve(double* x) {
    // leaf to root: x_c becomes F_cc^-1 x_c, and the parent block loses G^T x_c
    for (const Node& node : nodes_) {
        const int n = node.child_rows, p = node.parent_rows;
        const double* factor = factors_.data() + node.factor_start;
        const double* G = factor + static_cast<std::size_t>(n) * n;
        int place = 0;
        for (int c = node.first_child; c < node.child_end; ++c)
            for (int r = block_start_[child_block_[c]]; r < block_start_[child_block_[c] + 1]; ++r)
                buffer_[place++] = x[r];
        double* parent = node.parent_block < 0 ? nullptr : x + block_start_[node.parent_block];
        for (int j = 0; j < p; ++j)
            for (int k = 0; k < n; ++k) parent[j] -= G[k + static_cast<std::size_t>(j) * n] * buffer_[k];
        solve_lower(factor, n, n, buffer_.data());
        solve_lower_transposed(factor, n, n, buffer_.data());
        place = 0;
        for (int c = node.first_child; c < node.child_end; ++c)
            for (int r = block_start_[child_block_[c]]; r < block_start_[child_block_[c] + 1]; ++r)
                x[r] = buffer_[place++];
    }
    // root to leaf: x_c -= G x_p
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
        if (node->parent_block < 0) continue;
        const int n = node->child_rows, p = node->parent_rows;
        const double* G = factors_.data() + node->factor_start + static_cast<std::size_t>(n) * n;
        const double* parent = x + block_start_[node->parent_block];
        int place = 0;
        for (int c = node->first_child; c < node->child_end; ++c)
            for (int r = block_start_[child_block_[c]]; r < block_start_[child_block_[c] + 1]; ++r, ++place)
                for (int j = 0; j < p; ++j) x[r] -= G[place + static_cast<std::size_t>(j) * n] * parent[j];
    }
}

}  // namespace tenon::solve

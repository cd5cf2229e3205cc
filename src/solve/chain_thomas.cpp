#include "solve/chain_thomas.hpp"

#include <algorithm>

#include "solve/small_cholesky.hpp"

namespace tenon::solve {

std::vector<int> ChainThomas::chain_order(const CliqueSystem& structure) {
    const auto cliques = cliques_of_blocks(structure);
    const auto neighbour = [&](int block, int from) {  // another block that shares a clique with this one
        for (int clique : cliques[block])
            for (int k = structure.clique_start[clique]; k < structure.clique_start[clique + 1]; ++k) {
                const int other = structure.clique_block[k];
                if (other != block && other != from) return other;
            }
        return -1;
    };
    const auto is_end = [&](int block) {
        const int next = neighbour(block, -1);
        return next < 0 || neighbour(block, next) < 0;
    };
    std::vector<int> order;
    std::vector<char> seen(structure.blocks(), 0);
    for (int start = 0; start < structure.blocks(); ++start) {
        if (seen[start] || !is_end(start)) continue;
        for (int block = start, from = -1; block >= 0;) {
            seen[block] = 1;
            order.push_back(block);
            const int next = neighbour(block, from);
            from = block;
            block = next >= 0 && !seen[next] ? next : -1;
        }
    }
    return order;
}

ChainThomas::ChainThomas(const CliqueSystem& structure) : block_start_(structure.block_start) {
    const std::vector<int> order = chain_order(structure);
    std::vector<int> link_of(structure.blocks(), -1);
    for (int block : order) {
        link_of[block] = static_cast<int>(links_.size());
        links_.push_back({block, structure.block_rows(block), 0, 0, 0});
    }
    for (int c = 0; c < structure.cliques(); ++c) {
        const int begin = structure.clique_start[c], count = structure.clique_start[c + 1] - begin;
        if (count == 0) continue;
        Entry entry;
        entry.clique = c;
        entry.first = link_of[structure.clique_block[begin]];
        if (count == 2) {
            entry.second = link_of[structure.clique_block[begin + 1]];
            entry.second_offset = links_[entry.first].rows;
            if (entry.second < entry.first) {
                std::swap(entry.first, entry.second);
                entry.first_offset = links_[entry.second].rows;
                entry.second_offset = 0;
            }
            links_[entry.first].next_rows = links_[entry.second].rows;
        }
        entries_.push_back(entry);
    }
    std::size_t size = 0;
    int largest = 0;
    for (Link& link : links_) {
        link.diagonal = size;
        size += static_cast<std::size_t>(link.rows) * link.rows;
        link.upper = size;
        size += 2 * static_cast<std::size_t>(link.rows) * link.next_rows;
        largest = std::max(largest, link.rows);
    }
    values_.resize(size);
    original_.resize(largest);
}

void ChainThomas::factor(const CliqueSystem& system) {
    redundant_ = 0;
    std::fill(values_.begin(), values_.end(), 0.0);
    for (const Link& link : links_)
        for (int i = 0; i < link.rows; ++i)
            values_[link.diagonal + i + i * link.rows] = system.diagonal[block_start_[link.block] + i];
    for (const Entry& entry : entries_) {
        const double* matrix = system.clique_matrix(entry.clique);
        const int size = system.clique_rows(entry.clique);
        const auto add = [&](double* to, int rows, int columns, int row, int column) {
            for (int j = 0; j < columns; ++j)
                for (int i = 0; i < rows; ++i) to[i + j * rows] += matrix[row + i + (column + j) * size];
        };
        const Link& first = links_[entry.first];
        add(values_.data() + first.diagonal, first.rows, first.rows, entry.first_offset, entry.first_offset);
        if (entry.second < 0) continue;
        const Link& second = links_[entry.second];
        add(values_.data() + second.diagonal, second.rows, second.rows, entry.second_offset,
            entry.second_offset);
        add(values_.data() + first.upper, first.rows, second.rows, entry.first_offset, entry.second_offset);
    }
    for (std::size_t k = 0; k < links_.size(); ++k) {
        const Link& link = links_[k];
        const int n = link.rows, m = link.next_rows;
        double* D = values_.data() + link.diagonal;
        for (int i = 0; i < n; ++i) original_[i] = D[i + i * n];
        redundant_ += cholesky_in_place(D, n, n, original_.data());
        if (m == 0) continue;
        const double* B = values_.data() + link.upper;
        double* G = values_.data() + link.upper + static_cast<std::size_t>(n) * m;  // D^-1 B
        std::copy(B, B + n * m, G);
        for (int j = 0; j < m; ++j) {
            solve_lower(D, n, n, G + j * n);
            solve_lower_transposed(D, n, n, G + j * n);
        }
        double* next = values_.data() + links_[k + 1].diagonal;
        for (int j = 0; j < m; ++j)
            for (int i = 0; i < m; ++i)
                for (int l = 0; l < n; ++l) next[i + j * m] -= B[l + i * n] * G[l + j * n];
    }
}

void ChainThomas::solve(double* x) {
    for (std::size_t k = 0; k < links_.size(); ++k) {
        const Link& link = links_[k];
        double* own = x + block_start_[link.block];
        if (link.next_rows > 0) {
            const double* G =
                values_.data() + link.upper + static_cast<std::size_t>(link.rows) * link.next_rows;
            double* next = x + block_start_[links_[k + 1].block];
            for (int j = 0; j < link.next_rows; ++j)
                for (int l = 0; l < link.rows; ++l) next[j] -= G[l + j * link.rows] * own[l];
        }
        solve_lower(values_.data() + link.diagonal, link.rows, link.rows, own);
        solve_lower_transposed(values_.data() + link.diagonal, link.rows, link.rows, own);
    }
    for (std::size_t k = links_.size(); k-- > 0;) {
        const Link& link = links_[k];
        if (link.next_rows == 0) continue;
        const double* G = values_.data() + link.upper + static_cast<std::size_t>(link.rows) * link.next_rows;
        double* own = x + block_start_[link.block];
        const double* next = x + block_start_[links_[k + 1].block];
        for (int j = 0; j < link.next_rows; ++j)
            for (int l = 0; l < link.rows; ++l) own[l] -= G[l + j * link.rows] * next[j];
    }
}

}  // namespace tenon::solve

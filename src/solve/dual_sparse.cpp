#include "solve/dual_sparse.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>

#include "solve/small_cholesky.hpp"

namespace tenon::solve {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

std::vector<std::vector<int>> block_graph(const CliqueSystem& structure) {
    std::vector<std::vector<int>> graph(structure.blocks());
    for (int c = 0; c < structure.cliques(); ++c)
        for (int i = structure.clique_start[c]; i < structure.clique_start[c + 1]; ++i)
            for (int j = structure.clique_start[c]; j < structure.clique_start[c + 1]; ++j)
                if (i != j) graph[structure.clique_block[i]].push_back(structure.clique_block[j]);
    for (auto& list : graph) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return graph;
}

std::vector<int> nested_dissection(const std::vector<std::vector<int>>& graph) {
    idx_t count = static_cast<idx_t>(graph.size());
    std::vector<int> order(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) order[i] = static_cast<int>(i);
    std::vector<idx_t> start{0}, adjacent;
    for (const auto& list : graph) {
        adjacent.insert(adjacent.end(), list.begin(), list.end());
        start.push_back(static_cast<idx_t>(adjacent.size()));
    }
    if (count < 3 || adjacent.empty()) return order;
    std::vector<idx_t> permutation(count), inverse(count);
    if (METIS_NodeND(&count, start.data(), adjacent.data(), nullptr, nullptr, permutation.data(),
                     inverse.data()) == METIS_OK)
        for (idx_t i = 0; i < count; ++i) order[i] = static_cast<int>(permutation[i]);
    return order;
}

// Structure of the factor below each position, and the elimination tree, for a given order.
struct Symbolic {
    std::vector<std::vector<int>> lower;
    std::vector<int> parent;
};
Symbolic symbolic_factor(const std::vector<std::vector<int>>& graph, const std::vector<int>& order) {
    const int count = static_cast<int>(order.size());
    std::vector<int> position(count);
    for (int i = 0; i < count; ++i) position[order[i]] = i;
    Symbolic symbolic{std::vector<std::vector<int>>(count), std::vector<int>(count, -1)};
    std::vector<int> mark(count, -1);
    std::vector<std::vector<int>> children(count);
    for (int j = 0; j < count; ++j) {
        std::vector<int>& list = symbolic.lower[j];
        mark[j] = j;
        const auto add = [&](int i) {
            if (i > j && mark[i] != j) {
                mark[i] = j;
                list.push_back(i);
            }
        };
        for (int other : graph[order[j]]) add(position[other]);
        for (int child : children[j])
            for (int i : symbolic.lower[child]) add(i);
        std::sort(list.begin(), list.end());
        if (!list.empty()) {
            symbolic.parent[j] = list.front();
            children[list.front()].push_back(j);
        }
    }
    return symbolic;
}

std::vector<int> postorder(const std::vector<int>& parent) {
    const int count = static_cast<int>(parent.size());
    std::vector<std::vector<int>> children(count);
    for (int i = 0; i < count; ++i)
        if (parent[i] >= 0) children[parent[i]].push_back(i);
    std::vector<int> order, stack, next(count, 0);
    for (int root = 0; root < count; ++root) {
        if (parent[root] >= 0) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const int node = stack.back();
            if (next[node] < static_cast<int>(children[node].size())) {
                stack.push_back(children[node][next[node]++]);
            } else {
                order.push_back(node);
                stack.pop_back();
            }
        }
    }
    return order;
}

}  // namespace

DualSparse::DualSparse(const CliqueSystem& structure) {
    order_blocks(structure);
    find_supernodes(structure);
    map_entries(structure);
}

// Nested dissection, then the postorder of its elimination tree so that supernodes are contiguous.
void DualSparse::order_blocks(const CliqueSystem& structure) {
    const auto graph = block_graph(structure);
    const std::vector<int> dissection = nested_dissection(graph);
    const std::vector<int> post = postorder(symbolic_factor(graph, dissection).parent);
    block_order_.resize(post.size());
    for (std::size_t i = 0; i < post.size(); ++i) block_order_[i] = dissection[post[i]];
    lower_ = symbolic_factor(graph, block_order_).lower;
    new_row_.resize(structure.rows());
    int row = 0;
    for (int block : block_order_)
        for (int r = structure.block_start[block]; r < structure.block_start[block + 1]; ++r)
            new_row_[r] = row++;
}

// Neighbouring positions whose columns have the same structure below them are eliminated together.
void DualSparse::find_supernodes(const CliqueSystem& structure) {
    const int count = structure.blocks();
    std::vector<int> first_row(count + 1, 0);
    for (int p = 0; p < count; ++p) first_row[p + 1] = first_row[p] + structure.block_rows(block_order_[p]);
    node_of_row_.resize(structure.rows());
    std::size_t size = 0;
    int widest = 0, tallest = 0;
    for (int p = 0; p < count;) {
        int end = p + 1;
        while (end < count && !lower_[end - 1].empty() && lower_[end - 1].front() == end &&
               lower_[end - 1].size() == lower_[end].size() + 1)
            ++end;
        Supernode node;
        node.first = first_row[p];
        node.width = first_row[end] - first_row[p];
        node.index_start = row_index_.size();
        for (int r = first_row[p]; r < first_row[end]; ++r) row_index_.push_back(r);
        for (int q : lower_[end - 1])
            for (int r = first_row[q]; r < first_row[q + 1]; ++r) row_index_.push_back(r);
        node.rows = static_cast<int>(row_index_.size() - node.index_start);
        node.value_start = size;
        size += static_cast<std::size_t>(node.rows) * node.width;
        for (int r = node.first; r < node.first + node.width; ++r)
            node_of_row_[r] = static_cast<int>(nodes_.size());
        widest = std::max(widest, node.width);
        tallest = std::max(tallest, node.rows);
        nodes_.push_back(node);
        p = end;
    }
    lower_.clear();
    lower_.shrink_to_fit();
    values_.resize(size);
    original_.resize(structure.rows());
    work_.resize(structure.rows());
    product_.resize(static_cast<std::size_t>(tallest) * std::max(widest, 1));
    place_.assign(structure.rows(), 0);
    next_.assign(nodes_.size(), -1);
    first_pending_.assign(nodes_.size(), -1);
    pending_row_.assign(nodes_.size(), 0);
}

void DualSparse::map_entries(const CliqueSystem& structure) {
    const auto target = [&](int row, int column) -> std::size_t {
        if (row < column) return none;
        const Supernode& node = nodes_[node_of_row_[column]];
        const auto begin = row_index_.begin() + static_cast<long>(node.index_start);
        const auto found = std::lower_bound(begin, begin + node.rows, row);
        return node.value_start + static_cast<std::size_t>(found - begin) +
               static_cast<std::size_t>(column - node.first) * node.rows;
    };
    entry_target_.assign(structure.matrix.size(), none);
    std::vector<int> rows;
    for (int c = 0; c < structure.cliques(); ++c) {
        rows.clear();
        for (int k = structure.clique_start[c]; k < structure.clique_start[c + 1]; ++k) {
            const int block = structure.clique_block[k];
            for (int r = structure.block_start[block]; r < structure.block_start[block + 1]; ++r)
                rows.push_back(new_row_[r]);
        }
        for (std::size_t j = 0; j < rows.size(); ++j)
            for (std::size_t i = 0; i < rows.size(); ++i)
                entry_target_[structure.matrix_start[c] + i + j * rows.size()] = target(rows[i], rows[j]);
    }
    diagonal_target_.resize(structure.rows());
    for (int r = 0; r < structure.rows(); ++r) diagonal_target_[r] = target(new_row_[r], new_row_[r]);
}

// target -= L_from[begin:] L_from[begin:end]^T, where rows begin..end of `from` are columns of `target`.
void DualSparse::update(const Supernode& target, const Supernode& from, int begin, int end) {
    const int m = from.rows - begin, n = end - begin;
    using Panel = Eigen::Map<const MatX, 0, Eigen::OuterStride<>>;
    const double* L = values_.data() + from.value_start + begin;
    const int* index = row_index_.data() + from.index_start + begin;
    double* out = values_.data() + target.value_start;
    if (from.width * n <= 64) {  // small: straight into place
        for (int j = 0; j < n; ++j) {
            double* column = out + static_cast<std::size_t>(index[j] - target.first) * target.rows;
            for (int k = 0; k < from.width; ++k) {
                const double* Lk = L + static_cast<std::size_t>(k) * from.rows;
                const double factor = Lk[j];
                if (factor == 0.0) continue;
                for (int i = j; i < m; ++i) column[place_[index[i]]] -= factor * Lk[i];
            }
        }
        return;
    }
    Eigen::Map<MatX> product(product_.data(), m, n);
    const Panel rows(L, m, from.width, Eigen::OuterStride<>(from.rows));
    product.noalias() = rows * rows.topRows(n).transpose();
    for (int j = 0; j < n; ++j) {
        double* column = out + static_cast<std::size_t>(index[j] - target.first) * target.rows;
        for (int i = j; i < m; ++i) column[place_[index[i]]] -= product(i, j);
    }
}

void DualSparse::eliminate(int number) {
    const Supernode& node = nodes_[number];
    const int* index = row_index_.data() + node.index_start;
    for (int i = 0; i < node.rows; ++i) place_[index[i]] = i;

    // everything on the left that reaches into these columns
    for (int from = first_pending_[number]; from >= 0;) {
        const int following = next_[from];
        const Supernode& source = nodes_[from];
        const int* source_index = row_index_.data() + source.index_start;
        const int begin = pending_row_[from];
        int end = begin;
        while (end < source.rows && source_index[end] < node.first + node.width) ++end;
        update(node, source, begin, end);
        if (end < source.rows) {
            const int later = node_of_row_[source_index[end]];
            pending_row_[from] = end;
            next_[from] = first_pending_[later];
            first_pending_[later] = from;
        }
        from = following;
    }

    double* a = values_.data() + node.value_start;
    if (node.width <= 16) {
        // Cholesky of the whole panel: rows below follow the columns
        for (int j = 0; j < node.width; ++j) {
            double* column = a + static_cast<std::size_t>(j) * node.rows;
            for (int k = 0; k < j; ++k) {
                const double* done = a + static_cast<std::size_t>(k) * node.rows;
                const double factor = done[j];
                if (factor == 0.0) continue;
                for (int i = j; i < node.rows; ++i) column[i] -= factor * done[i];
            }
            if (!(column[j] > redundant_pivot * original_[node.first + j])) {
                ++redundant_;
                for (int i = j; i < node.rows; ++i) column[i] = 0.0;
                continue;
            }
            const double inverse = 1.0 / __builtin_sqrt(column[j]);
            column[j] = inverse;
            for (int i = j + 1; i < node.rows; ++i) column[i] *= inverse;
        }
    } else {
        redundant_ += cholesky_in_place(a, node.width, node.rows, original_.data() + node.first);
        const int below = node.rows - node.width;
        constexpr int strip = 16;
        for (int j0 = 0; j0 < node.width && below > 0; j0 += strip) {
            const int columns = std::min(strip, node.width - j0);
            using Map = Eigen::Map<MatX, 0, Eigen::OuterStride<>>;
            Map panel(a + node.width + static_cast<std::size_t>(j0) * node.rows, below, columns,
                      Eigen::OuterStride<>(node.rows));
            if (j0 > 0) {
                const Map left(a + node.width, below, j0, Eigen::OuterStride<>(node.rows));
                const Map lower(a + j0, columns, j0, Eigen::OuterStride<>(node.rows));
                panel.noalias() -= left * lower.transpose();
            }
            for (int j = 0; j < columns; ++j) {
                for (int k = 0; k < j; ++k)
                    panel.col(j) -= a[j0 + j + static_cast<std::size_t>(j0 + k) * node.rows] * panel.col(k);
                panel.col(j) *= a[j0 + j + static_cast<std::size_t>(j0 + j) * node.rows];
            }
        }
    }
    if (node.rows > node.width) {
        const int later = node_of_row_[index[node.width]];
        pending_row_[number] = node.width;
        next_[number] = first_pending_[later];
        first_pending_[later] = number;
    }
}

void DualSparse::factor(const CliqueSystem& system) {
    redundant_ = 0;
    std::fill(values_.begin(), values_.end(), 0.0);
    for (std::size_t e = 0; e < entry_target_.size(); ++e)
        if (entry_target_[e] != none) values_[entry_target_[e]] += system.matrix[e];
    for (int r = 0; r < system.rows(); ++r) {
        values_[diagonal_target_[r]] += system.diagonal[r];
        original_[new_row_[r]] = values_[diagonal_target_[r]];
    }
    std::fill(first_pending_.begin(), first_pending_.end(), -1);
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) eliminate(node);
}

void DualSparse::solve(double* x) {
    for (std::size_t r = 0; r < new_row_.size(); ++r) work_[new_row_[r]] = x[r];
    for (const Supernode& node : nodes_) {
        const int* index = row_index_.data() + node.index_start;
        for (int j = 0; j < node.width; ++j) {
            const double* column =
                values_.data() + node.value_start + static_cast<std::size_t>(j) * node.rows;
            const double value = work_[node.first + j] * column[j];
            work_[node.first + j] = value;
            for (int i = j + 1; i < node.rows; ++i) work_[index[i]] -= column[i] * value;
        }
    }
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
        const int* index = row_index_.data() + node->index_start;
        for (int j = node->width - 1; j >= 0; --j) {
            const double* column =
                values_.data() + node->value_start + static_cast<std::size_t>(j) * node->rows;
            double value = work_[node->first + j];
            for (int i = j + 1; i < node->rows; ++i) value -= column[i] * work_[index[i]];
            work_[node->first + j] = value * column[j];
        }
    }
    for (std::size_t r = 0; r < new_row_.size(); ++r) x[r] = work_[new_row_[r]];
}

}  // namespace tenon::solve

#include "solve/clique_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/small_cholesky.hpp"

namespace tenon::solve {
namespace {

constexpr int dof = 3;

}  // namespace

CliqueCholesky::CliqueCholesky(const CliqueSystem& structure) {
    find_nodes(structure);
    struct Piece {
        int node, row, rows;  // row: within the clique's matrix
    };
    std::vector<std::vector<Piece>> pieces(structure.cliques());
    std::vector<std::pair<int, int>> pairs;
    for (int c = 0; c < structure.cliques(); ++c) {
        int row = 0;
        for (int k = structure.clique_start[c]; k < structure.clique_start[c + 1]; ++k) {
            const int block = structure.clique_block[k], rows = structure.block_rows(block);
            for (int r = 0; r < rows; r += dof)
                pieces[c].push_back({unknown_of_row_[structure.block_start[block] + r] / dof, row + r,
                                     std::min(dof, rows - r)});
            row += rows;
        }
        for (std::size_t i = 0; i < pieces[c].size(); ++i)
            for (std::size_t j = 0; j < i; ++j) pairs.emplace_back(pieces[c][i].node, pieces[c][j].node);
    }
    matrix_.resize(make_pattern(static_cast<int>(padding_.size()) / dof, std::move(pairs)), dof);
    factor_.analyse(matrix_.pattern, dof);
    factor_.leave_out_below(redundant_pivot);
    for (int c = 0; c < structure.cliques(); ++c) {
        const int size = structure.clique_rows(c);
        for (const Piece& row : pieces[c])
            for (const Piece& column : pieces[c]) {
                if (row.node < column.node) continue;
                Tile tile;
                tile.from = structure.matrix_start[c] + row.row + static_cast<std::size_t>(column.row) * size;
                tile.diagonal = row.node == column.node;
                tile.to =
                    static_cast<std::size_t>(tile.diagonal ? row.node : matrix_.find(row.node, column.node)) *
                    dof * dof;
                tile.row = row.node * dof;
                tile.column = column.node * dof;
                tile.stride = size;
                tile.rows = row.rows;
                tile.columns = column.rows;
                tiles_.push_back(tile);
            }
    }
    work_.resize(padding_.size());
}

void CliqueCholesky::find_nodes(const CliqueSystem& structure) {
    unknown_of_row_.resize(structure.rows());
    int next = 0;
    for (int b = 0; b < structure.blocks(); ++b) {
        const int rows = structure.block_rows(b), padded = (rows + dof - 1) / dof * dof;
        for (int r = 0; r < rows; ++r) unknown_of_row_[structure.block_start[b] + r] = next + r;
        padding_.resize(next + padded, 0);
        for (int r = rows; r < padded; ++r) padding_[next + r] = 1;
        next += padded;
    }
}

void CliqueCholesky::find_scale(const CliqueSystem& system) {
    scale_.assign(padding_.size(), 0.0);
    for (const Tile& tile : tiles_)
        if (tile.diagonal)
            for (int i = 0; i < tile.rows; ++i)
                scale_[tile.row + i] +=
                    system.matrix[tile.from + i + static_cast<std::size_t>(i) * tile.stride];
    for (int r = 0; r < system.rows(); ++r) scale_[unknown_of_row_[r]] += system.diagonal[r];
    for (double& value : scale_) value = value > 0.0 ? 1.0 / std::sqrt(value) : 1.0;
}

void CliqueCholesky::factor(const CliqueSystem& system) {
    find_scale(system);
    std::fill(matrix_.diagonal.begin(), matrix_.diagonal.end(), 0.0);
    std::fill(matrix_.lower.begin(), matrix_.lower.end(), 0.0);
    for (const Tile& tile : tiles_) {
        const double* from = system.matrix.data() + tile.from;
        double* to = (tile.diagonal ? matrix_.diagonal.data() : matrix_.lower.data()) + tile.to;
        for (int j = 0; j < tile.columns; ++j)
            for (int i = 0; i < tile.rows; ++i)
                to[i + j * dof] += from[i + static_cast<std::size_t>(j) * tile.stride] *
                                   (scale_[tile.row + i] * scale_[tile.column + j]);
    }
    const auto diagonal = [&](int unknown) -> double& {
        return matrix_.diagonal_block(unknown / dof)[(unknown % dof) * (dof + 1)];
    };
    for (int r = 0; r < system.rows(); ++r) {
        const int u = unknown_of_row_[r];
        diagonal(u) += system.diagonal[r] * (scale_[u] * scale_[u]);
    }
    for (int u = 0; u < static_cast<int>(padding_.size()); ++u)
        if (padding_[u]) diagonal(u) = 1.0;
    factored_ = factor_.factor(matrix_);
    redundant_ = factor_.left_out();
}

void CliqueCholesky::solve(double* x) {
    if (!factored_) {  // numbers of the system are not finite, and neither are those of its solution
        std::fill_n(x, unknown_of_row_.size(), std::numeric_limits<double>::quiet_NaN());
        return;
    }
    std::fill(work_.begin(), work_.end(), 0.0);
    for (std::size_t r = 0; r < unknown_of_row_.size(); ++r)
        work_[unknown_of_row_[r]] = scale_[unknown_of_row_[r]] * x[r];
    factor_.solve(work_.data(), work_.data());
    for (std::size_t r = 0; r < unknown_of_row_.size(); ++r)
        x[r] = scale_[unknown_of_row_[r]] * work_[unknown_of_row_[r]];
}

}  // namespace tenon::solve

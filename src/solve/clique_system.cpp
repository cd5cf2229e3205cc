#include "solve/clique_system.hpp"
#include "math/union_find.hpp"

#include <numeric>

namespace tenon::solve {

int CliqueSystem::add_clique(const std::vector<int>& members) {
    clique_block.insert(clique_block.end(), members.begin(), members.end());
    clique_start.push_back(static_cast<int>(clique_block.size()));
    const std::size_t rows = static_cast<std::size_t>(clique_rows(cliques() - 1));
    matrix_start.push_back(matrix_start.back() + rows * rows);
    matrix.resize(matrix_start.back(), 0.0);
    return cliques() - 1;
}

int CliqueSystem::clique_rows(int clique) const {
    int rows = 0;
    for (int k = clique_start[clique]; k < clique_start[clique + 1]; ++k) rows += block_rows(clique_block[k]);
    return rows;
}

namespace {

// Calls visit(i, j, value) for every entry of every clique, with global row and column.
template <class Visit>
void for_entries(const CliqueSystem& system, const Visit& visit) {
    std::vector<int> rows;
    for (int c = 0; c < system.cliques(); ++c) {
        rows.clear();
        for (int k = system.clique_start[c]; k < system.clique_start[c + 1]; ++k) {
            const int block = system.clique_block[k];
            for (int r = system.block_start[block]; r < system.block_start[block + 1]; ++r) rows.push_back(r);
        }
        const double* matrix = system.clique_matrix(c);
        for (std::size_t j = 0; j < rows.size(); ++j)
            for (std::size_t i = 0; i < rows.size(); ++i)
                visit(rows[i], rows[j], matrix[i + j * rows.size()]);
    }
}

}  // namespace

void multiply(const CliqueSystem& system, const double* x, double* y) {
    for (int r = 0; r < system.rows(); ++r) y[r] = system.diagonal[r] * x[r];
    for_entries(system, [&](int i, int j, double value) { y[i] += value * x[j]; });
}

MatX to_dense(const CliqueSystem& system) {
    MatX dense = MatX::Zero(system.rows(), system.rows());
    for (int r = 0; r < system.rows(); ++r) dense(r, r) = system.diagonal[r];
    for_entries(system, [&](int i, int j, double value) { dense(i, j) += value; });
    return dense;
}

std::vector<double> diagonal_of(const CliqueSystem& system) {
    std::vector<double> diagonal = system.diagonal;
    for_entries(system, [&](int i, int j, double value) {
        if (i == j) diagonal[i] += value;
    });
    return diagonal;
}

std::vector<std::vector<int>> cliques_of_blocks(const CliqueSystem& system) {
    std::vector<std::vector<int>> out(system.blocks());
    for (int c = 0; c < system.cliques(); ++c)
        for (int k = system.clique_start[c]; k < system.clique_start[c + 1]; ++k)
            out[system.clique_block[k]].push_back(c);
    return out;
}

TopologyReport find_topology(const CliqueSystem& system, int max_closer_rows) {
    TopologyReport report;
    const auto cliques = cliques_of_blocks(system);
    UnionFind joined(system.cliques());
    for (int b = 0; b < system.blocks(); ++b) {
        const auto& members = cliques[b];
        const bool closes =
            members.size() > 2 || (members.size() == 2 && !joined.join(members[0], members[1]));
        if (!closes) continue;
        report.closers.push_back(b);
        report.closer_rows += system.block_rows(b);
    }
    bool branches = false;
    for (int c = 0; c < system.cliques(); ++c)
        branches |= system.clique_start[c + 1] - system.clique_start[c] > 2;
    if (report.closers.empty())
        report.topology = branches ? Topology::tree : Topology::chain;
    else
        report.topology = report.closer_rows <= max_closer_rows ? Topology::loops : Topology::graph;
    return report;
}

}  // namespace tenon::solve

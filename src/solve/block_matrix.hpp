// A symmetric matrix of small dense blocks: the pattern is a graph of nodes, each with `dof` unknowns.
#pragma once

#include <vector>

namespace tenon::solve {

// For each node i, its neighbours j < i in ascending order: columns[start[i]] ... columns[start[i + 1] - 1].
struct BlockPattern {
    int nodes = 0;
    std::vector<int> start{0};
    std::vector<int> columns;

    friend bool operator==(const BlockPattern&, const BlockPattern&) = default;
};

// Pattern of unordered node pairs (i, j), i != j; repeated pairs count once.
BlockPattern make_pattern(int nodes, std::vector<std::pair<int, int>> pairs);

// Blocks are column-major. Entry e of the pattern, in row i and column j < i, is the block A(i, j).
struct BlockMatrix {
    int dof = 12;
    BlockPattern pattern;
    std::vector<double> diagonal;  // nodes x dof x dof, both triangles filled
    std::vector<double> lower;     // entries x dof x dof

    void resize(const BlockPattern& new_pattern, int new_dof);  // and sets all to zero
    int size() const { return pattern.nodes * dof; }
    double* diagonal_block(int node) { return diagonal.data() + static_cast<std::size_t>(node) * dof * dof; }
    double* lower_block(int entry) { return lower.data() + static_cast<std::size_t>(entry) * dof * dof; }
    int find(int i, int j) const;                     // entry of (i, j), j < i; -1 when there is none
    void multiply(const double* x, double* y) const;  // y = A x
};

}  // namespace tenon::solve

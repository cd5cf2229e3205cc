#include "solve/block_matrix.hpp"

#include <algorithm>

namespace tenon::solve {

BlockPattern make_pattern(int nodes, std::vector<std::pair<int, int>> pairs) {
    for (auto& [i, j] : pairs)
        if (i < j) std::swap(i, j);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    BlockPattern pattern;
    pattern.nodes = nodes;
    pattern.start.assign(nodes + 1, 0);
    pattern.columns.reserve(pairs.size());
    for (const auto& [i, j] : pairs) {
        ++pattern.start[i + 1];
        pattern.columns.push_back(j);
    }
    for (int i = 0; i < nodes; ++i) pattern.start[i + 1] += pattern.start[i];
    return pattern;
}

void BlockMatrix::resize(const BlockPattern& new_pattern, int new_dof) {
    dof = new_dof;
    pattern = new_pattern;
    const std::size_t block = static_cast<std::size_t>(dof) * dof;
    diagonal.assign(pattern.nodes * block, 0.0);
    lower.assign(pattern.columns.size() * block, 0.0);
}

int BlockMatrix::find(int i, int j) const {
    const auto begin = pattern.columns.begin() + pattern.start[i],
               end = pattern.columns.begin() + pattern.start[i + 1];
    const auto found = std::lower_bound(begin, end, j);
    return found != end && *found == j ? static_cast<int>(found - pattern.columns.begin()) : -1;
}

void BlockMatrix::multiply(const double* x, double* y) const {
    const std::size_t block = static_cast<std::size_t>(dof) * dof;
    std::fill(y, y + size(), 0.0);
    for (int i = 0; i < pattern.nodes; ++i) {
        const double* d = diagonal.data() + i * block;
        for (int c = 0; c < dof; ++c)
            for (int r = 0; r < dof; ++r) y[i * dof + r] += d[c * dof + r] * x[i * dof + c];
        for (int e = pattern.start[i]; e < pattern.start[i + 1]; ++e) {
            const int j = pattern.columns[e];
            const double* a = lower.data() + e * block;
            for (int c = 0; c < dof; ++c)
                for (int r = 0; r < dof; ++r) {
                    y[i * dof + r] += a[c * dof + r] * x[j * dof + c];
                    y[j * dof + c] += a[c * dof + r] * x[i * dof + r];
                }
        }
    }
}

}  // namespace tenon::solve

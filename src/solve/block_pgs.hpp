// Block Gauss-Seidel for contact problems given by their Delassus matrix.
#pragma once

#include <vector>

#include "solve/pgs.hpp"

namespace tenon::solve {

// Find x with w = W x + free and, for each block, either (block 1)  0 <= w  perpendicular to  x >= 0,  or (block 3) that
// for its first row, and for the other two rows friction by a pyramid: |x_k| <= mu x_0, w_k = 0 inside, against x_k at
// the bounds. W is symmetric and positive semidefinite, stored by rows of blocks, each block by rows.
struct BlockLcp {
    int block = 1;                 // 1 or 3
    std::vector<int> start{0};     // first entry of each row of blocks, and one past the end
    std::vector<int> column;       // ascending within a row; the diagonal is present
    std::vector<double> value;     // block x block for each entry
    std::vector<double> free;      // w without x
    std::vector<double> friction;  // mu of each block

    int blocks() const { return static_cast<int>(start.size()) - 1; }
};

struct BlockPgsSettings {
    int max_sweeps = 200;
    double tolerance = 1e-9;  // of the residual, in units of w
};

// Sweeps forward and backward in turn; each block is solved to its own complementarity conditions with the others held.
// Where contacts share the points that carry them, W is close to singular and plain sweeps crawl: each pair of sweeps
// starts from where the last two lead (Nesterov's momentum), from anew when that overshoots. `x` is the warm start and
// the solution.
PgsResult solve_block_pgs(const BlockLcp& problem, const BlockPgsSettings& settings, std::vector<double>& x);

// Largest |d (x - clamp(x - w / d))| over rows, d the diagonal of W: zero exactly at a solution.
double block_pgs_residual(const BlockLcp& problem, const std::vector<double>& x);

}  // namespace tenon::solve

// Incomplete Cholesky factorisation with a drop tolerance, of a scalar matrix: a cheap preconditioner.
#pragma once

#include <vector>

#include "solve/block_matrix.hpp"

namespace tenon::solve {

class IncompleteCholesky {
  public:
    // Entries of the factor smaller than `drop` times the norm of their column are left out. The matrix has dof 1.
    // Nodes are eliminated in nested dissection order. Pivots that fail are raised; false when that happened.
    bool factor(const BlockMatrix& matrix, double drop);
    void solve(const double* right_hand_side, double* x) const;
    std::size_t entries() const { return row_.size(); }

  private:
    std::vector<int> order_;
    std::vector<int> start_, row_;  // columns of L below the diagonal
    std::vector<double> value_, diagonal_;
};

}  // namespace tenon::solve

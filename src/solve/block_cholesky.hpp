// Sparse Cholesky factorisation of symmetric positive definite block matrices.
//
// Supernodal multifrontal: nested dissection from METIS on the graph of nodes, elimination tree, supernodes
// with a little fill allowed, and dense fronts in panels of 12 rows (one affine body, two rigid bodies or
// four vertices). The symbolic part is kept for as long as the pattern stays.
#pragma once

#include <memory>
#include <vector>

#include "solve/block_matrix.hpp"

namespace tenon::solve {

struct CholeskyStats {
    int supernodes = 0;
    long factor_entries = 0;  // doubles stored for the factor
    double factor_flops = 0;  // multiply-adds count two
    double analyse_ms = 0, factor_ms = 0;
};

class BlockCholesky {
  public:
    BlockCholesky();
    ~BlockCholesky();
    BlockCholesky(BlockCholesky&&) noexcept;
    BlockCholesky& operator=(BlockCholesky&&) noexcept;

    // Ordering and symbolic factorisation; `dof` divides 12. Does nothing when the pattern is the last one.
    // `in_order`: the nodes are numbered in a good elimination order, which saves the search for one.
    void analyse(const BlockPattern& pattern, int dof, bool in_order = false);
    bool has_analysed(const BlockPattern& pattern, int dof) const;  // the last one

    // From now on a new pattern of as many nodes may take the order of the last one, as long as it is still good. What
    // an order is then depends on the patterns before; `false` ends that, also for the present pattern.
    void keep_order(bool keep);

    // The elimination order that was found: nodes, first to last.
    const std::vector<int>& order() const;

    // From now on an unknown whose pivot is not above this is left out: it becomes zero, as if its row and column were not
    // there. For semidefinite matrices with a unit diagonal.
    void leave_out_below(double least_pivot);
    int left_out() const;  // unknowns, in the last factorisation

    // Numeric factorisation, after analysing the matrix' pattern when it is new. False when a pivot is not
    // positive (or, where such are left out, not finite): `failed_node` then says where, and there is no factor to solve with.
    bool factor(const BlockMatrix& matrix);
    int failed_node() const;

    void solve(const double* right_hand_side, double* x) const;

    // The inverse between the unknowns of some nodes: a dense symmetric matrix, by columns, of nodes.size() x dof
    // rows. Costs half a solve along each node's way up the elimination tree: what a contact solver needs.
    void inverse_on(const std::vector<int>& nodes, std::vector<double>& inverse) const;

    const CholeskyStats& stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tenon::solve

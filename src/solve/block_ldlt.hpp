// L D L^T of symmetric block matrices that round-off has robbed of a pivot's sign: the fallback beside block Cholesky.
#pragma once

#include <memory>

#include "solve/block_matrix.hpp"

namespace tenon::solve {

// Pivots that come out negative count with their absolute value, so that solving with a gradient still gives a way down.
// Slower than BlockCholesky by far: for the rare system that it refuses.
class BlockLdlt {
  public:
    BlockLdlt();
    ~BlockLdlt();
    BlockLdlt(BlockLdlt&&) noexcept;
    BlockLdlt& operator=(BlockLdlt&&) noexcept;

    // False when a pivot is zero.
    bool factor(const BlockMatrix& matrix);
    void solve(const double* right_hand_side, double* x) const;
    int negative_pivots() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tenon::solve

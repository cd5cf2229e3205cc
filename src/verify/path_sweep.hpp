// Sweeps along a recorded path: most of its pieces are far shorter than the gaps they leave, and need no closer look.
#pragma once

#include <array>
#include <vector>

#include "verify/bodies.hpp"
#include "verify/near_cells.hpp"

namespace tenon::verify {

// No point of `a` and point of `b` come nearer to each other by more than this on the straight way.
double largest_approach(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1);

// Follows a path piece by piece and keeps, per pair, the cells that are near and how much approach they are safe from.
class PathSweep {
  public:
    using Pair = std::array<int, 2>;

    // `pairs` are sorted. One hit (or none) per pair.
    std::vector<SweepHit> advance(const Placement& from, const Placement& to, const std::vector<Pair>& pairs);

    long swept() const { return swept_; }      // pairs that were looked at closely
    long skipped() const { return skipped_; }  // pairs whose gap was larger than their motion

  private:
    std::vector<Pair> pairs_;  // of the last piece
    std::vector<NearCells> cells_;
    long swept_ = 0, skipped_ = 0;
};

}  // namespace tenon::verify

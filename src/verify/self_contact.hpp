// Whether a surface that changes its shape meets itself.
//
// Two triangles without a common corner may not meet at all. Of two that share one corner, neither may meet the edge of
// the other that lies opposite to it; of two that share an edge, neither may meet the other's third corner.
#pragma once

#include <optional>
#include <vector>

#include "verify/sweep.hpp"

namespace tenon::verify {

// What of two cells of one surface may not meet; corners are numbers of vertices, as in Surface::cells.
struct SelfPair {
    Triangle a, b;
    int cell_a = -1, cell_b = -1;
};

// None, one or two, see above; appended to `pairs`.
void add_self_pairs(const Surface& surface, int cell_a, int cell_b, std::vector<SelfPair>& pairs);

// The first that intersects, exactly.
std::optional<SelfPair> self_intersection(const Placed& placed);

// Follows one surface along straight pieces of its motion. Pairs that are farther apart than the vertices have moved since
// they were last measured are not looked at again.
class SelfSweep {
  public:
    SweepHit advance(const Placed& from, const Placed& to);

    long swept() const { return swept_; }
    long skipped() const { return skipped_; }

  private:
    double reach(const std::vector<Vec3>& x) const;
    void measure(const Placed& placed, double margin);

    std::vector<int> vertices_;    // of the surface: elastic bodies have others inside
    std::vector<Vec3> reference_;  // where all were when `pairs_` was made
    std::vector<SelfPair> pairs_;  // all that were nearer than `margin_` then ...
    std::vector<double> gap_;      // ... and how near
    double edge_ = 0.0;            // mean length
    double margin_ = 0.0;
    bool measured_ = false;
    long swept_ = 0, skipped_ = 0;
};

}  // namespace tenon::verify

// Which bodies may touch: pairs of overlapping boxes, sorted, the same for any number of threads.
#pragma once

#include <span>
#include <vector>

#include "geometry/bvh.hpp"
#include "tenon/types.hpp"

namespace tenon::geometry {

// Keeps its tree between calls. While bodies move a little the tree is refitted, which costs a fraction of a build; it is
// rebuilt when their number changes or when motion has made it a third more expensive to search. The pairs
// do not depend on that history.
class BroadPhase {
  public:
    // Pairs a < b with overlapping boxes. Where `moves` is given, pairs in which neither body moves are left out.
    void find_pairs(std::span<const Box3> boxes, std::vector<ItemPair>& pairs,
                    std::span<const char> moves = {});

    // Bodies whose box overlaps the given one, sorted; for the boxes of the last find_pairs.
    void find_overlaps(const Box3& box, std::span<const Box3> boxes, std::vector<int>& bodies) const;

    int rebuilds() const { return rebuilds_; }
    const Bvh& tree() const { return tree_; }

  private:
    void update(std::span<const Box3> boxes);

    Bvh tree_;
    double fresh_cost_ = 0.0;
    int rebuilds_ = 0;
};

}  // namespace tenon::geometry

// Contact impulses by projected Gauss-Seidel over the groups' inverse matrices (Eqs. 13-15), island by island.
#pragma once

#include "math/union_find.hpp"
#include "methods/adaptive/contact_island.hpp"

namespace tenon::adaptive {

class ContactSolver {
  public:
    // `group_of_solid`, `group_of_body`: -1 for bodies that are not dynamic. `body_rates`: velocity and spin of those.
    solve::PgsResult solve(const StepInput& in, const Settings& settings, std::vector<MixedSystem>& groups,
                           const std::vector<int>& group_of_solid, const std::vector<int>& group_of_body,
                           const std::vector<Vec6>& body_rates, std::vector<TouchPoint>& points);

    int islands() const { return islands_used_; }

  private:
    void find_islands(int groups);
    void apply_impulses(std::vector<MixedSystem>& groups, const std::vector<TouchPoint>& points);

    std::vector<ContactRow> rows_;  // of points
    UnionFind groups_;
    std::vector<int> island_;  // of groups
    std::vector<ContactIsland> islands_;
    int islands_used_ = 0;
    std::vector<std::vector<double>> load_;  // of each group, on all its nodes
};

}  // namespace tenon::adaptive

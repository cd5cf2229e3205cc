// Contact impulses by projected Gauss-Seidel over the groups' inverse matrices (Eqs. 13-15).
#pragma once

#include "methods/adaptive/contacts.hpp"
#include "methods/adaptive/mixed_system.hpp"
#include "methods/adaptive/settings.hpp"
#include "solve/pgs.hpp"

namespace tenon::adaptive {

class ContactSolver {
  public:
    // `group_of_solid`, `group_of_body`: -1 for bodies that are not dynamic. `body_rates`: velocity and spin of those.
    solve::PgsResult solve(const StepInput& in, const Settings& settings, std::vector<MixedSystem>& groups,
                           const std::vector<int>& group_of_solid, const std::vector<int>& group_of_body,
                           const std::vector<Vec6>& body_rates, std::vector<TouchPoint>& points);

  private:
    struct Row {
        PointMap a, b;
        Vec3 tangent1, tangent2;
    };
    void number_nodes(const std::vector<MixedSystem>& groups);
    void add_rows(const StepInput& in, const Settings& settings, const std::vector<TouchPoint>& points);
    bool polish();
    void apply_impulses(std::vector<MixedSystem>& groups, const std::vector<TouchPoint>& points);
    void add_row(const Row& row, const Vec3& direction, int at);

    std::vector<Row> rows_;
    std::vector<std::vector<int>> nodes_;       // of each group: those that contacts act on
    std::vector<std::vector<int>> place_;       // of each group's nodes: among those, or -1
    std::vector<int> first_;                    // of each group: first unknown in the problem
    std::vector<std::vector<double>> inverse_;  // of each group, between those nodes
    solve::PgsProblem problem_;
    solve::Pgs pgs_;
    std::vector<double> impulse_, velocity_, base_, best_impulse_, best_velocity_;
    std::vector<std::vector<double>> load_;  // of each group, on all its nodes
};

}  // namespace tenon::adaptive

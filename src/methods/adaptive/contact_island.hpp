// Contacts between groups that push each other, and what solves them.
#pragma once

#include "methods/adaptive/contacts.hpp"
#include "methods/adaptive/mixed_system.hpp"
#include "methods/adaptive/settings.hpp"
#include "solve/cone_newton.hpp"
#include "solve/pgs.hpp"

namespace tenon::adaptive {

// How the two sides of a contact move with the unknowns, and the directions of friction.
struct ContactRow {
    PointMap a, b;
    Vec3 tangent1, tangent2;
};

class ContactIsland {
  public:
    void clear();
    void add(int point) { points_.push_back(point); }
    // Solves for the impulses of its points and writes them (and what friction remembers) there.
    solve::PgsResult solve(const StepInput& in, const Settings& settings,
                           const std::vector<MixedSystem>& groups, const std::vector<ContactRow>& rows,
                           std::vector<TouchPoint>& points);

  private:
    struct Group {  // of unknowns that contacts of this island act on
        int index = -1;
        int first = 0;                // unknown in the problem
        std::vector<int> nodes;       // those that contacts act on
        std::vector<int> place;       // of all nodes of the group: among those, or -1
        std::vector<double> inverse;  // between those
    };
    Group& group_of(int index);
    void number_nodes(const std::vector<MixedSystem>& groups, const std::vector<ContactRow>& rows);
    void add_rows(const StepInput& in, const Settings& settings, const std::vector<ContactRow>& rows,
                  const std::vector<TouchPoint>& points);
    void add_row(const ContactRow& row, const Vec3& direction, int at);
    void gather_cones();
    void polish(double tolerance);
    solve::PgsResult sweep_and_polish(const Settings& settings, double tolerance);
    void write_back(const StepInput& in, const Settings& settings, const std::vector<ContactRow>& rows,
                    std::vector<TouchPoint>& points) const;

    std::vector<int> points_;
    std::vector<Group> groups_;
    int used_ = 0;  // of groups_
    solve::PgsProblem problem_;
    solve::Pgs pgs_;
    solve::ConeProblem cones_;
    std::vector<double> impulse_, velocity_, base_, best_impulse_, best_velocity_;
};

}  // namespace tenon::adaptive

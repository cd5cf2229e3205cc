// Touching bodies whose masses differ much: sweeps do not carry a heavy body on a light one, a direct solve does.
#pragma once

#include <vector>

#include "math/union_find.hpp"
#include "methods/impulse/problem.hpp"
#include "solve/cone_newton.hpp"

namespace tenon::impulse {

struct UnevenSettings {
    double tolerance = 0.0;     // m/s: of the direct solve
    double gravity_step = 0.0;  // m/s: what gravity adds in a step
    double push_rate = 0.0;     // share of the penetration that is undone in a step
    double max_push = 0.0;      // m/s, of the same
    double slop = 0.0;          // m: deeper contacts left to the sweeps do not carry their load
};

// An island is a group of movable bodies joined by contacts. Sweeps need as many passes as the ratio of its masses; Newton's
// method on the dense Delassus matrix does not mind the ratio, but costs the cube of the contacts.
class UnevenIslands {
  public:
    // Solves the uneven islands that are small enough. Their bodies get their final twists and are marked in `done`, their
    // contacts get their impulses. True: some were solved.
    bool solve(ContactProblem& problem, const UnevenSettings& settings, std::vector<char>& done);

    // Pseudo-twists that undo the penetration in the islands of the last `solve`; zero for all other bodies.
    const std::vector<Twist>& push() const { return push_; }
    int iterations() const { return iterations_; }

    // The largest share of its load that a contact of an uneven island left to the sweeps does not carry: closing speed that
    // is left, over what gravity or the approach brought; 1 where it sank deeper than the slop. 0 without such islands.
    double missing_load(const ContactProblem& problem, const std::vector<char>& done);

  private:
    struct Island {
        int contacts = 0;
        double lightest = 1e300, heaviest = 0.0;
        bool uneven() const;
    };
    bool find(const ContactProblem& problem, const std::vector<char>& done);
    void start_without_friction(VecX& x);
    bool solve_island(ContactProblem& problem, const std::vector<int>& contacts);
    void undo_penetration(const ContactProblem& problem, const std::vector<int>& contacts);

    UnevenSettings settings_;
    UnionFind groups_;
    std::vector<Island> islands_;  // by root
    std::vector<Twist> push_;
    solve::ConeProblem cones_;
    int iterations_ = 0;
    bool any_ = false;
};

}  // namespace tenon::impulse

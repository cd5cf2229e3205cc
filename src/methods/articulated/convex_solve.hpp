// The step's problem at one linearisation: a convex one, solved by Newton's method over the branches of its bounded terms with an
// exact line search.
#pragma once

#include <vector>

#include "methods/articulated/component.hpp"
#include "methods/articulated/contacts.hpp"

namespace tenon::articulated {

class ConvexSolve {
  public:
    // `touched`: bodies of the component that touch colliders.
    ConvexSolve(BodyField& field, ContactSet& contacts, Component& component,
                const std::vector<int>& touched);

    // Linearises at the iterate and leaves the minimum's increments in field.dq. At most `most` linear solves; returns how many.
    int run(int most);

    bool at_minimum() const { return at_minimum_; }

  private:
    void read(std::vector<BoundedTerm>& terms);
    void choose_branches();
    bool renew_friction();
    double step_towards(const std::vector<BoundedTerm>& next);
    void go_towards(const std::vector<BoundedTerm>& next, double length);
    double slope(const std::vector<BoundedTerm>& next, double length) const;
    bool on_branches(const std::vector<BoundedTerm>& terms) const;
    template <class Visit>
    void each_term(const Visit& visit) const;

    BodyField& field_;
    ContactSet& contacts_;
    Component& component_;
    const std::vector<int>& touched_;
    ColliderTerms colliders_;
    std::vector<BoundedTerms*> sources_;
    std::size_t count_ = 0;
    std::vector<BoundedTerm> terms_;  // at the present increment
    FrictionLimits friction_;
    std::vector<FrictionLimit> allowed_;
    bool at_minimum_ = true;
};

}  // namespace tenon::articulated

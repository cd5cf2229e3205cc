// One component's step: Newton's method over linearisations. Each is solved as a convex problem, followed by passes that take out
// what it leaves with the same factors, until joints are closed and forces balance.
#pragma once

#include "methods/articulated/component.hpp"
#include "methods/articulated/options.hpp"

namespace tenon::articulated {

class NewtonLoop {
  public:
    // `touched`: bodies of the component that touch colliders.
    NewtonLoop(const Options& options, BodyField& field, ContactSet& contacts, Component& component,
               const std::vector<int>& touched);

    // The step may be made again in smaller ones: what does not converge soon, or is not finite, is given up.
    void may_give_up() { may_give_up_ = true; }
    // Other bodies are so near that contacts with them were looked at: forces are judged as where bodies touch.
    void near_others();

    SolveReport run();  // leaves the result in the field; throws StepFailure

  private:
    int most_solves(int iteration) const;
    bool correct();
    void expect_closed();
    double renew_contacts();
    Balance judge_iterate();
    FieldReport move_all(double share);  // bodies, and what the component has beside them
    bool note(const FieldReport& moved);
    double distance(const Balance& balance, double scale) const;
    bool nearer(const Balance& now, const Balance& than, double share = 1.0) const;
    void keep(const Balance& now);
    void go_back();

    const Options& options_;
    BodyField& field_;
    ContactSet& contacts_;
    Component& component_;
    const std::vector<int>& touched_;
    bool touches_;  // colliders, or each other
    double force_tolerance_;

    SolveReport report_;
    bool may_give_up_ = false;
    bool finite_ = true;   // the last increment
    double turned_ = 0.0;  // by the last increment, rad

    // The iterate nearest to a solution, in a last try: where the solve leads away from it, it goes on from there.
    struct Iterate {
        double distance = 1e300;
        Balance balance;
        std::vector<Mat34> x;
        std::vector<Mat3> rotation, stress, force_stress;
    };
    Iterate nearest_;
    double distance_ = 0.0;  // of the present iterate
    double share_ = 1.0;     // of the increments: less of them after they have led far away
};

}  // namespace tenon::articulated

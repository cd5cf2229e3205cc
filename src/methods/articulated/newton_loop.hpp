// The solves of one component in one step: accepted when the incremental potential fell, shortened otherwise, repeated
// while strain or a change of sides asks for it.
#pragma once

#include "methods/articulated/component.hpp"
#include "methods/articulated/options.hpp"

namespace tenon::articulated {

class NewtonLoop {
  public:
    // `touched`: bodies of the component that touch colliders. `last_q`: the state at the step's start, by body.
    NewtonLoop(const Options& options, BodyField& field, ContactSet& contacts, Component& component,
               const std::vector<int>& touched, const std::vector<Mat34>& last_q, double h);

    SolveReport run();  // leaves the result in the field; throws StepFailure

  private:
    void start(bool again);
    void search();
    void go_straight(double length);
    bool go_and_close(double length);
    bool done(int iteration, double energy_before);
    bool change_sides();
    void move(double length);
    void aim_from_last();
    double potential(double own) const;

    const Options& options_;
    BodyField& field_;
    ContactSet& contacts_;
    Component& component_;
    const std::vector<int>& touched_;
    const std::vector<Mat34>& last_q_;
    double h_;
    int side_changes_;  // solves that may still be spent on contacts, motors and limits that change sides

    SolveReport report_;
    FieldReport state_;
    double energy_ = 0.0;     // of the last accepted iterate
    double moved_ = 0.0;      // share of dq already added to x
    bool closed_ = false;     // joints at the last accepted iterate
    bool from_start_ = true;  // the next solve starts from the predicted pose
};

}  // namespace tenon::articulated

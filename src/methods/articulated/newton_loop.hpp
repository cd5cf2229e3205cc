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
               const std::vector<int>& touched, const std::vector<Mat34>& last_q);

    // The result of a first solve that was made elsewhere (see ChainSweep), by body.
    void take_first(const std::vector<Mat34>* result) { first_ = result; }

    // The step may be made again in pieces: bodies that turn too far are not followed for long.
    void may_give_up() { may_give_up_ = true; }

    SolveReport run();  // leaves the result in the field; throws StepFailure

  private:
    void start();
    void go_on();
    void solve_sides(const std::vector<Mat34>* given);
    void aim();
    void search();
    bool go(double length);
    bool may_venture() const;
    bool cut_short() const;
    bool done(int iteration, double energy_before);
    bool change_sides();
    void move(double length);
    double potential(double own) const;

    const Options& options_;
    BodyField& field_;
    ContactSet& contacts_;
    Component& component_;
    const std::vector<int>& touched_;
    const std::vector<Mat34>& last_q_;
    int side_changes_;  // solves that may still be spent on contacts, motors and limits that change sides

    bool touches_;  // colliders, or each other

    SolveReport report_;
    FieldReport state_;
    const std::vector<Mat34>* first_ = nullptr;
    bool may_give_up_ = false;
    double most_excess_ = 0.0;  // more than this is worth another solve
    double energy_ = 0.0;       // of the last accepted iterate
    double excess_before_ = 0.0;
    double length_ = 1.0;  // of the last accepted step
    int ventures_ = 0;     // whole steps in a row that raised the potential and were followed all the same
    bool closed_ = false;  // joints at the last accepted iterate
    double own_energy_ = 0.0;  // of the last accepted iterate, without contacts and springs
    int at_whole_ = -1;        // the field holds the whole step, joined (1) or not (0); -1: it does not
};

}  // namespace tenon::articulated

// A connected set of bodies and joints, solved together: the plug point for the different topologies.
#pragma once

#include <string>
#include <vector>

#include "methods/articulated/body_field.hpp"
#include "methods/articulated/bounded_terms.hpp"

namespace tenon::articulated {

// What a component may want to know when a step begins. The iterate holds the last state.
// By joint: the branches on which its drives ended the last step, as bytes (DriveRow::Branch). Components come and go with
// contacts; a step starts from the same branches whichever of them holds the joint.
using DriveBranches = std::vector<std::vector<char>>;

struct StepStart {
    const Model& model;
    const State& state;
    const std::vector<Mat34>* previous_q = nullptr;  // one step earlier, when there is such a history
    const std::vector<Mat34>* previous_rate = nullptr;
    double time = 0.0;  // at the step's end
    const DriveBranches* branches = nullptr;
};

class Component {
  public:
    virtual ~Component() = default;

    std::vector<int> bodies;       // moving ones
    std::vector<Mat34> increment;  // of the convex solve, kept between steps

    bool last_try = false;  // no smaller steps come after this one

    virtual void begin_step(const BodyField&, const StepStart&) {}

    // Gradients, values and stiffnesses of the constraints at the iterate.
    virtual void linearise(BodyField&) {}

    // Solves the KKT system of the linearisation, bounded constraints on their present branches: writes field.dq of its bodies
    // and keeps the multipliers.
    virtual void solve(BodyField& field) = 0;

    // How far the iterate is from the step's solution, with the multipliers at hand; writes field.unbalanced.
    virtual void balance(BodyField& field, Balance& result) = 0;

    // Solves again for what is out of balance, with the same factors: writes field.dq and adds to the multipliers.
    virtual void refine(BodyField& field) = 0;

    // Increments that forces in field.unbalanced alone would make, with the same factors and joints held: writes field.dq.
    // `keep`: the multipliers change with it.
    virtual void respond(BodyField& field, bool keep) = 0;

    // What a component has beside its bodies: predicted with them, moved with them, and led along the path of the convex
    // solve.
    virtual void predict_more() {}
    virtual void move_more(double, FieldReport&) {}
    virtual void begin_path() {}
    virtual void step_path(double) {}
    // The increment is where the path has led and not the last solve's: so are the multipliers.
    virtual void end_path() {}
    // What belongs to the nearest iterate so far beside its bodies' places.
    virtual void keep_nearest() {}
    virtual void go_to_nearest() {}
    // An impact, or a limit that was reached: implicit Euler goes on for a while.
    virtual void restart() {}

    // Motors, limits, friction and contacts between its bodies, when it has such.
    virtual BoundedTerms* bounded() { return nullptr; }
    // Normal forces and branches of contacts between its bodies at the iterate; by how much the friction of one misses what its
    // force allows, N.
    virtual double renew_contacts(const BodyField&) { return 0.0; }

    // Where its drives are now, into the places of their joints.
    virtual void store_branches(DriveBranches&) const {}

    // True when a limit was reached in this step: an impact.
    virtual bool reached_limit() const { return false; }

    // What drives did in this step by their forces at its end, and by how much that may be off, J.
    struct Work {
        double done = 0.0, uncertain = 0.0;
    };
    virtual Work drive_work(const BodyField&) const { return {}; }

    // Increments that joints allow, nearest to where the targets are, without drives. The field's iterate holds the state, but
    // scripted bodies where they are a tiny step later; `at_start` has all at the state.
    virtual void project(BodyField& field, std::vector<Mat34>& at_start) {
        (void)at_start;
        solve(field);
    }

    virtual bool can_sweep() const { return false; }     // a BallChain with enough bodies for its sweep
    virtual bool has_contacts() const { return false; }  // between its own bodies
    virtual std::string solver_name() const = 0;

    // Joint forces of the last solve, into the world's joints.
    virtual void write_forces(const BodyField& field, const Model& model, Outputs& outputs) const = 0;
};

}  // namespace tenon::articulated

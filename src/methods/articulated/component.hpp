// A connected set of bodies and joints, solved together: the plug point for the different topologies.
#pragma once

#include <string>
#include <vector>

#include "methods/articulated/body_field.hpp"

namespace tenon::articulated {

// What a component may want to know when a step begins. The iterate holds the last state.
struct StepStart {
    const Model& model;
    const State& state;
    const std::vector<Mat34>* previous_q = nullptr;  // one step earlier, when there is such a history
    const std::vector<Mat34>* previous_rate = nullptr;
    double time = 0.0;  // at the step's end
};

class Component {
  public:
    virtual ~Component() = default;

    std::vector<int> bodies;         // moving ones
    struct Scratch {                 // of the Newton loop, kept between steps
        std::vector<Mat34> x, dq;    // the last accepted iterate, and the step from it
        std::vector<Mat34> start;    // where the last solve was made
        std::vector<Mat3> rotation;  // in whose frames the last solve was made
    } scratch;

    virtual void begin_step(const BodyField&, const StepStart&) {}

    // The iterate has changed: what was worked out from it no longer holds.
    virtual void iterate_moved() {}

    // Linearises at the iterate and solves the KKT system: writes field.dq of its bodies and keeps the multipliers.
    virtual void solve(BodyField& field) = 0;

    // Conditions that are not linear are left with a residual by one solve. Solves again for that residual alone with
    // the same factors, and writes field.dq.
    virtual void correct(BodyField&) {}

    // Largest violation of hard conditions at the iterate.
    virtual double residual(const BodyField& field) = 0;

    // Energy of springs and other soft rows at the iterate.
    virtual double soft_energy(const BodyField&) { return 0.0; }

    // Motors, limits and friction that change sides between solves. True when one did: solve again.
    virtual bool update_bounds(const BodyField&) { return false; }

    virtual bool linear() const { return true; }
    // The next step starts without the strain that turning has left.
    virtual bool forgets_excess() const { return !linear(); }
    virtual bool can_sweep() const { return false; }     // a BallChain with enough bodies for its sweep
    virtual bool has_contacts() const { return false; }  // between its own bodies
    virtual std::string solver_name() const = 0;

    // Joint forces of the last solve, into the world's joints.
    virtual void write_forces(const BodyField& field, const Model& model, Outputs& outputs) const = 0;
};

}  // namespace tenon::articulated

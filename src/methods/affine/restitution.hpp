// Restitution through barrier and integrator (end of Sec. 4), where `restitution_speed` asks for it instead of the law of
// impact_law.hpp: the barrier stores the energy of an impact and gives it
// back, the integrator takes its share of what passes through it. A point mass on the barrier tells beforehand how much.
//
// In units of the time step and the contact range two numbers decide: how far a body comes in one step, and how hard
// the barrier pushes. The more steps an impact takes, the more of it comes back.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "methods/affine/settings.hpp"
#include "tenon/state.hpp"

namespace tenon::affine {

// Outgoing over incoming speed, over all the moments within a step at which an impact can begin.
struct Bounce {
    double mean = 0.0, least = 0.0, most = 0.0;
    double closest = 1.0;  // smallest distance, of the contact range
};

// A point mass that approaches with `speed` a barrier of range `dhat` that holds `stiffness` (m/s^2) at half range.
Bounce bounce_of(Integrator integrator, double dt, double dhat, double stiffness, double speed);

struct BounceWish {
    double restitution = 0.0;
    double speed = 0.0;  // of the impact, m/s
    double dt = 0.0;
    double gravity = 0.0;                      // m/s^2
    double least_dhat = 0.0, most_dhat = 0.0;  // what the scene allows
    std::optional<Integrator> integrator;      // when it is not free to choose
    double stiffness = 0.0;                    // likewise, m/s^2; 0: free
};

struct BouncePlan {
    Integrator integrator = Integrator::implicit_euler;
    double dhat = 0.0, stiffness = 0.0;
    double wanted = 0.0, speed = 0.0;
    Bounce one, four;        // what one point of contact, and four at once, will do
    double enough_dt = 0.0;  // a time step that would reach it; 0 when this one does
    bool reached() const { return enough_dt == 0.0; }
};

// The smallest range that reaches the wish within a few per cent; where none does, the nearest there is.
BouncePlan plan_bounce(const BounceWish& wish);

// In one sentence: what was chosen and what it will achieve.
std::string describe(const BouncePlan& plan);

// The largest restitution that materials, bodies and rules for pairs ask for.
double wanted_restitution(const Model& model);

// What a scene's first step plans: the range and the integrator that bounce as its materials or settings wish, which are
// changed in place. `thinnest`: of the parts that move, m. Nothing is planned, and `wanted` is 0, where nothing bounces.
BouncePlan plan_restitution(const Model& model, const State& state, double thinnest, double dt,
                            Settings& settings, double& dhat);

// As a checkpoint has it; a plan chooses the integrator.
BouncePlan load_plan(std::istream& in, Settings& settings);

}  // namespace tenon::affine

// Newton's law of restitution with Coulomb friction for bodies that have just met.
//
// A barrier and an implicit step stop what meets; how fast it leaves is a law of its own. Pairs are taken one after
// the other, the fastest first, so that an impact passes on through bodies that touch, as in Newton's cradle. What
// touches without an impact then stops approaching. Positions are left alone, so nothing can intersect.
#pragma once

#include <vector>

#include "methods/affine/integrator.hpp"

namespace tenon::affine {

// A rigid body and its velocity without contact at the end of the step. The mass is infinite where inverse_mass is 0.
struct ImpactBody {
    Vec3 place = Vec3::Zero();
    Vec3 v = Vec3::Zero(), w = Vec3::Zero();
    double inverse_mass = 0.0;
    Mat3 inverse_inertia = Mat3::Zero();  // in the world

    Vec3 velocity_at(const Vec3& point) const { return v + w.cross(point - place); }
};

struct ImpactContact {
    int a = -1, b = -1;  // bodies; contacts of a pair follow each other
    Vec3 point, normal;  // normal: unit, from b to a
    double mu = 0.0, restitution = 0.0;
    double before = 0.0;          // m/s, speed of approach when the step began
    double closed = 0.0;          // m, by which the gap has closed in the step
    Vec3 impulse = Vec3::Zero();  // N s on a: the result
    bool bounced = false;
};

// A condition of a joint on velocities: on_a . (v, w)_a + on_b . (v, w)_b + given = 0; body -1 moves as it is told.
struct ImpactRow {
    int a = -1, b = -1;
    Vec6 on_a = Vec6::Zero(), on_b = Vec6::Zero();
    double given = 0.0;  // by bodies that move as they are told
};

struct ImpactProblem {
    std::vector<ImpactBody> bodies;
    std::vector<ImpactContact> contacts;
    std::vector<ImpactRow> rows;
    double h = 0.0;          // s, of the step
    double threshold = 0.0;  // m/s: slower impacts do not bounce
    bool plastic = false;    // those without restitution count as impacts, too
};

// Changes velocities and impulses. Returns the number of impacts; with none, nothing is changed.
int resolve_impacts(ImpactProblem& problem);

// The body at the end of a step with the rate that it had before, under constant loads.
ImpactBody impact_body(const Mat34& start, const Mat34& rate, const Inertia& inertia, const Mat34& end,
                       const Vec3& force, const Vec3& torque, double h);

// A condition's gradient by q as one on the velocities of a rigid body.
Vec6 twist_row(const Mat34& gradient, const Mat34& q);

// The rate of a rigid body that moves like this, and what the integrators remember of a body that always has.
Mat34 rate_of(const ImpactBody& body, const Mat34& q);
void restart_history(const Mat34& q, const Mat34& rate, const Inertia& inertia, const Mat34& acceleration,
                     double h, BodyHistory& history);

}  // namespace tenon::affine

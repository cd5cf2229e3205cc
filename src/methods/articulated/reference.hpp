// Textbook integrators of one body, to compare with: rigid bodies by explicit, implicit and Runge-Kutta steps, and
// plain affine body dynamics with its quartic energy and a dense Newton solve. The rigid ones are free, or turn about a
// fixed point.
#pragma once

#include "tenon/state.hpp"

namespace tenon::articulated {

struct RigidReference {
    double mass = 1.0;
    Vec3 inertia = Vec3::Ones();  // principal moments
    Vec3 position = Vec3::Zero(), velocity = Vec3::Zero();
    Quat rotation = Quat::Identity();
    Vec3 spin = Vec3::Zero();  // body frame
    // From the fixed point to the centre of mass, body frame: `inertia` is then about that point, and gravity turns
    // the body. Zero: free, or held in the centre of mass.
    Vec3 lever = Vec3::Zero();
};

// A body of the world as such a reference, free or turning about a fixed point that lies on a principal axis.
RigidReference reference_of(const Model& model, const State& state, int body);
RigidReference reference_of(const Model& model, const State& state, int body, const Vec3& fixed_point);

void step_explicit(RigidReference& body, const Vec3& gravity, double h);  // symplectic Euler
void step_implicit(RigidReference& body, const Vec3& gravity,
                   double h);  // implicit Euler, Newton on the spin
void step_runge_kutta(RigidReference& body, const Vec3& gravity, double h);  // fourth order

// A rigid pendulum released at rest from horizontal: Eq. 60 and the force at its pivot.
struct PendulumReference {
    double mass = 1.0;
    double inertia = 1.0;   // about the pivot
    double distance = 1.0;  // from the pivot to the centre of mass
    double gravity = 9.81;

    double angle(double time) const;  // fallen, from horizontal: 0 to pi and back
    double force(double angle) const;
    double quarter_period() const;
};

// min |q - q~|^2_M / (2 h^2) + kappa V |A^T A - I|^2 by Newton's method, 12x12 Cholesky factorisations.
struct AffineReference {
    double mass = 1.0;
    Vec3 moments = Vec3::Ones();  // integral of rho x_k^2
    double stiffness = 1e9;       // kappa V
    Mat34 q = Mat34::Zero(), rate = Mat34::Zero();
};

int step_affine(AffineReference& body, const Vec3& gravity, double h);  // returns Newton iterations

}  // namespace tenon::articulated

// Time integration of M q'' = f(q) with flat coordinates: every scheme is one minimisation
//     1/2 |q - target|^2_M + scale V(q)
// followed by an update of rate and acceleration.
#pragma once

#include <string>

#include "math/rotation.hpp"
#include "tenon/types.hpp"

namespace tenon::affine {

enum class Integrator { implicit_euler, bdf2, newmark };
Integrator integrator_named(const std::string& name);

// Diagonal of a body's mass matrix: one number per column of [a1 a2 a3 t].
struct Inertia {
    Vec3 moments = Vec3::Ones();  // integrals of rho x_k^2
    double mass = 1.0;
    double of_column(int column) const { return column < 3 ? moments[column] : mass; }
};

// State of one body at the two last steps. `older` is unused where `steps` is 0.
struct BodyHistory {
    Mat34 older_q, older_rate;     // BDF2
    Mat34 acceleration;            // Newmark
    double off_prediction = -1.0;  // from its free motion in the last step, m; negative: it touched nothing
};

// The weight h_eff^2 of potentials: h^2, (2h/3)^2 (h^2 in the first step), h^2/4.
double potential_scale(Integrator integrator, double h, bool first_step);

// Where inertia and external acceleration alone would take the body.
Mat34 inertial_target(Integrator integrator, double h, bool first_step, const Mat34& q, const Mat34& rate,
                      const BodyHistory& history, const Mat34& external_acceleration);

// Friction acts against the velocity that the step ends with. BDF2's is 3/2 (q - this) / h, so that what sticks comes to
// rest; from the step's start on it would be thrown back with half the velocity that it had.
Mat34 sliding_reference(Integrator integrator, bool first_step, const Mat34& q, const BodyHistory& history);
// The length h_eff that turns sliding speeds into sliding.
double sliding_time(Integrator integrator, double h, bool first_step);

// Rate and acceleration after the step to q_new; updates the history in place.
Mat34 finish_rate(Integrator integrator, double h, bool first_step, const Mat34& q_new, const Mat34& q,
                  const Mat34& rate, BodyHistory& history);

// Splits off the part of a rate that strains the body: what remains has the same momenta and less energy.
Mat34 rigid_part_of_rate(const Mat34& q, const Mat34& rate, const Inertia& inertia);

// Acceleration of a rigid body with this rate under the torque and force that `acceleration` stands for.
Mat34 rigid_acceleration(const Mat34& q, const Mat34& rate, const Mat34& acceleration,
                         const Inertia& inertia);

// Angular velocity of the rigid motion with the same angular momentum.
Vec3 angular_velocity(const Mat34& q, const Mat34& rate, const Inertia& inertia);

// The pose after moving for a time h with the present linear and angular velocity.
Mat34 extrapolate_rigidly(const Mat34& q, const Mat34& rate, const Inertia& inertia, double h);

// The force on q that does the work of a torque: G : dA = torque . w for dA = [w] A.
Mat3 torque_force(const Mat3& A, const Vec3& torque);

// q + t step to first order, with rotations kept rotations: dA = (W + S) A becomes exp(t W) (A + t S A).
Mat34 retract(const Mat34& q, const Mat34& step, double t);

}  // namespace tenon::affine

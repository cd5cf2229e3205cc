// A rigid body's pose and twist, its inertia in the world frame, and how it turns.
#pragma once

#include "math/rotation.hpp"
#include "tenon/state.hpp"

namespace tenon::model {

struct RigidState {
    Vec3 position = Vec3::Zero();      // of the centre of mass
    Quat rotation = Quat::Identity();  // body frame to world
    Vec3 velocity = Vec3::Zero();      // of the centre of mass
    Vec3 spin = Vec3::Zero();          // angular velocity, world frame
};

// To and from the common form of a body's state. An affine map is taken to its nearest rotation (polar
// decomposition); its rate to the spin that fits it best: the axial part of dA/dt R^T.
RigidState rigid_state(const Mat34& q, const Mat34& rate);
RigidState rigid_state(const State& state, int body);
Mat34 to_q(const RigidState& state);
Mat34 to_rate(const RigidState& state);  // dA/dt = spin x A
void store(const RigidState& rigid, State& state, int body);

// R diag(moments) R^T, and its inverse.
Mat3 world_inertia(const Quat& rotation, const Vec3& moments);
Mat3 world_inverse_inertia(const Quat& rotation, const Vec3& moments);

inline Vec3 velocity_at(const RigidState& state, const Vec3& point) {
    return state.velocity + state.spin.cross(point - state.position);
}

// The constant velocity and spin that take a scripted body to where its script has it at the end of the step.
Eigen::Matrix<double, 6, 1> scripted_twist(const Model& model, const State& state, int body, double dt);

// Free flight over dt. The rotation follows the spin at the middle of the step, which is found from the
// angular momentum: that stays exact, energy errors do not accumulate, and no gyroscopic torque is needed.
void advance(RigidState& state, const Vec3& moments, double dt);

double kinetic_energy(const RigidState& state, double mass, const Vec3& moments);
Vec3 spin_momentum(const RigidState& state, const Vec3& moments);  // about the centre of mass

}  // namespace tenon::model

// A rigid body's pose and twist, its inertia in the world frame, and how it turns.
#pragma once

#include "tenon/state.hpp"

namespace tenon::model {

struct RigidState {
    Vec3 position = Vec3::Zero();      // of the centre of mass
    Quat rotation = Quat::Identity();  // body frame to world
    Vec3 velocity = Vec3::Zero();      // of the centre of mass
    Vec3 spin = Vec3::Zero();          // angular velocity, world frame
};

inline Mat3 skew(const Vec3& v) {
    Mat3 m;
    m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
    return m;
}

// To and from the common form of a body's state. An affine map is taken to its nearest rotation (polar
// decomposition); its rate to the spin that fits it best: the axial part of dA/dt R^T.
RigidState rigid_state(const Mat34& q, const Mat34& rate);
RigidState rigid_state(const State& state, int body);
Mat34 to_q(const RigidState& state);
Mat34 to_rate(const RigidState& state);  // dA/dt = spin x A
void store(const RigidState& rigid, State& state, int body);

// The rotation nearest to A (det A > 0).
Mat3 nearest_rotation(const Mat3& A);

// R diag(moments) R^T, and its inverse.
Mat3 world_inertia(const Quat& rotation, const Vec3& moments);
Mat3 world_inverse_inertia(const Quat& rotation, const Vec3& moments);

// exp of a rotation vector, accurate for tiny and for large angles; and its inverse, with an angle in [0, pi].
Quat exponential_map(const Vec3& rotation_vector);
Vec3 logarithm_map(const Quat& rotation);

inline Vec3 velocity_at(const RigidState& state, const Vec3& point) {
    return state.velocity + state.spin.cross(point - state.position);
}

// Free flight over dt. The rotation follows the spin at the middle of the step, which is found from the
// angular momentum: that stays exact, energy errors do not accumulate, and no gyroscopic torque is needed.
void advance(RigidState& state, const Vec3& moments, double dt);

double kinetic_energy(const RigidState& state, double mass, const Vec3& moments);
Vec3 spin_momentum(const RigidState& state, const Vec3& moments);  // about the centre of mass

}  // namespace tenon::model

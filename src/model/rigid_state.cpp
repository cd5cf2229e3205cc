#include "model/rigid_state.hpp"

#include <cmath>

#include <Eigen/LU>

namespace tenon::model {
namespace {

// A rotation whose columns are orthonormal to within round-off of what a step can do to them.
bool is_rotation(const Mat3& A) {
    return (A.transpose() * A - Mat3::Identity()).cwiseAbs().maxCoeff() < 1e-14;
}

Vec3 body_times(const Quat& rotation, const Vec3& diagonal, const Vec3& v) {
    const Mat3 R = rotation.toRotationMatrix();
    return R * diagonal.cwiseProduct(R.transpose() * v);
}

bool isotropic(const Vec3& moments) {
    return moments.maxCoeff() - moments.minCoeff() <= 1e-12 * moments.maxCoeff();
}

// Spin at the middle of the step: I(R_mid) w = L with R_mid = exp(h/2 w) R. A fixed-point iteration; its
// contraction is about h |w| / 2 times the spread of the moments, so four rounds are ample at usual steps.
Vec3 middle_spin(const RigidState& state, const Vec3& moments, const Vec3& L, double dt) {
    Vec3 spin = state.spin;
    for (int round = 0; round < 8; ++round) {
        const Quat middle = exponential_map(0.5 * dt * spin) * state.rotation;
        const Vec3 next = body_times(middle, moments.cwiseInverse(), L);
        const double change = (next - spin).squaredNorm();
        spin = next;
        if (change <= 1e-28 * spin.squaredNorm()) break;
    }
    return spin;
}

}  // namespace

RigidState rigid_state(const Mat34& q, const Mat34& rate) {
    RigidState state;
    const Mat3 A = q.leftCols<3>();
    const Mat3 R = is_rotation(A) ? A : nearest_rotation(A);
    state.rotation = Quat(R).normalized();
    state.position = q.col(3);
    state.velocity = rate.col(3);
    state.spin = spin_of(R, rate.leftCols<3>());
    return state;
}

RigidState rigid_state(const State& state, int body) {
    return rigid_state(state.q[body], state.rate[body]);
}

Mat34 to_q(const RigidState& state) {
    Mat34 q;
    q.leftCols<3>() = state.rotation.toRotationMatrix();
    q.col(3) = state.position;
    return q;
}

Mat34 to_rate(const RigidState& state) {
    Mat34 rate;
    rate.leftCols<3>() = skew(state.spin) * state.rotation.toRotationMatrix();
    rate.col(3) = state.velocity;
    return rate;
}

void store(const RigidState& rigid, State& state, int body) {
    state.q[body] = to_q(rigid);
    state.rate[body] = to_rate(rigid);
}

Eigen::Matrix<double, 6, 1> scripted_twist(const Model& model, const State& state, int body, double dt) {
    const Mat34& now = state.q[body];
    const Mat34 next = scripted_pose(model, state, body, state.time + dt);
    const Mat3 turn = next.leftCols<3>() * now.leftCols<3>().transpose();
    Eigen::Matrix<double, 6, 1> twist;
    twist << (next.col(3) - now.col(3)) / dt, logarithm_map(Quat(turn)) / dt;
    return twist;
}

Mat3 world_inertia(const Quat& rotation, const Vec3& moments) {
    const Mat3 R = rotation.toRotationMatrix();
    return R * moments.asDiagonal() * R.transpose();
}

Mat3 world_inverse_inertia(const Quat& rotation, const Vec3& moments) {
    return world_inertia(rotation, moments.cwiseInverse());
}

void advance(RigidState& state, const Vec3& moments, double dt) {
    state.position += dt * state.velocity;
    if (isotropic(moments)) {
        state.rotation = (exponential_map(dt * state.spin) * state.rotation).normalized();
        return;
    }
    const Vec3 L = body_times(state.rotation, moments, state.spin);
    const Vec3 middle = middle_spin(state, moments, L, dt);
    state.rotation = (exponential_map(dt * middle) * state.rotation).normalized();
    state.spin = body_times(state.rotation, moments.cwiseInverse(), L);
}

double kinetic_energy(const RigidState& state, double mass, const Vec3& moments) {
    return 0.5 * mass * state.velocity.squaredNorm() + 0.5 * state.spin.dot(spin_momentum(state, moments));
}

Vec3 spin_momentum(const RigidState& state, const Vec3& moments) {
    return body_times(state.rotation, moments, state.spin);
}

}  // namespace tenon::model

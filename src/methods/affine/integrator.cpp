#include "methods/affine/integrator.hpp"

#include <cmath>

#include <Eigen/LU>

namespace tenon::affine {
namespace {

// Inertia tensor about the centre of mass in the world frame.
Mat3 inertia_tensor(const Mat3& A, const Inertia& inertia) {
    const Mat3 second = A * inertia.moments.asDiagonal() * A.transpose();
    return second.trace() * Mat3::Identity() - second;
}

Vec3 angular_momentum_of(const Mat3& A, const Mat3& A_rate, const Inertia& inertia) {
    // of X = sum_k m_k v_k x_k^T, twice the axial vector is the sum of m_k x_k x v_k
    return 2.0 * axial(A_rate * inertia.moments.asDiagonal() * A.transpose());
}

}  // namespace

Integrator integrator_named(const std::string& name) {
    if (name == "bdf2") return Integrator::bdf2;
    if (name == "newmark") return Integrator::newmark;
    return Integrator::implicit_euler;
}

Mat34 retract(const Mat34& q, const Mat34& step, double t) {
    const Mat3 A = q.leftCols<3>();
    const Mat3 X = step.leftCols<3>() * A.inverse();
    const Mat3 S = 0.5 * (X + X.transpose());
    Mat34 moved;
    moved.leftCols<3>() = rotation_matrix(t * axial(X)) * (A + t * S * A);
    moved.col(3) = q.col(3) + t * step.col(3);
    return moved;
}

double potential_scale(Integrator integrator, double h, bool first_step) {
    if (integrator == Integrator::newmark) return 0.25 * h * h;
    if (integrator == Integrator::bdf2 && !first_step) return 4.0 / 9.0 * h * h;
    return h * h;
}

Mat34 inertial_target(Integrator integrator, double h, bool first_step, const Mat34& q, const Mat34& rate,
                      const BodyHistory& history, const Mat34& external_acceleration) {
    if (integrator == Integrator::newmark)
        return q + h * rate + 0.25 * h * h * (history.acceleration + external_acceleration);
    if (integrator == Integrator::bdf2 && !first_step) {
        const double step = 2.0 / 3.0 * h;
        const Mat34 q_mix = (4.0 * q - history.older_q) / 3.0;
        const Mat34 rate_mix = (4.0 * rate - history.older_rate) / 3.0;
        return q_mix + step * rate_mix + step * step * external_acceleration;
    }
    return q + h * rate + h * h * external_acceleration;
}

Mat34 sliding_reference(Integrator integrator, bool first_step, const Mat34& q, const BodyHistory& history) {
    return integrator == Integrator::bdf2 && !first_step ? Mat34((4.0 * q - history.older_q) / 3.0) : q;
}

double sliding_time(Integrator integrator, double h, bool first_step) {
    return integrator == Integrator::bdf2 && !first_step ? 2.0 / 3.0 * h : h;
}

Mat34 finish_rate(Integrator integrator, double h, bool first_step, const Mat34& q_new, const Mat34& q,
                  const Mat34& rate, BodyHistory& history) {
    Mat34 new_rate = (q_new - q) / h;
    if (integrator == Integrator::newmark) {
        const Mat34 new_acceleration = 4.0 / (h * h) * (q_new - q - h * rate) - history.acceleration;
        new_rate = rate + 0.5 * h * (history.acceleration + new_acceleration);
        history.acceleration = new_acceleration;
    } else if (integrator == Integrator::bdf2 && !first_step) {
        new_rate = (3.0 * q_new - 4.0 * q + history.older_q) / (2.0 * h);
    }
    history.older_q = q;
    history.older_rate = rate;
    return new_rate;
}

Vec3 angular_velocity(const Mat34& q, const Mat34& rate, const Inertia& inertia) {
    const Mat3 A = q.leftCols<3>();
    return inertia_tensor(A, inertia).inverse() * angular_momentum_of(A, rate.leftCols<3>(), inertia);
}

Mat34 rigid_part_of_rate(const Mat34& q, const Mat34& rate, const Inertia& inertia) {
    Mat34 rigid = rate;
    rigid.leftCols<3>() = skew(angular_velocity(q, rate, inertia)) * q.leftCols<3>();
    return rigid;
}

Mat34 rigid_acceleration(const Mat34& q, const Mat34& rate, const Mat34& acceleration,
                         const Inertia& inertia) {
    // Stresses do no torque, so the torque can be read off any acceleration; then Euler's equation.
    const Mat3 A = q.leftCols<3>();
    const Vec3 w = angular_velocity(q, rate, inertia);
    const Vec3 torque = angular_momentum_of(A, acceleration.leftCols<3>(), inertia);
    const Mat3 I = inertia_tensor(A, inertia);
    const Vec3 spin_up = I.inverse() * (torque - w.cross(I * w));
    const Mat3 W = skew(w);
    Mat34 rigid = acceleration;
    rigid.leftCols<3>() = (skew(spin_up) + W * W) * A;
    return rigid;
}

Mat34 extrapolate_rigidly(const Mat34& q, const Mat34& rate, const Inertia& inertia, double h) {
    const Vec3 turn = h * angular_velocity(q, rate, inertia);
    const double angle = turn.norm();
    Mat34 moved = q;
    if (angle > 0.0) {
        const Mat3 W = skew(turn);
        const double a = angle > 1e-4 ? std::sin(angle) / angle : 1.0 - angle * angle / 6.0;
        const double half = std::sin(0.5 * angle) / angle;
        const double b = angle > 1e-4 ? 2.0 * half * half : 0.5 - angle * angle / 24.0;
        moved.leftCols<3>() += (a * W + b * W * W) * q.leftCols<3>();
    }
    moved.col(3) += h * rate.col(3);
    return moved;
}

Mat3 torque_force(const Mat3& A, const Vec3& torque) {
    return 0.5 * skew(torque) * A.inverse().transpose();
}

}  // namespace tenon::affine

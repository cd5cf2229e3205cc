#include "methods/articulated/reference.hpp"

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "model/rigid_state.hpp"

namespace tenon::articulated {
namespace {

Quat turned(const Quat& rotation, const Vec3& body_turn) {
    const double angle = body_turn.norm();
    if (angle < 1e-300) return rotation;
    return (rotation * Quat(Eigen::AngleAxisd(angle, body_turn / angle))).normalized();
}

Vec3 spin_rate(const RigidReference& body, const Quat& rotation, const Vec3& w, const Vec3& gravity) {
    const Vec3 torque = body.lever.cross(body.mass * (rotation.conjugate() * gravity));
    return (torque - w.cross(body.inertia.cwiseProduct(w))).cwiseQuotient(body.inertia);
}

// Jacobi's sn(u, k) by descending Landen steps of the arithmetic-geometric mean.
double jacobi_sn(double u, double k) {
    double a[32], c[32];
    a[0] = 1.0;
    c[0] = k;
    double b = std::sqrt(1.0 - k * k);
    int n = 0;
    for (; n < 30 && std::abs(c[n]) > 1e-16; ++n) {
        a[n + 1] = 0.5 * (a[n] + b);
        c[n + 1] = 0.5 * (a[n] - b);
        b = std::sqrt(a[n] * b);
    }
    double phi = std::ldexp(a[n] * u, n);
    for (; n > 0; --n) phi = 0.5 * (phi + std::asin(c[n] / a[n] * std::sin(phi)));
    return std::sin(phi);
}

}  // namespace

RigidReference reference_of(const Model& model, const State& state, int body) {
    const model::RigidState now = model::rigid_state(state, body);
    RigidReference out;
    out.mass = model.bodies.mass[body];
    out.inertia = model.bodies.moments_of_inertia(body);
    out.position = now.position;
    out.velocity = now.velocity;
    out.rotation = now.rotation;
    out.spin = now.rotation.conjugate() * now.spin;
    return out;
}

RigidReference reference_of(const Model& model, const State& state, int body, const Vec3& fixed_point) {
    RigidReference out = reference_of(model, state, body);
    out.lever = out.rotation.conjugate() * (out.position - fixed_point);
    out.inertia.array() += out.mass * (out.lever.squaredNorm() - out.lever.array().square());
    return out;
}

// theta of Eq. 60 hangs at 0 and starts at pi/2: sin(theta/2) = k sn(K - w t), k = sin(pi/4); this is pi/2 - theta.
double PendulumReference::angle(double time) const {
    const double k = std::sqrt(0.5), w = std::sqrt(mass * gravity * distance / inertia);
    return 0.5 * M_PI - 2.0 * std::asin(k * jacobi_sn(std::comp_ellint_1(k) - w * time, k));
}

double PendulumReference::quarter_period() const {
    return std::comp_ellint_1(std::sqrt(0.5)) / std::sqrt(mass * gravity * distance / inertia);
}

// Along the rod: weight and centripetal force; across: weight less what accelerates the centre of mass.
double PendulumReference::force(double angle) const {
    const double w2 = 2.0 * mass * gravity * distance * std::sin(angle) / inertia;
    const double along = mass * (gravity * std::sin(angle) + w2 * distance);
    const double across = mass * gravity * std::cos(angle) * (1.0 - mass * distance * distance / inertia);
    return std::hypot(along, across);
}

void step_explicit(RigidReference& body, const Vec3& gravity, double h) {
    body.velocity += h * gravity;
    body.position += h * body.velocity;
    body.spin += h * spin_rate(body, body.rotation, body.spin, gravity);
    body.rotation = turned(body.rotation, h * body.spin);
}

// I (w - w_n) / h + w x I w = torque of gravity at the step's start
void step_implicit(RigidReference& body, const Vec3& gravity, double h) {
    const auto cross = [](const Vec3& v) {
        Mat3 m;
        m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
        return m;
    };
    body.velocity += h * gravity;
    body.position += h * body.velocity;
    const Mat3 I = body.inertia.asDiagonal();
    const Vec3 torque = body.lever.cross(body.mass * (body.rotation.conjugate() * gravity));
    Vec3 w = body.spin;
    for (int k = 0; k < 10; ++k) {
        const Vec3 residual = I * (w - body.spin) + h * (w.cross(I * w) - torque);
        if (residual.norm() <= 1e-13 * ((I * w).norm() + h * torque.norm())) break;
        const Mat3 J = I + h * (cross(w) * I - cross(I * w));
        w -= J.inverse() * residual;
    }
    body.spin = w;
    body.rotation = turned(body.rotation, h * w);
}

void step_runge_kutta(RigidReference& body, const Vec3& gravity, double h) {
    struct Slope {
        Vec4 rotation;
        Vec3 spin;
    };
    const auto slope = [&](const Vec4& r, const Vec3& w) {
        const Quat q(r);
        return Slope{0.5 * (q * Quat(0, w.x(), w.y(), w.z())).coeffs(),
                     spin_rate(body, q.normalized(), w, gravity)};
    };
    const Vec4 r = body.rotation.coeffs();
    const Slope k1 = slope(r, body.spin);
    const Slope k2 = slope(r + 0.5 * h * k1.rotation, body.spin + 0.5 * h * k1.spin);
    const Slope k3 = slope(r + 0.5 * h * k2.rotation, body.spin + 0.5 * h * k2.spin);
    const Slope k4 = slope(r + h * k3.rotation, body.spin + h * k3.spin);
    body.rotation =
        Quat(Vec4(r + h / 6 * (k1.rotation + 2 * k2.rotation + 2 * k3.rotation + k4.rotation))).normalized();
    body.spin += h / 6 * (k1.spin + 2 * k2.spin + 2 * k3.spin + k4.spin);
    body.position += h * body.velocity + 0.5 * h * h * gravity;
    body.velocity += h * gravity;
}

int step_affine(AffineReference& body, const Vec3& gravity, double h) {
    Mat34 target = body.q + h * body.rate;
    target.col(3) += h * h * gravity;
    Mat34 x = body.q;
    const Vec4 mass(body.moments.x(), body.moments.y(), body.moments.z(), body.mass);
    int iterations = 0;
    for (; iterations < 20; ++iterations) {
        const Mat3 A = x.leftCols<3>();
        const Mat3 C = A.transpose() * A - Mat3::Identity();
        Mat34 gradient;
        for (int k = 0; k < 4; ++k) gradient.col(k) = mass[k] / (h * h) * (x.col(k) - target.col(k));
        gradient.leftCols<3>() += 4.0 * body.stiffness * A * C;
        // Hessian: columns of dA -> 4 kappa V (dA C + A (dA^T A + A^T dA)), only the positive part of C kept
        Mat12 H = Mat12::Zero();
        for (int c = 0; c < 9; ++c) {
            Mat3 dA = Mat3::Zero();
            dA(c % 3, c / 3) = 1.0;
            const Mat3 dG =
                4.0 * body.stiffness * (dA * C.cwiseMax(0.0) + A * (dA.transpose() * A + A.transpose() * dA));
            H.block<9, 1>(0, c) = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(dG.data());
        }
        for (int k = 0; k < 4; ++k) H.diagonal().segment<3>(3 * k).array() += mass[k] / (h * h);
        H = (0.5 * (H + H.transpose())).eval();
        const Vec12 step = -H.llt().solve(Eigen::Map<const Vec12>(gradient.data()));
        x += Eigen::Map<const Mat34>(step.data());
        if (step.cwiseAbs().maxCoeff() < 1e-8) break;
    }
    body.rate = (x - body.q) / h;
    body.q = x;
    return iterations + 1;
}

}  // namespace tenon::articulated

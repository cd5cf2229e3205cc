// The reference integrators: what each is known to conserve.
#include "methods/articulated/reference.hpp"

#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::articulated;

namespace {

RigidReference tumbling() {
    RigidReference body;
    body.inertia = Vec3(1.0, 2.0, 3.0);
    body.spin = Vec3(0.3, 2.0, 0.1);
    return body;
}

Vec3 momentum(const RigidReference& body) {
    return body.rotation * body.inertia.cwiseProduct(body.spin);
}

}  // namespace

TEST(ArticulatedReference, RungeKuttaKeepsMomentumAndEnergy) {
    RigidReference body = tumbling();
    const Vec3 L = momentum(body);
    const double energy = body.spin.dot(body.inertia.cwiseProduct(body.spin));
    for (int i = 0; i < 10000; ++i) step_runge_kutta(body, Vec3::Zero(), 1e-3);
    EXPECT_LT((momentum(body) - L).norm(), 1e-9);
    EXPECT_NEAR(body.spin.dot(body.inertia.cwiseProduct(body.spin)), energy, 1e-9);
}

TEST(ArticulatedReference, FirstOrderStepsConvergeToIt) {
    for (auto step : {step_explicit, step_implicit}) {
        const auto error = [&](int steps) {
            RigidReference body = tumbling(), exact = tumbling();
            for (int i = 0; i < steps; ++i) step(body, Vec3::Zero(), 1.0 / steps);
            for (int i = 0; i < 2000; ++i) step_runge_kutta(exact, Vec3::Zero(), 1.0 / 2000);
            return (body.spin - exact.spin).norm();
        };
        EXPECT_NEAR(error(200) / error(400), 2.0, 0.2);  // first order
    }
}

TEST(ArticulatedReference, PlainAffineBodyLosesSpinAsImplicitEulerDoes) {
    AffineReference body;
    body.stiffness = 1e7;
    body.q.leftCols<3>().setIdentity();
    for (int k = 0; k < 3; ++k) body.rate.col(k) = Vec3(0, 0, 10).cross(Vec3(Vec3::Unit(k)));
    for (int i = 0; i < 100; ++i) step_affine(body, Vec3::Zero(), 0.01);
    const Mat3 W = body.rate.leftCols<3>() * body.q.leftCols<3>().inverse();
    // d omega / d t = -omega^3 h: omega = 10 / sqrt(1 + 2 * 100 * h * t) = 5.8
    EXPECT_NEAR(0.5 * (W(1, 0) - W(0, 1)), 5.8, 0.3);
}

#include "model/rigid_state.hpp"

#include <gtest/gtest.h>

namespace tenon::model {
namespace {

RigidState spinning() {
    RigidState state;
    state.position = {1, -2, 3};
    state.rotation = Quat(0.3, -0.4, 0.5, 0.7).normalized();
    state.velocity = {0.2, 0.1, -0.4};
    state.spin = {1.3, -0.7, 2.1};
    return state;
}

TEST(RigidState, SurvivesTheTripThroughMatrices) {
    const RigidState state = spinning();
    const RigidState back = rigid_state(to_q(state), to_rate(state));
    EXPECT_LT((back.position - state.position).norm(), 1e-15);
    EXPECT_LT((back.velocity - state.velocity).norm(), 1e-15);
    EXPECT_LT((back.spin - state.spin).norm(), 1e-14);
    EXPECT_LT(back.rotation.angularDistance(state.rotation), 1e-14);
}

TEST(RigidState, TakesAnAffineMapToItsNearestRotation) {
    // A = R S with S symmetric and positive: R is the polar factor by construction.
    const RigidState state = spinning();
    Mat3 S;
    S << 1.1, 0.02, -0.03, 0.02, 0.9, 0.04, -0.03, 0.04, 1.05;
    Mat34 q = to_q(state);
    q.leftCols<3>() = q.leftCols<3>() * S;
    EXPECT_LT(rigid_state(q, to_rate(state)).rotation.angularDistance(state.rotation), 1e-13);
}

TEST(RigidState, RateIsTheDerivativeOfThePose) {
    const RigidState state = spinning();
    const double h = 1e-6;
    RigidState ahead = state, behind = state;
    ahead.rotation = exponential_map(h * state.spin) * state.rotation;
    ahead.position += h * state.velocity;
    behind.rotation = exponential_map(-h * state.spin) * state.rotation;
    behind.position -= h * state.velocity;
    const Mat34 slope = (to_q(ahead) - to_q(behind)) / (2 * h);
    EXPECT_LT((slope - to_rate(state)).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(RigidState, ExponentialAndLogarithmAreInverse) {
    for (const Vec3& v : {Vec3(1e-12, 0, 0), Vec3(1e-5, 2e-5, -1e-5), Vec3(0.3, -1, 2), Vec3(0, 3.1, 0)})
        EXPECT_LT((logarithm_map(exponential_map(v)) - v).norm(), 1e-13) << v.transpose();
    // A quarter turn about z takes x to y.
    EXPECT_LT((exponential_map(Vec3(0, 0, M_PI / 2)) * Vec3::UnitX() - Vec3::UnitY()).norm(), 1e-15);
}

TEST(RigidState, InertiaAndItsInverseCancel) {
    const RigidState state = spinning();
    const Vec3 moments(0.4, 1.3, 2.2);
    const Mat3 product =
        world_inertia(state.rotation, moments) * world_inverse_inertia(state.rotation, moments);
    EXPECT_LT((product - Mat3::Identity()).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(RigidState, FreeFlightKeepsMomentumExactlyAndEnergyNearly) {
    // A T-handle-like body tumbling about its middle axis: 20 s at 1/100.
    RigidState state;
    const Vec3 moments(1.0, 2.0, 2.9);
    state.spin = {0.01, 3.0, 0.02};
    const Vec3 L = spin_momentum(state, moments);
    const double energy = kinetic_energy(state, 2.0, moments);
    double lowest = 1, worst = 0;
    for (int i = 0; i < 2000; ++i) {
        advance(state, moments, 0.01);
        lowest = std::min(lowest, (state.rotation * Vec3::UnitY()).dot(Vec3::UnitY()));
        worst = std::max(worst, std::abs(kinetic_energy(state, 2.0, moments) / energy - 1));
    }
    EXPECT_LT((spin_momentum(state, moments) - L).norm(), 1e-12 * L.norm() * 2000);
    EXPECT_LT(worst, 2e-4);   // second order, bounded: no drift
    EXPECT_LT(lowest, -0.9);  // it flips, as a body about its middle axis does
}

TEST(RigidState, AdvanceIsOfSecondOrder) {
    const Vec3 moments(1.0, 2.0, 3.5);
    auto end = [&](int steps) {
        RigidState state = spinning();
        for (int i = 0; i < steps; ++i) advance(state, moments, 1.0 / steps);
        return state.rotation;
    };
    const Quat truth = end(6400);
    const double coarse = truth.angularDistance(end(100)), fine = truth.angularDistance(end(200));
    EXPECT_NEAR(coarse / fine, 4.0, 0.3);
}

}  // namespace
}  // namespace tenon::model

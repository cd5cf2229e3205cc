// Sliding, rolling and turning with the impulse method against closed forms.
#include <gtest/gtest.h>

#include "methods/impulse_scene.hpp"

namespace tenon {
namespace {

using namespace impulse_test;

constexpr double g = 9.81;

class TruthImpulseMotion : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Dt, TruthImpulseMotion, testing::Values(0.02, 0.01, 0.005, 0.001));

// A box that slides at v stops after v^2 / (2 mu g).
TEST_P(TruthImpulseMotion, SlidingBoxStopsWhereCoulombSays) {
    Scene scene = make_scene(0.4);
    scene.dt = GetParam();
    add_ground(scene);
    add_body(scene, add_box(scene, Vec3(2, 1, 2)), Vec3(0, 0.5, 0)).linear_velocity = Vec3(2, 0, 0);
    scene.bodies.back().mass = 35.0;
    Simulation simulation(scene);
    run(simulation, 1.0);
    const double distance = 2.0 * 2.0 / (2 * 0.4 * g);
    EXPECT_NEAR(simulation.state().q[1](0, 3), distance, 0.01 * distance);
    EXPECT_EQ(simulation.state().rate[1].norm(), 0.0);
}

// A box on an incline moves by g (sin - mu cos) t^2 / 2.
TEST_P(TruthImpulseMotion, BoxOnAnInclineSlidesAsCoulombSays) {
    const double mu = 0.2, angle = std::atan(0.5);
    Scene scene = make_scene(mu);
    scene.dt = GetParam();
    add_body(scene, add_shape(scene, "plane"), Vec3::Zero(), BodyType::static_body).rotation =
        slope_rotation(angle);
    const Vec3 normal(std::sin(angle), std::cos(angle), 0), down(std::cos(angle), -std::sin(angle), 0);
    add_body(scene, add_box(scene, Vec3(0.4, 0.2, 0.3)), 0.1 * normal).rotation = slope_rotation(angle);
    Simulation simulation(scene);
    run(simulation, 1.0);
    const double expected = 0.5 * g * (std::sin(angle) - mu * std::cos(angle));
    EXPECT_NEAR(down.dot(simulation.state().q[1].col(3)), expected, 2e-3 * expected);
}

// A sphere rolls down an incline with g sin / (1 + I / m r^2): 5/7 g sin when it is solid.
TEST_P(TruthImpulseMotion, SphereRollsDownAnIncline) {
    const double angle = 0.2, radius = 0.5;
    Scene scene = make_scene(0.8);
    scene.dt = GetParam();
    add_body(scene, add_shape(scene, "plane"), Vec3::Zero(), BodyType::static_body).rotation =
        slope_rotation(angle);
    const Vec3 normal(std::sin(angle), std::cos(angle), 0), down(std::cos(angle), -std::sin(angle), 0);
    BodySpec& ball = add_body(
        scene, add_shape(scene, "icosphere", {{"radius", radius}, {"subdivisions", 4.0}}), radius * normal);
    ball.mass = 3.0;
    Simulation simulation(scene);
    run(simulation, 1.0);
    const Bodies& bodies = simulation.model().bodies;
    const double inertia =
        bodies.moments_of_inertia(1).x() / (3.0 * radius * radius);  // 2/5 but for the facets
    EXPECT_NEAR(inertia, 0.4, 0.003);
    const double expected = 0.5 * g * std::sin(angle) / (1 + inertia);
    EXPECT_NEAR(down.dot(simulation.state().q[1].col(3)), expected, 2e-3 * expected);
    EXPECT_NEAR(normal.dot(simulation.state().q[1].col(3)), radius, 2e-5);  // and does not sink
}

// However small the steps, a rolling ball stays on its surface.
TEST(TruthImpulseRolling, BallDoesNotSink) {
    for (double dt : {0.01, 0.002, 0.00025}) {
        Scene scene = make_scene(0.5);
        scene.dt = dt;
        add_ground(scene);
        BodySpec& ball =
            add_body(scene, add_shape(scene, "icosphere", {{"radius", 0.25}, {"subdivisions", 3.0}}),
                     Vec3(0, 0.25, 0));
        ball.linear_velocity = Vec3(2, 0, 0);
        ball.angular_velocity = Vec3(0, 0, -8);
        Simulation simulation(scene);
        run(simulation, 1.0);
        EXPECT_NEAR(simulation.state().q[1](1, 3), 0.25, 1e-5) << dt;
        EXPECT_NEAR(simulation.state().q[1](0, 3), 2.0, 1e-3) << dt;
    }
}

// A free rod under a torque turns by T t^2 / (2 I).
TEST_P(TruthImpulseMotion, RodTurnsUnderATorque) {
    Scene scene = make_scene();
    scene.dt = GetParam();
    scene.gravity = Vec3::Zero();
    add_body(scene, add_box(scene, Vec3(1, 0.04, 0.04)), Vec3::Zero()).mass = 1.0;
    ForceSpec force;
    force.body = 0;
    force.torque = Vec3(0, 0, 1);
    scene.forces.push_back(force);
    Simulation simulation(scene);
    run(simulation, 0.5);
    const Mat34& q = simulation.state().q[0];
    const double inertia = (1.0 + 0.04 * 0.04) / 12;
    Mat3 in_shape = q.leftCols<3>() * simulation.model().shape_of(0).geometry_frame.rotation;
    EXPECT_NEAR(std::atan2(in_shape(1, 0), in_shape(0, 0)), 0.125 / inertia, 1e-6);
}

}  // namespace
}  // namespace tenon

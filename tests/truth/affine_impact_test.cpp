// Fast bodies against thin ones: momentum is handed over as the closed form of the impact says, whatever the step.
//
// A ball of mass m1 at speed v strikes a free body of mass m2 at rest centrally, with a restitution e between 0 and 1:
//   v1 = v (m1 - e m2) / (m1 + m2),   v2 = v (1 + e) m1 / (m1 + m2),   m1 v1 + m2 v2 = m1 v.
#include <gtest/gtest.h>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::run_for;

GeometrySpec ball_spec(double radius) {
    return shape_spec("sphere", {{"radius", radius}});
}

Scene shot(double speed, double dt, const Vec3& offset = Vec3(0.001, 0, -0.2)) {
    Scene scene;
    scene.dt = dt;
    scene.gravity = Vec3::Zero();
    BodySpec ball = body_spec(scene, "ball", ball_spec(0.02), offset);
    ball.density = 1000.0;
    ball.linear_velocity = Vec3(0, 0, speed);
    scene.add_body(ball);
    return scene;
}

int add_target(Scene& scene, const std::string& name, const GeometrySpec& geometry, const Vec3& position,
               const Quat& rotation = Quat::Identity()) {
    BodySpec body = body_spec(scene, name, geometry, position, rotation);
    body.density = 1000.0;
    return scene.add_body(body);
}

// Steps until the ball has had time to pass the place at z = 0 twice over.
void shoot(Simulation& simulation, double speed) {
    EXPECT_EQ(run_for(simulation, 0.4 / speed + 3.0 * simulation.dt()), 0);
}

double speed_z(const Simulation& simulation, int body) {
    return simulation.state().rate[body].col(3).z();
}

class AffineShot : public testing::TestWithParam<std::pair<double, double>> {};

TEST_P(AffineShot, APlateTakesItsShareOfMomentum) {
    const auto [speed, dt] = GetParam();
    Scene scene = shot(speed, dt);
    add_target(scene, "plate", box_spec({0.1, 0.1, 0.005}), Vec3::Zero());
    Simulation simulation(scene);
    shoot(simulation, speed);
    const double m1 = simulation.model().bodies.mass[0], m2 = simulation.model().bodies.mass[1];
    const double v1 = speed_z(simulation, 0), v2 = speed_z(simulation, 1), stuck = speed * m1 / (m1 + m2);
    EXPECT_NEAR(m1 * v1 + m2 * v2, m1 * speed, 1e-6 * m1 * speed);
    EXPECT_GT(v2, 0.98 * stuck);       // e = 0; a millimetre off centre turns the plate a little
    EXPECT_LT(v2, 2.0 * stuck);        // e = 1
    EXPECT_LT(v1, v2 + 0.02 * speed);  // nothing passes through
}

TEST_P(AffineShot, ARodAcrossTheWayTakesItsShareOfMomentum) {
    const auto [speed, dt] = GetParam();
    Scene scene = shot(speed, dt);
    add_target(scene, "rod", box_spec({0.01, 0.4, 0.01}), Vec3::Zero());
    Simulation simulation(scene);
    shoot(simulation, speed);
    const double m1 = simulation.model().bodies.mass[0], m2 = simulation.model().bodies.mass[1];
    const double v1 = speed_z(simulation, 0), v2 = speed_z(simulation, 1), stuck = speed * m1 / (m1 + m2);
    EXPECT_NEAR(m1 * v1 + m2 * v2, m1 * speed, 1e-6 * m1 * speed);
    EXPECT_GT(v2, 0.9 * stuck);  // off centre, the ball glances off: cos^2 of 2.3 degrees, and then sideways
    EXPECT_LT(v2, 2.0 * stuck);
}

INSTANTIATE_TEST_SUITE_P(Speeds, AffineShot,
                         testing::Values(std::pair(5.0, 0.01), std::pair(15.0, 0.01), std::pair(15.0, 0.005),
                                         std::pair(20.0, 0.01), std::pair(50.0, 0.01), std::pair(100.0, 0.01),
                                         std::pair(200.0, 0.01), std::pair(200.0, 0.001),
                                         std::pair(500.0, 0.02), std::pair(500.0, 0.002)));

TEST(AffineImpact, ABulletGoesThroughNoneOfSixPlates) {
    for (const double speed : {20.0, 200.0}) {
        Scene scene = shot(speed, 0.01);
        for (int k = 0; k < 6; ++k)
            add_target(scene, "plate" + std::to_string(k), box_spec({0.1, 0.1, 0.005}), Vec3(0, 0, 0.03 * k));
        Simulation simulation(scene);
        shoot(simulation, 0.2 * speed);
        const Bodies& bodies = simulation.model().bodies;
        double momentum = 0.0;
        for (int i = 0; i < bodies.size(); ++i) momentum += bodies.mass[i] * speed_z(simulation, i);
        EXPECT_NEAR(momentum, bodies.mass[0] * speed, 1e-6 * bodies.mass[0] * speed);
        // In a row, none is passed by the one behind it; the ball may glide off the plate that it has turned, and past it.
        for (int i = 1; i < bodies.size(); ++i) {
            const Vec3 behind = test::position(simulation, i == 1 ? 0 : i - 1),
                       here = test::position(simulation, i);
            const bool beside = i == 1 && (behind - here).head<2>().norm() > 0.07 + 0.02;
            EXPECT_TRUE(behind.z() < here.z() || beside) << speed << ", " << i;
        }
    }
}

TEST(AffineImpact, AShellIsHitFromOutside) {
    // A card of one quad: no thickness in its mesh.
    for (const double speed : {15.0, 100.0}) {
        Scene scene = shot(speed, 0.01);
        Mesh card;
        card.vertices = {Vec3(-0.05, -0.05, 0), Vec3(0.05, -0.05, 0), Vec3(0.05, 0.05, 0),
                         Vec3(-0.05, 0.05, 0)};
        card.triangles = {{0, 1, 2}, {0, 2, 3}};
        GeometrySpec geometry = mesh_spec(card);
        geometry.thickness = 0.002;
        add_target(scene, "card", geometry, Vec3::Zero());
        Simulation simulation(scene);
        shoot(simulation, speed);
        const double m1 = simulation.model().bodies.mass[0], m2 = simulation.model().bodies.mass[1];
        EXPECT_GT(speed_z(simulation, 1), 0.98 * speed * m1 / (m1 + m2)) << speed;
    }
}

TEST(AffineImpact, SlowScenesTakeWholeSteps) {
    Scene scene = shot(2.0, 0.01);
    add_target(scene, "plate", box_spec({0.1, 0.1, 0.005}), Vec3::Zero());
    Simulation simulation(scene);
    for (int k = 0; k < 20; ++k)
        for (const auto& [name, value] : simulation.step().metrics)
            if (name == "substeps") {
                EXPECT_EQ(value, 1.0);
            }
}

}  // namespace
}  // namespace tenon

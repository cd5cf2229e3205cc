// Where bodies start is not energy.
#include <gtest/gtest.h>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::position;
using test::run_for;

Scene box_over_floor(double gap, double dt, double friction) {
    Scene scene;
    scene.dt = dt;
    scene.materials[0].friction = friction;
    BodySpec floor = body_spec(scene, "floor", box_spec({20, 1, 20}), Vec3(0, -0.5, 0));
    floor.type = BodyType::static_body;
    scene.add_body(floor);
    BodySpec box = body_spec(scene, "box", box_spec({2, 1, 2}), Vec3(0, 0.5 + gap, 0));
    box.mass = 35.0;
    scene.add_body(box);
    return scene;
}

class AffineStart : public testing::TestWithParam<double> {};

// The floor takes m v_n of momentum when the box lands, and friction mu m v_n with it: the path to the stop is that of a box
// that lay on the floor from the start, v^2 / (2 mu g).
TEST_P(AffineStart, ASlidingBoxStopsWhereCoulombSays) {
    Scene scene = box_over_floor(0.002, GetParam(), 0.4);
    scene.bodies[1].linear_velocity = Vec3(2, 0, 0);
    Simulation simulation(scene);
    double highest = 0.0;
    while (simulation.time() < 1.0 - 1e-9) {
        EXPECT_TRUE(simulation.step().converged);
        highest = std::max(highest, position(simulation, 1).y());
    }
    EXPECT_NEAR(position(simulation, 1).x(), 4.0 / (2.0 * 0.4 * 9.81), 0.02 * 0.5097);
    EXPECT_LT(highest, 0.502 + 1e-6);  // never thrown up
}

INSTANTIATE_TEST_SUITE_P(Steps, AffineStart, testing::Values(0.01, 0.005));

// Without gravity nothing moves, however close: 1e-2 to 1e-9 of the contact range.
TEST(AffineStart, BodiesAtRestCloseTogetherStayAtRest) {
    for (const double gap : {1e-3, 1e-4, 1e-5, 3e-6}) {
        Scene scene = box_over_floor(gap, 0.01, 0.4);
        scene.gravity = Vec3::Zero();
        Simulation simulation(scene);
        EXPECT_EQ(run_for(simulation, 0.2), 0);
        EXPECT_NEAR(position(simulation, 1).y(), 0.5 + gap, 1e-9) << gap;
    }
}

// A body that is added later, closer than the contact range: no energy either.
TEST(AffineStart, BodiesAddedLaterBringNoEnergy) {
    Scene scene = box_over_floor(0.5, 0.01, 0.0);
    scene.gravity = Vec3::Zero();
    Simulation simulation(scene);
    run_for(simulation, 0.05);
    GeometrySpec geometry = box_spec({0.5, 0.5, 0.5});
    BodySpec body;
    body.name = "late";
    body.position = Vec3(5, 0.25 + 1e-4, 0);
    const int late = simulation.add_body(body, geometry);
    run_for(simulation, 0.25);
    EXPECT_NEAR(position(simulation, late).y(), 0.25 + 1e-4, 1e-9);
}

// A block falls through a slot with a clearance of a fifth of the contact range on either side, without touching: g t^2 / 2,
// in implicit Euler's steps g h^2 n (n + 1) / 2. Friction with walls that press would hold it.
TEST(AffineStart, ABlockFallsThroughASlotWithLittleClearance) {
    Scene scene;
    scene.dt = 0.01;
    scene.materials[0].friction = 0.5;
    scene.contact.dhat = 0.001;
    for (const double side : {-1.0, 1.0}) {
        BodySpec wall =
            body_spec(scene, side < 0 ? "left" : "right", box_spec({0.2, 2, 0.5}), Vec3(side * 0.2002, 0, 0));
        wall.type = BodyType::static_body;
        scene.add_body(wall);
    }
    scene.add_body(body_spec(scene, "block", box_spec({0.2, 0.2, 0.2}), Vec3(0, 0.5, 0)));
    Simulation simulation(scene);
    EXPECT_EQ(run_for(simulation, 0.3), 0);
    EXPECT_NEAR(position(simulation, 2).y(), 0.5 - 9.81 * 1e-4 * 30 * 31 / 2, 1e-6);
}

// Bodies placed exactly on each other, all of one size: they start, are told of, and stay where they are.
TEST(AffineStart, BodiesPlacedExactlyOnEachOtherStart) {
    Scene scene = box_over_floor(0.0, 0.01, 0.4);
    for (int k = 1; k < 4; ++k) {
        BodySpec box = body_spec(scene, "box" + std::to_string(k), box_spec({2, 1, 2}), Vec3(0, 0.5 + k, 0));
        box.mass = 35.0;
        scene.add_body(box);
    }
    Simulation simulation(scene);
    EXPECT_FALSE(simulation.step().warnings.empty());
    EXPECT_EQ(run_for(simulation, 0.3), 0);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(position(simulation, k + 1).y(), 0.5 + k, 1e-4) << k;
}

}  // namespace
}  // namespace tenon

// Boxes on boxes with mass ratios up to 1e6, either way round: every contact carries the weight above it, and nothing sinks.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

constexpr double g = 9.81;

Scene two_boxes(const std::string& method, double below, double above, double dt) {
    Scene scene = articulated_scene(dt, 1.0);
    scene.method = method;
    const double gap = method == "affine" ? 1e-5 : 0.0;
    BodySpec floor = body_spec(scene, "floor", box_spec({8, 1, 8}), Vec3(0, -0.5, 0));
    floor.type = BodyType::static_body;
    scene.add_body(floor);
    BodySpec low = body_spec(scene, "low", box_spec({1, 1, 1}), Vec3(0, 0.5 + gap, 0));
    low.mass = below;
    scene.add_body(low);
    BodySpec high = body_spec(scene, "high", box_spec({1, 1, 1}), Vec3(0, 1.5 + 2 * gap, 0));
    high.mass = above;
    scene.add_body(high);
    return scene;
}

// Sum of the forces between two bodies along y, on the higher one.
double pressed(const Simulation& simulation, int low, int high) {
    double sum = 0.0;
    for (const Contact& contact : simulation.outputs().contacts) {
        if (contact.a == low && contact.b == high) sum += contact.force.y();
        if (contact.a == high && contact.b == low) sum -= contact.force.y();
    }
    return sum;
}

class StackRatios : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Methods, StackRatios, testing::Values("articulated", "affine", "impulse"),
                         [](const auto& test) { return test.param; });

}  // namespace

TEST_P(StackRatios, ContactsCarryTheWeightAboveThem) {
    for (double dt : {0.01, 0.001})
        for (double ratio : {1e-6, 1e-4, 1e-2, 1.0, 30.0, 1e2, 1e3, 1e4, 1e6}) {
            const double below = 1.0 / std::min(1.0, ratio), above = std::max(1.0, ratio);
            Simulation simulation(two_boxes(GetParam(), below, above, dt));
            int unconverged = 0;
            for (int i = 0; i < 60; ++i) unconverged += !simulation.step().converged;
            const std::string what =
                std::string(GetParam()) + ", ratio " + std::to_string(ratio) + ", dt " + std::to_string(dt);
            EXPECT_EQ(unconverged, 0) << what;
            EXPECT_NEAR(pressed(simulation, 1, 2), above * g, 0.02 * above * g) << what;
            EXPECT_NEAR(pressed(simulation, 0, 1), (above + below) * g, 0.02 * (above + below) * g) << what;
            EXPECT_NEAR(simulation.state().q[1](1, 3), 0.5, 5e-3) << what;
            EXPECT_NEAR(simulation.state().q[2](1, 3), 1.5, 1e-2) << what;
        }
}

// Each box a hundred times heavier than the one below it: no pair is far apart, the stack is.
TEST(UnevenStacks, FourBoxesEachHeavierThanTheOneBelow) {
    for (double dt : {0.01, 0.001}) {
        Scene scene = two_boxes("impulse", 1, 1e2, dt);
        for (int k = 2; k < 4; ++k) {
            BodySpec box =
                body_spec(scene, "box" + std::to_string(k), box_spec({1, 1, 1}), Vec3(0, 0.5 + k, 0));
            box.mass = std::pow(1e2, k);
            scene.add_body(box);
        }
        Simulation simulation(scene);
        int unconverged = 0;
        for (int i = 0; i < 100; ++i) unconverged += !simulation.step().converged;
        EXPECT_EQ(unconverged, 0);
        double above = 0;
        for (int k = 3; k >= 0; --k) {
            above += std::pow(1e2, k);
            EXPECT_NEAR(pressed(simulation, k, k + 1), above * g, 1e-3 * above * g)
                << "box " << k << ", dt " << dt;
            EXPECT_NEAR(simulation.state().q[k + 1](1, 3), 0.5 + k, 1e-3) << "box " << k << ", dt " << dt;
        }
    }
}

// A heavy box falls on a light one from h: it arrives with sqrt(2 g h), and both stop. Nothing goes through anything.
TEST(UnevenStacks, AHeavyBoxFallsOnALightOne) {
    for (double dt : {0.01, 0.001}) {
        Scene scene = two_boxes("impulse", 1, 1e6, dt);
        scene.bodies[2].position.y() += 0.2;
        Simulation simulation(scene);
        int unconverged = 0;
        double lowest = 1e300;
        for (int i = 0; i < 1.0 / dt; ++i) {
            unconverged += !simulation.step().converged;
            lowest = std::min(lowest, simulation.state().q[2](1, 3));
        }
        EXPECT_EQ(unconverged, 0);
        EXPECT_GT(lowest, 1.499);
        EXPECT_NEAR(simulation.state().q[2](1, 3), 1.5, 1e-3);
        EXPECT_NEAR(pressed(simulation, 0, 1), (1e6 + 1) * g, 1e-3 * 1e6 * g);
    }
}

// Too many contacts for the direct solve: the weight arrives at the floor, or the steps say that they did not converge.
TEST(UnevenStacks, APlateOnManyLightBoxesIsCarriedOrUnconverged) {
    for (double mass : {1e2, 1e4, 1e6}) {
        Scene scene = articulated_scene(0.01, 1.0);
        scene.method = "impulse";
        BodySpec floor = body_spec(scene, "floor", box_spec({20, 1, 20}), Vec3(0, -0.5, 0));
        floor.type = BodyType::static_body;
        scene.add_body(floor);
        for (int i = 0; i < 25; ++i) {
            BodySpec box = body_spec(scene, "box" + std::to_string(i), box_spec({1, 1, 1}),
                                     Vec3(2.0 * (i % 5) - 4, 0.5, 2.0 * (i / 5) - 4));
            box.mass = 1;
            scene.add_body(box);
        }
        BodySpec plate = body_spec(scene, "plate", box_spec({10, 1, 10}), Vec3(0, 1.5, 0));
        plate.mass = mass;
        scene.add_body(plate);
        Simulation simulation(scene);
        int unconverged = 0;
        double worst = 0;
        for (int i = 0; i < 60; ++i) {
            const bool converged = simulation.step().converged;
            unconverged += !converged;
            double floor_force = 0;
            for (int k = 1; k <= 25; ++k) floor_force += pressed(simulation, 0, k);
            if (converged && i > 10) worst = std::max(worst, std::abs(floor_force / ((mass + 25) * g) - 1));
        }
        EXPECT_LT(worst, 0.05) << mass;
        if (unconverged == 0) {
            EXPECT_NEAR(simulation.state().q[26](1, 3), 1.5, 0.02) << mass;
        }
    }
}

}  // namespace tenon

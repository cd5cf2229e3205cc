// Which components are solved as one: those that press on each other, not those that are merely near.
#include <gtest/gtest.h>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Scene balls(const std::vector<double>& places) {
    Scene scene = articulated_scene(0.01, 1.0);
    scene.gravity.setZero();
    for (std::size_t i = 0; i < places.size(); ++i)
        scene.add_body(body_spec(scene, "ball" + std::to_string(i), shape_spec("sphere", {{"radius", 0.5}}),
                                 Vec3(places[i], 0, 0)));
    return scene;
}

TEST(ArticulatedMerging, BodiesThatFlySideBySideAreSolvedApart) {
    Scene scene = balls({0.0, 1.001, 2.002});
    for (BodySpec& body : scene.bodies) body.linear_velocity = Vec3(0, 6, 0);
    Simulation simulation(scene);
    for (int step = 0; step < 5; ++step) {
        const StepReport report = simulation.step();
        EXPECT_EQ(report.solver, "free x3");
        EXPECT_EQ(report.contacts, 0);
    }
}

// The second ball rests within reach of the third; that it will be pushed against it is known only when the first one has
// pushed it.
TEST(ArticulatedMerging, APushIsPassedOnWithinTheStep) {
    Scene scene = balls({-1.01, 0.0, 1.00004});
    scene.bodies[0].linear_velocity = Vec3(2, 0, 0);
    Simulation simulation(scene);
    const State& state = simulation.state();
    simulation.step();
    EXPECT_GT(state.rate[2](0, 3), 0.1);
    EXPECT_GT(state.q[2](0, 3) - state.q[1](0, 3), 1.0 - 2e-3);
    for (int step = 0; step < 20; ++step) simulation.step();
    double momentum = 0.0;
    for (int i = 0; i < 3; ++i) momentum += state.rate[i](0, 3);
    EXPECT_NEAR(momentum, 2.0, 1e-6);
}

}  // namespace
}  // namespace tenon

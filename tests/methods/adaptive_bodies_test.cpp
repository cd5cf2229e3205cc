// Rigid bodies under the adaptive method: contacts are as stiff as what they have to bear.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

// v+ = v - lambda / m and v+ = gamma lambda with gamma = 0.5 / m leave a third of the speed after a step: the ball goes on by at
// most v h in the step in which it arrives, and by v h (1/3 + 1/9 + ...) = v h / 2 afterwards.
TEST(AdaptiveBodies, ABlowIsStoppedWithinAStepAndAHalf) {
    for (const double dt : {1e-2, 1e-3, 2e-4}) {
        Scene scene = parse_scene(
            R"({"tenon": 1, "gravity": [0, -9.81, 0], "method": {"type": "adaptive"}, "bodies": [
            {"name": "floor", "type": "static", "shape": {"type": "box", "size": [10, 1, 10]}, "position": [0, -0.5, 0]},
            {"name": "ball", "shape": {"type": "sphere", "radius": 0.5}, "position": [0, 0.52, 0],
             "linear_velocity": [0, -5, 0], "density": 2000, "restitution": 0}]})",
            "ball", ".");
        scene.dt = dt;
        Simulation simulation(scene);
        const double speed = std::sqrt(5.0 * 5.0 + 2 * 9.81 * 0.02);
        double deepest = 0;
        for (double time = 0; time < 0.1; time += dt) {
            simulation.step();
            deepest = std::max(deepest, 0.5 - simulation.state().q[1].col(3).y());
        }
        EXPECT_GT(deepest, 0.0);
        EXPECT_LT(deepest, 1.5 * dt * (speed + 9.81 * dt)) << dt;
    }
}

// What lies under a load finds its contacts as deep as its own weight on a single contact has it: 4/1000 of its side.
TEST(AdaptiveBodies, ALightBodyBearsAHeavyOne) {
    Simulation simulation(parse_scene(
        R"({"tenon": 1, "gravity": [0, -9.81, 0], "method": {"type": "adaptive", "dt": 0.02}, "bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "box", "size": [10, 1, 10]}, "position": [0, -0.5, 0]},
        {"name": "light", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, 0.5, 0], "density": 20},
        {"name": "heavy", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, 1.5, 0], "density": 20000}]})",
        "stack", "."));
    for (int i = 0; i < 150; ++i) EXPECT_TRUE(simulation.step().converged);
    EXPECT_NEAR(simulation.state().q[1].col(3).y(), 0.5 - 4e-3, 1e-4);
    EXPECT_NEAR(simulation.state().q[2].col(3).y(), 1.5 - 5e-3, 1e-4);  // and the heavy one by 1/1000 in it
    double carried = 0;
    for (const Contact& c : simulation.outputs().contacts)
        if (c.a == 0 || c.b == 0) carried += std::abs(c.force.y());
    EXPECT_NEAR(carried / (20020 * 9.81), 1.0, 1e-3);
}

}  // namespace
}  // namespace tenon

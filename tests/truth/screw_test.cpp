// A bolt in a fixed nut, by its geometry alone: nothing but threads holds and turns it.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

constexpr double pitch = 0.25, seconds = 0.6, play = 0.03;

struct Turned {
    double angle = 0.0, sunk = 0.0;
    int unconverged = 0;
};

// The built-in scene, with friction: how far the bolt has turned about its axis and sunk.
Turned screw(double mu) {
    Scene scene = test::builtin("screw", {{"dt", 0.01}, {"seconds", seconds}});
    scene.materials[0].friction = mu;
    Simulation simulation(scene);
    const double start = test::position(simulation, 1).y();
    Turned out;
    Mat3 before = simulation.state().q[1].leftCols<3>();
    while (simulation.time() < seconds - 1e-9) {
        out.unconverged += !simulation.step().converged;
        const Mat3 now = simulation.state().q[1].leftCols<3>(), turn = now * before.transpose();
        out.angle += std::atan2(turn(0, 2) - turn(2, 0), turn(0, 0) + turn(2, 2));
        before = now;
    }
    out.sunk = start - test::position(simulation, 1).y();
    return out;
}

}  // namespace

// Without friction alpha = g k / (1 + k^2 I / m), k = 2 pi / pitch; less by the time that the play takes. A thread of lead angle
// tan(lambda) = pitch / (2 pi r) locks where mu exceeds it at its smallest radius, whatever the slope of its flanks, which only
// adds to friction.
TEST(Screw, TurnsWithoutFrictionAndLocksWithIt) {
    const Turned free = screw(0.0);
    EXPECT_EQ(free.unconverged, 0);
    // it advances by its pitch, but for the play through which it may have fallen
    const double fallen = free.sunk - pitch * std::abs(free.angle) / (2.0 * EIGEN_PI);
    EXPECT_GT(fallen, 0.0);
    EXPECT_LT(fallen, play);
    EXPECT_GT(free.sunk, 0.02);
    const Turned slow = screw(0.05);
    EXPECT_EQ(slow.unconverged, 0);
    EXPECT_LT(std::abs(slow.angle), 0.9 * std::abs(free.angle));
    EXPECT_GT(slow.sunk, 0.02);
    // what is left is the play through which it falls onto the thread
    const Turned locked = screw(0.3);
    EXPECT_EQ(locked.unconverged, 0);
    EXPECT_LT(std::abs(locked.angle), 0.05 * std::abs(free.angle));
}

}  // namespace tenon

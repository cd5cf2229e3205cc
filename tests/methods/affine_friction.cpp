// Where friction decides, against statics and mechanics.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::builtin;
using test::position;
using test::run_for;

// A block on a table that turns at a constant rate, carried along from the start; how far it slips outwards.
double slip_on_turntable(double mu, double radius, double spin, double seconds) {
    Scene scene;
    scene.dt = 0.01;
    scene.materials[0].friction = mu;
    scene.contact.dhat = 0.001;
    BodySpec table = body_spec(scene, "table",
                               shape_spec("cylinder", {{"radius", 3.0}, {"length", 0.2}, {"segments", 64.0}}),
                               Vec3(0, -0.1, 0));
    table.type = BodyType::kinematic_body;
    for (int k = 0; k <= 64; ++k) {
        const double time = k * seconds / 64 * 1.05;
        table.motion.push_back({time, Vec3(0, -0.1, 0), turn(spin * time * 180.0 / EIGEN_PI, Vec3::UnitY())});
    }
    scene.add_body(table);
    BodySpec block = body_spec(scene, "block", box_spec({0.2, 0.1, 0.2}), Vec3(radius, 0.0509, 0));
    block.angular_velocity = Vec3(0, spin, 0);
    block.linear_velocity = Vec3(0, spin, 0).cross(Vec3(radius, 0, 0));
    scene.add_body(block);
    Simulation simulation(scene);
    EXPECT_EQ(run_for(simulation, seconds), 0);
    const Vec3 end = position(simulation, 1);
    return Vec3(end.x(), 0, end.z()).norm() - radius;
}

TEST(AffineFriction, TurntableCarriesABlockUpToTheThreshold) {
    // It takes omega^2 r to go round: mu g holds up to that.
    const double mu = 0.4, radius = 1.0, threshold = std::sqrt(mu * 9.81 / radius);
    EXPECT_LT(std::abs(slip_on_turntable(mu, radius, 0.98 * threshold, 2.0)), 2e-3);
    EXPECT_GT(slip_on_turntable(mu, radius, 1.03 * threshold, 2.0), 0.1);
}

double key_stone_drop(double thickness, double mu) {
    Scene scene =
        builtin("arch", {{"stones", 15.0}, {"thickness", thickness}, {"mu", mu}, {"joint", 0.0009}});
    scene.contact.dhat = 0.001;
    Simulation simulation(scene);
    const Vec3 start = position(simulation, 8);
    run_for(simulation, 1.2);
    return (position(simulation, 8) - start).norm();
}

TEST(AffineFriction, SemicircularArchStandsFromAThicknessOfATenth) {
    // Its line of thrust fits into the stones from a thickness of 0.1075 mean radii on (Milankovitch).
    EXPECT_LT(key_stone_drop(0.15 * 2.0 / (1 - 0.075), 0.8), 0.05);
    EXPECT_GT(key_stone_drop(0.08 * 2.0 / (1 - 0.04), 0.8), 0.5);
}

TEST(AffineFriction, ArchOfSlipperyStonesFalls) {
    // The thrust of a thick semicircular arch leaves its stones at up to 17 degrees from their joints' normals.
    EXPECT_GT(key_stone_drop(0.6, 0.15), 0.1);
    EXPECT_LT(key_stone_drop(0.6, 0.5), 0.05);
}

double tent_slump(double mu) {
    Simulation simulation(
        builtin("card-house", {{"levels", 1.0}, {"boxes", false}, {"mu", mu}, {"lean", 25.0}}));
    const double top = position(simulation, 1).y();
    run_for(simulation, 1.5);
    return top - position(simulation, 1).y();
}

TEST(AffineFriction, TwoCardsStandWhenFrictionHoldsTheirFeet) {
    // Moments about a foot: the cards push each other with W tan(lean) / 2, and W carries the friction that stops it.
    const double threshold = 0.5 * std::tan(25.0 * EIGEN_PI / 180.0);
    EXPECT_LT(tent_slump(1.1 * threshold), 0.02);
    EXPECT_GT(tent_slump(0.85 * threshold), 0.2);
}

TEST(AffineFriction, FineSphereRollsDownAtFiveSeventhsOfTheSlope) {
    const double angle = std::atan(0.3), radius = 0.25;
    Scene scene;
    scene.dt = 0.005;
    scene.method_params["integrator"] = std::string("bdf2");
    scene.materials[0].friction = 0.5;
    scene.contact.dhat = 0.002;
    const Quat tilt = turn(-angle * 180.0 / EIGEN_PI, Vec3::UnitZ());
    const Vec3 normal = tilt * Vec3::UnitY(), downhill = tilt * Vec3::UnitX();
    BodySpec slope = body_spec(scene, "slope", box_spec({8, 0.2, 2}), 3.0 * downhill - 0.1 * normal, tilt);
    slope.type = BodyType::static_body;
    scene.add_body(slope);
    scene.add_body(body_spec(scene, "ball",
                             shape_spec("icosphere", {{"radius", radius}, {"subdivisions", 4.0}}),
                             (radius + 0.0015) * normal));
    Simulation simulation(scene);
    const Vec3 start = position(simulation, 1);
    EXPECT_EQ(run_for(simulation, 1.0), 0);
    const double way = (position(simulation, 1) - start).dot(downhill);
    const double theory = 0.5 * 5.0 / 7.0 * 9.81 * std::sin(angle);
    EXPECT_NEAR(way, theory, 0.02 * theory);
}

TEST(AffineFriction, ScrewAdvancesByItsPitch) {
    Scene scene = builtin("screw", {});
    const double pitch = 0.25, spin = 6.0;
    scene.bodies[1].angular_velocity = Vec3(0, -spin, 0);
    scene.bodies[1].linear_velocity = Vec3(0, -spin * pitch / (2 * EIGEN_PI), 0);
    Simulation simulation(scene);
    std::vector<double> angle{0.0}, height{position(simulation, 1).y()};
    Mat3 last = simulation.state().q[1].leftCols<3>();
    for (int k = 0; k < 55; ++k) {
        simulation.step();
        const Mat3 now = simulation.state().q[1].leftCols<3>(), turned = now * last.transpose();
        last = now;
        angle.push_back(angle.back() + std::atan2(turned(0, 2) - turned(2, 0), turned(0, 0) + turned(2, 2)));
        height.push_back(position(simulation, 1).y());
    }
    ASSERT_LT(angle.back(), -2.5);
    // Slope of the best line through height over angle, once it has fallen through the play between the threads.
    angle.erase(angle.begin(), angle.begin() + 15);
    height.erase(height.begin(), height.begin() + 15);
    double mean_a = 0, mean_h = 0, ah = 0, aa = 0;
    const double n = static_cast<double>(angle.size());
    for (std::size_t k = 0; k < angle.size(); ++k) {
        mean_a += angle[k] / n;
        mean_h += height[k] / n;
    }
    for (std::size_t k = 0; k < angle.size(); ++k) {
        ah += (angle[k] - mean_a) * (height[k] - mean_h);
        aa += (angle[k] - mean_a) * (angle[k] - mean_a);
    }
    EXPECT_NEAR(ah / aa, pitch / (2 * EIGEN_PI), 0.02 * pitch / (2 * EIGEN_PI));
}

}  // namespace
}  // namespace tenon

// The built-in scenes of robots, judged by what they are about.
#include <cmath>

#include <gtest/gtest.h>

#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Simulation simulation_of(const std::string& name, const std::map<std::string, ParamValue>& values = {}) {
    return Simulation(make_builtin(*find_builtin(name), values));
}

Vec3 place_of(const Simulation& sim, const std::string& body) {
    const int index = sim.scene().body_index(body);
    return transform(sim.state().q[index], sim.model().shape_of(index).geometry_frame.position);
}

// Bond lengths and angles of the backbone stay those of the start: rigid groups, hinges along bonds.
TEST(RobotScenes, TheProteinKeepsItsBondsAndMeetsItsMarkers) {
    Simulation sim = simulation_of("protein", {{"links", 60.0}, {"markers", 5.0}, {"seconds", 1.0}});
    double residual = 0, moved = 0, missed = 0;
    const Vec3 start = place_of(sim, "ca-30");
    while (sim.time() < 1.0 - 1e-9) {
        const StepReport report = sim.step();
        EXPECT_TRUE(report.converged);
        residual = std::max(residual, report.joint_residual);
    }
    for (const ExpectSpec& expect : sim.scene().expect)
        if (expect.position && expect.at > 1.0 - 1e-9)
            missed = std::max(missed, (place_of(sim, expect.body) - *expect.position).norm());
    // CA to CA over a flat peptide: 3.8 angstrom, drawn as 3.8 cm
    for (int i = 0; i < 30; ++i) {
        const double length =
            (place_of(sim, "ca-" + std::to_string(i + 1)) - place_of(sim, "ca-" + std::to_string(i))).norm();
        EXPECT_NEAR(length, 0.0380, 2e-4) << i;
    }
    moved = (place_of(sim, "ca-30") - start).norm();
    EXPECT_GT(moved, 0.02);
    EXPECT_LT(residual, 1e-7);
    EXPECT_LT(missed, 1e-5);
}

TEST(RobotScenes, TheFootOfTheLegStaysOnItsPathUnderLoad) {
    Simulation sim = simulation_of("closed-loop-leg");
    double worst = 0, residual = 0, torque = 0;
    while (sim.time() < sim.scene().seconds - 1e-9) {
        const StepReport report = sim.step();
        EXPECT_TRUE(report.converged);
        residual = std::max(residual, report.joint_residual);
        for (const JointOutput& joint : sim.outputs().joints)
            torque = std::max(torque, std::abs(joint.motor_force[0]));
        if (sim.time() < 1.0) continue;
        // the ellipse of half axes 0.1 and 0.05 m, whatever the phase
        const Vec3 foot = place_of(sim, "foot");
        const double a = foot.x() / 0.10, b = (foot.y() - 0.20) / 0.05;
        worst = std::max(worst, 0.05 * std::abs(std::hypot(a, b) - 1));
        EXPECT_NEAR(foot.z(), 0, 1e-8);
    }
    EXPECT_LT(worst, 1e-3);
    EXPECT_LT(residual, 1e-8);
    EXPECT_GT(torque, 10);  // there is a load
    EXPECT_LE(torque, 60 * (1 + 1e-9));
}

TEST(RobotScenes, TheArmHoldsABlockByFriction) {
    Simulation sim = simulation_of("arm-pick-place", {{"task", std::string("hold")}, {"rest", 1.5}});
    const double end = sim.scene().seconds, held = end - 1.0;
    const int hand = sim.scene().body_index("hand"), block = sim.scene().body_index("block-1");
    const auto in_hand = [&] {
        const Mat34 &h = sim.state().q[hand], &b = sim.state().q[block];
        return Vec3(h.leftCols<3>().transpose() * (b.col(3) - h.col(3)));
    };
    Vec3 first = Vec3::Zero();
    while (sim.time() < end - 1e-9) {
        sim.step();
        if (first.isZero() && sim.time() > held) first = in_hand();
    }
    EXPECT_GT(place_of(sim, "block-1").y(), 0.1);
    EXPECT_LT((in_hand() - first).norm(), 1e-5);  // 0.1 mm in ten seconds
}

// Two fingers press with 12 N each: at 0.05 they carry 1.2 N, and the block weighs 1.7.
TEST(RobotScenes, ASlipperyBlockIsDropped) {
    Simulation sim =
        simulation_of("arm-pick-place", {{"task", std::string("hold")}, {"rest", 0.5}, {"friction", 0.05}});
    while (sim.time() < sim.scene().seconds - 1e-9) sim.step();
    EXPECT_LT(place_of(sim, "block-1").y(), 0.05);
}

}  // namespace
}  // namespace tenon

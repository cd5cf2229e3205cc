// The built-in scenes of the articulated family at default size, and what must be seen in them.
#include <gtest/gtest.h>

#include <cmath>

#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Simulation simulation_of(const std::string& name, const std::map<std::string, ParamValue>& values = {}) {
    const BuiltinScene* found = find_builtin(name);
    EXPECT_NE(found, nullptr) << name;
    return Simulation(make_builtin(*found, values));
}

struct Outcome {
    double residual = 0, strain = 0, solves = 0;
    double reach = 0;  // largest distance of the last body from the origin
    int steps = 0;
};

Outcome run(Simulation& simulation, double seconds) {
    Outcome outcome;
    while (simulation.time() < seconds - 1e-9) {
        const StepReport report = simulation.step();
        outcome.residual = std::max(outcome.residual, report.joint_residual);
        for (const auto& [name, value] : report.metrics) {
            if (name == "strain") outcome.strain = std::max(outcome.strain, value);
            if (name == "solves") outcome.solves += value;
        }
        outcome.reach = std::max(outcome.reach, simulation.state().q.back().col(3).norm());
        ++outcome.steps;
    }
    return outcome;
}

double y_of(const Simulation& simulation, const std::string& name) {
    return simulation.state().q[simulation.scene().body_index(name)](1, 3);
}

}  // namespace

TEST(ArticulatedScenes, HeavyChainHoldsFromHorizontalAndFolded) {
    for (const char* start : {"horizontal", "folded"}) {
        Simulation simulation = simulation_of("heavy-chain", {{"start", std::string(start)}});
        const Outcome outcome = run(simulation, 5.0);
        EXPECT_LT(outcome.residual, 1e-9) << start;
        EXPECT_LT(outcome.strain, 0.05) << start;
        EXPECT_LT(outcome.solves / outcome.steps, 8.0) << start;  // until forces balance to 1e-6
        // 10 m of chain and half the mass's side: taut at some time, and never stretched further than strain says
        EXPECT_GT(outcome.reach, 9.9) << start;
        EXPECT_LT(outcome.reach, 10.0 * 1.05 + 0.15) << start;
    }
}

TEST(ArticulatedScenes, WithoutCuresLongChainsWouldStretchButTheyDoNot) {
    Simulation simulation =
        simulation_of("heavy-chain", {{"links", 300.0}, {"end_mass_ratio", 10000.0}, {"seconds", 2.0}});
    const Outcome outcome = run(simulation, 2.0);
    EXPECT_LT(outcome.residual, 1e-9);
    EXPECT_LT(outcome.strain, 0.06);
}

TEST(ArticulatedScenes, JointNetStaysClosedWithAndWithoutCollider) {
    for (const char* collider : {"none", "cylinder"}) {
        Simulation simulation = simulation_of("joint-net", {{"collider", std::string(collider)}});
        const Outcome outcome = run(simulation, 2.0);
        EXPECT_LT(outcome.residual, 1e-6) << collider;
        const bool draped = y_of(simulation, "node5_9") > -1.5;  // 1.8 m of net hang straight down without it
        if (std::string(collider) == "cylinder") {
            EXPECT_GT(simulation.outputs().contacts.size(), 10u);
        }
        EXPECT_TRUE(draped || std::string(collider) == "none");
    }
}

TEST(ArticulatedScenes, PulleyLiftsTheAnchorAndLetsItGo) {
    Simulation simulation = simulation_of("pulley");
    const double start = y_of(simulation, "anchor");
    const double third = simulation.scene().seconds / 3;
    Outcome outcome = run(simulation, 1.4 * third);
    EXPECT_GT(y_of(simulation, "anchor"), start + 0.6);
    outcome = run(simulation, 3 * third);
    EXPECT_LT(y_of(simulation, "anchor"), start + 0.5);
    EXPECT_LT(outcome.residual, 1e-8);
}

TEST(ArticulatedScenes, TreeSwaysWithoutBlowingUp) {
    Simulation simulation = simulation_of("tree", {{"links", 150.0}});
    const std::vector<Mat34> start = simulation.state().q;
    const Outcome outcome = run(simulation, 1.0);
    EXPECT_LT(outcome.residual, 1e-9);
    double farthest = 0;
    for (std::size_t i = 0; i < start.size(); ++i)
        farthest = std::max(farthest, (simulation.state().q[i].col(3) - start[i].col(3)).norm());
    EXPECT_GT(farthest, 0.01);
    EXPECT_LT(farthest, 3.0);
}

TEST(ArticulatedScenes, CloakFollowsItsFigure) {
    Simulation simulation = simulation_of("cloak", {{"around", 10.0}, {"down", 10.0}});
    const Outcome outcome = run(simulation, 1.5);
    EXPECT_LT(outcome.residual, 1e-6);
    const Vec3 torso = simulation.state().q[0].col(3),
               hem = simulation.state().q[simulation.scene().body_index("n5_9")].col(3);
    EXPECT_LT((torso - hem).norm(), 2.0);
}

TEST(ArticulatedScenes, RagdollsLandInTheNet) {
    Simulation simulation = simulation_of("ragdolls", {{"ragdolls", 1.0}, {"n", 6.0}});
    const Outcome outcome = run(simulation, 1.0);
    EXPECT_LT(outcome.residual, 1e-6);
    EXPECT_GT(y_of(simulation, "doll0torso"), -2.0);  // caught: free fall would be at -3.9
}

TEST(ArticulatedScenes, FallingJointsStayJoined) {
    Simulation simulation = simulation_of("falling-joints", {{"pairs", 8.0}});
    EXPECT_LT(run(simulation, 0.8).residual, 1e-6);
    for (std::size_t i = 1; i < simulation.state().q.size(); ++i)
        EXPECT_GT(simulation.state().q[i](1, 3), -1.5);  // inside the bowl
}

TEST(ArticulatedScenes, RollingCylinderKeepsRolling) {
    Simulation simulation = simulation_of("rolling-cylinder");
    run(simulation, 3.0);
    EXPECT_NEAR(simulation.state().q[1](0, 3), 6.0, 0.06);  // 2 m/s for 3 s
}

// Every scene of the family says what it is, and is simulated by its own method.
TEST(ArticulatedScenes, AllAreComplete) {
    int count = 0;
    for (const BuiltinScene& scene : builtin_scenes()) {
        if (scene.family != "articulated") continue;
        ++count;
        EXPECT_FALSE(scene.summary.empty() || scene.look_for.empty() || scene.source.empty()) << scene.name;
        const Scene made = make_builtin(scene, {});
        EXPECT_EQ(made.method, "articulated") << scene.name;
        EXPECT_FALSE(made.expect.empty()) << scene.name;
    }
    EXPECT_GE(count, 16);
}

}  // namespace tenon

// The Franka arm of the fixtures under its own actuators: where they let it sag, held at home, along a trajectory.
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "tenon/kinematics.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr int arm_joints = 7;

// The arm with what a controller knows of it.
struct Panda {
    Scene scene;
    kinematics::SceneTree robot;
    VecX home;  // of all nine joints, in the tree's order
    int joint[arm_joints];
    int column[arm_joints];  // in q and v

    explicit Panda(const std::string& file, double dt) {
        scene = import_mjcf(file).scene;
        scene.start = "home";
        scene.dt = dt;
        robot = kinematics::tree_of(scene);
        home = robot.tree.zero();
        for (const auto& state : scene.keyframes[0].joints)
            home[robot.tree.links[robot.joints[state.joint].first_link].q] = state.position[0];
        for (int k = 0; k < arm_joints; ++k) {
            joint[k] = scene.actuators[k].joint;
            column[k] = robot.tree.links[robot.joints[joint[k]].first_link].q;
        }
    }

    // Targets at which the actuators give what a motion needs: kp (target - q) - kd q' = tau + damping q'.
    void set_targets(Simulation& sim, const VecX& q, const VecX& v, const VecX& a) const {
        const VecX tau = kinematics::inverse_dynamics(robot.tree, kinematics::forward(robot.tree, q), v, a);
        for (int k = 0; k < arm_joints; ++k) {
            const ActuatorSpec& motor = scene.actuators[k];
            const double damping = scene.joints[joint[k]].drives[0].spring->damping;
            set_target(sim.model(), sim.state(), k,
                       q[column[k]] + (tau[column[k]] + (motor.kd + damping) * v[column[k]]) / motor.kp);
        }
    }
    double error(const Simulation& sim, const VecX& q) const {
        double worst = 0;
        for (int k = 0; k < arm_joints; ++k)
            worst = std::max(worst, std::abs(sim.state().joint_coordinate[joint[k]][0] - q[column[k]]));
        return worst;
    }
};

std::string panda_file() {
    return (fs::path(TENON_SOURCE_DIR) / ".." / "shared" / "fixtures" / "mjcf" / "franka_emika_panda" /
            "panda.xml")
        .string();
}

#define SKIP_WITHOUT_PANDA() \
    if (!fs::exists(panda_file())) GTEST_SKIP() << "no arm at " << panda_file()

// With the keyframe's targets it comes to rest where its springs carry it: kp (target - q) = g(q).
TEST(PandaRun, SagsAsFarAsItsGainsSay) {
    SKIP_WITHOUT_PANDA();
    const Panda panda(panda_file(), 0.01);
    Simulation sim(panda.scene);
    while (sim.time() < 3.0 - 1e-9) EXPECT_TRUE(sim.step().converged);
    VecX q = panda.home;
    for (int k = 0; k < arm_joints; ++k) q[panda.column[k]] = sim.state().joint_coordinate[panda.joint[k]][0];
    const VecX g = kinematics::gravity_torques(panda.robot.tree, kinematics::forward(panda.robot.tree, q));
    double largest = 0;
    for (int k = 0; k < arm_joints; ++k) {
        const double torque =
            panda.scene.actuators[k].kp * (panda.home[panda.column[k]] - q[panda.column[k]]);
        EXPECT_NEAR(torque, g[panda.column[k]], 2e-3) << k;
        EXPECT_NEAR(sim.outputs().joints[panda.joint[k]].motor_force[0], g[panda.column[k]], 2e-3) << k;
        largest = std::max(largest, std::abs(g[panda.column[k]]));
    }
    EXPECT_GT(largest, 10);  // it does carry something
    EXPECT_NEAR(sim.state().joint_coordinate[panda.scene.tendons[0].terms[0].joint][0], 0.04, 1e-6);
}

TEST(PandaRun, HoldsItsHomePose) {
    SKIP_WITHOUT_PANDA();
    for (const double dt : {0.002, 0.01}) {
        const Panda panda(panda_file(), dt);
        Simulation sim(panda.scene);
        const VecX zero = VecX::Zero(panda.robot.tree.freedoms);
        panda.set_targets(sim, panda.home, zero, zero);
        double worst = 0, joints = 0;
        while (sim.time() < 1.0 - 1e-9) {
            const StepReport report = sim.step();
            EXPECT_TRUE(report.converged);
            joints = std::max(joints, report.joint_residual);
            worst = std::max(worst, panda.error(sim, panda.home));
        }
        EXPECT_LT(worst, 1e-3);
        EXPECT_LT(joints, 1e-9);
        std::printf("home held within %.2g rad at %g s\n", worst, dt);
    }
}

// q = home + A (1 - cos w t)/2 for each joint: begins and ends at rest.
TEST(PandaRun, FollowsAJointTrajectory) {
    SKIP_WITHOUT_PANDA();
    for (const double dt : {0.002, 0.005}) {
        const Panda panda(panda_file(), dt);
        Simulation sim(panda.scene);
        const double w = M_PI;  // there and back in two seconds
        const double swing[arm_joints] = {0.8, 0.4, -0.5, -0.6, 0.7, 0.5, 0.9};
        const auto at = [&](double t, VecX& q, VecX& v, VecX& a) {
            q = panda.home;
            v = a = VecX::Zero(panda.robot.tree.freedoms);
            for (int k = 0; k < arm_joints; ++k) {
                q[panda.column[k]] += 0.5 * swing[k] * (1 - std::cos(w * t));
                v[panda.column[k]] = 0.5 * swing[k] * w * std::sin(w * t);
                a[panda.column[k]] = 0.5 * swing[k] * w * w * std::cos(w * t);
            }
        };
        VecX q, v, a;
        double worst = 0;
        while (sim.time() < 2.0 - 1e-9) {
            at(sim.time() + dt, q, v, a);
            panda.set_targets(sim, q, v, a);
            EXPECT_TRUE(sim.step().converged);
            worst = std::max(worst, panda.error(sim, q));
        }
        EXPECT_LT(worst, 1e-2);
        std::printf("trajectory followed within %.2g rad at %g s\n", worst, dt);
    }
}

}  // namespace
}  // namespace tenon

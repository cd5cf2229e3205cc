// Actuators hold, drive and follow: against targets, given loads and inverse dynamics.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "scene/builtin/articulated_scene_families.hpp"
#include "scene/builtin/robots_arm.hpp"
#include "scene/support.hpp"
#include "tenon/kinematics.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

// Four links of 1.5 kg and 0.3 m, level along x, hinges about z and y in turn, bounded position motors, friction, limits and
// armature.
Scene four_hinges(double dt) {
    Scene scene = articulated_scene(dt, 2.0);
    for (int k = 0; k < 4; ++k) {
        BodySpec link = body_spec(scene, "link" + std::to_string(k), box_spec({0.3, 0.05, 0.05}),
                                  Vec3(0.3 * k + 0.15, 0, 0));
        link.mass = 1.5;
        link.collides = false;
        const int body = scene.add_body(link);
        JointSpec joint = joint_spec("j" + std::to_string(k), JointType::hinge, body - 1, body,
                                     Vec3(0.3 * k, 0, 0), k % 2 ? Vec3::UnitY() : Vec3::UnitZ());
        DriveSpec drive;
        drive.limits = {{-2.0, 2.0}};
        drive.friction = 0.5;
        drive.armature = 0.05;
        joint.drives.push_back(drive);
        scene.joints.push_back(joint);
        ActuatorSpec motor;
        motor.name = joint.name;
        motor.type = ActuatorSpec::Type::position;
        motor.joint = k;
        motor.force_limits = {-150, 150};
        motor.target = k % 2 ? -0.8 : 0.6;
        scene.actuators.push_back(motor);
    }
    return scene;
}

TEST(Actuators, AnArmOfFourHingesReachesAndHoldsItsTargets) {
    for (const double dt : {1e-3, 2e-3, 5e-3, 1e-2}) {
        Simulation sim(four_hinges(dt));
        int unconverged = 0;
        double worst_joint = 0, worst_hold = 0;
        while (sim.time() < 2.0 - 1e-9) {
            const StepReport report = sim.step();
            unconverged += !report.converged;
            worst_joint = std::max(worst_joint, report.joint_residual);
            if (sim.time() < 1.2) continue;
            for (int k = 0; k < 4; ++k)
                worst_hold = std::max(worst_hold, std::abs(sim.state().joint_coordinate[k][0] -
                                                           sim.scene().actuators[k].target));
        }
        EXPECT_EQ(unconverged, 0) << dt;
        EXPECT_LT(worst_joint, 1e-9) << dt;
        EXPECT_LT(worst_hold, 1e-2) << dt;
        std::printf("dt %g: targets held within %.2g rad, joints closed to %.2g\n", dt, worst_hold,
                    worst_joint);
    }
}

// A flywheel with a brake of a hundredth of the motor's bound.
TEST(Actuators, AVelocityMotorHoldsItsSpeedAgainstALoad) {
    for (const double dt : {1e-3, 1e-2}) {
        Scene scene = articulated_scene(dt, 1.0);
        scene.gravity = Vec3::Zero();
        BodySpec wheel = body_spec(scene, "wheel",
                                   shape_spec("cylinder", {{"radius", 0.2}, {"length", 0.05}}), Vec3::Zero());
        wheel.mass = 3.0;
        wheel.collides = false;
        scene.add_body(wheel);
        scene.joints.push_back(joint_spec("axle", JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitY()));
        ActuatorSpec motor;
        motor.name = "motor";
        motor.type = ActuatorSpec::Type::velocity;
        motor.joint = 0;
        motor.target = 10.0;
        motor.force_limits = {-100, 100};
        scene.actuators.push_back(motor);
        ForceSpec load;
        load.body = 0;
        load.torque = Vec3(0, -1.0, 0);
        scene.forces.push_back(load);
        Simulation sim(scene);
        while (sim.time() < 1.0 - 1e-9) {
            const double before = sim.state().joint_coordinate[0][0];
            EXPECT_TRUE(sim.step().converged);
            if (sim.time() < 0.1) continue;
            EXPECT_NEAR((sim.state().joint_coordinate[0][0] - before) / dt, 10.0, 1e-3) << dt;
            // rates of affine bodies are right to (omega h)^2 / 3
            EXPECT_NEAR(sim.outputs().joints[0].coordinate_rate[0], 10.0, 10.0 * 100 * dt * dt / 3 + 1e-3)
                << dt;
            EXPECT_NEAR(sim.outputs().joints[0].motor_force[0], 1.0, 5e-3) << dt;  // what the load takes
        }
    }
}

// The seven-joint arm at rest, and on the way between two poses.
struct ArmRun {
    double at_rest = 0,
           moving = 0;  // largest difference of a torque from inverse dynamics, of the largest torque
};

ArmRun arm_torques(double dt) {
    Scene scene = articulated_scene(dt, 1.0);
    ArmOptions options;
    options.collides = false;
    const Arm arm = add_arm(scene, options);
    for (JointSpec& joint : scene.joints)
        if (!joint.drives.empty()) joint.drives[0].friction = 0;  // at rest it carries any part of the load
    const kinematics::SceneTree robot = kinematics::tree_of(scene);
    // from home by a smooth swing of half a second, then rest: s = u^3 (10 - 15 u + 6 u^2)
    VecX swing(Arm::joints);
    swing << 0.5, 0.3, -0.4, 0.3, 0.5, -0.4, 0.6;
    const auto at = [&](double t, double& rate, double& acceleration) {
        const double T = 0.5, u = std::clamp(t / T, 0.0, 1.0);
        rate = 30 * u * u * (1 - u) * (1 - u) / T;
        acceleration = 60 * u * (1 - u) * (1 - 2 * u) / (T * T);
        return u * u * u * (10 - 15 * u + 6 * u * u);
    };
    for (int k = 0; k < Arm::joints; ++k) {
        scene.joints[k].start = {arm.home[k]};
        auto& profile = scene.actuators[k].profile;
        for (long n = 0; n * dt < 1.0 + dt; ++n) {
            double rate, acceleration;
            profile.push_back({n * dt, arm.home[k] + swing[k] * at(n * dt, rate, acceleration)});
        }
    }
    for (int side = 0; side < 2; ++side) scene.joints[Arm::joints + side].start = {options.opening};
    Simulation sim(scene);
    ArmRun run;
    while (sim.time() < 1.0 - 1e-9) {
        EXPECT_TRUE(sim.step().converged) << sim.time();
        double rate, acceleration;
        const double s = at(sim.time(), rate, acceleration);
        VecX q = robot.tree.zero(), v = VecX::Zero(robot.tree.freedoms), a = v;
        for (int k = 0; k < Arm::joints; ++k) {
            const int link = robot.joints[k].first_link;
            q[robot.tree.links[link].q] = arm.home[k] + swing[k] * s;
            v[robot.tree.links[link].v] = swing[k] * rate;
            a[robot.tree.links[link].v] = swing[k] * acceleration;
        }
        for (int side = 0; side < 2; ++side)
            q[robot.tree.links[robot.joints[Arm::joints + side].first_link].q] = options.opening;
        const VecX tau = kinematics::inverse_dynamics(robot.tree, kinematics::forward(robot.tree, q), v, a);
        double largest = 0, worst = 0;
        for (int k = 0; k < Arm::joints; ++k) {
            const double wanted = tau[robot.tree.links[robot.joints[k].first_link].v];
            largest = std::max(largest, std::abs(wanted));
            worst = std::max(worst, std::abs(sim.outputs().joints[k].motor_force[0] - wanted));
        }
        if (sim.time() > 0.9) run.at_rest = std::max(run.at_rest, worst / largest);
        if (sim.time() > 0.1 && sim.time() < 0.5) run.moving = std::max(run.moving, worst / largest);
    }
    return run;
}

TEST(Actuators, TorquesOfASevenJointArmAreThoseOfInverseDynamics) {
    const ArmRun coarse = arm_torques(1e-2), fine = arm_torques(1e-3);
    std::printf(
        "torques, of the largest: at rest %.2g (10 ms) %.2g (1 ms), moving %.2g (10 ms) %.2g (1 ms)\n",
        coarse.at_rest, fine.at_rest, coarse.moving, fine.moving);
    EXPECT_LT(coarse.at_rest, 1e-2);
    EXPECT_LT(fine.at_rest, 1e-3);
    // accelerations by BDF2: second order in the step
    EXPECT_LT(coarse.moving, 0.04);
    EXPECT_LT(fine.moving, 5e-4);
}

// Every kind of actuator at work on a pendulum, its target set between steps.
TEST(Actuators, TargetsCanBeSetBetweenSteps) {
    const auto scene_with = [](const std::string& actuator) {
        return parse_scene(
            R"({"method": {"type": "articulated", "dt": 0.005}, "gravity": [0, -9.81, 0], "bodies": [
            {"name": "bar", "mass": 2, "inertia": {"moments": [0.01, 0.06, 0.06]}, "position": [0.3, 0, 0]}],
          "joints": [{"name": "pivot", "type": "hinge", "bodies": ["world", "bar"], "spring": {"stiffness": 0, "damping": 2}}],
          "actuators": [{"name": "m", "joint": "pivot", )" +
                actuator + "}]}",
            "pendulum", ".");
    };
    const double mgl = 2 * 9.81 * 0.3;
    const auto run = [&](Scene scene, double target) {
        Simulation sim(std::move(scene));
        for (int k = 0; k < 100; ++k) sim.step();
        set_target(sim.model(), sim.state(), 0, target);
        for (int k = 0; k < 800; ++k) EXPECT_TRUE(sim.step().converged);
        return std::array<double, 3>{sim.state().joint_coordinate[0][0],
                                     sim.outputs().joints[0].coordinate_rate[0],
                                     sim.outputs().joints[0].motor_force[0]};
    };
    // kp (target - q) = m g l cos q
    const auto servo = run(scene_with(R"("type": "position", "kp": 200, "kd": 20)"), 1.0);
    EXPECT_NEAR(200 * (1.0 - servo[0]), mgl * std::cos(servo[0]), 1e-6);
    EXPECT_NEAR(servo[2], mgl * std::cos(servo[0]), 1e-5);
    const auto held = run(scene_with(R"("type": "position", "force_limits": [-50, 50])"), 0.7);
    EXPECT_NEAR(held[0], 0.7, 1e-5);
    const auto speed = run(scene_with(R"("type": "velocity", "kd": 500)"), 1.5);
    EXPECT_NEAR(speed[1], 1.5, 0.03);  // kd (target - q') = 2 q' + m g l cos q
    // a torque through a gear holds the bar where gear f = m g l cos q: the stable one of the two
    const auto push = run(scene_with(R"("type": "torque", "gear": 3)"), -mgl / 6);
    EXPECT_NEAR(3 * -mgl / 6, mgl * std::cos(push[0]), 1e-4);
    EXPECT_NEAR(push[2], -mgl / 2, 1e-9);

    Simulation sim(scene_with(R"("type": "position", "kp": 200, "target_limits": [-1, 1])"));
    EXPECT_THROW(set_target(sim.model(), sim.state(), 0, 1.5), InputError);
    EXPECT_THROW(set_target(sim.model(), sim.state(), 0, std::nan("")), InputError);
    EXPECT_EQ(actuator_target(sim.model(), sim.state(), 0, 0.0), 0.0);
}

// A winch shortens its rope of 1 m at 0.1 m/s to 0.7 m: it then carries m g.
TEST(Actuators, AWinchPullsAlongALine) {
    Simulation sim(parse_scene(R"({"gravity": [0, -10, 0], "method": {"type": "articulated", "dt": 0.01},
"bodies": [{"name": "load", "shape": {"type": "box", "size": [0.1, 0.1, 0.1]}, "mass": 3}],
"joints": [{"name": "rope", "type": "distance", "bodies": ["world", "load"], "point": [0, 1, 0], "point_b": [0, 0, 0],
            "spring": {"stiffness": 0, "damping": 1}}],
"actuators": [{"name": "winch", "type": "position", "joint": "rope", "force_limits": [-100, 100], "target": 0.7, "velocity_limit": 0.1}],
"sensors": [{"name": "length", "type": "joint_position", "joint": "rope"}, {"name": "pull", "type": "joint_torque", "joint": "rope"}]})",
                               "winch", "."));
    for (int k = 0; k < 150; ++k) sim.step();
    EXPECT_NEAR(sim.sensor_values()[0].second, 0.85, 2e-3);
    for (int k = 0; k < 350; ++k) sim.step();
    EXPECT_NEAR(sim.sensor_values()[0].second, 0.7, 1e-4);
    EXPECT_NEAR(sim.outputs().joints[0].motor_force[0], -30.0, 0.1);
    EXPECT_NEAR(sim.sensor_values()[1].second, -30.0, 0.1);  // towards the first point
    EXPECT_NEAR(sim.state().q[0](1, 3), 0.3, 1e-4);
}

// Targets may be set step by step as fast as the actuator is, and no faster.
TEST(Actuators, TargetsSetBetweenStepsKeepTheVelocityLimit) {
    Simulation sim(parse_scene(R"({"gravity": [0, 0, 0], "method": {"type": "articulated", "dt": 0.01},
"bodies": [{"name": "bar", "shape": {"type": "box", "size": [1, 0.1, 0.1]}}],
"joints": [{"name": "turn", "type": "hinge", "bodies": ["world", "bar"], "axis": [0, 0, 1]}],
"actuators": [{"name": "m", "type": "position", "joint": "turn", "gear": 2, "velocity_limit": 0.5}]})",
                               "bar", "."));
    for (int k = 1; k <= 50; ++k) {
        set_target(sim.model(), sim.state(), 0, 0.005 * k);  // l = 2 q
        sim.step();
    }
    EXPECT_NEAR(sim.state().joint_coordinate[0][0], 0.125, 1e-9);
    try {
        set_target(sim.model(), sim.state(), 0, 0.3);
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("would jump by 0.05 in a step"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace tenon

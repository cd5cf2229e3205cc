// Joints and motors of the affine method against closed forms.
#include <gtest/gtest.h>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::joint_between;

// Twenty steel links from horizontal: Newton needs a few iterations, and joints are closed to round-off.
TEST(AffineJoints, AHingedChainFallsInFewIterations) {
    Scene scene;
    scene.dt = 0.01;
    int before = -1;
    for (int k = 0; k < 20; ++k) {
        BodySpec link = body_spec(scene, "link" + std::to_string(k), box_spec({0.1, 0.02, 0.02}),
                                  Vec3(0.05 + 0.1 * k, 0, 0));
        link.density = 7850.0;
        const int body = scene.add_body(link);
        scene.joints.push_back(
            joint_between(JointType::hinge, before, body, Vec3(0.1 * k, 0, 0), Vec3::UnitZ()));
        before = body;
    }
    scene.method_params["max_iterations"] = 100.0;
    Simulation simulation(scene);
    for (int k = 0; k < 30; ++k) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged) << k;
        EXPECT_LT(report.iterations, 10) << k;
        EXPECT_LT(report.joint_residual, 1e-9) << k;
    }
}

// Bodies of 1 g and 10 kg fixed on each other: the joint closes as tightly as between equals.
TEST(AffineJoints, AFixedStackOfUnequalMassesStaysClosed) {
    Scene scene;
    scene.dt = 0.01;
    int before = -1;
    for (int k = 0; k < 4; ++k) {
        BodySpec body =
            body_spec(scene, "b" + std::to_string(k), box_spec({0.1, 0.1, 0.1}), Vec3(0.05 + 0.1 * k, 0, 0));
        body.mass = k % 2 ? 10.0 : 0.001;
        const int index = scene.add_body(body);
        scene.joints.push_back(
            joint_between(JointType::fixed, before, index, Vec3(0.1 * k, 0, 0), Vec3::UnitX()));
        before = index;
    }
    Simulation simulation(scene);
    for (int k = 0; k < 30; ++k) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged) << k;
        // Points in metres, axes in radians.
        EXPECT_LT(joint_residual_max(simulation.model(), simulation.state()), 1e-9) << k;
    }
}

Scene motor_scene(double bound, double load) {
    Scene scene;
    scene.dt = 0.005;
    scene.gravity = Vec3::Zero();
    BodySpec rod = body_spec(scene, "rod", box_spec({1, 0.04, 0.04}), Vec3(0.5, 0, 0));
    rod.mass = 1.0;
    scene.add_body(rod);
    JointSpec hinge = joint_between(JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitZ());
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::velocity;
    drive.motor.target = 0.0;
    drive.motor.max = bound;
    hinge.drives.push_back(drive);
    scene.joints.push_back(hinge);
    ForceSpec force;
    force.body = 0;
    force.torque = Vec3(0, 0, load);
    scene.forces.push_back(force);
    return scene;
}

double angle_of(const Simulation& simulation, int body) {
    const Mat34& q = simulation.state().q[body];
    return std::atan2(q(1, 0), q(0, 0));
}

// At rest against 1 N m: the motor gives it back, -1 N m, and the rod stays.
TEST(AffineMotors, AVelocityMotorHoldsAgainstALoadBelowItsBound) {
    Simulation simulation(motor_scene(100.0, 1.0));
    EXPECT_EQ(test::run_for(simulation, 0.5), 0);
    EXPECT_NEAR(angle_of(simulation, 0), 0.0, 1e-3);
    EXPECT_NEAR(simulation.outputs().joints[0].torque.z(), -1.0, 0.01);
}

// Against 3 N m with a bound of 1: the rest turns the rod, I = 1/3 (1 + 0.04^2 / 4 ...) kg m^2 about its end.
TEST(AffineMotors, AVelocityMotorGivesNoMoreThanItsBound) {
    Simulation simulation(motor_scene(1.0, 3.0));
    EXPECT_EQ(test::run_for(simulation, 0.3), 0);
    const double inertia = (1.0 + 0.04 * 0.04) / 12.0 + 0.25;
    const double h = 0.005, n = 60;  // implicit Euler: a h^2 n (n + 1) / 2
    EXPECT_NEAR(angle_of(simulation, 0), 2.0 / inertia * h * h * n * (n + 1) / 2, 0.01);
    EXPECT_NEAR(simulation.outputs().joints[0].torque.z(), -1.0, 0.01);
}

// A rod driven around against gravity, once it has come up to speed: half a second at 3 rad/s.
TEST(AffineMotors, AVelocityMotorKeepsItsSpeedUnderGravity) {
    Scene scene = motor_scene(100.0, 0.0);
    scene.gravity = Vec3(0, -9.81, 0);
    scene.joints[0].drives[0].motor.target = 3.0;
    Simulation simulation(scene);
    EXPECT_EQ(test::run_for(simulation, 0.5), 0);
    const double before = angle_of(simulation, 0);
    EXPECT_EQ(test::run_for(simulation, 1.0), 0);
    EXPECT_NEAR(angle_of(simulation, 0) - before, 1.5, 0.001);
}

}  // namespace
}  // namespace tenon

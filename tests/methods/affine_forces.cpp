// Forces that contacts and joints report, against statics and mechanics.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::builtin;
using test::ground_scene;
using test::position;
using test::run_for;

JointSpec joint_spec(JointType type, int a, int b, const Vec3& point, const Vec3& axis = Vec3::UnitZ()) {
    JointSpec joint;
    joint.type = type;
    joint.bodies = {a, b};
    joint.point = point;
    joint.axis = axis;
    return joint;
}

// Torque about the axis along y through `center` that contacts put on `body`.
double contact_torque(const Outputs& outputs, int body, const Vec3& center) {
    double torque = 0;
    for (const Contact& contact : outputs.contacts) {
        if (contact.a != body && contact.b != body) continue;
        const Vec3 force = contact.b == body ? contact.force : Vec3(-contact.force);
        torque += (contact.point - center).cross(force).y();
    }
    return torque;
}

Scene gears(double drive, double brake) {
    Scene scene = builtin("gear-pair", {{"friction", 0.0}});
    for (JointSpec& joint : scene.joints) joint.drives.clear();
    for (const int body : {0, 1}) {
        ForceSpec force;
        force.body = body;
        force.torque = Vec3(0, body == 0 ? drive : brake, 0);
        scene.forces.push_back(force);
    }
    return scene;
}

TEST(AffineForces, TeethCarryTheTorqueOfGearsAtRest) {
    // Both push the same way round: the teeth lock, and each gear's contacts hold its torque.
    const double torque = 50.0;
    Simulation simulation(gears(torque, torque));
    EXPECT_EQ(run_for(simulation, 0.5), 0);
    const Vec3 center = position(simulation, 1);
    EXPECT_NEAR(contact_torque(simulation.outputs(), 0, Vec3::Zero()), -torque, 0.02 * torque);
    EXPECT_NEAR(contact_torque(simulation.outputs(), 1, center), -torque, 0.02 * torque);
}

TEST(AffineForces, TeethCarryTheTorqueOfTurningGears) {
    // Equal gears, one driven with T, the other braked with T / 2: contact carries T/2 + I a with a = (T/2) / (2 I).
    const double torque = 50.0;
    Simulation simulation(gears(torque, 0.5 * torque));
    EXPECT_EQ(run_for(simulation, 0.2), 0);  // the play closes
    const Vec3 center = position(simulation, 1);
    double sum = 0;
    const int steps = 60;
    for (int k = 0; k < steps; ++k) {
        simulation.step();
        sum -= contact_torque(simulation.outputs(), 1, center);
    }
    EXPECT_NEAR(sum / steps, 0.75 * torque, 0.02 * 0.75 * torque);
}

TEST(AffineForces, FrictionIsMuTimesTheForceOfTheSameStepWhenLaggingIsIterated) {
    // A block dropped sideways: in the step of the impact the normal force jumps.
    for (const double renewals : {1.0, 50.0}) {
        Scene scene = ground_scene(0.3);
        scene.contact.dhat = 0.002;
        scene.method_params["friction_iterations"] = renewals;
        BodySpec block = body_spec(scene, "block", box_spec({0.5, 0.1, 0.5}), Vec3(0.11, 0.0519, 0.05));
        block.linear_velocity = Vec3(3, -1, 0);
        scene.add_body(block);
        Simulation simulation(scene);
        double worst = 0;
        for (int k = 0; k < 5; ++k) {
            EXPECT_TRUE(simulation.step().converged);
            Vec3 force = Vec3::Zero();
            for (const Contact& contact : simulation.outputs().contacts) force += contact.force;
            if (force.y() > 0) worst = std::max(worst, std::abs(-force.x() / force.y() - 0.3));
        }
        if (renewals > 1) {
            EXPECT_LT(worst, 0.003);
        } else {
            EXPECT_GT(worst, 0.03);
        }
    }
}

TEST(AffineForces, CantileverJointCarriesWeightAndMoment) {
    Scene scene;
    scene.dt = 0.01;
    scene.add_body(body_spec(scene, "beam", box_spec({1, 0.1, 0.1}), Vec3(0.5, 0, 0)));
    scene.joints.push_back(joint_spec(JointType::fixed, -1, 0, Vec3::Zero()));
    Simulation simulation(scene);
    run_for(simulation, 0.2);
    const double weight = 1000 * 0.01 * 9.81;
    const JointOutput& joint = simulation.outputs().joints[0];
    EXPECT_LT((joint.force - Vec3(0, weight, 0)).norm(), 1e-3 * weight);
    EXPECT_LT((joint.torque - Vec3(0, 0, 0.5 * weight)).norm(), 1e-3 * weight);
}

TEST(AffineForces, ForceOfAPendulumsHinge) {
    // A rod let go from the horizontal pulls its hinge with 5/2 of its weight when it hangs down.
    Scene scene;
    scene.dt = 0.001;
    scene.method_params["integrator"] = std::string("bdf2");
    scene.add_body(body_spec(scene, "rod", box_spec({1, 0.02, 0.02}), Vec3(0.5, 0, 0)));
    scene.joints.push_back(joint_spec(JointType::hinge, -1, 0, Vec3::Zero()));
    Simulation simulation(scene);
    while (position(simulation, 0).x() > 0) simulation.step();
    const double weight = 1000 * 0.0004 * 9.81;
    EXPECT_NEAR(simulation.outputs().joints[0].force.y(), 2.5 * weight, 0.02 * weight);
}

TEST(AffineForces, JointsOfAHangingChainCarryWhatHangsBelow) {
    Scene scene;
    scene.dt = 0.01;
    for (int k = 0; k < 3; ++k)
        scene.add_body(body_spec(scene, "link" + std::to_string(k), box_spec({0.1, 0.4, 0.1}),
                                 Vec3(0, -0.3 - 0.5 * k, 0)));
    for (int k = 0; k < 3; ++k)
        scene.joints.push_back(joint_spec(JointType::ball, k - 1, k, Vec3(0, -0.05 - 0.5 * k, 0)));
    Simulation simulation(scene);
    run_for(simulation, 0.5);
    const double weight = 1000 * 0.004 * 9.81;
    for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(simulation.outputs().joints[k].force.y(), (3 - k) * weight, 0.01 * weight) << k;
}

TEST(AffineForces, HeldBodyReportsWhatContactsPressOnIt) {
    // A shelf fixed to the wall carries itself and a box that lies on its end.
    Scene scene;
    scene.dt = 0.01;
    scene.contact.dhat = 0.002;
    scene.add_body(body_spec(scene, "shelf", box_spec({1, 0.1, 0.5}), Vec3(0.5, 0, 0)));
    scene.add_body(body_spec(scene, "box", box_spec({0.2, 0.2, 0.2}), Vec3(0.8, 0.1518, 0)));
    scene.joints.push_back(joint_spec(JointType::fixed, -1, 0, Vec3::Zero()));
    Simulation simulation(scene);
    run_for(simulation, 0.8);
    const double shelf = 1000 * 0.05 * 9.81, box = 1000 * 0.008 * 9.81;
    const JointOutput& joint = simulation.outputs().joints[0];
    EXPECT_NEAR(joint.force.y(), shelf + box, 0.01 * box);
    EXPECT_NEAR(joint.torque.z(), 0.5 * shelf + 0.8 * box, 0.01 * box);
}

TEST(AffineForces, MotorsDriveHinges) {
    // Torque T: the wheel turns by T t^2 / (2 I). A velocity motor reaches its speed and not more.
    for (const bool velocity : {false, true}) {
        Scene scene;
        scene.dt = 0.002;
        scene.gravity = Vec3::Zero();
        scene.add_body(body_spec(scene, "wheel", box_spec({0.4, 0.1, 0.4}), Vec3::Zero()));
        JointSpec hinge = joint_spec(JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitY());
        DriveSpec drive;
        drive.motor.type = velocity ? MotorSpec::Type::velocity : MotorSpec::Type::force;
        drive.motor.target = 2.0;
        drive.motor.max = 2.0;
        hinge.drives.push_back(drive);
        scene.joints.push_back(hinge);
        Simulation simulation(scene);
        run_for(simulation, velocity ? 1.5 : 0.5);
        const double inertia = 16.0 * 2 * 0.16 / 12;
        const Mat34& rate = simulation.state().rate[0];
        const Mat34& q = simulation.state().q[0];
        const double spin = (rate.col(0).cross(q.col(0)) + rate.col(2).cross(q.col(2))).y() / -2.0;
        EXPECT_NEAR(spin, velocity ? 2.0 : 2.0 * 0.5 / inertia, 0.02 * spin);
    }
}

}  // namespace
}  // namespace tenon

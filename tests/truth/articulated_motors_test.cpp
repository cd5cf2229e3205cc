// The articulated method: motors, limits and friction with bounded forces.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

// A wheel of unit inertia hinged to the world about z.
Scene wheel(const DriveSpec& drive, double spin, double dt) {
    Scene scene = articulated_scene(dt, 1.0);
    scene.gravity.setZero();
    BodySpec body = body_spec(scene, "wheel", box_spec({1, 1, 0.2}), Vec3::Zero());
    body.mass = 6.0;  // I_zz = m (1 + 1)/12 = 1 kg m^2
    body.angular_velocity = Vec3(0, 0, spin);
    const int index = scene.add_body(body);
    JointSpec joint = joint_spec("axle", JointType::hinge, -1, index, Vec3::Zero());
    joint.drives.push_back(drive);
    scene.joints.push_back(joint);
    return scene;
}

void add_torque(Scene& scene, double torque) {
    ForceSpec force;
    force.body = 0;
    force.torque = Vec3(0, 0, torque);
    scene.forces.push_back(force);
}

// An arm of `links` links standing on a hinge, position motors that may push with 150 N m each.
Scene arm(int links, double dt, double friction) {
    Scene scene = articulated_scene(dt, 2.0);
    int before = -1;
    for (int i = 0; i < links; ++i) {
        BodySpec link = body_spec(scene, "l" + std::to_string(i), box_spec({0.08, 0.39, 0.08}),
                                  Vec3(0, 0.5 + 0.4 * i, 0));
        link.density = 2700;
        link.collides = false;
        const int body = scene.add_body(link);
        JointSpec joint =
            joint_spec("j" + std::to_string(i), JointType::hinge, before, body, Vec3(0, 0.3 + 0.4 * i, 0),
                       i == 0 ? Vec3(Vec3::UnitY()) : Vec3(Vec3::UnitZ()));
        DriveSpec drive;
        drive.limits = std::array<double, 2>{-2, 2};
        drive.friction = friction;
        drive.armature = 0.05;
        drive.motor.type = MotorSpec::Type::position;
        drive.motor.target = 0.5;
        drive.motor.max = 150;
        joint.drives.push_back(drive);
        scene.joints.push_back(joint);
        before = body;
    }
    return scene;
}

}  // namespace

TEST(ArticulatedMotors, ArmsOfBoundedPositionMotorsReachAndHoldTheirTargets) {
    for (int links : {3, 4})
        for (double dt : {0.0005, 0.001, 0.002, 0.005, 0.01}) {
            if (dt < 0.002 && links == 3) continue;
            Simulation simulation(arm(links, dt, links == 4 ? 0.5 : 0.0));
            int unconverged = 0;
            while (simulation.time() < 2 - 1e-9) unconverged += !simulation.step().converged;
            EXPECT_EQ(unconverged, 0) << links << " links, dt " << dt;
            for (std::size_t j = 0; j < simulation.model().joints.size(); ++j)
                EXPECT_NEAR(simulation.state().joint_coordinate[j][0], 0.5, 0.01)
                    << links << " links, dt " << dt << ", " << simulation.model().joints[j].spec.name;
        }
}

// A velocity motor holds against a load of 1/100 of its bound, and gives way with (load - bound)/I beyond it.
TEST(ArticulatedMotors, VelocityMotorHoldsUpToItsBound) {
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::velocity;
    drive.motor.target = 0.0;
    drive.motor.max = 100.0;
    for (double dt : {0.01, 0.001}) {
        Scene held = wheel(drive, 0.0, dt);
        add_torque(held, 1.0);
        Simulation simulation(held);
        while (simulation.time() < 1 - 1e-9) simulation.step();
        EXPECT_NEAR(simulation.state().joint_coordinate[0][0], 0.0, 1e-6) << dt;
        EXPECT_NEAR(simulation.outputs().joints[0].torque.z(), -1.0, 1e-6) << dt;
        Scene beyond = wheel(drive, 0.0, dt);
        add_torque(beyond, 103.0);
        Simulation dragged(beyond);
        while (dragged.time() < 1 - 1e-9) dragged.step();
        EXPECT_NEAR(dragged.state().joint_coordinate[0][0], 1.5, 0.02) << dt;  // 3 t^2/2
    }
}

// Dry friction stops a wheel after omega^2 I / (2 T), and holds it there.
TEST(ArticulatedMotors, DryFrictionStopsAWheel) {
    DriveSpec drive;
    drive.friction = 2.0;
    for (double dt : {0.01, 0.001}) {
        Simulation simulation(wheel(drive, 1.0, dt));
        while (simulation.time() < 1 - 1e-9) simulation.step();
        EXPECT_NEAR(simulation.state().joint_coordinate[0][0], 0.25, 1.1 * dt) << dt;
        EXPECT_NEAR(simulation.outputs().joints[0].coordinate_rate[0], 0.0, 1e-6) << dt;
    }
}

// A limit stops a wheel where it is and carries what presses on it.
TEST(ArticulatedMotors, LimitCarriesItsLoad) {
    DriveSpec drive;
    drive.limits = std::array<double, 2>{-0.3, 0.3};
    Scene scene = wheel(drive, 0.0, 0.005);
    add_torque(scene, 4.0);
    Simulation simulation(scene);
    while (simulation.time() < 1 - 1e-9) EXPECT_TRUE(simulation.step().converged);
    EXPECT_NEAR(simulation.state().joint_coordinate[0][0], 0.3, 1e-6);
    EXPECT_NEAR(simulation.outputs().joints[0].torque.z(), -4.0, 1e-5);
}

// A motor's torque that holds a rod level is its weight times its lever, whatever the step.
TEST(ArticulatedMotors, HoldingTorqueDoesNotDependOnTheStep) {
    for (double young : {0.0, 2e11})
        for (double dt : {0.01, 0.001, 0.0001}) {
            Scene scene = articulated_scene(dt, 1.0);
            if (young > 0) scene.materials[0] = material_spec("rod", 1000.0, young);
            BodySpec rod = body_spec(scene, "rod", box_spec({1, 0.04, 0.04}), Vec3(0.5, 0, 0));
            rod.mass = 1.0;
            scene.add_body(rod);
            JointSpec joint = joint_spec("motor", JointType::hinge, -1, 0, Vec3::Zero());
            DriveSpec drive;
            drive.motor.type = MotorSpec::Type::position;
            joint.drives.push_back(drive);
            scene.joints.push_back(joint);
            Simulation simulation(scene);
            for (int i = 0; i < 30; ++i) simulation.step();
            double most = 0, least = 1e300;
            for (int i = 0; i < 5; ++i) {
                simulation.step();
                const double torque = simulation.outputs().joints[0].torque.z();
                most = std::max(most, torque), least = std::min(least, torque);
            }
            EXPECT_NEAR(most, 9.81 * 0.5, young > 0 ? 0.05 : 1e-6) << young << " " << dt;
            EXPECT_NEAR(least, 9.81 * 0.5, young > 0 ? 0.05 : 1e-6) << young << " " << dt;
        }
}

}  // namespace tenon

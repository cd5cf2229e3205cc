// Joints, drives and elastic bodies of the affine method's coupled solve against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/affine_parts.hpp"
#include "model/initial_check.hpp"
#include "truth/elastic_parts.hpp"

namespace tenon {
namespace {

using test::elastic_box;
using test::ground_scene;
using test::joint_between;
using test::position;
using test::soft_material;

constexpr double gravity = 9.81;

int add_rod(Scene& scene, const std::string& name, const Vec3& from, const Vec3& to, double mass = 1.0) {
    const Vec3 along = to - from;
    BodySpec rod = body_spec(scene, name, box_spec({along.norm(), 0.04, 0.04}), 0.5 * (from + to),
                             Quat::FromTwoVectors(Vec3::UnitX(), along));
    rod.mass = mass;
    return scene.add_body(rod);
}

// m (L^2 + w^2) / 12 about the middle, and at the end.
double inertia_of_rod(double mass, double length, bool at_end) {
    return mass * (length * length + 0.04 * 0.04) / 12.0 + (at_end ? mass * length * length / 4.0 : 0.0);
}

double angle_of(const Simulation& simulation, int joint) {
    return simulation.state().joint_coordinate[joint][0];
}

// A torsion spring at a hinge: theta = theta0 cos(omega t), omega^2 = k / I; BDF2 is off by h^2.
TEST(AffineCoupledTruth, ATorsionSpringSwingsAtItsFrequency) {
    const double stiffness = 2.0, rest = 0.3, inertia = inertia_of_rod(1.0, 1.0, true);
    const double omega = std::sqrt(stiffness / inertia);
    double error[2];
    for (int fine = 0; fine < 2; ++fine) {
        Scene scene;
        scene.gravity = Vec3::Zero();
        scene.dt = fine ? 0.005 : 0.01;
        scene.method_params["integrator"] = std::string("bdf2");
        add_rod(scene, "rod", Vec3::Zero(), Vec3(1, 0, 0));
        JointSpec hinge = joint_between(JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitZ());
        DriveSpec drive;
        drive.spring = SpringSpec{};
        drive.spring->stiffness = stiffness;
        drive.spring->rest = rest;
        hinge.drives.push_back(drive);
        scene.joints.push_back(hinge);
        Simulation simulation(scene);
        double worst = 0.0;
        while (simulation.time() < 1.0 - 1e-9) {
            const StepReport report = simulation.step();
            EXPECT_TRUE(report.converged);
            EXPECT_LT(report.joint_residual, 1e-10);
            worst = std::max(worst, std::abs(angle_of(simulation, 0) -
                                             rest * (1.0 - std::cos(omega * simulation.time()))));
        }
        error[fine] = worst;
    }
    EXPECT_LT(error[0], 0.02);
    EXPECT_LT(error[1], 0.4 * error[0]);  // second order, but for the first step
}

// A rod falls onto its limit and rests there; the joint carries the moment m g L/2 cos(limit).
TEST(AffineCoupledTruth, ALimitHoldsTheWeightOfARod) {
    Scene scene;
    scene.dt = 0.01;
    add_rod(scene, "rod", Vec3::Zero(), Vec3(1, 0, 0));
    JointSpec hinge = joint_between(JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitZ());
    DriveSpec drive;
    drive.limits = {{-0.5, 0.2}};
    hinge.drives.push_back(drive);
    scene.joints.push_back(hinge);
    Simulation simulation(scene);
    for (int k = 0; k < 200; ++k) EXPECT_TRUE(simulation.step().converged) << k;
    EXPECT_NEAR(angle_of(simulation, 0), -0.5, 1e-6);
    EXPECT_NEAR(simulation.outputs().joints[0].torque.z(), gravity * 0.5 * std::cos(0.5), 1e-3);
    EXPECT_NEAR(simulation.outputs().joints[0].force.y(), gravity, 1e-3);
}

// A position motor without a bound is where it is told to be, whatever hangs on it.
TEST(AffineCoupledTruth, APositionMotorFollowsItsProfile) {
    Scene scene;
    scene.dt = 0.01;
    add_rod(scene, "rod", Vec3::Zero(), Vec3(1, 0, 0));
    JointSpec hinge = joint_between(JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitZ());
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::position;
    drive.motor.profile = {{0.0, 0.0}, {0.5, 1.0}, {1.0, 1.0}};
    hinge.drives.push_back(drive);
    scene.joints.push_back(hinge);
    Simulation simulation(scene);
    while (simulation.time() < 1.0 - 1e-9) {
        EXPECT_TRUE(simulation.step().converged);
        EXPECT_NEAR(angle_of(simulation, 0), std::min(1.0, 2.0 * simulation.time()), 1e-9);
    }
    EXPECT_NEAR(simulation.outputs().joints[0].torque.z(), gravity * 0.5 * std::cos(1.0), 1e-2);
}

// Gear 3:1. A torque on the first of two equal rods: acceleration = torque / (I + 9 I).
TEST(AffineCoupledTruth, ACouplingTurnsThreeToOne) {
    Scene scene;
    scene.gravity = Vec3::Zero();
    scene.dt = 0.005;
    scene.method_params["integrator"] = std::string("newmark");
    add_rod(scene, "slow", Vec3(-0.5, 0, 0), Vec3(0.5, 0, 0));
    add_rod(scene, "fast", Vec3(-0.5, 0, 1), Vec3(0.5, 0, 1));
    scene.joints.push_back(joint_between(JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitZ()));
    scene.joints.push_back(joint_between(JointType::hinge, -1, 1, Vec3(0, 0, 1), Vec3::UnitZ()));
    JointSpec gear;
    gear.name = "gear";
    gear.type = JointType::coupling;
    gear.joints = {0, 1};
    gear.ratio = -3.0;
    scene.joints.push_back(gear);
    ForceSpec force;
    force.body = 0;
    force.torque = Vec3(0, 0, 2.0);
    scene.forces.push_back(force);
    Simulation simulation(scene);
    const double acceleration = 2.0 / (10.0 * inertia_of_rod(1.0, 1.0, false));
    while (simulation.time() < 1.0 - 1e-9) {
        EXPECT_TRUE(simulation.step().converged);
        EXPECT_NEAR(angle_of(simulation, 1), -3.0 * angle_of(simulation, 0), 1e-9);
    }
    EXPECT_NEAR(angle_of(simulation, 0), 0.5 * acceleration, 0.005 * acceleration);
}

// Crank of 0.2 m, rod of 0.5 m, piston on a rail: x = r cos(t) + sqrt(l^2 - r^2 sin^2(t)).
TEST(AffineCoupledTruth, ASliderCrankFollowsItsGeometry) {
    Scene scene;
    scene.dt = 0.01;
    const int crank = add_rod(scene, "crank", Vec3::Zero(), Vec3(0.2, 0, 0), 0.5);
    const int rod = add_rod(scene, "rod", Vec3(0.2, 0, 0.1), Vec3(0.7, 0, 0.1), 0.3);
    BodySpec piston = body_spec(scene, "piston", box_spec({0.1, 0.1, 0.05}), Vec3(0.7, 0, 0));
    piston.mass = 1.0;
    const int slider = scene.add_body(piston);
    JointSpec shaft = joint_between(JointType::hinge, -1, crank, Vec3::Zero(), Vec3::UnitZ());
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::velocity;
    drive.motor.target = 2.0 * EIGEN_PI;
    shaft.drives.push_back(drive);
    scene.joints.push_back(shaft);
    scene.joints.push_back(joint_between(JointType::hinge, crank, rod, Vec3(0.2, 0, 0), Vec3::UnitZ()));
    scene.joints.push_back(joint_between(JointType::hinge, rod, slider, Vec3(0.7, 0, 0), Vec3::UnitZ()));
    scene.joints.push_back(joint_between(JointType::prismatic, -1, slider, Vec3(0.7, 0, 0), Vec3::UnitX()));
    Simulation simulation(scene);
    while (simulation.time() < 1.0 - 1e-9) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged);
        EXPECT_LT(report.joint_residual, 1e-9);
        const double angle = 2.0 * EIGEN_PI * simulation.time();
        const double x = 0.2 * std::cos(angle) + std::sqrt(0.25 - std::pow(0.2 * std::sin(angle), 2));
        EXPECT_NEAR(simulation.state().q[slider](0, 3), x, 1e-5)
            << simulation.time();  // bodies strain by less
    }
}

// A crank-rocker of hinges with parallel axes: what its constraints say twice is what keeps it in its plane. The rocker's
// end is where two circles meet: |B - D| = 0.4 around the rocker's hinge, |B - A| = 0.5 around the crank's end.
TEST(AffineCoupledTruth, AFourBarFollowsItsGeometry) {
    Scene scene;
    scene.dt = 0.01;
    const Vec3 ground(0.6, 0, 0);
    const auto meet = [&](double angle) {
        const Vec3 a(0.2 * std::cos(angle), 0.2 * std::sin(angle), 0), between = ground - a;
        const double d = between.norm(), along = (0.25 - 0.16 + d * d) / (2.0 * d);
        const Vec3 u = between / d, n(-u.y(), u.x(), 0);
        return Vec3(a + along * u + std::sqrt(0.25 - along * along) * n);
    };
    const Vec3 a(0.2, 0, 0), b = meet(0.0), aside(0, 0, 0.1);
    const int crank = add_rod(scene, "crank", Vec3::Zero(), a, 0.5);
    const int coupler = add_rod(scene, "coupler", a + aside, b + aside, 0.3);
    const int rocker = add_rod(scene, "rocker", ground, b, 1.0);
    JointSpec shaft = joint_between(JointType::hinge, -1, crank, Vec3::Zero(), Vec3::UnitZ());
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::velocity;
    drive.motor.target = 2.0 * EIGEN_PI;
    shaft.drives.push_back(drive);
    scene.joints.push_back(shaft);
    scene.joints.push_back(joint_between(JointType::hinge, crank, coupler, a, Vec3::UnitZ()));
    scene.joints.push_back(joint_between(JointType::hinge, coupler, rocker, b, Vec3::UnitZ()));
    scene.joints.push_back(joint_between(JointType::hinge, -1, rocker, ground, Vec3::UnitZ()));
    Simulation simulation(scene);
    while (simulation.time() < 0.5 - 1e-9) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged) << simulation.time();
        EXPECT_LT(report.joint_residual, 1e-9);
        EXPECT_LT(report.iterations, 12);
        const Vec3 middle = 0.5 * (ground + meet(2.0 * EIGEN_PI * simulation.time()));
        EXPECT_LT((simulation.state().q[rocker].col(3) - middle).norm(), 1e-5) << simulation.time();
    }
}

// Two bars welded to a third and to the world at both ends: 18 constraints on 12 coordinates. They stay where they are and
// share the weight.
TEST(AffineCoupledTruth, AnOverconstrainedFrameStandsStill) {
    Scene scene;
    scene.dt = 0.01;
    const int left = add_rod(scene, "left", Vec3::Zero(), Vec3(0, 1, 0)),
              beam = add_rod(scene, "beam", Vec3(0, 1, 0), Vec3(1, 1, 0)),
              right = add_rod(scene, "right", Vec3(1, 0, 0), Vec3(1, 1, 0));
    scene.joints.push_back(joint_between(JointType::fixed, -1, left, Vec3::Zero(), Vec3::UnitY()));
    scene.joints.push_back(joint_between(JointType::fixed, left, beam, Vec3(0, 1, 0), Vec3::UnitY()));
    scene.joints.push_back(joint_between(JointType::fixed, right, beam, Vec3(1, 1, 0), Vec3::UnitY()));
    scene.joints.push_back(joint_between(JointType::fixed, -1, right, Vec3(1, 0, 0), Vec3::UnitY()));
    Simulation simulation(scene);
    for (int k = 0; k < 50; ++k) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged) << k;
        EXPECT_LT(report.joint_residual, 1e-10) << k;
    }
    EXPECT_LT((simulation.state().q[beam].col(3) - Vec3(0.5, 1, 0)).norm(), 1e-5);
    for (const int foot : {0, 3})  // half of the three bars each
        EXPECT_NEAR(simulation.outputs().joints[foot].force.y(), 1.5 * gravity, 1e-2);
}

// A joint that holds 12 N carries 9.81 N of weight and lets go of 2 x 9.81 N.
TEST(AffineCoupledTruth, AJointBreaksUnderMoreThanItHolds) {
    for (const double mass : {1.0, 2.0}) {
        Scene scene;
        scene.dt = 0.01;
        add_rod(scene, "rod", Vec3(0, -1, 0), Vec3::Zero(), mass);
        JointSpec ball = joint_between(JointType::ball, -1, 0, Vec3::Zero(), Vec3::UnitY());
        ball.break_force = 12.0;
        scene.joints.push_back(ball);
        Simulation simulation(scene);
        for (int k = 0; k < 50; ++k) simulation.step();
        const double y = simulation.state().q[0](1, 3);
        if (mass < 1.5)
            EXPECT_NEAR(y, -0.5, 1e-6);
        else
            EXPECT_NEAR(y, -0.5 - 0.5 * gravity * 0.25, 0.15);  // the first step was held
    }
}

// Two hinged bars that may collide fold until their faces meet, and not farther: the joint stays closed beside the contact.
TEST(AffineCoupledTruth, HingedBarsThatCollideFoldUntilTheyMeet) {
    Scene scene;
    scene.dt = 0.01;
    scene.contact.jointed_bodies_collide = true;
    const int lower = add_rod(scene, "lower", Vec3(0.02, 0, 0), Vec3(1, 0, 0));
    scene.bodies[lower].type = BodyType::static_body;
    const int upper = add_rod(scene, "upper", Vec3(0.0, 0.1, 0), Vec3(0.7, 0.8, 0));
    JointSpec hinge = joint_between(JointType::hinge, lower, upper, Vec3(-0.1, 0.05, 0), Vec3::UnitZ());
    DriveSpec drive;
    drive.friction = 0.01;
    hinge.drives.push_back(drive);
    scene.joints.push_back(hinge);
    Simulation simulation(scene);
    int contacts = 0;
    for (int k = 0; k < 200; ++k) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged) << k;
        EXPECT_LT(report.joint_residual, 1e-9) << k;
        contacts = report.contacts;
    }
    EXPECT_GT(contacts, 0);
    EXPECT_TRUE(model::check_initial_state(simulation.model(), simulation.state()).problems.empty());
    EXPECT_LT(simulation.state().rate[upper].col(3).norm(), 1e-3);
}

// An exact motor drives a slider against a wall: only straining the slider closes the joint, nothing intersects, and the step
// says which joint.
TEST(AffineCoupledTruth, AJointThatContactForbidsIsUnconvergedAndNamed) {
    Scene scene;
    scene.dt = 0.01;
    scene.method_params["max_iterations"] = 200.0;
    const int slider = scene.add_body(body_spec(scene, "slider", box_spec({0.1, 0.1, 0.1}), Vec3::Zero()));
    BodySpec wall = body_spec(scene, "wall", box_spec({0.1, 1, 1}), Vec3(0.125, 0, 0));
    wall.type = BodyType::static_body;
    scene.add_body(wall);
    JointSpec rail = joint_between(JointType::prismatic, -1, slider, Vec3::Zero(), Vec3::UnitX());
    rail.name = "rail";
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::velocity;
    drive.motor.target = 1.0;
    rail.drives.push_back(drive);
    scene.joints.push_back(rail);
    Simulation simulation(scene);
    for (int k = 0; k < 2; ++k) EXPECT_TRUE(simulation.step().converged) << k;  // to 2 cm of 2.5
    const StepReport report = simulation.step();
    EXPECT_FALSE(report.converged);
    bool named = false;
    for (const std::string& warning : report.warnings)
        named = named || warning.find("joint 'rail' ") != std::string::npos;
    EXPECT_TRUE(named);
    EXPECT_TRUE(model::check_initial_state(simulation.model(), simulation.state()).problems.empty());
}

// Vertices attached to a body are points of it, exactly; the soft block hangs and pulls with its weight.
TEST(AffineCoupledTruth, AttachedVerticesMoveWithTheirBody) {
    Scene scene;
    scene.dt = 0.01;
    const int arm = add_rod(scene, "arm", Vec3::Zero(), Vec3(1, 0, 0));
    scene.joints.push_back(joint_between(JointType::hinge, -1, arm, Vec3::Zero(), Vec3::UnitZ()));
    const int material = soft_material(scene, 1e5, 0.3, 0.01);
    ElasticSpec block = elastic_box(scene, {0.1, 0.1, 0.1}, Vec3(0.9, -0.07, 0), 0.05, material);
    block.pins.push_back({Vec3(-1, 0.049, -1), Vec3(1, 0.051, 1), {}, "arm"});
    scene.elastic.push_back(block);
    Simulation simulation(scene);
    for (int k = 0; k < 15; ++k) {
        EXPECT_TRUE(simulation.step().converged) << k;
        for (const ElasticBody::Pin& pin : simulation.model().elastic[0].pins)
            EXPECT_LT((simulation.state().elastic[0].x[pin.vertex] -
                       transform(simulation.state().q[arm], pin.local))
                          .norm(),
                      1e-13);
    }
}

// A block that lands flat and slides, whether it bounces or not: friction takes mu times what the floor gives, so that
// v_x(t) = v_x(0) - mu (v_y(t) - v_y(0) + g t) from the step of the landing on, whichever solve is taken.
TEST(AffineCoupledTruth, ABlockThatLandsLosesWhatCoulombTakes) {
    const double mu = 0.3, speed = 3.0, landing = 1.0, dt = 0.01;
    for (const char* solve : {"islands", "coupled"}) {
        Scene scene = ground_scene(mu);
        scene.dt = dt;
        scene.contact.dhat = 0.002;
        scene.method_params["solve"] = std::string(solve);
        BodySpec block = body_spec(scene, "block", box_spec({0.5, 0.05, 0.5}), Vec3(0, 0.0269, 0));
        block.linear_velocity = Vec3(speed, -landing, 0);
        const int body = scene.add_body(block);
        Simulation simulation(scene);
        for (int k = 0; k < 10; ++k) {
            EXPECT_TRUE(simulation.step().converged);
            const Vec3 v = simulation.state().rate[body].col(3);
            const double taken = mu * (v.y() + landing + gravity * simulation.time());
            EXPECT_NEAR(speed - v.x(), taken, 0.02 * taken) << solve << ", step " << k + 1;
        }
    }
}

// Arms that hold their weight: m g l at a position motor, and at one with gains; a force motor gives what it is told.
TEST(AffineCoupledTruth, AMotorThatHoldsAnArmTellsItsTorque) {
    const double weight_torque = gravity * 0.5;
    for (const int kind : {0, 1, 2, 3}) {
        Scene scene;
        scene.dt = 0.01;
        add_rod(scene, "rod", Vec3::Zero(), Vec3(1, 0, 0));
        JointSpec hinge = joint_between(JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitZ());
        DriveSpec drive;
        drive.motor.type = MotorSpec::Type::position;
        if (kind == 1) drive.motor.max = 100.0;
        if (kind == 2) {
            drive.motor.type = MotorSpec::Type::velocity;
            drive.motor.max = 100.0;
        }
        if (kind == 3) {
            drive.motor.type = MotorSpec::Type::force;
            drive.motor.target = weight_torque;
        }
        hinge.drives.push_back(drive);
        scene.joints.push_back(hinge);
        Simulation simulation(scene);
        for (int k = 0; k < 20; ++k) EXPECT_TRUE(simulation.step().converged);
        const JointOutput& out = simulation.outputs().joints[0];
        EXPECT_NEAR(out.motor_force[0], weight_torque, 1e-4 * weight_torque) << kind;
        EXPECT_NEAR(out.torque.z(), weight_torque, 1e-4 * weight_torque) << kind;
        EXPECT_NEAR(out.force.y(), gravity, 1e-4 * gravity) << kind;
        EXPECT_EQ(out.limit_force[0], 0.0);
    }
}

// The rod of ALimitHoldsTheWeightOfARod: what holds it is the limit, not a motor.
TEST(AffineCoupledTruth, ALimitTellsTheTorqueThatItHolds) {
    Scene scene;
    scene.dt = 0.01;
    add_rod(scene, "rod", Vec3::Zero(), Vec3(1, 0, 0));
    JointSpec hinge = joint_between(JointType::hinge, -1, 0, Vec3::Zero(), Vec3::UnitZ());
    DriveSpec drive;
    drive.limits = {{0.0, 0.2}};
    hinge.drives.push_back(drive);
    scene.joints.push_back(hinge);
    Simulation simulation(scene);
    for (int k = 0; k < 20; ++k) EXPECT_TRUE(simulation.step().converged);
    EXPECT_NEAR(simulation.outputs().joints[0].limit_force[0], gravity * 0.5, 1e-3);
    EXPECT_EQ(simulation.outputs().joints[0].motor_force[0], 0.0);
}

}  // namespace
}  // namespace tenon

// The articulated method against closed forms and an independent Runge-Kutta integration of rigid bodies.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>

#include "math/rotation.hpp"
#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Scene built(const std::string& name, const std::map<std::string, ParamValue>& values = {}) {
    const BuiltinScene* found = find_builtin(name);
    EXPECT_NE(found, nullptr) << name;
    return make_builtin(*found, values);
}

// Free rigid rotation: body-frame Euler equations by RK4 with small steps.
Vec3 euler_equations(const Vec3& inertia, Vec3 w, double seconds) {
    const auto slope = [&](const Vec3& s) {
        return Vec3((inertia.y() - inertia.z()) * s.y() * s.z() / inertia.x(),
                    (inertia.z() - inertia.x()) * s.z() * s.x() / inertia.y(),
                    (inertia.x() - inertia.y()) * s.x() * s.y() / inertia.z());
    };
    const int steps = 20000;
    const double h = seconds / steps;
    for (int i = 0; i < steps; ++i) {
        const Vec3 k1 = slope(w), k2 = slope(w + 0.5 * h * k1), k3 = slope(w + 0.5 * h * k2),
                   k4 = slope(w + h * k3);
        w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return w;
}

// A wheel of unit inertia hinged to the world about z, with what acts on its angle.
Scene wheel(const DriveSpec& drive, double spin, double dt) {
    Scene scene = articulated_scene(dt, 1.0);
    scene.gravity.setZero();
    BodySpec body = body_spec(scene, "wheel", box_spec({1, 1, 0.2}), Vec3::Zero());
    body.mass = 6.0;  // I_zz = m (1 + 1) / 12 = 1 kg m^2
    body.angular_velocity = Vec3(0, 0, spin);
    const int index = scene.add_body(body);
    JointSpec joint = joint_spec("axle", JointType::hinge, -1, index, Vec3::Zero());
    if (!drive.empty()) joint.drives.push_back(drive);
    scene.joints.push_back(joint);
    return scene;
}

double run_angle(Scene scene, double seconds) {
    Simulation simulation(std::move(scene));
    while (simulation.time() < seconds - 1e-9) simulation.step();
    return simulation.state().joint_coordinate[0][0];
}

}  // namespace

TEST(ArticulatedTruth, FreeFallAndProjectileAreParabolas) {
    Scene scene = articulated_scene(0.01, 1.0);
    BodySpec body = body_spec(scene, "ball", box_spec(Vec3::Constant(0.1)), Vec3::Zero());
    body.linear_velocity = Vec3(3, 2, 0);
    scene.add_body(body);
    Simulation simulation(scene);
    while (simulation.time() < 1 - 1e-9) simulation.step();
    // BDF2 after small implicit Euler steps: the error is that of the start, about g h^2
    EXPECT_LT((simulation.state().q[0].col(3) - Vec3(3, 2 - 0.5 * 9.81, 0)).norm(), 2 * 9.81 * 1e-4);
}

TEST(ArticulatedTruth, WheelKeepsItsSpinUnderBdf2) {
    Simulation simulation(wheel({}, 10.0, 0.01));
    while (simulation.time() < 1 - 1e-9) simulation.step();
    EXPECT_GT(spin_of(simulation.state().q[0], simulation.state().rate[0]).z(), 9.9);
}

TEST(ArticulatedTruth, MomentaOfASpinningBox) {
    Simulation simulation(built("spinning-box"));
    const Vec3 p = linear_momentum(simulation.model(), simulation.state()),
               L = angular_momentum(simulation.model(), simulation.state());
    for (int i = 0; i < 300; ++i) simulation.step();
    EXPECT_LT((linear_momentum(simulation.model(), simulation.state()) - p).norm(), 1e-9 * p.norm());
    EXPECT_LT((angular_momentum(simulation.model(), simulation.state()) - L).norm(), 1e-3 * L.norm());
}

TEST(ArticulatedTruth, TumblingBodyFollowsEulersEquationsAtSecondOrder) {
    const auto error = [](double dt) {
        Scene scene = articulated_scene(dt, 1.0);
        scene.gravity.setZero();
        BodySpec body = body_spec(scene, "box", box_spec({1.0, 0.6, 0.3}), Vec3::Zero());
        body.angular_velocity = Vec3(0.5, 3.0, 0.4);
        scene.add_body(body);
        Simulation simulation(scene);
        const Mat3 frame = simulation.state().q[0].leftCols<3>();
        const Vec3 start = frame.transpose() * body.angular_velocity;
        const Vec3 expected = euler_equations(simulation.model().bodies.moments_of_inertia(0), start, 1.0);
        while (simulation.time() < 1 - 1e-9) simulation.step();
        const Mat34& q = simulation.state().q[0];
        return (q.leftCols<3>().transpose() * spin_of(q, simulation.state().rate[0]) - expected).norm();
    };
    const double coarse = error(0.01), fine = error(0.005);
    EXPECT_LT(coarse, 0.03);
    EXPECT_GT(coarse / fine, 2.8);  // order 2: a quarter
}

TEST(ArticulatedTruth, PendulumReachesTheBottomInItsQuarterPeriodAndPullsThreeHalvesMore) {
    Simulation simulation(built("physical-pendulum", {{"dt", 0.001}}));
    const double quarter = 1.854074677 * std::sqrt(((1.0 + 0.0025) / 12.0 + 0.25) / (9.81 * 0.5));
    while (simulation.time() < quarter) simulation.step();
    const double late = simulation.time() - quarter;
    const double omega = std::sqrt(9.81 / ((1.0 + 0.0025) / 12.0 + 0.25));  // I w^2 / 2 = m g / 2
    EXPECT_NEAR(simulation.state().joint_coordinate[0][0], -M_PI / 2 - omega * late, 0.01 * M_PI);
    // at the bottom the pivot carries m g + m w^2 / 2
    const double mass = 1000 * 0.05 * 0.05;
    const double expected = mass * (9.81 + 0.5 * omega * omega);
    EXPECT_NEAR(simulation.outputs().joints[0].force.norm(), expected, 0.01 * expected);
}

TEST(ArticulatedTruth, MotorOfGivenTorqueAcceleratesByTorqueOverInertia) {
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::force;
    drive.motor.target = 2.0;
    EXPECT_NEAR(run_angle(wheel(drive, 0, 0.005), 1.0), 0.5 * 2.0, 0.01);
}

TEST(ArticulatedTruth, VelocityMotorHoldsItsSpeedAndItsLimit) {
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::velocity;
    drive.motor.target = 3.0;
    EXPECT_NEAR(run_angle(wheel(drive, 3.0, 0.01), 1.0), 3.0, 1e-6);
    drive.motor.max = 1.5;  // from rest: theta = 1.5 t^2 / 2 until 3 rad/s
    EXPECT_NEAR(run_angle(wheel(drive, 0.0, 0.005), 1.0), 0.75, 0.02);
}

TEST(ArticulatedTruth, SpringSwingsWithItsPeriodAtSecondOrder) {
    DriveSpec drive;
    drive.spring = SpringSpec{16.0, 0.0, 0.5};  // omega = 4 rad/s about 0.5 rad
    const auto error = [&](double dt) {
        return std::abs(run_angle(wheel(drive, 0, dt), 1.0) - (0.5 - 0.5 * std::cos(4.0)));
    };
    const double coarse = error(0.01), fine = error(0.005);
    EXPECT_LT(coarse, 0.02);
    EXPECT_GT(coarse / fine, 2.8);
}

// The same wheel, stiff and light for its size: its speed of sound times the step is hundreds of times its size, so that
// strain left behind by turning would weigh more than inertia. One solve per step has to do all the same.
TEST(ArticulatedTruth, StiffLightBodiesSwingAsOthersDo) {
    DriveSpec drive;
    drive.spring = SpringSpec{16.0, 0.0, 0.5};
    for (double young : {1e8, 1e11}) {
        Scene scene = wheel(drive, 0, 0.02);
        for (MaterialSpec& material : scene.materials) material.young = young, material.young_given = true;
        Simulation simulation(scene);
        double worst = 0, solves = 0;
        for (int i = 0; i < 50; ++i) {
            solves += simulation.step().iterations;
            worst = std::max(worst, std::abs(simulation.state().joint_coordinate[0][0] -
                                             (0.5 - 0.5 * std::cos(4.0 * simulation.time()))));
        }
        EXPECT_LT(worst, 0.005) << young;
        EXPECT_LT(solves, 60) << young;  // the first step is made of eight
    }
}

TEST(ArticulatedTruth, ArmatureAddsToTheInertia) {
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::force;
    drive.motor.target = 2.0;
    drive.armature = 3.0;
    EXPECT_NEAR(run_angle(wheel(drive, 0, 0.005), 1.0), 0.5 * 2.0 / (1.0 + 3.0), 0.005);
}

TEST(ArticulatedTruth, DamperDecaysAndFrictionStops) {
    DriveSpec damper;
    damper.spring = SpringSpec{0.0, 2.0, 0.0};
    EXPECT_NEAR(run_angle(wheel(damper, 1.0, 0.002), 1.0), 0.5 * (1 - std::exp(-2.0)), 2e-3);
    DriveSpec friction;
    friction.friction = 2.0;  // stops after 1/2 s, having turned 1/4 rad
    EXPECT_NEAR(run_angle(wheel(friction, 1.0, 0.002), 1.0), 0.25, 5e-3);
}

TEST(ArticulatedTruth, LimitsStopTheWheel) {
    DriveSpec drive;
    drive.limits = {{-0.2, 0.3}};
    Simulation simulation(wheel(drive, 4.0, 0.005));
    double most = 0;
    for (int i = 0; i < 200; ++i) {
        simulation.step();
        most = std::max(most, simulation.state().joint_coordinate[0][0]);
    }
    EXPECT_LT(most, 0.3 + 1e-3);
    EXPECT_GT(most, 0.29);
}

TEST(ArticulatedTruth, CoupledGearsTurnThreeToOneToRoundOff) {
    Simulation simulation(built("gear-pair-coupled"));
    for (int i = 0; i < 400; ++i) {
        simulation.step();
        const auto& coordinate = simulation.state().joint_coordinate;
        ASSERT_NEAR(coordinate[1][0], -coordinate[0][0] / 3.0, 1e-9);
    }
    EXPECT_GT(simulation.state().joint_coordinate[0][0], 7.9);  // 4 rad/s for 2 s: turns are counted
}

TEST(ArticulatedTruth, SliderCrankFollowsItsFormulaThroughFullTurns) {
    Simulation simulation(built("slider-crank"));
    const int slider = simulation.scene().body_index("slider");
    double worst = 0, open = 0;
    for (int i = 0; i < 600; ++i) {
        open = std::max(open, simulation.step().joint_residual);
        const double theta = simulation.state().joint_coordinate[0][0];
        const double x = 0.3 * std::cos(theta) + std::sqrt(0.81 - 0.09 * std::sin(theta) * std::sin(theta));
        worst = std::max(worst, std::abs(simulation.state().q[slider](0, 3) - x));
    }
    EXPECT_LT(worst, 1e-4);  // bars strain a little
    EXPECT_LT(open, 1e-8);
}

TEST(ArticulatedTruth, FourBarRockerFollowsItsFormula) {
    Simulation simulation(built("four-bar"));
    const int rocker = simulation.scene().body_index("rocker");
    double worst = 0;
    for (int i = 0; i < 600; ++i) {
        simulation.step();
        const double theta = M_PI / 2 + simulation.state().joint_coordinate[0][0];
        const Vec3 A = 0.3 * Vec3(std::cos(theta), std::sin(theta), 0), C(1.2, 0, 0);
        const Vec3 d = C - A;
        const double along_d = (1.0 - 0.64 + d.squaredNorm()) / (2 * d.norm());
        const double across = std::sqrt(1.0 - along_d * along_d);
        const Vec3 e = d.normalized(), B = A + along_d * e + across * Vec3(-e.y(), e.x(), 0);
        worst = std::max(worst, (simulation.state().q[rocker].col(3) - 0.5 * (B + C)).norm());
    }
    EXPECT_LT(worst, 1e-3);
}

TEST(ArticulatedTruth, ParallelogramPassesItsFlatPosition) {
    Simulation simulation(built("four-bar", {{"linkage", std::string("parallelogram")}}));
    double open = 0;
    for (int i = 0; i < 600; ++i) open = std::max(open, simulation.step().joint_residual);
    EXPECT_LT(open, 1e-7);
    EXPECT_NEAR(simulation.state().joint_coordinate[0][0], 12.0, 0.01);  // 4 rad/s for 3 s
}

TEST(ArticulatedTruth, GyroscopePrecessesInsteadOfFalling) {
    Simulation simulation(built("gyroscope", {{"seconds", 0.5}}));
    const int arm = simulation.scene().body_index("arm");
    while (simulation.time() < 0.5 - 1e-9) simulation.step();
    const Vec3 along_arm = simulation.state().q[arm].leftCols<3>() *
                           simulation.model().shape_of(arm).geometry_frame.rotation.toRotationMatrix().col(0);
    const double mgl_over_iw = 9.81 * 0.2 / (0.5 * 0.15 * 0.15 * 150.0);
    EXPECT_NEAR(std::atan2(-along_arm.z(), along_arm.x()), mgl_over_iw * 0.5, 0.05 * mgl_over_iw * 0.5);
    EXPECT_LT(std::abs(along_arm.y()), 0.02);
}

TEST(ArticulatedTruth, JointBreaksWhenItsForceIsExceeded) {
    Scene scene = articulated_scene(0.01, 1.0);
    BodySpec body = body_spec(scene, "weight", box_spec(Vec3::Constant(0.1)), Vec3::Zero());
    const int index = scene.add_body(body);  // 1 kg: 9.81 N
    for (double strength : {20.0, 5.0}) {
        scene.joints.clear();
        JointSpec joint = joint_spec("hook", JointType::ball, -1, index, Vec3(0, 0.05, 0));
        joint.break_force = strength;
        scene.joints.push_back(joint);
        Simulation simulation(scene);
        for (int i = 0; i < 50; ++i) simulation.step();
        EXPECT_EQ(simulation.state().broken[0], strength < 9.81);
        EXPECT_EQ(simulation.state().q[0](1, 3) < -0.5, strength < 9.81);
    }
}

TEST(ArticulatedTruth, BlockSticksOrSlidesOnAnIncline) {
    const double angle = 20 * M_PI / 180;
    for (double mu : {0.5, 0.2}) {  // tan 20 deg = 0.364
        Scene scene = articulated_scene(0.005, 1.0);
        scene.gravity =
            9.81 * Vec3(std::sin(angle), -std::cos(angle), 0);  // the slope is the ground, gravity leans
        BodySpec ground = body_spec(scene, "ground", shape_spec("plane", {}), Vec3::Zero());
        ground.type = BodyType::static_body;
        ground.friction = mu;
        scene.add_body(ground);
        BodySpec block = body_spec(scene, "block", box_spec({0.4, 0.2, 0.4}), Vec3(0, 0.1, 0));
        block.friction = mu;
        const int index = scene.add_body(block);
        Simulation simulation(scene);
        while (simulation.time() < 1 - 1e-9) simulation.step();
        const double a = 9.81 * (std::sin(angle) - mu * std::cos(angle));
        const double way = simulation.state().q[index](0, 3);
        if (a < 0) {
            EXPECT_LT(way, 2e-3);  // creeps at less than slide_speed
        } else {
            EXPECT_NEAR(way, 0.5 * a, 0.03 * a);
        }
    }
}

TEST(ArticulatedTruth, SaveAndLoadGoOnBitForBit) {
    Simulation one(built("four-bar"));
    for (int i = 0; i < 20; ++i) one.step();
    std::stringstream checkpoint;
    one.save(checkpoint);
    Simulation two(built("four-bar"));
    two.load(checkpoint);
    for (int i = 0; i < 20; ++i) one.step(), two.step();
    for (std::size_t i = 0; i < one.state().q.size(); ++i) EXPECT_EQ(one.state().q[i], two.state().q[i]);
}

TEST(ArticulatedTruth, EnergyNeverGrowsUnderImplicitEuler) {
    Scene scene = built("heavy-chain", {{"links", 20.0}, {"end_mass_ratio", 100.0}});
    scene.method_params["integrator"] = std::string("euler");
    Simulation simulation(scene);
    double before = energies(simulation.model(), simulation.state()).total();
    const double scale = 9.81 * 2.0 * 4.0;
    for (int i = 0; i < 200; ++i) {
        simulation.step();
        const double now = energies(simulation.model(), simulation.state()).total();
        ASSERT_LT(now, before + 1e-3 * scale) << i;
        before = now;
    }
}

TEST(ArticulatedTruth, SolversAgreeOnTheSameNet) {
    std::vector<Mat34> reference;
    for (const char* solver : {"points", "sparse"}) {
        Scene scene = built("joint-net", {{"n", 5.0}});
        scene.method_params["solver"] = std::string(solver);
        Simulation simulation(scene);
        for (int i = 0; i < 20; ++i) simulation.step();
        if (reference.empty()) reference = simulation.state().q;
        for (std::size_t i = 0; i < reference.size(); ++i)
            EXPECT_LT((simulation.state().q[i] - reference[i]).norm(), 1e-6);
    }
}

}  // namespace tenon

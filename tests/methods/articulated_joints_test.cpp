// Every joint type and everything that acts along a coordinate, in units: one body of 6 kg and 1 kg m^2 about any axis,
// tied to the world in its centre, so that each coordinate obeys M q'' = force with M = 6 or 1.
#include <gtest/gtest.h>

#include <cmath>

#include "model/two_hinge.hpp"
#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

struct Coordinate {
    const char* name;
    JointType type;
    int index;
    Vec3 turn, slide;  // what the body does per unit of the coordinate
};

const Vec3 X = Vec3::UnitX(), Y = Vec3::UnitY(), Z = Vec3::UnitZ(), O = Vec3::Zero();
// Joints lie along z; the first normal of z is x (joint frames prefer it), the second y.
const Coordinate coordinates[] = {
    {"hinge", JointType::hinge, 0, Z, O},
    {"universal, first", JointType::universal, 0, Z, O},
    {"universal, second", JointType::universal, 1, Y, O},
    {"prismatic", JointType::prismatic, 0, O, Z},
    {"cylindrical, angle", JointType::cylindrical, 0, Z, O},
    {"cylindrical, length", JointType::cylindrical, 1, O, Z},
    {"planar, first", JointType::planar, 0, O, X},
    {"planar, second", JointType::planar, 1, O, Y},
    {"planar, angle", JointType::planar, 2, Z, O},
    {"ball, twist", JointType::ball, 1, Z, O},
};

double inertia(const Coordinate& c) {
    return c.slide.isZero() ? 1.0 : 6.0;
}

Scene scene_of(const Coordinate& c, const DriveSpec& drive, double speed, double dt) {
    Scene scene = articulated_scene(dt, 10.0);
    scene.gravity.setZero();
    scene.materials[0].young_given = true;
    scene.materials[0].young = 1e7;  // sound travels at 1300 m/s in so light a cube: as in steel, or slower
    BodySpec body = body_spec(scene, "body", box_spec({1, 1, 1}), O);
    body.mass = 6.0;  // m (1 + 1) / 12 = 1 kg m^2
    body.angular_velocity = speed * c.turn;
    body.linear_velocity = speed * c.slide;
    const int index = scene.add_body(body);
    JointSpec joint = joint_spec("joint", c.type, -1, index, O);
    if (c.type == JointType::universal) joint.axis_b = Y;
    joint.drives.resize(c.index + 1);
    joint.drives[c.index] = drive;
    scene.joints.push_back(joint);
    return scene;
}

struct Ended {
    double value, rate, gap;
};
Ended run(Scene scene, double seconds, int coordinate) {
    Simulation simulation(std::move(scene));
    double gap = 0;
    while (simulation.time() < seconds - 1e-9) {
        simulation.step();
        gap = std::max(gap, joint_residual_max(simulation.model(), simulation.state()));
    }
    return {simulation.state().joint_coordinate[0][coordinate],
            simulation.outputs().joints[0].coordinate_rate[coordinate], gap};
}

DriveSpec motor(MotorSpec::Type type, double target, double max = 1e300) {
    DriveSpec drive;
    drive.motor.type = type;
    drive.motor.target = target;
    drive.motor.max = max;
    return drive;
}

void expect_on_every_coordinate(const DriveSpec& drive, double speed, double dt, double seconds,
                                const std::function<double(double mass)>& wanted, double within) {
    for (const Coordinate& c : coordinates) {
        const Ended end = run(scene_of(c, drive, speed, dt), seconds, c.index);
        EXPECT_NEAR(end.value, wanted(inertia(c)), within) << c.name;
        EXPECT_LT(end.gap, 1e-8) << c.name;
    }
}

}  // namespace

TEST(ArticulatedJoints, FreeCoordinatesGoOn) {
    expect_on_every_coordinate(
        {}, 0.7, 0.01, 1.0, [](double) { return 0.7; }, 2e-4);
}

TEST(ArticulatedJoints, ForceMotorAcceleratesByForceOverInertia) {
    expect_on_every_coordinate(
        motor(MotorSpec::Type::force, 2.0), 0, 0.005, 1.0, [](double mass) { return 1.0 / mass; }, 2e-3);
}

TEST(ArticulatedJoints, ForceMotorKeepsItsBound) {
    expect_on_every_coordinate(
        motor(MotorSpec::Type::force, 20.0, 2.0), 0, 0.005, 1.0, [](double mass) { return 1.0 / mass; },
        2e-3);
}

TEST(ArticulatedJoints, VelocityMotorHoldsItsSpeed) {
    expect_on_every_coordinate(
        motor(MotorSpec::Type::velocity, 0.8), 0.8, 0.01, 1.0, [](double) { return 0.8; }, 1e-4);
}

TEST(ArticulatedJoints, WeakVelocityMotorAcceleratesByItsLargestForce) {
    expect_on_every_coordinate(
        motor(MotorSpec::Type::velocity, 5.0, 1.2), 0, 0.005, 1.0, [](double mass) { return 0.6 / mass; },
        0.01);
}

TEST(ArticulatedJoints, PositionMotorGoesToItsTargetAndStays) {
    expect_on_every_coordinate(
        motor(MotorSpec::Type::position, 0.4), 0, 0.01, 0.5, [](double) { return 0.4; }, 1e-6);
}

TEST(ArticulatedJoints, PositionMotorFollowsItsTable) {
    DriveSpec drive = motor(MotorSpec::Type::position, 0);
    drive.motor.profile = {{0.0, 0.0}, {0.5, 0.5}, {1.0, 0.2}};
    expect_on_every_coordinate(
        drive, 0, 0.01, 0.25, [](double) { return 0.25; }, 1e-6);
    expect_on_every_coordinate(
        drive, 0, 0.01, 0.75, [](double) { return 0.35; }, 1e-6);
    expect_on_every_coordinate(
        drive, 0, 0.01, 1.2, [](double) { return 0.2; }, 1e-6);  // holds the last
}

TEST(ArticulatedJoints, SpringSwingsAtItsFrequencyAtSecondOrder) {
    DriveSpec drive;
    drive.spring = SpringSpec{16.0, 0.0, 0.3};
    for (const Coordinate& c : coordinates) {
        const double omega = std::sqrt(16.0 / inertia(c)), exact = 0.3 * (1 - std::cos(omega));
        const double coarse = std::abs(run(scene_of(c, drive, 0, 0.02), 1.0, c.index).value - exact),
                     fine = std::abs(run(scene_of(c, drive, 0, 0.01), 1.0, c.index).value - exact);
        EXPECT_LT(coarse, 5e-3) << c.name;
        EXPECT_GT(coarse / fine, 2.8) << c.name << " " << coarse;
    }
}

TEST(ArticulatedJoints, DamperSlowsDownExponentially) {
    DriveSpec drive;
    drive.spring = SpringSpec{0.0, 2.0, 0.0};
    expect_on_every_coordinate(
        drive, 0.8, 0.005, 1.0, [](double mass) { return 0.8 * mass / 2 * (1 - std::exp(-2 / mass)); }, 2e-3);
}

TEST(ArticulatedJoints, FrictionStopsAndThenHolds) {
    DriveSpec drive;
    drive.friction = 2.0;
    for (const Coordinate& c : coordinates) {
        // v^2 M / (2 f) of way until it stops
        const double way = 0.64 * inertia(c) / 4.0;
        const Ended end = run(scene_of(c, drive, 0.8, 0.005), 3.0, c.index);
        EXPECT_NEAR(end.value, way, 0.02 * way + 2e-3) << c.name;
        EXPECT_NEAR(end.rate, 0.0, 1e-6) << c.name;
    }
}

TEST(ArticulatedJoints, ArmatureAddsInertia) {
    DriveSpec drive = motor(MotorSpec::Type::force, 2.0);
    drive.armature = 3.0;
    expect_on_every_coordinate(
        drive, 0, 0.005, 1.0, [](double mass) { return 1.0 / (mass + 3.0); }, 2e-3);
}

TEST(ArticulatedJoints, LimitsHoldOnBothSides) {
    DriveSpec drive;
    drive.limits = {{-0.1, 0.2}};
    for (double speed : {1.5, -1.5})
        for (const Coordinate& c : coordinates) {
            Simulation simulation(scene_of(c, drive, speed, 0.005));
            double least = 0, most = 0;
            for (int i = 0; i < 100; ++i) {
                simulation.step();
                least = std::min(least, simulation.state().joint_coordinate[0][c.index]);
                most = std::max(most, simulation.state().joint_coordinate[0][c.index]);
            }
            EXPECT_GT(least, -0.1 - 1e-6) << c.name;
            EXPECT_LT(most, 0.2 + 1e-6) << c.name;
            EXPECT_GT(speed > 0 ? most : -least, speed > 0 ? 0.199 : 0.099) << c.name;
        }
}

// Springs of a ball joint, given as `bend` and `twist`.
TEST(ArticulatedJoints, BallBendsAndTwistsAgainstItsSprings) {
    for (bool twists : {false, true}) {
        const auto error = [&](double dt) {
            Scene scene = scene_of(coordinates[9], {}, 0, dt);
            scene.bodies[0].angular_velocity = twists ? Vec3(0, 0, 1) : Vec3(0.6, 0.8, 0);
            scene.joints[0].drives.clear();
            (twists ? scene.joints[0].twist : scene.joints[0].bend) = SpringSpec{9.0, 0.0, 0.0};
            const double exact = std::sin(3.0 * 0.4) / 3.0;  // w0 / omega sin(omega t)
            return std::abs(run(scene, 0.4, twists ? 1 : 0).value - exact);
        };
        const double coarse = error(0.02), fine = error(0.01);
        EXPECT_LT(coarse, 5e-3) << twists;
        EXPECT_GT(coarse / fine, 2.8) << twists << " " << coarse;
    }
}

TEST(ArticulatedJoints, ConeOfABallJointIsItsBendLimit) {
    DriveSpec drive;
    drive.limits = {{0.0, 0.3}};
    Scene scene = scene_of({"bend", JointType::ball, 0, X, O}, drive, 2.0, 0.005);
    Simulation simulation(scene);
    double most = 0;
    for (int i = 0; i < 200; ++i) {
        simulation.step();
        most = std::max(most, simulation.state().joint_coordinate[0][0]);
    }
    EXPECT_NEAR(most, 0.3, 1e-5);
}

// What each type must not allow: pushed and turned about every axis, only the free directions give way.
TEST(ArticulatedJoints, EveryTypeLetsMoveWhatItSaysAndNothingElse) {
    struct Free {
        JointType type;
        std::array<bool, 6> moves;  // x y z, turns about x y z; the joint's axis is z
    };
    for (const Free& f :
         {Free{JointType::ball, {0, 0, 0, 1, 1, 1}}, Free{JointType::hinge, {0, 0, 0, 0, 0, 1}},
          Free{JointType::universal, {0, 0, 0, 0, 1, 1}}, Free{JointType::prismatic, {0, 0, 1, 0, 0, 0}},
          Free{JointType::fixed, {0, 0, 0, 0, 0, 0}}, Free{JointType::cylindrical, {0, 0, 1, 0, 0, 1}},
          Free{JointType::planar, {1, 1, 0, 0, 0, 1}}})
        for (bool linear : {false, true}) {
            if (linear && f.type != JointType::hinge) continue;
            for (int d = 0; d < 6; ++d) {
                Coordinate c{"", f.type, 0, O, O};
                Scene scene = scene_of(c, {}, 0, 0.01);
                scene.joints[0].drives.clear();
                scene.joints[0].linear = linear;
                ForceSpec push;
                push.body = 0;
                (d < 3 ? push.force : push.torque) = (d < 3 ? 6.0 : 1.0) * Vec3::Unit(d % 3);
                scene.forces.push_back(push);
                Simulation simulation(scene);
                for (int i = 0; i < 20; ++i) simulation.step();
                const Mat34& q = simulation.state().q[0];
                const Mat3 turned = q.leftCols<3>() *
                                    simulation.model().shape_of(0).geometry_frame.rotation.toRotationMatrix();
                const double moved =
                    d < 3 ? q(d, 3)
                          : 0.5 * (turned((d + 2) % 3, (d + 1) % 3) - turned((d + 1) % 3, (d + 2) % 3));
                // half t^2 of unit acceleration, or nothing but a strain
                EXPECT_NEAR(moved, f.moves[d] ? 0.02 : 0.0, f.moves[d] ? 2e-3 : 1e-6)
                    << static_cast<int>(f.type) << " " << linear << " " << d;
            }
        }
}

TEST(ArticulatedJoints, DistanceJointIsAPendulumOfItsLength) {
    Scene scene = articulated_scene(0.002, 2.0);
    const int bob = scene.add_body(body_spec(scene, "bob", box_spec(Vec3::Constant(0.05)), Vec3(0.1, -1, 0)));
    JointSpec rod = joint_spec("rod", JointType::distance, -1, bob, O);
    rod.point_b = Vec3(0.1, -1, 0);
    scene.joints.push_back(rod);
    Simulation simulation(scene);
    const double length = std::sqrt(1.01), quarter = 0.5 * M_PI * std::sqrt(length / 9.81);
    while (simulation.time() < quarter) simulation.step();
    EXPECT_NEAR(simulation.state().q[bob](0, 3), 0.0, 2e-3);
    EXPECT_NEAR(simulation.state().joint_coordinate[0][0], length, 1e-8);
}

// Two joints with one coordinate each, tied: what drives the first must also move the second.
TEST(ArticulatedJoints, CouplingsAddInertiaByTheSquareOfTheirRatio) {
    struct Case {
        const char* name;
        Coordinate first, second;
        double ratio;
    };
    const Coordinate hinge = coordinates[0], slide = coordinates[3];
    for (const Case& k : {Case{"gear", hinge, hinge, -1.0 / 3.0}, Case{"mimic", hinge, hinge, 1.0},
                          Case{"rack", hinge, slide, 0.25}, Case{"lever", slide, slide, -2.0}}) {
        Scene scene = scene_of(k.first, motor(MotorSpec::Type::force, 2.0), 0, 0.005);
        BodySpec other = scene.bodies[0];
        other.name = "other";
        other.position = Vec3(3, 0, 0);
        const int index = scene.add_body(other);
        scene.joints.push_back(joint_spec("second", k.second.type, -1, index, Vec3(3, 0, 0)));
        JointSpec coupling;
        coupling.name = "coupling";
        coupling.type = JointType::coupling;
        coupling.joints = {0, 1};
        coupling.ratio = k.ratio;
        scene.joints.push_back(coupling);
        Simulation simulation(scene);
        for (int i = 0; i < 200; ++i) {
            simulation.step();
            const auto& coordinate = simulation.state().joint_coordinate;
            ASSERT_NEAR(coordinate[1][0], k.ratio * coordinate[0][0], 1e-9) << k.name;
        }
        const double mass = inertia(k.first) + k.ratio * k.ratio * inertia(k.second);
        EXPECT_NEAR(simulation.state().joint_coordinate[0][0], 1.0 / mass, 2e-3) << k.name;
    }
}

// A screw is a cylindrical joint whose two coordinates are tied: pitch in metres per radian.
TEST(ArticulatedJoints, ScrewMovesByItsPitch) {
    Scene scene = scene_of(coordinates[4], motor(MotorSpec::Type::force, 2.0), 0, 0.005);
    JointSpec screw;
    screw.name = "thread";
    screw.type = JointType::coupling;
    screw.joints = {0, 0};
    screw.coordinates = {0, 1};
    screw.ratio = 0.3;
    scene.joints.push_back(screw);
    Simulation simulation(scene);
    for (int i = 0; i < 200; ++i) simulation.step();
    const auto& q = simulation.state().joint_coordinate[0];
    EXPECT_NEAR(q[1], 0.3 * q[0], 1e-9);
    EXPECT_NEAR(q[0], 1.0 / (1.0 + 0.09 * 6.0), 2e-3);
}

TEST(ArticulatedJoints, RecordedTorqueIsWhatTheMotorGives) {
    Simulation turning(scene_of(coordinates[0], motor(MotorSpec::Type::force, 2.0), 0, 0.005));
    Simulation sliding(scene_of(coordinates[3], motor(MotorSpec::Type::force, 2.0), 0, 0.005));
    for (int i = 0; i < 50; ++i) turning.step(), sliding.step();
    EXPECT_LT((turning.outputs().joints[0].torque - Vec3(0, 0, 2)).norm(), 1e-3);
    EXPECT_LT((sliding.outputs().joints[0].force - Vec3(0, 0, 2)).norm(), 1e-3);
    EXPECT_NEAR(turning.outputs().joints[0].coordinate_rate[0], 0.5, 2e-3);  // 2 N m for 1/4 s on 1 kg m^2
}

// A beam of 1 kg held at its end: weight and moment at the anchor, on either side of the joint.
TEST(ArticulatedJoints, CantileverCarriesWeightAndMoment) {
    for (bool world_first : {true, false}) {
        Scene scene = articulated_scene(0.01, 1.0);
        BodySpec beam = body_spec(scene, "beam", box_spec({0.4, 0.05, 0.05}), Vec3(0.2, 0, 0));
        beam.mass = 1.0;
        const int index = scene.add_body(beam);
        JointSpec wall = joint_spec("wall", JointType::fixed, -1, index, O);
        if (!world_first) wall.bodies = {index, -1};
        scene.joints.push_back(wall);
        Simulation simulation(scene);
        for (int i = 0; i < 100; ++i) simulation.step();
        const double sign = world_first ? 1.0 : -1.0;  // on the second body
        const JointOutput& joint = simulation.outputs().joints[0];
        EXPECT_LT((joint.force - sign * Vec3(0, 9.81, 0)).norm(), 1e-3);
        EXPECT_LT((joint.torque - sign * Vec3(0, 0, 0.2 * 9.81)).norm(), 1e-3);
    }
}

TEST(ArticulatedJoints, JointBreaksWhenItsTorqueIsExceeded) {
    for (double strength : {3.0, 1.0}) {
        Scene scene = articulated_scene(0.01, 1.0);
        BodySpec beam = body_spec(scene, "beam", box_spec({0.4, 0.05, 0.05}), Vec3(0.2, 0, 0));
        beam.mass = 1.0;
        const int index = scene.add_body(beam);
        JointSpec wall = joint_spec("wall", JointType::fixed, -1, index, O);
        wall.break_torque = strength;  // it carries 1.96 N m
        scene.joints.push_back(wall);
        Simulation simulation(scene);
        for (int i = 0; i < 50; ++i) simulation.step();
        EXPECT_EQ(simulation.state().broken[0], strength < 1.962);
        EXPECT_EQ(simulation.state().q[index](1, 3) < -0.5, strength < 1.962);
    }
}

// Drag is proportional to the relative wind: v = w (1 - exp(-c t / m)).
TEST(ArticulatedJoints, WindCarriesABodyAlong) {
    Scene scene = articulated_scene(0.01, 1.0);
    scene.gravity.setZero();
    BodySpec body = body_spec(scene, "leaf", box_spec({1, 1, 1}), O);
    body.mass = 6.0;
    scene.add_body(body);
    scene.wind.velocity = Vec3(5, 0, 0);
    scene.wind.drag = 4.0;
    Simulation simulation(scene);
    while (simulation.time() < 1 - 1e-9) simulation.step();
    const double wanted = 5 * (1 - std::exp(-4.0 / 6.0));
    EXPECT_NEAR(simulation.state().rate[0](0, 3), wanted, 0.01 * wanted);
}

// The two-hinge form of a universal joint moves as its four rows do.
TEST(ArticulatedJoints, TwoHingeUniversalMovesLikeTheFourRowOne) {
    const auto make = [](bool linear) {
        Scene scene = articulated_scene(0.005, 1.0);
        BodySpec arm = body_spec(scene, "arm", box_spec({0.5, 0.1, 0.1}), Vec3(0.25, 0, 0));
        arm.mass = 2.0;
        const int index = scene.add_body(arm);
        JointSpec joint = joint_spec("u", JointType::universal, -1, index, O, Z);
        joint.axis_b = Y;
        joint.linear = linear;
        joint.drives.resize(2);
        joint.drives[1].motor.type = MotorSpec::Type::force;
        joint.drives[1].motor.target = 0.5;
        scene.joints.push_back(joint);
        if (linear) scene = model::split_linear_universals(scene);
        return scene;
    };
    Simulation rows(make(false)), hinges(make(true));
    ASSERT_EQ(hinges.model().joints.size(), 2u);
    ASSERT_EQ(hinges.model().bodies.size(), 2);
    double gap = 0, worst = 0;
    for (int i = 0; i < 100; ++i) {
        rows.step(), hinges.step();
        gap = std::max(gap, joint_residual_max(hinges.model(), hinges.state()));
        worst = std::max(
            worst, std::abs(rows.state().joint_coordinate[0][0] - hinges.state().joint_coordinate[0][0]));
        worst = std::max(
            worst, std::abs(rows.state().joint_coordinate[0][1] - hinges.state().joint_coordinate[1][0]));
    }
    EXPECT_GT(std::abs(rows.state().joint_coordinate[0][0]), 0.5);
    EXPECT_GT(std::abs(rows.state().joint_coordinate[0][1]), 0.05);
    EXPECT_LT(gap, 1e-9);
    EXPECT_LT(worst, 0.01);  // the cross has a hundredth of the arm's mass
}

// Joints that repeat each other leave a singular system: rows that say nothing new are dropped.
TEST(ArticulatedJoints, RedundantRowsDoNotHurt) {
    for (const char* solver : {"auto", "sparse", "loops"}) {
        Scene scene = articulated_scene(0.01, 1.0);
        const int a = scene.add_body(body_spec(scene, "a", box_spec({0.4, 0.1, 0.1}), Vec3(0.2, 0, 0)));
        const int b = scene.add_body(body_spec(scene, "b", box_spec({0.4, 0.1, 0.1}), Vec3(0.6, 0, 0)));
        scene.joints.push_back(joint_spec("wall", JointType::hinge, -1, a, O));
        scene.joints.push_back(joint_spec("again", JointType::hinge, -1, a, Vec3(0, 0, 0.3)));  // same axis
        scene.joints.push_back(joint_spec("pin", JointType::hinge, a, b, Vec3(0.4, 0, 0)));
        scene.joints.push_back(joint_spec("point", JointType::ball, a, b, Vec3(0.4, 0, 0)));
        scene.method_params["solver"] = std::string(solver);
        Simulation simulation(scene);
        for (int i = 0; i < 100; ++i) {
            simulation.step();
            ASSERT_LT(joint_residual_max(simulation.model(), simulation.state()), 1e-8) << solver << " " << i;
        }
    }
}

// Hinges about two crossing axes between the same bodies contradict each other: the pair is locked, not torn.
TEST(ArticulatedJoints, ContradictingHingesLock) {
    Scene scene = articulated_scene(0.01, 1.0);
    const int a = scene.add_body(body_spec(scene, "a", box_spec({0.4, 0.1, 0.1}), Vec3(0.2, 0, 0)));
    scene.joints.push_back(joint_spec("z", JointType::hinge, -1, a, O, Z));
    scene.joints.push_back(joint_spec("y", JointType::hinge, -1, a, O, Y));
    Simulation simulation(scene);
    for (int i = 0; i < 100; ++i) simulation.step();
    EXPECT_LT((simulation.state().q[a].col(3) - Vec3(0.2, 0, 0)).norm(), 1e-4);
}

TEST(ArticulatedJoints, DisconnectedPartsMoveAsIfAlone) {
    const auto pendulum = [](Scene& scene, const Vec3& at, const std::string& name) {
        const int body =
            scene.add_body(body_spec(scene, name, box_spec({0.4, 0.1, 0.1}), at + Vec3(0.2, 0, 0)));
        scene.joints.push_back(joint_spec(name, JointType::hinge, -1, body, at));
        return body;
    };
    Scene both = articulated_scene(0.01, 1.0), one = both;
    pendulum(both, O, "first");
    const int second = pendulum(both, Vec3(0, 0, 5), "second");
    const int loose = both.add_body(body_spec(both, "loose", box_spec(Vec3::Constant(0.1)), Vec3(0, 0, 9)));
    pendulum(one, Vec3(0, 0, 5), "second");
    Simulation together(both), alone(one);
    for (int i = 0; i < 50; ++i) together.step(), alone.step();
    EXPECT_EQ(together.state().q[second], alone.state().q[0]);
    EXPECT_NEAR(together.state().q[loose](1, 3), -0.5 * 9.81 * 0.25, 0.02);
}

}  // namespace tenon

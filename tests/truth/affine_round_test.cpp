// Balls, capsules and cylinders touch as what they are; friction and dampers act on the velocity that a step ends with.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

constexpr double g = 9.81, radius = 0.2;

// Down a slope of 20 degrees under gravity turned by as much; axes of long shapes along z.
Scene slope_scene(double dt, const std::string& integrator) {
    Scene scene = test::ground_scene(0.5);
    scene.dt = dt;
    const double angle = 20.0 * EIGEN_PI / 180.0;
    scene.gravity = g * Vec3(std::sin(angle), -std::cos(angle), 0);
    scene.method_params["integrator"] = integrator;
    return scene;
}

int add_round(Scene& scene, const std::string& shape, const Vec3& at) {
    std::map<std::string, ParamValue> params{{"radius", radius}};
    if (shape != "sphere" && shape != "icosphere") params["length"] = 0.6;
    BodySpec body = body_spec(scene, "round", shape_spec(shape, params), at, turn(90, Vec3(1, 0, 0)));
    body.mass = 1.0;
    return scene.add_body(body);
}

double lowest_corner(const Simulation& simulation, int body) {
    double lowest = 1e300;
    for (const Vec3& vertex : simulation.model().shape_of(body).mesh.vertices)
        lowest = std::min(lowest, transform(simulation.state().q[body], vertex).y());
    return lowest;
}

// x = g sin(a) t^2 / (2 (1 + I / (m r^2))): rolling without slip, with the inertia of the drawn mesh.
TEST(AffineRound, RollsDownAsWhatItIs) {
    for (const char* shape : {"sphere", "icosphere", "capsule", "cylinder"})
        for (const double dt : {0.01, 0.002}) {
            Scene scene = slope_scene(dt, "bdf2");
            const int body = add_round(scene, shape, Vec3(-2, radius + 2e-4, 0));
            Simulation simulation(scene);
            double lowest = 1e300;
            std::vector<std::string> warnings;
            while (simulation.time() < 0.8 - 1e-9) {
                const StepReport report = simulation.step();
                EXPECT_TRUE(report.converged);
                warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
                lowest = std::min(lowest, lowest_corner(simulation, body));
            }
            const double about = simulation.model().bodies.moments_of_inertia(body).minCoeff();
            const double a = scene.gravity.x() / (1.0 + about / (radius * radius));
            const double way = 0.5 * a * 0.64;
            EXPECT_NEAR(test::position(simulation, body).x() + 2.0, way, 0.01 * way) << shape << ", " << dt;
            EXPECT_GT(lowest, 0.0) << shape << ", " << dt;
            EXPECT_TRUE(warnings.empty()) << shape << ", " << dt << ": " << warnings.front();
        }
}

// Corners of both spheres are further apart than their surfaces: they touch as they are drawn.
TEST(AffineRound, WhatOverlapsAsRoundOnlyStartsAsDrawn) {
    Scene scene = test::ground_scene(0.3);
    scene.gravity = Vec3::Zero();
    int ball[2];
    for (const int k : {0, 1}) {
        BodySpec body = body_spec(scene, "ball" + std::to_string(k),
                                  shape_spec("icosphere", {{"radius", radius}, {"subdivisions", 1.0}}),
                                  Vec3((k ? 0.995 : -0.995) * radius * std::cos(0.3),
                                       1.0 + (k ? 0.995 : -0.995) * radius * std::sin(0.3), 0));
        body.mass = 1.0;
        ball[k] = scene.add_body(body);
    }
    Simulation simulation(scene);
    EXPECT_EQ(test::run_for(simulation, 0.2), 0);
    for (const int k : {0, 1}) EXPECT_LT(simulation.state().rate[ball[k]].norm(), 1e-3);
}

// A ball placed exactly on the floor, whatever its mesh has there.
TEST(AffineRound, ABallThatJustTouchesStarts) {
    for (const char* shape : {"sphere", "icosphere"}) {
        Scene scene = test::ground_scene(0.3);
        const int body = add_round(scene, shape, Vec3(0.3, radius, 0.1));
        Simulation simulation(scene);
        EXPECT_EQ(test::run_for(simulation, 0.3), 0) << shape;
        EXPECT_NEAR(test::position(simulation, body).y(), radius, 1e-3 * radius) << shape;
        EXPECT_LT(simulation.state().rate[body].norm(), 1e-3) << shape;
    }
}

TEST(AffineRound, GoesOnBitForBit) {
    Scene scene = slope_scene(0.01, "bdf2");
    const int body = add_round(scene, "capsule", Vec3(-2, radius + 2e-4, 0));
    Simulation whole(scene);
    test::run_for(whole, 0.2);
    std::stringstream saved;
    whole.save(saved);
    test::run_for(whole, 0.4);
    Simulation resumed(scene);
    resumed.load(saved);
    test::run_for(resumed, 0.4);
    EXPECT_EQ(whole.state().q[body], resumed.state().q[body]);
    EXPECT_EQ(whole.state().rate[body], resumed.state().rate[body]);
}

// BDF2's velocity is 3/2 (q - (4 q_n - q_{n-1}) / 3) / h: friction that holds q at q_n would throw it back at half its speed.
TEST(AffineFriction, WhatStopsUnderBdf2DoesNotGoBack) {
    for (const double dt : {0.02, 0.01, 0.002}) {
        Scene scene = test::ground_scene(0.3);
        scene.dt = dt;
        scene.method_params["integrator"] = std::string("bdf2");
        BodySpec box = body_spec(scene, "box", box_spec({0.4, 0.1, 0.4}), Vec3(0, 0.0505, 0));
        box.mass = 2.0;
        box.linear_velocity = Vec3(1.5, 0, 0);
        const int body = scene.add_body(box);
        Simulation simulation(scene);
        double slowest = 1.5;
        while (simulation.time() < 0.8) {
            simulation.step();
            slowest = std::min(slowest, simulation.state().rate[body].col(3).x());
        }
        EXPECT_GT(slowest, -1e-3) << dt;
        EXPECT_NEAR(test::position(simulation, body).x(), 1.5 * 1.5 / (2 * 0.3 * g), 0.004) << dt;
    }
}

// A ring of many corners turns on a floor of two triangles: nothing lifts it.
TEST(AffineFriction, ARingTurnsOverTheFloorsDiagonal) {
    for (const double dt : {0.01, 0.001}) {
        Scene scene = test::ground_scene(0.3);
        scene.dt = dt;
        scene.method_params["integrator"] = std::string("bdf2");
        BodySpec ring = body_spec(scene, "ring", shape_spec("torus", {{"major", 0.5}, {"minor", 0.02}}),
                                  Vec3(0, 0.0202, 0));
        ring.mass = 1.0;
        ring.angular_velocity = Vec3(0, 4, 0);
        const int body = scene.add_body(ring);
        Simulation simulation(scene);
        double highest = 0.0;
        while (simulation.time() < 0.6) {
            simulation.step();
            highest = std::max(highest, test::position(simulation, body).y());
        }
        EXPECT_LT(highest, 0.02021) << dt;
    }
}

// x'' + c x' + k x = 0 from x' = 1: exp(-c t / 2) sin(w t) / w with w^2 = k - c^2 / 4. With BDF2 of second order.
TEST(AffineDampers, AreOfSecondOrderWithBdf2) {
    const double k = 25.0, c = 1.0, w = std::sqrt(k - 0.25 * c * c);
    double error[2];
    for (const int fine : {0, 1}) {
        Scene scene;
        scene.gravity = Vec3::Zero();
        scene.dt = fine ? 0.005 : 0.01;
        scene.method_params["integrator"] = std::string("bdf2");
        BodySpec rod = body_spec(scene, "rod", box_spec({1, 0.04, 0.04}), Vec3::Zero());
        rod.mass = 1.0;
        rod.linear_velocity = Vec3(1, 0, 0);
        const int body = scene.add_body(rod);
        JointSpec joint = test::joint_between(JointType::prismatic, -1, body, Vec3::Zero(), Vec3(1, 0, 0));
        joint.drives.resize(1);
        joint.drives[0].spring = SpringSpec{k, c, 0.0};
        scene.joints.push_back(joint);
        Simulation simulation(scene);
        error[fine] = 0.0;
        while (simulation.time() < 1.0 - 1e-9) {
            simulation.step();
            const double t = simulation.time();
            error[fine] = std::max(error[fine], std::abs(test::position(simulation, body).x() -
                                                         std::exp(-0.5 * c * t) * std::sin(w * t) / w));
        }
    }
    EXPECT_LT(error[0], 0.003 / w);
    EXPECT_GT(error[0] / error[1], 3.2);
}

// A torque on a hinge whose armature is as large as the rod's own inertia: half the angle.
TEST(AffineDampers, ArmatureCountsAsInertiaWithBdf2) {
    const double inertia = (1 + 0.04 * 0.04) / 12 + 0.25;
    Scene scene;
    scene.gravity = Vec3::Zero();
    scene.dt = 0.01;
    scene.method_params["integrator"] = std::string("bdf2");
    BodySpec rod = body_spec(scene, "rod", box_spec({1, 0.04, 0.04}), Vec3(0.5, 0, 0));
    rod.mass = 1.0;
    const int body = scene.add_body(rod);
    JointSpec joint = test::joint_between(JointType::hinge, -1, body, Vec3::Zero(), Vec3(0, 0, 1));
    joint.drives.resize(1);
    joint.drives[0].armature = inertia;
    scene.joints.push_back(joint);
    ForceSpec torque;
    torque.body = body;
    torque.torque = Vec3(0, 0, 1);
    scene.forces.push_back(torque);
    Simulation simulation(scene);
    test::run_for(simulation, 0.5);
    const Mat34& q = simulation.state().q[body];
    EXPECT_NEAR(std::atan2(q(1, 0), q(0, 0)), 0.5 * 0.25 / (2 * inertia), 0.002);
}

}  // namespace
}  // namespace tenon

#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/scene_parts.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Scene empty_scene(double dt) {
    Scene scene;
    scene.method = "volume";
    scene.dt = dt;
    return scene;
}

void add_static_box(Scene& scene, const Vec3& size, const Vec3& position,
                    const Quat& rotation = Quat::Identity()) {
    BodySpec body = body_spec(scene, "ground", box_spec(size), position, rotation);
    body.type = BodyType::static_body;
    scene.add_body(body);
}

// A block on a slope with tan = 0.5: holds for mu above, slides with g (sin - mu cos) below.
TEST(VolumeMethod, BlockOnAnInclineSticksAndSlidesAsTheorySays) {
    const double angle = std::atan(0.5);
    for (double mu : {0.3, 0.45, 0.55}) {
        Scene scene = empty_scene(0.005);
        scene.materials[0].friction = mu;
        const Quat tilt(Eigen::AngleAxisd(-angle, Vec3::UnitZ()));  // downhill is +x of the tilted frame
        add_static_box(scene, {8, 0.4, 2}, tilt * Vec3(0, -0.2, 0), tilt);
        scene.add_body(
            body_spec(scene, "block", box_spec({0.4, 0.2, 0.4}), tilt * Vec3(-1, 0.1 - 0.006, 0), tilt));
        scene.method_params["pixel"] = 0.0125;
        Simulation simulation(scene);
        const Vec3 start = simulation.world().bodies.q[1].col(3);
        for (int i = 0; i < 100; ++i) simulation.step();
        const double moved = (simulation.world().bodies.q[1].col(3) - start).dot(tilt * Vec3::UnitX());
        const double wanted = std::max(0.0, 0.5 * 9.81 * (std::sin(angle) - mu * std::cos(angle)) * 0.25);
        EXPECT_NEAR(moved, wanted, 0.02 * wanted + 0.004) << mu;
    }
}

TEST(VolumeMethod, StackedBoxesCarryTheirWeights) {
    Scene scene = empty_scene(0.01);
    add_static_box(scene, {4, 0.5, 4}, {0, -0.25, 0});
    for (int i = 0; i < 3; ++i)
        scene.add_body(body_spec(scene, fmt::format("box-{}", i), box_spec({0.5, 0.5, 0.5}),
                                 {0, 0.25 - 0.005 + 0.49 * i, 0}));
    scene.method_params["pixel"] = 0.02;
    Simulation simulation(scene);
    for (int i = 0; i < 60; ++i) simulation.step();
    std::array<double, 3> under{};
    for (const Contact& contact : simulation.world().contacts)
        under[std::min(contact.a, contact.b)] += std::abs(contact.force.y());
    const double weight = 1000 * 0.125 * 9.81;
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(under[i], (3 - i) * weight, 0.01 * weight) << i;
    for (int i = 1; i < 4; ++i) EXPECT_LT(simulation.world().bodies.rate[i].norm(), 0.01);
}

// Separation moves positions only: two bodies that overlap deeply at rest end apart and at rest.
TEST(VolumeMethod, DeepOverlapsSeparateWithoutAddedVelocity) {
    Scene scene = empty_scene(0.01);
    scene.gravity.setZero();
    scene.add_body(body_spec(scene, "a", box_spec({1, 1, 1}), {0, 0, 0}));
    scene.add_body(body_spec(scene, "b", shape_spec("icosphere", {{"radius", 0.5}}), {0.6, 0.3, 0.1}));
    scene.method_params["pixel"] = 0.02;
    Simulation simulation(scene);
    double kinetic = 0;
    for (int i = 0; i < 6; ++i) {
        simulation.step();
        kinetic = std::max(kinetic, energies(simulation.world()).kinetic);
    }
    EXPECT_LT(kinetic, 1e-12);
    double depth = 0;
    for (const Contact& contact : simulation.world().contacts) depth = std::max(depth, -contact.distance);
    EXPECT_LE(depth, 0.55 * 0.02);
}

TEST(VolumeMethod, CollisionsKeepMomentum) {
    Scene scene = empty_scene(0.005);
    scene.gravity.setZero();
    scene.materials[0].friction = 0.5;
    for (int i = 0; i < 4; ++i) {
        BodySpec body = body_spec(
            scene, fmt::format("torus-{}", i), shape_spec("torus", {{"major", 0.3}, {"minor", 0.1}}),
            {i % 2 ? 0.6 : -0.1, i / 2 ? 0.5 : 0.0, 0.05 * i}, turn(40 * i, Vec3(1, i, 1)));
        body.linear_velocity = Vec3(i % 2 ? -1 : 1, i / 2 ? -0.5 : 0.5, 0);
        scene.add_body(body);
    }
    scene.method_params["pixel"] = 0.02;
    Simulation simulation(scene);
    const Vec3 start = linear_momentum(simulation.world()), spin = angular_momentum(simulation.world());
    const double scale = 4 * simulation.world().bodies.mass[0];
    int contacts = 0;
    for (int i = 0; i < 60; ++i) contacts += simulation.step().contacts;
    EXPECT_GT(contacts, 0);
    EXPECT_LT((linear_momentum(simulation.world()) - start).norm(), 1e-12 * scale);
    // friction acts on two surfaces a little apart (the ghost torque of section 4.2)
    EXPECT_LT((angular_momentum(simulation.world()) - spin).norm(), 0.05 * scale);
}

TEST(VolumeMethod, ElasticBallRestsOnTheFloor) {
    Scene scene = empty_scene(0.01);
    MaterialSpec soft;
    soft.name = "soft", soft.young = 5e4, soft.poisson = 0.3, soft.rayleigh_stiffness = 0.01;
    scene.materials.push_back(soft);
    add_static_box(scene, {2, 0.5, 2}, {0, -0.25, 0});
    ElasticSpec ball;
    ball.name = "ball";
    ball.geometry = scene.add_geometry(shape_spec("icosphere", {{"radius", 0.2}, {"subdivisions", 2.0}}));
    ball.cell_size = 0.12;
    ball.model = "corotational";
    ball.material = 1;
    ball.position = {0, 0.21, 0};
    scene.elastic.push_back(ball);
    scene.method_params["pixel"] = 0.02;
    Simulation simulation(scene);
    for (int i = 0; i < 100; ++i) simulation.step();
    double mass = 0, force = 0, speed = 0;
    for (double m : simulation.world().elastic[0].vertex_mass) mass += m;
    for (const Vec3& v : simulation.world().elastic[0].v) speed = std::max(speed, v.norm());
    for (const Contact& contact : simulation.world().contacts) force += std::abs(contact.force.y());
    EXPECT_NEAR(force, mass * 9.81, 0.05 * mass * 9.81);
    EXPECT_LT(speed, 0.05);
}

TEST(VolumeMethod, RefusesJointsByName) {
    Scene scene = empty_scene(0.01);
    scene.add_body(body_spec(scene, "a", box_spec({1, 1, 1}), {0, 0, 0}));
    scene.joints.push_back({});
    scene.joints[0].bodies = {0, -1};
    try {
        Simulation simulation(scene);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(error.path(), "joints[0]");
    }
}

TEST(VolumeMethod, WarnsOfThinFastAndOpenBodies) {
    Scene scene = empty_scene(0.01);
    scene.gravity.setZero();
    scene.add_body(body_spec(scene, "thin", box_spec({1, 0.01, 1}), {0, 0, 0}));
    BodySpec fast = body_spec(scene, "fast", box_spec({0.2, 0.2, 0.2}), {0, 5, 0});
    fast.linear_velocity = {0, -50, 0};
    scene.add_body(fast);
    scene.add_body(body_spec(scene, "open", shape_spec("card", {}, 0.001), {3, 0, 0}));
    scene.method_params["pixel"] = 0.02;
    Simulation simulation(scene);
    const StepReport report = simulation.step();
    for (const char* name : {"'thin'", "'fast'", "'open'"})
        EXPECT_TRUE(std::any_of(report.warnings.begin(), report.warnings.end(), [&](const std::string& w) {
            return w.find(name) != std::string::npos;
        })) << name;
}

}  // namespace
}  // namespace tenon

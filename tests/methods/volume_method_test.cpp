#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "model/elastic_cut.hpp"
#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"
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
        const Vec3 start = simulation.state().q[1].col(3);
        for (int i = 0; i < 100; ++i) simulation.step();
        const double moved = (simulation.state().q[1].col(3) - start).dot(tilt * Vec3::UnitX());
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
    for (const Contact& contact : simulation.outputs().contacts)
        under[std::min(contact.a, contact.b)] += std::abs(contact.force.y());
    const double weight = 1000 * 0.125 * 9.81;
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(under[i], (3 - i) * weight, 0.01 * weight) << i;
    for (int i = 1; i < 4; ++i) EXPECT_LT(simulation.state().rate[i].norm(), 0.01);
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
        kinetic = std::max(kinetic, energies(simulation.model(), simulation.state()).kinetic);
    }
    EXPECT_LT(kinetic, 1e-12);
    double depth = 0;
    for (const Contact& contact : simulation.outputs().contacts) depth = std::max(depth, -contact.distance);
    EXPECT_LE(depth, 0.55 * 0.02);
}

// Angular momentum too where all forces of a contact act at its centre; else friction acts on two surfaces a little apart
// (the ghost torque of section 4.2).
TEST(VolumeMethod, CollisionsKeepMomentum) {
    for (bool at_center : {false, true}) {
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
        scene.method_params["forces_at_center"] = at_center;
        Simulation simulation(scene);
        const Vec3 start = linear_momentum(simulation.model(), simulation.state());
        const double scale = 4 * simulation.model().bodies.mass[0];
        int contacts = 0;
        double ghost =
            0;  // largest change of angular momentum in a step in which positions are not corrected
        for (int i = 0; i < 60; ++i) {
            const Vec3 before = angular_momentum(simulation.model(), simulation.state());
            const StepReport report = simulation.step();
            contacts += report.contacts;
            double loops = 1;
            for (const auto& [name, value] : report.metrics)
                if (name == "stabilisation_loops") loops = value;
            if (report.contacts > 0 && loops == 0)
                ghost = std::max(
                    ghost,
                    (angular_momentum(simulation.model(), simulation.state()) - before).norm() / scale);
        }
        EXPECT_GT(contacts, 0);
        EXPECT_LT((linear_momentum(simulation.model(), simulation.state()) - start).norm(), 1e-12 * scale);
        EXPECT_LT(ghost, at_center ? 1e-10 : 0.05);
        if (!at_center) {
            EXPECT_GT(ghost, 1e-6);
        }
    }
}

// Eq. 15: a block rests at the depth y where k V dV/dy = k (A y) A carries its weight. Held at that depth and pushed
// along, viscous friction slows it down, v' = -c A^2 v / m, taken explicitly: v_n = v_0 (1 - dt c A^2 / m)^n.
TEST(VolumeMethod, PenaltiesCarryAndViscousFrictionSlowsDown) {
    const double area = 0.4 * 0.4, mass = 1000 * area * 0.2, depth = 0.025, dt = 0.002, rate = 1.5;
    for (bool sliding : {false, true}) {
        Scene scene = empty_scene(dt);
        add_static_box(scene, {6, 0.4, 2}, {0, -0.2, 0});
        BodySpec block = body_spec(scene, "block", box_spec({0.4, 0.2, 0.4}), {-1, 0.1 - depth, 0});
        block.linear_velocity = {sliding ? 1.0 : 0.0, 0, 0};
        block.fixed = {false, sliding, true, true, true, true};
        scene.add_body(block);
        scene.method_params["pixel"] = 0.025;
        scene.method_params["contacts"] = std::string("mono");
        scene.method_params["response"] = std::string("penalty");
        scene.method_params["penalty"] = mass * 9.81 / (depth * area * area);
        scene.method_params["viscous_friction"] = rate * mass / (area * area);
        Simulation simulation(scene);
        const int steps = 200;
        for (int i = 0; i < steps; ++i) simulation.step();
        // a sliding block is seen a pixel longer or shorter than it is
        const double speed = sliding ? std::pow(1 - dt * rate, steps) : 0.0;
        EXPECT_NEAR(simulation.state().rate[1](0, 3), speed, 0.02 * speed + 1e-9);
        EXPECT_NEAR(simulation.state().q[1](1, 3), 0.1 - depth, 0.01 * depth);
    }
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
    for (double m : simulation.model().elastic[0].vertex_mass) mass += m;
    for (const Vec3& v : simulation.state().elastic[0].v) speed = std::max(speed, v.norm());
    for (const Contact& contact : simulation.outputs().contacts) force += std::abs(contact.force.y());
    EXPECT_NEAR(force, mass * 9.81, 0.05 * mass * 9.81);
    // it may still roll, being a little heavier on one side: its middle does not move up or down, no vertex faster than a roll
    double rise = 0;
    for (std::size_t i = 0; i < simulation.state().elastic[0].v.size(); ++i)
        rise += simulation.model().elastic[0].vertex_mass[i] * simulation.state().elastic[0].v[i].y() / mass;
    EXPECT_LT(std::abs(rise), 0.02);
    EXPECT_LT(speed, 0.2);
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

bool says(const StepReport& report, const std::string& name, const std::string& what) {
    return std::any_of(report.warnings.begin(), report.warnings.end(), [&](const std::string& w) {
        return w.find("'" + name + "'") != std::string::npos && w.find(what) != std::string::npos;
    });
}

// Each warning names the body and what would do, with the number it takes.
TEST(VolumeMethod, WarnsOfThinCoarseFastAndOpenBodies) {
    Scene scene = empty_scene(0.01);
    scene.gravity.setZero();
    scene.add_body(body_spec(scene, "thin", box_spec({1, 0.01, 1}), {0, 0, 0}));
    scene.add_body(body_spec(scene, "small", box_spec({1, 0.06, 1}), {0, -2, 0}));
    scene.add_body(body_spec(scene, "stout", box_spec({1, 0.3, 1}), {0, -4, 0}));
    BodySpec fast = body_spec(scene, "fast", box_spec({0.2, 0.2, 0.2}), {0, 5, 0});
    fast.linear_velocity = {0, -50, 0};
    scene.add_body(fast);
    scene.add_body(body_spec(scene, "open", shape_spec("card", {}, 0.001), {3, 0, 0}));
    scene.method_params["pixel"] = 0.02;
    scene.method_params["refine"] = 0.0;
    const StepReport report = Simulation(scene).step();
    EXPECT_TRUE(says(report, "thin", "method.pixel to 0.0025"));
    EXPECT_TRUE(says(report, "small", "are coarse"));
    EXPECT_TRUE(says(report, "small", "method.pixel to 0.015"));
    EXPECT_TRUE(says(report, "fast", "set dt to 0.001"));  // a quarter of 0.2 m at 50 m/s
    EXPECT_TRUE(says(report, "open", "closed mesh"));
    EXPECT_FALSE(says(report, "stout", ""));
    // halving the pixel for these pairs would do as well
    scene.method_params["refine"] = 3.0;
    const StepReport refined = Simulation(scene).step();
    EXPECT_FALSE(says(refined, "thin", ""));
    EXPECT_FALSE(says(refined, "small", ""));
    EXPECT_TRUE(says(refined, "fast", ""));
}

// A plate of two pixels' thickness at the scene's resolution is carried where pixels are halved for it.
TEST(VolumeMethod, RefinesPixelsForThinBodies) {
    Scene scene = empty_scene(0.01);
    add_static_box(scene, {2, 0.5, 2}, {0, -0.25, 0});
    scene.add_body(body_spec(scene, "plate", box_spec({0.4, 0.02, 0.4}), {0, 0.011, 0}));
    scene.method_params["pixel"] = 0.02;
    Simulation simulation(scene);
    for (int i = 0; i < 40; ++i) simulation.step();
    // at rest half a pixel deep, which is an eighth of the plate's thickness here
    EXPECT_NEAR(simulation.state().q[1](1, 3), 0.01, 0.005);
    EXPECT_LT(simulation.state().rate[1].norm(), 0.02);
}

ForceSpec push(int body, const Vec3& force) {
    ForceSpec made;
    made.body = body;
    made.force = force;
    return made;
}

// Two fingers press a block from both sides with F each; it is pulled down with P. It holds for P < 2 mu F and slips with
// (P - 2 mu F) / m beyond.
TEST(VolumeMethod, GraspHoldsThenSlipsWhenPulledPastFriction) {
    const double mu = 0.5, F = 400, dt = 0.005, mass = 1000 * 0.2 * 0.3 * 0.2;
    for (double load : {0.9, 1.1, 1.3}) {
        Scene scene = empty_scene(dt);
        scene.gravity.setZero();
        scene.materials[0].friction = mu;
        BodySpec block = body_spec(scene, "block", box_spec({0.2, 0.3, 0.2}), {0, 0, 0});
        scene.add_body(block);
        scene.forces.push_back(push(0, Vec3(0, -load * 2 * mu * F, 0)));
        for (int side : {-1, 1}) {
            BodySpec finger = body_spec(scene, side < 0 ? "left" : "right", box_spec({0.1, 0.2, 0.2}),
                                        {side * (0.15 - 0.004), 0, 0});
            finger.fixed = {false, true, true, true, true, true};
            scene.add_body(finger);
            scene.forces.push_back(push(scene.body_index(finger.name), Vec3(-side * F, 0, 0)));
        }
        scene.method_params["pixel"] = 0.01;
        Simulation simulation(scene);
        const int steps = 40;
        for (int i = 0; i < steps; ++i) simulation.step();
        // backward Euler: the sum of steps is dt^2 a n (n + 1) / 2
        const double slip = std::max(0.0, (load - 1) * 2 * mu * F / mass) * dt * dt * steps * (steps + 1) / 2;
        EXPECT_NEAR(-simulation.state().q[0](1, 3), slip, 0.02 * slip + 1e-4) << load;
    }
}

// Soft bodies that overlap at the start get out of it without strain, so that none comes back as speed: the kinetic
// energy stays at or below that of the same bodies without contact.
TEST(VolumeMethod, DeepOverlapsOfSoftBodiesSeparateWithoutAddedEnergy) {
    const Scene scene = make_builtin(*find_builtin("organs"), {});
    Scene alone = scene;
    alone.bodies.clear();
    for (std::size_t i = 0; i < alone.elastic.size(); ++i) {
        alone.elastic[i].position.x() += 10.0 * static_cast<double>(i);
    }
    Simulation with(scene), without(alone);
    double depth = 0;
    for (int i = 0; i < 10; ++i) {
        for (const auto& [name, value] : with.step().metrics)
            if (name == "depth") depth = value;
        without.step();
        EXPECT_LE(energies(with.model(), with.state()).kinetic,
                  1.0001 * energies(without.model(), without.state()).kinetic)
            << i;
    }
    EXPECT_LE(depth, 0.6 * 0.015);
}

// One bar across two posts: it stays up in one piece, and its halves fall once it is cut through.
TEST(VolumeMethod, ACutBodyFallsInTwo) {
    double lowest[2];
    for (int cut = 0; cut < 2; ++cut) {
        Scene scene = make_builtin(*find_builtin("cut"), {{"cut", cut == 1}, {"cell_size", 0.08}});
        Simulation simulation(scene);
        while (simulation.time() < 0.7) simulation.step();
        lowest[cut] = 1e300;
        for (const Vec3& x : simulation.state().elastic[0].x) lowest[cut] = std::min(lowest[cut], x.y());
        if (cut == 0) continue;
        const std::vector<Vec3>& x = simulation.state().elastic[0].x;
        double gap = 0;
        for (const Bond& bond : bonds_of(simulation.model().elastic[0], *cut_of(scene)))
            gap = std::max(gap, (x[bond.a] - x[bond.b]).norm());
        EXPECT_GT(gap, 0.02);
    }
    EXPECT_LT(lowest[1], lowest[0] - 0.05);
}

TEST(VolumeMethod, BondedVerticesMoveAsOne) {
    const Scene scene = make_builtin(*find_builtin("cut"), {{"cell_size", 0.08}});
    Simulation simulation(scene);
    const std::vector<Bond> bonds = bonds_of(simulation.model().elastic[0], *cut_of(scene));
    ASSERT_FALSE(bonds.empty());
    for (int i = 0; i < 5; ++i) simulation.step();
    const std::vector<Vec3>& x = simulation.state().elastic[0].x;
    for (const Bond& bond : bonds) EXPECT_EQ(x[bond.a], x[bond.b]);
}

TEST(VolumeMethod, RefusesCutsThatCannotBeMade) {
    const auto path_of = [](const Scene& scene) -> std::string {
        try {
            Simulation simulation(scene);
        } catch (const InputError& error) {
            return error.path();
        }
        return "";
    };
    Scene scene = make_builtin(*find_builtin("cut"), {{"cell_size", 0.08}});
    scene.method_params["cut_body"] = std::string("loaf");
    EXPECT_EQ(path_of(scene), "method.cut_body");
    scene.method_params["cut_body"] = std::string("bar");
    scene.method_params["cut_point"] = std::vector<double>{3, 0, 0};
    EXPECT_EQ(path_of(scene), "method.cut_point");
    scene.method = "adaptive";
    EXPECT_EQ(path_of(scene).substr(0, 10), "method.cut");
}

}  // namespace
}  // namespace tenon

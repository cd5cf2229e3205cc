// Mechanisms against their closed forms through full turns, and those that have more conditions than they need.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Simulation simulation_of(const std::string& name, const std::map<std::string, ParamValue>& values) {
    return Simulation(make_builtin(*find_builtin(name), values));
}

}  // namespace

// tan(theta_1/2) tan(theta_2/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2), alpha = 30, beta = 60 degrees.
TEST(ArticulatedMechanisms, BennettLinkageTurnsFullyAndFollowsItsFormula) {
    Simulation simulation = simulation_of("four-bar", {{"linkage", std::string("bennett")}});
    const double constant = std::sin(M_PI / 4) / std::sin(M_PI / 12);
    const double start = 2 * std::atan2(constant, std::tan(0.5));
    double worst = 0, open = 0, strain = 0;
    for (int i = 0; i < 800; ++i) {  // 16 rad: two and a half turns
        const StepReport report = simulation.step();
        open = std::max(open, report.joint_residual);
        for (const auto& [name, value] : report.metrics)
            if (name == "strain") strain = std::max(strain, value);
        const double theta = 1.0 + simulation.state().joint_coordinate[0][0];
        const double other = start + simulation.state().joint_coordinate[1][0];
        const double wanted = 2 * std::atan2(constant * std::cos(0.5 * theta), std::sin(0.5 * theta));
        worst = std::max(worst, std::abs(std::remainder(other - wanted, 2 * M_PI)));
    }
    EXPECT_LT(open, 1e-7);
    EXPECT_LT(strain, 1e-3);
    EXPECT_LT(worst, 1e-3);
    EXPECT_NEAR(simulation.state().joint_coordinate[0][0], 16.0, 0.02);
}

// Sarrus: two pairs of hinged plates at right angles guide a table straight up with twice the conditions it takes.
TEST(ArticulatedMechanisms, SarrusLinkageGuidesStraightUp) {
    Scene scene = articulated_scene(0.005, 2.0);
    scene.gravity.setZero();
    scene.materials[0] = material_spec("steel", 7850.0, 2e11);
    const double side = 0.4, arm = 0.3, out = 0.5;  // knees stand out by sin(out) of an arm's length
    const double height = 2 * arm * std::cos(out);
    BodySpec table = body_spec(scene, "table", box_spec({side, 0.02, side}), Vec3(0, height, 0));
    const int top = scene.add_body(table);
    for (const auto& [outward, axis] :
         {std::pair{Vec3(1, 0, 0), Vec3(0, 0, 1)}, {Vec3(0, 0, 1), Vec3(1, 0, 0)}}) {
        const Vec3 foot = 0.5 * side * outward,
                   knee = foot + arm * (std::cos(out) * Vec3::UnitY() + std::sin(out) * outward);
        const Vec3 hip = foot + Vec3(0, height, 0);
        const std::string name = outward.x() > 0 ? "x" : "z";
        const auto plate = [&](const std::string& which, const Vec3& a, const Vec3& b) {
            BodySpec body = body_spec(scene, name + which, box_spec({(b - a).norm(), 0.02, 0.02}),
                                      0.5 * (a + b), along(b - a));
            body.collides = false;
            return scene.add_body(body);
        };
        const int low = plate("low", foot, knee), high = plate("high", knee, hip);
        scene.joints.push_back(joint_spec(name + "foot", JointType::hinge, -1, low, foot, axis));
        scene.joints.push_back(joint_spec(name + "knee", JointType::hinge, low, high, knee, axis));
        scene.joints.push_back(joint_spec(name + "hip", JointType::hinge, high, top, hip, axis));
    }
    ForceSpec push;
    push.body = top;
    push.force = Vec3(0, -40, 0);
    scene.forces.push_back(push);
    Simulation simulation(scene);
    double open = 0, aside = 0, tilt = 0;
    for (int i = 0; i < 60; ++i) {
        open = std::max(open, simulation.step().joint_residual);
        const Mat34& q = simulation.state().q[top];
        aside = std::max({aside, std::abs(q(0, 3)), std::abs(q(2, 3))});
        const Mat3 R =
            q.leftCols<3>() * simulation.model().shape_of(top).geometry_frame.rotation.toRotationMatrix();
        tilt = std::max(tilt, (R - Mat3::Identity()).norm());
    }
    EXPECT_LT(simulation.state().q[top](1, 3), height - 0.02);
    EXPECT_LT(open, 1e-7);
    EXPECT_LT(aside, 1e-4);
    EXPECT_LT(tilt, 1e-3);
}

TEST(ArticulatedMechanisms, ParallelogramPassesItsFlatPositionAtEverySpeedAndStep) {
    for (double speed : {1.0, 4.0, 12.0})
        for (double dt : {0.002, 0.01}) {
            Simulation simulation = simulation_of(
                "four-bar", {{"linkage", std::string("parallelogram")}, {"speed", speed}, {"dt", dt}});
            const int coupler = simulation.scene().body_index("coupler");
            const double seconds = 7.0 / speed;  // more than a turn: flat twice
            double open = 0, tilt = 0;
            while (simulation.time() < seconds) {
                open = std::max(open, simulation.step().joint_residual);
                // the coupler of a parallelogram never turns; past the flat position it might as well, so that only
                // finite numbers and closed joints can be asked for
                tilt = std::max(tilt, simulation.state().q[coupler].leftCols<3>().norm());
            }
            EXPECT_LT(open, 1e-7) << speed << " " << dt;
            EXPECT_NEAR(tilt, std::sqrt(3.0), 1e-2) << speed << " " << dt;
            EXPECT_NEAR(simulation.state().joint_coordinate[0][0], speed * simulation.time(),
                        0.02 * speed * seconds)
                << speed << " " << dt;
        }
}

// A gyroscope through a whole turn of its precession; level, at M g l / (I omega).
TEST(ArticulatedMechanisms, GyroscopeWalksAllTheWayRound) {
    // BDF2 damps a rotor at (omega h)^4 / (4 h): 0.3 % a second here
    const double rate = 9.81 * 0.2 / (0.5 * 0.15 * 0.15 * 100.0), turn = 2 * M_PI / rate;
    Simulation simulation = simulation_of("gyroscope", {{"spin", 100.0}, {"seconds", turn}, {"dt", 0.0005}});
    const int rotor = simulation.scene().body_index("rotor");
    double walked = 0, height = 0;
    Vec3 before = simulation.state().q[rotor].col(3);
    while (simulation.time() < turn) {
        simulation.step();
        const Vec3 now = simulation.state().q[rotor].col(3);
        walked += std::atan2(before.z() * now.x() - before.x() * now.z(),
                             before.x() * now.x() + before.z() * now.z());
        height = std::max(height, std::abs(now.y()));
        before = now;
    }
    EXPECT_NEAR(walked, 2 * M_PI, 0.03 * 2 * M_PI);
    EXPECT_LT(height, 0.02 * 0.2 + 0.002);
}

// ---- contact ----------------------------------------------------------------------------------------------------

// A block on a collider that stands still, or is lifted by its script: it is carried, and its weight is felt.
TEST(ArticulatedContacts, EveryColliderCarriesABlockStillAndMoving) {
    Mesh wedge = shape_mesh("box", {{"size", std::vector<double>{1.0, 0.4, 1.0}}});
    struct Collider {
        const char* name;
        GeometrySpec geometry;
        double top;
        Quat rotation;
    };
    const Collider colliders[] = {
        {"plane", shape_spec("plane", {}), 0.0, Quat::Identity()},
        {"box", box_spec({1, 0.4, 1}), 0.2, Quat::Identity()},
        {"sphere", shape_spec("sphere", {{"radius", 0.5}}), 0.5, Quat::Identity()},
        {"cylinder", shape_spec("cylinder", {{"radius", 0.5}, {"length", 1.0}}), 0.5,
         turn(90, Vec3::UnitX())},
        {"mesh", mesh_spec(wedge), 0.2, Quat::Identity()},
    };
    for (const Collider& collider : colliders)
        for (double lift : {0.0, 0.3}) {
            if (lift > 0 && std::string(collider.name) == "plane") continue;
            Scene scene = articulated_scene(0.005, 1.0);
            BodySpec ground = body_spec(scene, "ground", collider.geometry, Vec3::Zero(), collider.rotation);
            ground.type = lift > 0 ? BodyType::kinematic_body : BodyType::static_body;
            ground.friction = 0.8;
            if (lift > 0)
                for (int k = 0; k <= 50; ++k) {  // a smooth rise over one second
                    const double t = 0.02 * k;
                    ground.motion.push_back(
                        {t, Vec3(0, 0.5 * lift * (1 - std::cos(M_PI * t)), 0), collider.rotation});
                }
            scene.add_body(ground);
            BodySpec block =
                body_spec(scene, "block", box_spec({0.2, 0.1, 0.2}), Vec3(0, collider.top + 0.051, 0));
            block.friction = 0.8;
            const int index = scene.add_body(block);  // 4 kg
            Simulation simulation(scene);
            double weight = 0;
            while (simulation.time() < 1.4 - 1e-9) {
                simulation.step();
                if (simulation.time() < 1.2) continue;
                Vec3 force = Vec3::Zero();
                for (const Contact& c : simulation.outputs().contacts)
                    force += c.b == index ? c.force : Vec3(-c.force);
                weight += force.y() / 40;
            }
            const Vec3 at = simulation.state().q[index].col(3);
            EXPECT_LT((at - Vec3(0, collider.top + 0.05 + lift, 0)).norm(), 0.012)
                << collider.name << " " << lift;
            EXPECT_NEAR(weight, 4 * 9.81, 0.05 * 4 * 9.81) << collider.name << " " << lift;
        }
}

// A tray pulled sideways carries what lies on it while friction suffices: a < mu g.
TEST(ArticulatedContacts, ScriptedTrayDragsItsLoadByFriction) {
    for (double mu : {0.5, 0.05}) {
        Scene scene = articulated_scene(0.005, 1.0);
        BodySpec tray = body_spec(scene, "tray", box_spec({2, 0.1, 1}), Vec3::Zero());
        tray.type = BodyType::kinematic_body;
        tray.friction = mu;
        for (int k = 0; k <= 100; ++k)
            tray.motion.push_back({0.01 * k, Vec3(5e-5 * k * k, 0, 0), Quat::Identity()});  // 1 m/s^2
        scene.add_body(tray);
        BodySpec load = body_spec(scene, "load", box_spec({0.2, 0.1, 0.2}), Vec3(0, 0.1, 0));
        load.friction = mu;
        const int index = scene.add_body(load);
        Simulation simulation(scene);
        while (simulation.time() < 1 - 1e-9) simulation.step();
        const double way = simulation.state().q[index](0, 3);
        EXPECT_NEAR(way, mu > 0.1 ? 0.5 : 0.5 * 0.05 * 9.81, 0.03) << mu;
    }
}

// The slope is a link of a mechanism (a plate on a fixed joint), not a collider.
TEST(ArticulatedContacts, LinksRubOnEachOther) {
    const double angle = 20 * M_PI / 180;
    for (double mu : {0.5, 0.2}) {  // tan 20 deg = 0.364
        Scene scene = articulated_scene(0.005, 1.0);
        scene.gravity = 9.81 * Vec3(std::sin(angle), -std::cos(angle), 0);
        BodySpec plate = body_spec(scene, "plate", box_spec({4, 0.2, 1}), Vec3(1, -0.1, 0));
        plate.friction = mu;
        const int p = scene.add_body(plate);
        scene.joints.push_back(joint_spec("wall", JointType::fixed, -1, p, Vec3(1, -0.1, 0)));
        BodySpec block = body_spec(scene, "block", box_spec({0.4, 0.2, 0.4}), Vec3(0, 0.1, 0));
        block.friction = mu;
        const int index = scene.add_body(block);
        Simulation simulation(scene);
        double open = 0;
        while (simulation.time() < 1 - 1e-9) open = std::max(open, simulation.step().joint_residual);
        const double a = 9.81 * (std::sin(angle) - mu * std::cos(angle));
        const double way = simulation.state().q[index](0, 3);
        EXPECT_LT(open, 1e-8) << mu;
        if (a < 0)
            EXPECT_LT(way, 5e-3) << mu;
        else
            EXPECT_NEAR(way, 0.5 * a, 0.05 * a) << mu;
    }
}

}  // namespace tenon

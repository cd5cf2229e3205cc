// The articulated method: velocities that joints cannot have, and energy that the integrator takes.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

bool warns_of(const StepReport& report, const std::string& word) {
    for (const std::string& warning : report.warnings)
        if (warning.find(word) != std::string::npos) return true;
    return false;
}

Scene hinged_rod(double spin, const Vec3& velocity) {
    Scene scene = articulated_scene(0.001, 0.1);
    scene.gravity.setZero();
    BodySpec rod = body_spec(scene, "rod", box_spec({1, 0.04, 0.04}), Vec3(0.5, 0, 0));
    rod.mass = 1.0;
    rod.angular_velocity = Vec3(0, 0, spin);
    rod.linear_velocity = velocity;
    scene.add_body(rod);
    scene.joints.push_back(joint_spec("pivot", JointType::hinge, -1, 0, Vec3::Zero()));
    return scene;
}

double angle_rate(Simulation& simulation) {
    return simulation.outputs().joints[0].coordinate_rate[0];
}

}  // namespace

// A rod that spins about its centre at 2 rad/s, hinged at its end: the impulse at the pivot leaves I w / (I + m l^2/4).
TEST(ArticulatedStart, VelocitiesThatJointsCannotHaveAreProjectedAndTold) {
    Simulation simulation(hinged_rod(2.0, Vec3::Zero()));
    EXPECT_TRUE(warns_of(simulation.step(), "initial velocities"));
    const double inertia = (1 + 0.04 * 0.04) / 12;
    for (int i = 0; i < 20; ++i) simulation.step();
    EXPECT_NEAR(angle_rate(simulation), 2 * inertia / (inertia + 0.25), 1e-3);
}

TEST(ArticulatedStart, VelocitiesThatJointsAllowAreKeptInSilence) {
    Simulation simulation(hinged_rod(2.0, Vec3(0, 1, 0)));
    EXPECT_FALSE(warns_of(simulation.step(), "initial velocities"));
    for (int i = 0; i < 20; ++i) simulation.step();
    EXPECT_NEAR(angle_rate(simulation), 2.0, 1e-3);
}

// Joints that are closed to rounding, and elastic bodies: what starts at rest starts at rest.
TEST(ArticulatedStart, RestIsKeptInSilence) {
    const double angle = 0.1;
    Scene scene = articulated_scene(0.01, 0.1);
    scene.materials[0].young = 1e9;
    scene.materials[0].young_given = true;
    BodySpec rod = body_spec(scene, "rod", box_spec({1, 0.04, 0.04}),
                             Vec3(0.5 * std::sin(angle), -0.5 * std::cos(angle), 0),
                             turn(angle * 180 / M_PI - 90, Vec3::UnitZ()));
    rod.mass = 1.0;
    scene.add_body(rod);
    scene.joints.push_back(joint_spec("pivot", JointType::hinge, -1, 0, Vec3::Zero()));
    Simulation simulation(scene);
    EXPECT_FALSE(warns_of(simulation.step(), "initial velocities"));
}

// A modulus means nothing to a body without geometry: it is rigid, as without one.
TEST(ArticulatedStart, BodiesWithoutGeometryAreRigid) {
    Vec3 place[2];
    for (const bool given : {false, true}) {
        Scene scene = articulated_scene(0.01, 0.2);
        scene.materials[0].young_given = given;
        BodySpec top;
        top.name = "top";
        top.mass = 2.0;
        top.position = Vec3(0.2, 0.2, 0);
        top.angular_velocity = Vec3(10, 10, 0);
        InertiaSpec inertia;
        inertia.moments = Vec3(0.02, 0.012, 0.02);
        top.inertia = inertia;
        scene.add_body(top);
        scene.joints.push_back(joint_spec("tip", JointType::ball, -1, 0, Vec3::Zero()));
        Simulation simulation(scene);
        while (simulation.time() < 0.2 - 1e-9)
            for (const auto& [name, value] : simulation.step().metrics)
                if (name == "deformation_max") {
                    EXPECT_LT(value, 1e-12);
                }
        place[given] = simulation.state().q[0].col(3);
    }
    EXPECT_LT((place[1] - place[0]).norm(), 1e-9);
}

TEST(ArticulatedStart, LossOfSpinIsTold) {
    for (double spin : {10.0, 200.0}) {
        Scene scene = articulated_scene(0.01, 0.1);
        BodySpec body = body_spec(scene, "top", box_spec({0.1, 0.1, 0.02}), Vec3::Zero());
        body.angular_velocity = Vec3(0, 0, spin);
        scene.gravity.setZero();
        scene.add_body(body);
        Simulation simulation(scene);
        EXPECT_EQ(warns_of(simulation.step(), "kinetic energy per second"), spin > 100) << spin;
    }
}

}  // namespace tenon

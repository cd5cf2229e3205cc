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

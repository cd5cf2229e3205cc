// Friction that locks: a wedge under a guided block, which is a screw's thread unrolled.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

constexpr double g = 9.81;

// A wedge that slides along x without friction, under a block that a guide lets go up and down only.
Scene wedge(const std::string& method, double mu, double angle, double dt) {
    Scene scene = articulated_scene(dt, 0.5);
    scene.method = method;
    scene.materials[0].friction = mu;
    const Quat tilt = turn(angle * 180 / std::numbers::pi, Vec3::UnitZ());
    BodySpec below = body_spec(scene, "wedge", box_spec({2, 0.2, 1}), Vec3::Zero(), tilt);
    below.mass = 2.0;
    BodySpec above = body_spec(scene, "block", box_spec({0.3, 0.2, 0.3}),
                               tilt * Vec3(0, 0.2 + (method == "affine" ? 1e-5 : 0.0), 0), tilt);
    above.mass = 3.0;
    const int w = scene.add_body(below), b = scene.add_body(above);
    scene.joints.push_back(joint_spec("slide", JointType::prismatic, -1, w, Vec3::Zero(), Vec3::UnitX()));
    scene.joints.push_back(joint_spec("guide", JointType::prismatic, -1, b, above.position, Vec3::UnitY()));
    return scene;
}

}  // namespace

// The wedge stays where tan(angle) < mu. Beyond, with f = atan(mu): a = m g / (m tan(angle) + M cot(angle - f)).
TEST(FrictionLocks, WedgeLocksWhereFrictionExceedsItsSlope) {
    const double angle = 0.3, seconds = 0.2;
    for (const char* method : {"articulated", "affine"})
        for (double dt : {0.01, 0.002})
            for (double part : {0.0, 0.5, 0.9, 1.1, 2.0}) {
                const double mu = part * std::tan(angle);
                Simulation simulation(wedge(method, mu, angle, dt));
                while (simulation.time() < seconds - 1e-9) EXPECT_TRUE(simulation.step().converged);
                double a = 0.0;
                if (part < 1.0) a = 3.0 * g / (3.0 * std::tan(angle) + 2.0 / std::tan(angle - std::atan(mu)));
                const double x = simulation.state().q[0](0, 3), exact = 0.5 * a * seconds * seconds;
                // creep of what sticks: the speed below which friction is smoothed, 1e-3 m/s, along the face
                const double first_order = 0.5 * a * dt * seconds;
                EXPECT_NEAR(x, exact, 0.02 * exact + first_order + 2e-3 * seconds)
                    << method << ", mu " << part << " tan, dt " << dt;
                if (part >= 1.0) {
                    EXPECT_LT(std::abs(simulation.state().rate[0](0, 3)), 2e-3) << method << dt;
                }
            }
}

}  // namespace tenon

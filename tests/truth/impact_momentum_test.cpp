// A ball or a bar strikes a free thin body on its axis, at 1 to 500 m/s, at any step: without friction the body takes
//   J = (1 + e) v / (1/m1 + 1/m2).
#include <gtest/gtest.h>

#include <cmath>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

constexpr double distance = 0.17;

BodySpec target(Scene& scene, int which) {
    const Vec3 sizes[] = {Vec3(0.1, 0.1, 0.005), Vec3(1, 1, 0.01), Vec3(0.002, 0.1, 0.002)};
    BodySpec body = body_spec(scene, "target",
                              box_spec({sizes[which].x(), sizes[which].y(), sizes[which].z()}), Vec3::Zero());
    body.mass = 1000.0 * sizes[which].prod();
    body.position.z() += 0.5 * sizes[which].z();
    return body;
}

// What the target takes, of what it should.
double share(const std::string& method, int which, bool ball, double speed, double dt, double e) {
    Scene scene;
    scene.method = method;
    scene.dt = dt;
    scene.gravity = Vec3::Zero();
    scene.materials[0].friction = 0.0;
    scene.materials[0].restitution = e;
    const double reach = ball ? 0.02 : 0.05;
    BodySpec shot = body_spec(scene, "shot",
                              ball ? shape_spec("sphere", {{"radius", 0.02}}) : box_spec({0.004, 0.004, 0.1}),
                              Vec3(0, 0, -distance - reach));
    shot.mass = 0.03;
    shot.linear_velocity = Vec3(0, 0, speed);
    scene.add_body(shot);
    const BodySpec hit = target(scene, which);
    const double mass = *hit.mass;
    scene.add_body(hit);
    Simulation simulation(scene);
    const int steps = static_cast<int>(std::ceil(distance / speed / dt)) + 3;
    for (int k = 0; k < steps; ++k) simulation.step();
    const double exact = (1 + e) * speed / (1 / 0.03 + 1 / mass);
    return mass * simulation.state().rate[1](2, 3) / exact;
}

}  // namespace

TEST(ImpactMomentum, IsHandedOverAtAnySpeedAndStep) {
    for (const char* method : {"affine", "impulse", "articulated"})
        for (const int which : {0, 1, 2})
            for (const bool ball : {true, false})
                for (const auto& [speed, dt] :
                     {std::pair(1.0, 0.01), {20.0, 0.01}, {500.0, 0.01}, {500.0, 0.001}})
                    for (const double e : {0.5, 1.0})
                        EXPECT_NEAR(share(method, which, ball, speed, dt, e), 1.0, 0.02)
                            << method << ", target " << which << ", ball " << ball << ", " << speed
                            << " m/s, dt " << dt << ", e " << e;
}

}  // namespace tenon

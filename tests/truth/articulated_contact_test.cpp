// The articulated method: sliding and bouncing against their closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

int add_floor(Scene& scene) {
    BodySpec floor = body_spec(scene, "floor", box_spec({20, 1, 20}), Vec3(0, -0.5, 0));
    floor.type = BodyType::static_body;
    return scene.add_body(floor);
}

}  // namespace

// v^2 / (2 mu g).
TEST(ArticulatedContact, SlidingBoxStopsWhereFrictionStopsIt) {
    for (double dt : {0.01, 0.005, 0.002}) {
        Scene scene = articulated_scene(dt, 1.0);
        scene.materials[0].friction = 0.4;
        add_floor(scene);
        BodySpec box = body_spec(scene, "box", box_spec({2, 1, 2}), Vec3(0, 0.5, 0));
        box.mass = 35;
        box.linear_velocity = Vec3(2, 0, 0);
        const int body = scene.add_body(box);
        Simulation simulation(scene);
        while (simulation.time() < 1 - 1e-9) simulation.step();
        const double exact = 4.0 / (2 * 0.4 * 9.81);
        EXPECT_NEAR(simulation.state().q[body](0, 3), exact, 0.01 * exact) << dt;
    }
}

// A ball dropped from 5 m rises to e^2 of that.
TEST(ArticulatedContact, BallBouncesToTheSquareOfItsRestitution) {
    for (double e : {0.0, 0.5, 1.0})
        for (double dt : {0.01, 0.005, 0.001}) {
            Scene scene = articulated_scene(dt, 2.0);
            scene.materials[0].restitution = e;
            scene.materials[0].friction = 0;
            add_floor(scene);
            BodySpec ball =
                body_spec(scene, "ball", shape_spec("sphere", {{"radius", 0.2}}), Vec3(0, 5.2, 0));
            const int body = scene.add_body(ball);
            Simulation simulation(scene);
            double top = 0;
            while (simulation.time() < 2.0 - 1e-9) {
                simulation.step();
                if (simulation.time() > 1.1) top = std::max(top, simulation.state().q[body](1, 3) - 0.2);
            }
            EXPECT_NEAR(top, 5 * e * e, 0.02) << "e = " << e << ", dt = " << dt;
        }
}

// A ball that strikes obliquely leaves with e of its speed along the normal. Friction either brings the point that touches to
// rest, which takes 2/7 of the tangential speed, or takes mu (1 + e) of the normal one.
TEST(ArticulatedContact, BallThrownObliquelyLeavesAsCoulombSays) {
    const double e = 0.8, radius = 0.1, down = 1.6, height = 0.15;
    const double hits = std::sqrt(down * down + 2 * 9.81 * height);
    for (double mu : {0.02, 0.5, 1.35})
        for (double dt : {0.02, 0.01, 0.005, 0.002, 0.001}) {
            Scene scene = articulated_scene(dt, 0.3);
            scene.materials[0].restitution = e;
            scene.materials[0].friction = mu;
            add_floor(scene);
            BodySpec ball = body_spec(scene, "ball", shape_spec("sphere", {{"radius", radius}}),
                                      Vec3(0, radius + height, 0));
            ball.linear_velocity = Vec3(1, -down, 0);
            const int body = scene.add_body(ball);
            Simulation simulation(scene);
            while (simulation.time() < 0.3 - 1e-9) EXPECT_TRUE(simulation.step().converged) << dt;
            const double lost = std::min(2.0 / 7, mu * (1 + e) * hits);
            const Mat34 &rate = simulation.state().rate[body], &q = simulation.state().q[body];
            const Mat3 spin = rate.leftCols<3>() * q.leftCols<3>().transpose();
            EXPECT_NEAR(rate(0, 3), 1 - lost, 0.01) << "mu = " << mu << ", dt = " << dt;
            EXPECT_NEAR(-spin(1, 0), 2.5 * lost / radius, 0.05 + 15 * dt) << "mu = " << mu << ", dt = " << dt;
            const double rises = 0.5 * rate(1, 3) * rate(1, 3) + 9.81 * (q(1, 3) - radius);
            EXPECT_NEAR(rises, 0.5 * e * e * hits * hits, 0.02 + 2 * dt) << "mu = " << mu << ", dt = " << dt;
        }
}

// A ball on the floor carries its weight, whatever the step.
TEST(ArticulatedContact, RestingBoxWeighsWhatItWeighs) {
    for (double dt : {0.01, 0.001}) {
        Scene scene = articulated_scene(dt, 1.0);
        add_floor(scene);
        BodySpec box = body_spec(scene, "box", box_spec({1, 1, 1}), Vec3(0, 0.5, 0));
        box.mass = 10;
        scene.add_body(box);
        Simulation simulation(scene);
        for (int i = 0; i < 100; ++i) EXPECT_TRUE(simulation.step().converged);
        Vec3 sum = Vec3::Zero();
        for (const Contact& contact : simulation.outputs().contacts) sum += contact.force;
        EXPECT_NEAR(sum.y(), 98.1, 0.1) << dt;
    }
}

}  // namespace tenon

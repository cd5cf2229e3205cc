// Impacts with restitution under the affine method, at steps from 20 to 1 ms, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::run_for;

constexpr double g = 9.81, radius = 0.2;
constexpr double steps[] = {0.02, 0.01, 0.005, 0.002, 0.001};

Scene bouncing(double restitution, double friction, double dt) {
    Scene scene = test::ground_scene(friction);
    scene.materials[0].restitution = restitution;
    scene.dt = dt;
    return scene;
}

int add_ball(Scene& scene, const std::string& name, const Vec3& at, const Vec3& velocity = Vec3::Zero(),
             double mass = 1.0) {
    BodySpec ball = body_spec(scene, name, shape_spec("sphere", {{"radius", radius}}), at);
    ball.mass = mass;
    ball.linear_velocity = velocity;
    return scene.add_body(ball);
}

TEST(AffineBounces, ABallRisesToTheSquareOfItsRestitution) {
    for (const double e : {1.0, 0.5})
        for (const double dt : steps) {
            Scene scene = bouncing(e, 0.0, dt);
            const int ball = add_ball(scene, "ball", Vec3(0, 1.0 + radius, 0));
            Simulation simulation(scene);
            const double fall = std::sqrt(2.0 / g), end = fall * (1.0 + 1.8 * e);
            double top = 0.0;
            while (simulation.time() < end) {
                EXPECT_TRUE(simulation.step().converged);
                if (simulation.time() > fall + 2 * dt)
                    top = std::max(top, simulation.state().q[ball](1, 3) - radius);
            }
            EXPECT_NEAR(top, e * e, 0.01 * e * e) << "e " << e << ", dt " << dt;
        }
}

// Without restitution what lands stays down, whatever the integrator: BDF2's barrier would give most of the fall back.
TEST(AffineBounces, WithoutRestitutionWhatLandsStays) {
    for (const char* solve : {"islands", "coupled"})
        for (const double dt : steps) {
            Scene scene = bouncing(0.0, 0.0, dt);
            scene.method_params["integrator"] = std::string("bdf2");
            scene.method_params["solve"] = std::string(solve);
            const int ball = add_ball(scene, "ball", Vec3(0, 1.0 + radius, 0));
            Simulation simulation(scene);
            const double fall = std::sqrt(2.0 / g);
            while (simulation.time() < fall + 2 * dt) EXPECT_TRUE(simulation.step().converged);
            double top = 0.0;
            while (simulation.time() < fall + 0.5) {
                EXPECT_TRUE(simulation.step().converged);
                top = std::max(top, simulation.state().q[ball](1, 3) - radius);
            }
            EXPECT_LT(top, 2e-3) << solve << ", dt " << dt;
        }
}

// Ten bounces in four seconds lose nothing of note and win nothing.
TEST(AffineBounces, AnElasticBallGoesOnForever) {
    Scene scene = bouncing(1.0, 0.0, 0.005);
    const int ball = add_ball(scene, "ball", Vec3(0, 0.2 + radius, 0));
    Simulation simulation(scene);
    double last = 0.0, highest = 0.0;
    while (simulation.time() < 4.0) {
        simulation.step();
        const double height = simulation.state().q[ball](1, 3) - radius;
        highest = std::max(highest, height);
        if (simulation.time() > 3.5) last = std::max(last, height);
    }
    EXPECT_LT(highest, 0.2 * 1.001);
    EXPECT_GT(last, 0.2 * 0.97);
}

TEST(AffineBounces, ABoxThatLandsFlatLeavesFlat) {
    for (const double dt : {0.01, 0.001}) {
        Scene scene = bouncing(0.6, 0.3, dt);
        BodySpec box = body_spec(scene, "box", box_spec({0.6, 0.2, 0.4}), Vec3(0, 0.6, 0));
        const int body = scene.add_body(box);
        Simulation simulation(scene);
        double top = 0.0;
        const double fall = std::sqrt(2.0 * 0.5 / g);
        while (simulation.time() < 2.0 * fall) {
            simulation.step();
            if (simulation.time() > fall + 2 * dt)
                top = std::max(top, simulation.state().q[body](1, 3) - 0.1);
        }
        EXPECT_NEAR(top, 0.5 * 0.36, 0.01 * 0.5) << dt;
        EXPECT_NEAR(simulation.state().q[body](1, 1), 1.0, 1e-6);
    }
}

// v1 = v (m1 - e m2) / (m1 + m2), v2 = v (1 + e) m1 / (m1 + m2).
TEST(AffineBounces, TwoBallsShareTheirMomentumAsTheirMassesSay) {
    for (const double dt : steps)
        for (const double e : {0.3, 1.0})
            for (const double mass : {1.0, 20.0}) {
                Scene scene;
                scene.dt = dt;
                scene.gravity.setZero();
                scene.materials[0].restitution = e;
                const int a = add_ball(scene, "a", Vec3(-0.5, 0, 0), Vec3(2, 0, 0)),
                          b = add_ball(scene, "b", Vec3::Zero(), Vec3::Zero(), mass);
                Simulation simulation(scene);
                EXPECT_EQ(run_for(simulation, 0.2), 0);
                EXPECT_NEAR(simulation.state().rate[a](0, 3), 2.0 * (1.0 - e * mass) / (1.0 + mass), 0.02)
                    << dt;
                EXPECT_NEAR(simulation.state().rate[b](0, 3), 2.0 * (1.0 + e) / (1.0 + mass), 0.02) << dt;
            }
}

// Coulomb: a ball that slides throughout the impact loses mu (1 + e) v_n along the floor and gains r / I times its momentum in spin.
TEST(AffineBounces, ABallThrownObliquelyLeavesAsCoulombSays) {
    for (const double dt : {0.01, 0.002}) {
        const double e = 0.7, mu = 0.2, fall = 0.5;
        Scene scene = bouncing(e, mu, dt);
        const int ball = add_ball(scene, "ball", Vec3(-2, fall + radius, 0), Vec3(5, 0, 0));
        Simulation simulation(scene);
        const double down = std::sqrt(2.0 * g * fall);
        run_for(simulation, 1.3 * down / g);
        const double lost = mu * (1.0 + e) * down;
        const double near = dt < 0.005 ? 0.02 : 0.05;  // the weight of the step counts as part of the impact
        EXPECT_NEAR(simulation.state().rate[ball](0, 3), 5.0 - lost, near * lost) << dt;
        const Mat3 turn = simulation.state().rate[ball].leftCols<3>() *
                          simulation.state().q[ball].leftCols<3>().transpose();
        const double inertia = simulation.model().bodies.second_moments[ball].head<2>().sum();
        // the corner of the mesh that lands is not quite below the middle
        EXPECT_NEAR(turn(0, 1), radius * lost / inertia, 0.05 * radius * lost / inertia) << dt;
    }
}

// Balls that all but touch: the impact passes through the row within one step.
TEST(AffineBounces, ARowOfBallsPassesTheImpactOn) {
    for (const double dt : {0.02, 0.005, 0.001}) {
        Scene scene;
        scene.dt = dt;
        scene.gravity.setZero();
        scene.materials[0].restitution = 1.0;
        scene.materials[0].friction = 0.0;
        scene.contact.dhat = 0.002;
        std::vector<int> balls;
        for (int k = 0; k < 4; ++k)
            balls.push_back(add_ball(scene, "ball" + std::to_string(k),
                                     Vec3(0.401 * k - (k == 0 ? 0.2 : 0.0), 0, 0),
                                     Vec3(k == 0 ? 1.5 : 0.0, 0, 0)));
        Simulation simulation(scene);
        run_for(simulation, 0.3);
        EXPECT_NEAR(simulation.state().rate[balls[3]](0, 3), 1.5, 0.03) << dt;
        for (int k = 0; k < 3; ++k)
            EXPECT_NEAR(simulation.state().rate[balls[k]](0, 3), 0.0, 0.03) << dt << ", ball " << k;
    }
}

// A rod on a hinge, I about it, strikes a ball at rest at a distance l: w' = w (I - e m l^2) / (I + m l^2), v = l w (1 + e) I / (I + m l^2).
// Two rods fixed to each other do the same by the coupled solve.
TEST(AffineBounces, AHingedRodStrikesABall) {
    for (const bool coupled : {false, true})
        for (const double dt : {0.01, 0.002}) {
            const double e = 0.8, spin = 2.0, l = 1.0, m = 0.5;
            Scene scene;
            scene.dt = dt;
            scene.gravity.setZero();
            scene.materials[0].restitution = e;
            scene.materials[0].friction = 0.0;
            BodySpec rod = body_spec(scene, "rod", box_spec({1.2, 0.05, 0.05}), Vec3(0.6, 0, 0));
            rod.mass = 2.0;
            rod.angular_velocity = Vec3(0, 0, spin);
            rod.linear_velocity = Vec3(0, 0.6 * spin, 0);
            const int body = scene.add_body(rod);
            scene.joints.push_back(
                test::joint_between(JointType::hinge, -1, body, Vec3::Zero(), Vec3::UnitZ()));
            const int ball = add_ball(scene, "ball", Vec3(l, radius + 0.025 + 0.1, 0), Vec3::Zero(), m);
            if (coupled) scene.method_params["solve"] = std::string("coupled");
            Simulation simulation(scene);
            run_for(simulation, 0.15);
            const double inertia = 2.0 * (1.2 * 1.2 + 0.05 * 0.05) / 12.0 + 2.0 * 0.36;
            const double speed = l * spin * (1.0 + e) * inertia / (inertia + m * l * l);
            EXPECT_NEAR(simulation.state().rate[ball].col(3).norm(), speed, 0.03 * speed) << dt;
            EXPECT_LT(simulation.state().rate[ball](0, 3), 0.0);  // across the rod that has turned
        }
}

}  // namespace
}  // namespace tenon

// Impacts of the impulse method against closed forms.
#include <gtest/gtest.h>

#include "methods/impulse_scene.hpp"
#include "model/rigid_state.hpp"

namespace tenon {
namespace {

using namespace impulse_test;

constexpr double g = 9.81;

// A ball of radius 0.1 m whose lowest point starts `height` above the floor.
Scene dropped_ball(double height, double restitution, double dt) {
    Scene scene = make_scene(0.0);
    scene.dt = dt;
    scene.materials[0].restitution = restitution;
    add_ground(scene);
    add_body(scene, add_shape(scene, "icosphere", {{"radius", 0.1}, {"subdivisions", 3.0}}),
             Vec3(0, height + 0.1, 0));
    return scene;
}

// The greatest height after each impact, within the time.
std::vector<double> rebounds(const Scene& scene, double seconds) {
    Simulation simulation(scene);
    std::vector<double> heights;
    double last_speed = -1, top = 0;
    for (int i = 0; i < static_cast<int>(std::lround(seconds / scene.dt)); ++i) {
        simulation.step();
        const double speed = simulation.state().rate[1](1, 3), height = simulation.state().q[1](1, 3) - 0.1;
        // the parabola through this state, so that the step does not hide its top
        if (speed > 0) top = std::max(top, height + speed * speed / (2 * g));
        if (last_speed > 0 && speed <= 0) heights.push_back(top), top = 0;
        last_speed = speed;
    }
    return heights;
}

TEST(TruthImpulseImpact, ElasticBallRisesToWhereItWasDroppedAndDoesNotClimb) {
    for (double dt : {0.02, 0.01, 0.005}) {
        const std::vector<double> heights = rebounds(dropped_ball(5, 1.0, dt), 20.0);
        // first impact at sqrt(2 h / g), then every two of that
        ASSERT_EQ(heights.size(), 9u) << dt;
        for (double height : heights) EXPECT_NEAR(height, 5.0, 0.02 * 5.0) << dt;
    }
}

TEST(TruthImpulseImpact, BallBouncesToTheSquareOfItsRestitution) {
    for (double dt : {0.01, 0.005, 0.002}) {
        const std::vector<double> heights = rebounds(dropped_ball(5, 0.5, dt), 4.0);
        ASSERT_GE(heights.size(), 3u) << dt;
        for (int n = 0; n < 3; ++n)
            EXPECT_NEAR(heights[n], 5 * std::pow(0.25, n + 1), 0.02 * 5 * std::pow(0.25, n + 1))
                << dt << " " << n;
    }
}

TEST(TruthImpulseImpact, BallWithoutRestitutionStaysDown) {
    Simulation simulation(dropped_ball(5, 0.0, 0.01));
    run(simulation, 2.0);
    EXPECT_NEAR(simulation.state().q[1](1, 3), 0.1, 1e-5);
    EXPECT_EQ(simulation.state().rate[1].norm(), 0.0);
}

// The impulse that turns a ball round is m (1 + e) v, and is recorded as a force over its step.
TEST(TruthImpulseImpact, ImpactForceIsRecorded) {
    Simulation simulation(dropped_ball(1, 0.8, 0.01));
    double impulse = 0, mass = simulation.model().bodies.mass[1];
    for (int i = 0; i < 60; ++i) {
        simulation.step();
        for (const Contact& c : simulation.outputs().contacts) impulse += c.force.y() * 0.01;
    }
    EXPECT_NEAR(impulse, mass * 1.8 * std::sqrt(2 * g * 1.0), 0.001 * impulse);
}

// Five balls in a row on a smooth floor, touching; the first n arrive with speed v. As many leave, with that speed.
TEST(TruthImpulseImpact, NewtonsCradlePassesOnAsManyBallsAsArrive) {
    for (double dt : {0.01, 0.002})
        for (int moving : {1, 2}) {
            Scene scene = make_scene(0.0);
            scene.dt = dt;
            scene.materials[0].restitution = 1.0;
            add_ground(scene);
            const int ball = add_shape(scene, "icosphere", {{"radius", 0.1}, {"subdivisions", 3.0}});
            for (int k = 0; k < 5; ++k) {
                const bool arrives = k < moving;
                add_body(scene, ball, Vec3(0.2 * k - (arrives ? 0.13 : 0.0), 0.1, 0)).linear_velocity =
                    Vec3(arrives ? 2.0 : 0.0, 0, 0);
            }
            Simulation simulation(scene);
            run(simulation, 0.3);
            for (int k = 0; k < 5; ++k)
                EXPECT_NEAR(simulation.state().rate[1 + k](0, 3), k >= 5 - moving ? 2.0 : 0.0, 1e-5)
                    << "ball " << k << " of " << moving << " at " << dt;
        }
}

// Two free bodies: velocities after a central impact by momentum and Newton's law.
TEST(TruthImpulseImpact, CentralImpactOfTwoMasses) {
    for (double e : {0.0, 0.3, 1.0}) {
        Scene scene = make_scene(0.0);
        scene.gravity = Vec3::Zero();
        scene.materials[0].restitution = e;
        const int ball = add_shape(scene, "icosphere", {{"radius", 0.1}, {"subdivisions", 3.0}});
        BodySpec& first = add_body(scene, ball, Vec3(-0.5, 0, 0));
        first.mass = 2.0;
        first.linear_velocity = Vec3(3, 0, 0);
        add_body(scene, ball, Vec3(0.5, 0, 0)).mass = 7.0;
        Simulation simulation(scene);
        run(simulation, 0.5);
        EXPECT_NEAR(simulation.state().rate[0](0, 3), (2 * 3 - 7 * e * 3) / 9, 1e-6) << e;
        EXPECT_NEAR(simulation.state().rate[1](0, 3), 2 * 3 * (1 + e) / 9, 1e-6) << e;
        // where they are at 0.5 s: contact at t = 0.8 / 3
        const double met = 0.8 / 3, left = 0.5 - met;
        EXPECT_NEAR(simulation.state().q[1](0, 3), 0.5 + left * 2 * 3 * (1 + e) / 9, e > 0 ? 1e-6 : 0.02);
    }
}

// A box that lands flat with e = 1 goes straight up again, without spin.
TEST(TruthImpulseImpact, FlatBoxBouncesFlat) {
    Scene scene = make_scene(0.5);
    scene.materials[0].restitution = 1.0;
    add_ground(scene);
    add_body(scene, add_box(scene, Vec3(0.4, 0.2, 0.3)), Vec3(0, 1.1, 0));
    Simulation simulation(scene);
    double top = 0;
    for (int i = 0; i < 300; ++i) {
        simulation.step();
        if (i > 60) top = std::max(top, simulation.state().q[1](1, 3) - 0.1);
    }
    EXPECT_NEAR(top, 1.0, 0.01);
    EXPECT_LT(simulation.state().rate[1].leftCols<3>().norm(), 1e-6);
}

// The floor carries the weight of what rests on it, in every step and for every solve that finds the forces: one box alone,
// two on each other, awake and asleep.
TEST(TruthImpulseImpact, FloorCarriesTheWeight) {
    for (int boxes : {1, 2})
        for (bool sleeping : {false, true}) {
            Scene scene = make_scene(0.5);
            scene.method_params["sleeping"] = sleeping;
            add_ground(scene);
            for (int i = 0; i < boxes; ++i)
                add_body(scene, add_box(scene, Vec3(0.4, 0.2, 0.3)), Vec3(0, 0.12 + 0.21 * i, 0));
            Simulation simulation(scene);
            double weight = 0;
            for (int i = 1; i <= boxes; ++i) weight += simulation.model().bodies.mass[i] * g;
            for (int step = 1; step <= 200; ++step) {
                simulation.step();
                if (step < 100 || step % 50 != 0) continue;
                double up = 0;
                for (const Contact& contact : simulation.outputs().contacts)
                    if (contact.a == 0 || contact.b == 0) up += std::abs(contact.force.y());
                EXPECT_NEAR(up, weight, 0.02 * weight)
                    << boxes << " boxes, sleeping " << sleeping << ", step " << step;
            }
        }
}

// The end of a square bar, along z, on a free thin rod along y, off its middle and without restitution. The rod turns away
// from the bar, so that the bar's edge nearest to the middle of the rod hands over
//   J = v / (1/m1 + 1/m2 + y1^2/I1 + y2^2/I2).
// Within a step the rod then turns by up to hundreds of radians, with its moments 1250 to 1.
TEST(TruthImpulseImpact, BarSetsAThinRodSpinningWithoutAddingEnergy) {
    const double side = 0.004, thin = 0.002, length = 0.1, offset = 0.02, way = 0.17;
    const double m1 = 7800 * side * side * length, m2 = 1000 * thin * thin * length;
    const double I1 = m1 * (length * length + side * side) / 12,
                 I2 = m2 * (length * length + thin * thin) / 12;
    const double y1 = side / 2, y2 = offset - side / 2;
    for (double dt : {0.02, 0.01, 0.005, 0.001})
        for (double speed : {1.0, 5.0, 20.0, 100.0, 500.0}) {
            Scene scene = make_scene(0.0);
            scene.gravity = Vec3::Zero();
            scene.dt = dt;
            BodySpec& bar = add_body(scene, add_box(scene, Vec3(side, side, length)),
                                     Vec3(0, offset, -0.5 * (thin + length) - way));
            bar.mass = m1;
            bar.linear_velocity = Vec3(0, 0, speed);
            add_body(scene, add_box(scene, Vec3(thin, length, thin)), Vec3::Zero()).mass = m2;
            Simulation simulation(scene);
            const double J = speed / (1 / m1 + 1 / m2 + y1 * y1 / I1 + y2 * y2 / I2),
                         start = 0.5 * m1 * speed * speed;
            const int steps = static_cast<int>(std::ceil(way / speed / dt)) + 6;
            bool met = false;
            for (int step = 0; step < steps; ++step) {
                simulation.step();
                const State& state = simulation.state();
                const model::RigidState bodies[] = {model::rigid_state(state, 0),
                                                    model::rigid_state(state, 1)};
                double energy = 0;
                for (int k : {0, 1})
                    energy += model::kinetic_energy(bodies[k], k == 0 ? m1 : m2,
                                                    simulation.model().bodies.moments_of_inertia(k));
                EXPECT_LE(energy, (1 + 1e-6) * start) << speed << " m/s, " << dt << " s, step " << step;
                if (met || bodies[1].velocity.z() == 0) continue;
                met = true;
                EXPECT_NEAR(m2 * bodies[1].velocity.z(), J, 0.001 * J) << speed << " m/s, " << dt << " s";
                EXPECT_NEAR(I2 * bodies[1].spin.x(), J * y2, 0.001 * J * y2)
                    << speed << " m/s, " << dt << " s";
                EXPECT_NEAR(energy, start - 0.5 * J * speed, 0.001 * start);
            }
            EXPECT_TRUE(met) << speed << " m/s, " << dt << " s";
        }
}

// A free rod that turns by more than a radian in a step, nearly about a transverse axis: as a symmetric top, by
//   R(t) = exp(t L / I1) R(0) exp(t (1/I3 - 1/I1) L3 e3), whatever the step.
TEST(TruthImpulseImpact, ThinRodTurningFarInAStepMovesAsASymmetricTop) {
    for (double dt : {0.02, 0.005}) {
        Scene scene = make_scene(0.0);
        scene.gravity = Vec3::Zero();
        scene.dt = dt;
        const Vec3 spin(80, 3, -5);
        add_body(scene, add_box(scene, Vec3(0.002, 0.1, 0.002)), Vec3::Zero()).angular_velocity = spin;
        Simulation simulation(scene);
        const Vec3 moments = simulation.model().bodies.moments_of_inertia(0), L = moments.cwiseProduct(spin);
        const double t = 0.2, own = (1 / moments.y() - 1 / moments.x()) * L.y();
        run(simulation, t);
        const Mat3 R =
            (exponential_map(t * L / moments.x()) * exponential_map(Vec3(0, t * own, 0))).toRotationMatrix();
        const model::RigidState body = model::rigid_state(simulation.state(), 0);
        EXPECT_LT((body.rotation.toRotationMatrix() - R).norm(), 1e-6) << dt;
        const Vec3 now = R * moments.cwiseInverse().cwiseProduct(R.transpose() * L);
        EXPECT_LT((body.spin - now).norm(), 1e-6 * spin.norm()) << dt;
    }
}

// The same with three different moments: energy and angular momentum stay.
TEST(TruthImpulseImpact, ThinBladeTurningFarInAStepKeepsEnergyAndMomentum) {
    Scene scene = make_scene(0.0);
    scene.gravity = Vec3::Zero();
    scene.dt = 0.02;
    const Vec3 spin(2, 60, 40);
    add_body(scene, add_box(scene, Vec3(0.1, 0.01, 0.002)), Vec3::Zero()).angular_velocity = spin;
    Simulation simulation(scene);
    const Vec3 moments = simulation.model().bodies.moments_of_inertia(0), L = moments.cwiseProduct(spin);
    const double energy = 0.5 * spin.dot(L);
    for (int step = 0; step < 100; ++step) {
        simulation.step();
        const model::RigidState body = model::rigid_state(simulation.state(), 0);
        EXPECT_NEAR(model::kinetic_energy(body, 0.0, moments), energy, 0.02 * energy) << step;
        EXPECT_LT((model::spin_momentum(body, moments) - L).norm(), 1e-9 * L.norm()) << step;
    }
}

}  // namespace
}  // namespace tenon

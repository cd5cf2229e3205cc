// Bodies that must stay where they are, and bodies that must move as theory says.
#include <gtest/gtest.h>

#include "methods/impulse_scene.hpp"

namespace tenon {
namespace {

using namespace impulse_test;

// The farthest any body moves from its start within the time.
double farthest_move(Scene scene, double seconds) {
    Simulation simulation(std::move(scene));
    std::vector<Mat34> start = simulation.state().q;
    double farthest = 0;
    const int steps = static_cast<int>(std::lround(seconds / simulation.dt()));
    for (int s = 0; s < steps; ++s) {
        simulation.step();
        for (std::size_t i = 0; i < start.size(); ++i) {
            const Shape& shape = simulation.model().shape_of(static_cast<int>(i));
            if (simulation.state().type[i] == BodyType::static_body) continue;
            for (const Vec3& v : shape.mesh.vertices)
                farthest = std::max(farthest,
                                    (transform(simulation.state().q[i], v) - transform(start[i], v)).norm());
        }
    }
    return farthest;
}

TEST(ImpulseRest, TowerOfTenStandsStill) {
    Scene scene = make_scene();
    add_ground(scene);
    const int box = add_box(scene, Vec3(0.5, 0.5, 0.5));
    for (int i = 0; i < 10; ++i) add_body(scene, box, Vec3(0, 0.25 + 0.5 * i, 0));
    scene.method_params["sleeping"] = false;
    EXPECT_LT(farthest_move(scene, 20), 1e-3);
}

TEST(ImpulseRest, HeavyBoxOnALightOneStandsStill) {
    Scene scene = make_scene();
    add_ground(scene);
    const int box = add_box(scene, Vec3(0.5, 0.5, 0.5));
    add_body(scene, box, Vec3(0, 0.25, 0)).mass = 1.0;
    add_body(scene, box, Vec3(0, 0.75, 0)).mass = 100.0;
    scene.method_params["sleeping"] = false;
    EXPECT_LT(farthest_move(scene, 20), 1e-3);
}

TEST(ImpulseRest, PyramidWithSleepingFallsAsleep) {
    Scene scene = make_scene();
    add_ground(scene);
    const int box = add_box(scene, Vec3(0.5, 0.5, 0.5));
    for (int row = 0; row < 5; ++row)
        for (int i = 0; i < 5 - row; ++i)
            add_body(scene, box, Vec3(0.52 * (i + 0.5 * row), 0.25 + 0.5 * row, 0));
    Simulation simulation(scene);
    const auto start = simulation.state().q;
    StepReport report;
    for (int i = 0; i < 200; ++i) report = simulation.step();
    for (std::size_t i = 0; i < start.size(); ++i)
        EXPECT_LT((simulation.state().q[i].col(3) - start[i].col(3)).norm(), 1e-3);
    double asleep = -1;
    for (const auto& [name, value] : report.metrics)
        if (name == "asleep") asleep = value;
    EXPECT_EQ(asleep, 15);
    EXPECT_EQ(energies(simulation.model(), simulation.state()).kinetic, 0);
    EXPECT_GT(simulation.outputs().contacts.size(), 30u);  // forces of sleepers are still recorded
}

TEST(ImpulseRest, ContactForcesCarryTheWeights) {
    Scene scene = make_scene();
    add_ground(scene);
    const int box = add_box(scene, Vec3(1, 1, 1));
    add_body(scene, box, Vec3(0, 0.5, 0)).mass = 3.0;
    add_body(scene, box, Vec3(0, 1.5, 0)).mass = 2.0;
    Simulation simulation(scene);
    run(simulation, 0.3);
    double floor = 0, between = 0;
    for (const Contact& c : simulation.outputs().contacts) {
        ASSERT_LT(c.a, c.b);
        (c.a == 0 ? floor : between) += c.force.y();
    }
    EXPECT_NEAR(floor, 5 * 9.81, 1e-2);
    EXPECT_NEAR(between, 2 * 9.81, 1e-2);
}

class Incline : public testing::TestWithParam<double> {};

TEST_P(Incline, BlockSticksOrSlidesAsCoulombSays) {
    const double mu = GetParam(), angle = std::atan(0.5);
    Scene scene = make_scene(mu);
    add_body(scene, add_shape(scene, "plane"), Vec3::Zero(), BodyType::static_body).rotation =
        slope_rotation(angle);
    const Vec3 normal(std::sin(angle), std::cos(angle), 0), down(std::cos(angle), -std::sin(angle), 0);
    add_body(scene, add_box(scene, Vec3(0.4, 0.2, 0.3)), 0.1 * normal).rotation = slope_rotation(angle);
    Simulation simulation(scene);
    run(simulation, 1.0);
    const double along = down.dot(simulation.state().q[1].col(3));
    const double acceleration = 9.81 * (std::sin(angle) - mu * std::cos(angle));
    if (acceleration <= 0) {
        EXPECT_LT(std::abs(along), 1e-9);
    } else {
        EXPECT_NEAR(along, acceleration / 2, 0.002 * acceleration / 2);
    }
}
INSTANTIATE_TEST_SUITE_P(Friction, Incline, testing::Values(0.0, 0.2, 0.4, 0.6, 0.8));

TEST(ImpulseRest, BoxOnASlopeHasExactlyNoSpeedAfterAnyStep) {
    for (const char* solver : {"gauss-seidel", "decomposition"}) {
        Scene scene = make_scene(0.8);
        scene.method_params["solver"] = std::string(solver);
        scene.method_params["sleeping"] = false;
        const double angle = std::atan(0.5);
        add_body(scene, add_shape(scene, "plane"), Vec3::Zero(), BodyType::static_body).rotation =
            slope_rotation(angle);
        const Vec3 normal(std::sin(angle), std::cos(angle), 0);
        add_body(scene, add_box(scene, Vec3(0.4, 0.2, 0.3)), 0.1 * normal).rotation = slope_rotation(angle);
        Simulation simulation(scene);
        for (int i = 0; i < 100; ++i) {
            simulation.step();
            EXPECT_EQ(simulation.state().rate[1].norm(), 0.0) << i;
        }
    }
}

TEST(ImpulseMotion, SpinningBoxSlowsByFrictionAtItsCorners) {
    // Four corners carry a quarter of the weight each, at a distance r: spin falls by mu m g r / I a second.
    const double mu = 0.3, spin = 6;
    Scene scene = make_scene(mu);
    add_ground(scene);
    add_body(scene, add_box(scene, Vec3(0.4, 0.1, 0.4)), Vec3(0, 0.05, 0)).angular_velocity =
        Vec3(0, spin, 0);
    Simulation simulation(scene);
    const Bodies& bodies = simulation.model().bodies;
    const double r = 0.2 * std::sqrt(2.0), inertia = bodies.mass[1] * (0.16 + 0.16) / 12;
    const double slowing = mu * bodies.mass[1] * 9.81 * r / inertia, time = 0.1;
    run(simulation, time);
    const Mat3 W =
        simulation.state().rate[1].leftCols<3>() * simulation.state().q[1].leftCols<3>().transpose();
    EXPECT_NEAR(W(0, 2), spin - slowing * time, 0.01 * spin);
    run(simulation, 1.0);
    EXPECT_LT(simulation.state().rate[1].norm(), 1e-6);  // and it stops
}

TEST(ImpulseMotion, SphereRollsAtFiveSevenths) {
    const double angle = 0.2;
    Scene scene = make_scene(0.8);
    add_body(scene, add_shape(scene, "plane"), Vec3::Zero(), BodyType::static_body).rotation =
        slope_rotation(angle);
    const Vec3 normal(std::sin(angle), std::cos(angle), 0), down(std::cos(angle), -std::sin(angle), 0);
    add_body(scene, add_shape(scene, "icosphere", {{"radius", 0.5}, {"subdivisions", 4.0}}), 0.5 * normal);
    Simulation simulation(scene);
    run(simulation, 1.0);
    // the mesh's moment differs from 2/5 m r^2 by the facets: use the body's own, I = k m r^2
    const Bodies& bodies = simulation.model().bodies;
    const double k = bodies.moments_of_inertia(1).x() / (bodies.mass[1] * 0.25);
    const double acceleration = 9.81 * std::sin(angle) / (1 + k);
    EXPECT_NEAR(k, 0.4, 0.005);
    EXPECT_NEAR(down.dot(simulation.state().q[1].col(3)), acceleration / 2, 0.002 * acceleration / 2);
}

TEST(ImpulseMotion, SlidingBallEndsRollingWithFiveSeventhsOfItsSpeed) {
    Scene scene = make_scene(0.3);
    add_ground(scene);
    BodySpec& ball = add_body(scene, add_shape(scene, "icosphere", {{"radius", 0.5}, {"subdivisions", 4.0}}),
                              Vec3(0, 0.5, 0));
    ball.linear_velocity = Vec3(3, 0, 0);
    Simulation simulation(scene);
    run(simulation, 2.0);
    const Bodies& bodies = simulation.model().bodies;
    const double k = bodies.moments_of_inertia(1).x() / (bodies.mass[1] * 0.25);
    EXPECT_NEAR(simulation.state().rate[1](0, 3), 3.0 / (1 + k), 0.01 * 3.0 / 1.4);  // 5/7 for k = 2/5
}

TEST(ImpulseMotion, SpinningTopPrecesses) {
    // A fast cone on its tip: precession rate m g l / (I3 w3), nutation small. The tip is held by friction.
    Scene scene = make_scene(1.0);
    scene.dt = 0.002;
    add_ground(scene);
    const double tilt = 0.2, spin = 150;
    const double radius = 0.3, length = 0.4, l = 0.75 * length;  // tip to centre of mass
    const Quat upside_down(Eigen::AngleAxisd(M_PI, Vec3::UnitX()));
    const Quat tilted = Quat(Eigen::AngleAxisd(tilt, Vec3::UnitZ())) * upside_down;
    const Vec3 axis = tilted * -Vec3::UnitY();  // from the tip to the centre
    BodySpec& top = add_body(
        scene, add_shape(scene, "cone", {{"radius", radius}, {"length", length}, {"segments", 128.0}}),
        0.5 * length * axis);
    top.rotation = tilted;
    Simulation probe(scene);
    const double mass = probe.model().bodies.mass[1];
    const Vec3 moments = probe.model().bodies.moments_of_inertia(1);
    const double I3 = moments.y() < 0 ? 0 : 0.3 * mass * radius * radius;
    const double I1 =
        0.15 * mass * radius * radius + 0.0375 * mass * length * length + mass * l * l;  // about the tip
    // steady precession: I1 W^2 cos(tilt) - I3 w3 W + m g l = 0, the slow root
    const double A = I1 * std::cos(tilt), B = -I3 * spin, C = mass * 9.81 * l;
    const double W = (-B - std::sqrt(B * B - 4 * A * C)) / (2 * A);
    // spin about its own axis plus precession about the vertical, through the tip
    const double w3 = spin;
    const Vec3 omega = W * Vec3::UnitY() + (w3 - W * std::cos(tilt)) * axis;
    scene.bodies[1].angular_velocity = omega;
    scene.bodies[1].linear_velocity = omega.cross(l * axis);
    Simulation simulation(scene);
    const double time = 0.6;
    double turned = 0;
    Vec3 last = axis;
    for (int i = 0; i < static_cast<int>(time / scene.dt); ++i) {
        simulation.step();
        const Mat34& q = simulation.state().q[1];
        const Quat body(Mat3(q.leftCols<3>()));
        const Vec3 now = body * simulation.model().shape_of(1).geometry_frame.rotation * -Vec3::UnitY();
        turned +=
            std::atan2(last.z() * now.x() - last.x() * now.z(), last.x() * now.x() + last.z() * now.z());
        last = now;
    }
    EXPECT_NEAR(turned, W * time, 0.01 * W * time);
    EXPECT_NEAR(std::acos(last.y()), tilt, 0.02);
}

TEST(ImpulseMotion, FreeFlightIsAParabolaOfTheTrueHeightAndKeepsItsEnergy) {
    Scene scene = make_scene();
    add_ground(scene);
    BodySpec& body = add_body(scene, add_box(scene, Vec3(0.2, 0.3, 0.4)), Vec3(0, 2, 0));
    body.linear_velocity = Vec3(3, 5, -1);
    body.angular_velocity = Vec3(1, 8, 2);
    Simulation simulation(scene);
    const double start = energies(simulation.model(), simulation.state()).total();
    run(simulation, 1.0);
    const Vec3 expected = Vec3(0, 2, 0) + Vec3(3, 5, -1) + 0.5 * Vec3(0, -9.81, 0);
    EXPECT_LT((simulation.state().q[1].col(3) - expected).norm(), 1e-12);
    EXPECT_NEAR(energies(simulation.model(), simulation.state()).total(), start,
                1e-6 * start);  // turning is second order
}

TEST(ImpulseMotion, BallBouncesToTheSquareOfItsRestitution) {
    Scene scene = make_scene();
    scene.dt = 0.002;
    scene.materials[0].restitution = 0.7;
    add_ground(scene);
    add_body(scene, add_shape(scene, "icosphere", {{"radius", 0.1}}), Vec3(0, 1.1, 0));
    Simulation simulation(scene);
    double highest = 0;
    bool bounced = false;
    for (int i = 0; i < 400; ++i) {
        simulation.step();
        bounced = bounced || simulation.state().rate[1](1, 3) > 0;
        if (bounced) highest = std::max(highest, simulation.state().q[1](1, 3) - 0.1);
    }
    EXPECT_NEAR(highest, 0.49, 0.015);
}

TEST(ImpulseMotion, SlowImpactsDoNotBounce) {
    for (double threshold : {0.6, 0.2}) {
        Scene scene = make_scene();
        scene.dt = 0.002;
        scene.materials[0].restitution = 0.7;
        scene.method_params["restitution_threshold"] = threshold;
        add_ground(scene);
        add_body(scene, add_shape(scene, "icosphere", {{"radius", 0.1}}),
                 Vec3(0, 0.11, 0));  // meets at 0.44 m/s
        Simulation simulation(scene);
        double fastest_up = 0;
        for (int i = 0; i < 100; ++i) {
            simulation.step();
            fastest_up = std::max(fastest_up, simulation.state().rate[1](1, 3));
        }
        EXPECT_NEAR(fastest_up, threshold > 0.44 ? 0.0 : 0.7 * std::sqrt(2 * 9.81 * 0.01), 0.02) << threshold;
    }
}

TEST(ImpulseMethod, PositionCorrectionMovesBodiesApartWithoutGivingThemSpeed) {
    Scene scene = make_scene();
    scene.gravity = Vec3::Zero();
    const int box = add_box(scene, Vec3(1, 1, 1));
    add_body(scene, box, Vec3::Zero()).mass = 1.0;
    add_body(scene, box, Vec3(0, 0.9, 0)).mass = 3.0;
    Simulation simulation(scene);
    StepReport report;
    for (int i = 0; i < 100; ++i) {
        report = simulation.step();
        // contacts are solved in single precision: of the 17 m/s at which boxes may be pushed apart, 5e-6 m/s stay
        EXPECT_LT(energies(simulation.model(), simulation.state()).kinetic, 1e-10) << i;
    }
    EXPECT_GT(report.min_distance, -1e-4);
    const Vec3 centre = (simulation.state().q[0].col(3) + 3 * simulation.state().q[1].col(3)) / 4;
    EXPECT_LT((centre - Vec3(0, 0.675, 0)).norm(),
              1e-12);  // what correction moves is reported apart, and balances
    double carried = -1;
    for (const auto& [name, value] : report.metrics)
        if (name == "correction_momentum") carried = value;
    EXPECT_GE(carried, 0);
    EXPECT_LT(carried, 1e-12);
}

TEST(ImpulseMethod, RefusesJointsAndElasticBodiesByPath) {
    Scene scene = make_scene();
    add_ground(scene);
    add_body(scene, add_box(scene, Vec3(1, 1, 1)), Vec3(0, 0.5, 0));
    Scene jointed = scene;
    jointed.joints.emplace_back();
    jointed.joints[0].bodies = {-1, 1};
    try {
        Simulation simulation(jointed);
        FAIL() << "joints were accepted";
    } catch (const InputError& error) {
        EXPECT_EQ(error.path(), "joints[0]");
    }
    scene.elastic.emplace_back();
    try {
        Simulation simulation(scene);
        FAIL() << "elastic bodies were accepted";
    } catch (const InputError& error) {
        EXPECT_EQ(error.path(), "elastic[0]");
    }
}

}  // namespace
}  // namespace tenon

// Contact physics against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "math/parallel.hpp"
#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::builtin;
using test::ground_scene;

double slid(const std::map<std::string, ParamValue>& values) {
    Simulation simulation(builtin("incline", values));
    const Vec3 start = simulation.state().q[1].col(3);
    while (simulation.time() < simulation.scene().seconds - 1e-9) EXPECT_TRUE(simulation.step().converged);
    return (simulation.state().q[1].col(3) - start).norm();
}

TEST(AffinePhysics, BlockSticksAboveAndSlidesBelowTheThreshold) {
    // tan = 0.5: mu = 0.51 holds with under a millimetre of creep in 5 s, mu = 0.49 slides.
    EXPECT_LT(slid({{"mu", 0.51}, {"seconds", 5.0}}), 1e-3);
    const double angle = std::atan(0.5), way = 0.5 * 9.81 * (std::sin(angle) - 0.49 * std::cos(angle)) * 4.0;
    EXPECT_NEAR(slid({{"mu", 0.49}, {"seconds", 2.0}}), way, 0.01 * way);
}

TEST(AffinePhysics, SlidingDistanceMatchesTheory) {
    const double angle = std::atan(0.5), way = 0.5 * 9.81 * (std::sin(angle) - 0.3 * std::cos(angle)) * 4.0;
    // Implicit Euler adds a h t / 2 = 0.5 % at 2 s.
    EXPECT_NEAR(slid({{"mu", 0.3}, {"seconds", 2.0}}), way, 0.01 * way);
}

TEST(AffinePhysics, ContactForcesCarryTheWeightOfAStack) {
    Scene scene = ground_scene(0.3);
    scene.contact.dhat = 0.005;
    for (int k = 0; k < 2; ++k)
        scene.add_body(body_spec(scene, "box" + std::to_string(k), box_spec({1, 1, 1}),
                                 Vec3(0.1 * k, 0.504 + 1.004 * k, 0)));
    Simulation simulation(scene);
    for (int k = 0; k < 100; ++k) simulation.step();
    double on_floor = 0, between = 0;
    for (const Contact& contact : simulation.outputs().contacts)
        (contact.a == 0 ? on_floor : between) += contact.force.y();
    const double weight = 1000.0 * 9.81;
    EXPECT_NEAR(on_floor, 2 * weight, 0.01 * weight);
    EXPECT_NEAR(between, weight, 0.01 * weight);
}

// Sum over all bodies of the integral of rho x cross y, for two fields that are affine in the rest position.
Vec3 moment_of(const Bodies& bodies, const std::vector<Mat34>& x, const std::vector<Mat34>& y) {
    Vec3 sum = Vec3::Zero();
    for (int i = 0; i < bodies.size(); ++i) {
        for (int k = 0; k < 3; ++k) sum += bodies.second_moments[i][k] * x[i].col(k).cross(y[i].col(k));
        sum += bodies.mass[i] * x[i].col(3).cross(y[i].col(3));
    }
    return sum;
}

TEST(AffinePhysics, IsolatedCloudKeepsItsMomentumUpToWhatTheIntegratorLoses) {
    Scene scene;
    scene.gravity = Vec3::Zero();
    scene.dt = 0.01;
    scene.method_params["tolerance"] = 1e-7;
    scene.materials[0].friction = 0.0;  // its two forces act a gap apart: a couple of that size
    for (int k = 0; k < 8; ++k) {
        BodySpec body =
            body_spec(scene, "box" + std::to_string(k), box_spec({0.5, 0.4, 0.3}),
                      Vec3(0.7 * (k % 2), 0.7 * (k / 2 % 2), 0.6 * (k / 4)), turn(20 * k, Vec3(1, 2, k)));
        body.linear_velocity = -2.0 * body.position + Vec3(1.0, 0.2 * k, 0);
        body.angular_velocity = Vec3(1, -2, 0.5 * k);
        scene.add_body(body);
    }
    Simulation simulation(scene);
    const Bodies& bodies = simulation.model().bodies;
    const State& state = simulation.state();
    const Vec3 before = linear_momentum(simulation.model(), simulation.state());
    const double size = 60.0 * 3.0;  // kg m/s of one body
    int touched = 0;
    for (int k = 0; k < 40; ++k) {
        const std::vector<Mat34> rate = state.rate;
        const Vec3 spin = moment_of(bodies, state.q, state.rate);
        const double energy = energies(simulation.model(), simulation.state()).kinetic;
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged);
        touched += report.contacts > 0;
        // With x' = x + h v' the angular momentum changes by h times the integral of rho v' cross v.
        const Vec3 lost = scene.dt * moment_of(bodies, state.rate, rate);
        EXPECT_LT((moment_of(bodies, state.q, state.rate) - spin - lost).norm(), 1e-5 * size);
        EXPECT_LT(energies(simulation.model(), simulation.state()).kinetic, energy * (1 + 1e-6));
    }
    EXPECT_GT(touched, 10);
    EXPECT_LT((linear_momentum(simulation.model(), simulation.state()) - before).norm(), 1e-5 * size);
}

// Nothing but a wall at x = 5, and no gravity.
Scene wall_ahead(double thickness) {
    Scene scene;
    scene.gravity = Vec3::Zero();
    scene.dt = 0.01;
    BodySpec wall = body_spec(scene, "wall", box_spec({thickness, 4, 4}), Vec3(5, 0, 0));
    wall.type = BodyType::static_body;
    scene.add_body(wall);
    return scene;
}

TEST(AffinePhysics, NothingTunnelsHoweverFast) {
    Scene scene = wall_ahead(0.01);
    BodySpec bullet =
        body_spec(scene, "bullet", box_spec({0.1, 0.1, 0.1}), Vec3::Zero(), turn(30, Vec3(1, 1, 0)));
    bullet.linear_velocity = Vec3(5000, 0, 0);  // 50 m in one step
    scene.add_body(bullet);
    Simulation simulation(scene);
    for (int k = 0; k < 5; ++k) simulation.step();
    EXPECT_LT(simulation.state().q[1](0, 3), 5.0);
}

TEST(AffinePhysics, BodiesThatFlyTogetherHitEachOtherWhereTheFirstStops) {
    Scene scene = wall_ahead(0.1);
    for (int k = 0; k < 4; ++k) {
        BodySpec box = body_spec(scene, "box" + std::to_string(k), box_spec({0.2, 0.2, 0.2}), Vec3(-k, 0, 0));
        box.linear_velocity = Vec3(1000, 0, 0);  // ten metres in a step
        scene.add_body(box);
    }
    Simulation simulation(scene);
    for (int k = 0; k < 4; ++k) {
        simulation.step();
        double in_front = 4.95 + 0.1;
        for (int body = 1; body < 5; ++body) {
            const double x = simulation.state().q[body](0, 3);
            ASSERT_LT(x, in_front - 0.19) << "body " << body << ", step " << k;
            in_front = x;
        }
    }
}

TEST(AffinePhysics, ScriptedBodyStopsAtAStaticOneAndSaysSo) {
    Scene scene = ground_scene(0.0);
    BodySpec press = body_spec(scene, "press", box_spec({0.5, 0.5, 0.5}), Vec3(0, 0.6, 0));
    press.type = BodyType::kinematic_body;
    press.motion = {{0.0, Vec3(0, 0.6, 0), Quat::Identity()}, {0.5, Vec3(0, -0.5, 0), Quat::Identity()}};
    scene.add_body(press);
    Simulation simulation(scene);
    std::string said;
    for (int k = 0; k < 40; ++k)
        for (const std::string& warning : simulation.step().warnings) said = warning;
    EXPECT_GT(simulation.state().q[1](1, 3), 0.25);
    EXPECT_NE(said.find("press"), std::string::npos);
}

TEST(AffinePhysics, RefusesAnOverlappingStartByName) {
    Scene scene = ground_scene(0.3);
    scene.add_body(body_spec(scene, "sunk", box_spec({1, 1, 1}), Vec3(0, 0.3, 0)));
    try {
        Simulation simulation(scene);
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("sunk"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("floor"), std::string::npos);
    }
}

TEST(AffinePhysics, MinimumSeparationIsKept) {
    Scene scene = ground_scene(0.3);
    BodySpec box = body_spec(scene, "box", box_spec({1, 1, 1}), Vec3(0, 0.75, 0));
    box.min_separation = 0.05;
    scene.add_body(box);
    Simulation simulation(scene);
    double closest = 1e300;
    for (int k = 0; k < 60; ++k) closest = std::min(closest, simulation.step().min_distance);
    EXPECT_GT(closest, 0.05);
    EXPECT_LT(closest, 0.06);
}

struct RunResult {
    std::vector<Mat34> q;
    int kept = 0;     // steps that used the candidates of an earlier one
    int renewed = 0;  // steps that bodies left their margin in
};

RunResult run_steps(const Scene& scene, int steps, int threads, int resume_at) {
    set_threads(threads);
    RunResult run;
    auto simulation = std::make_unique<Simulation>(scene);
    for (int k = 0; k < steps; ++k) {
        if (k == resume_at) {
            std::stringstream state;
            simulation->save(state);
            simulation = std::make_unique<Simulation>(scene);
            simulation->load(state);
        }
        for (const auto& [name, value] : simulation->step().metrics) {
            run.kept += name == "candidate_builds" && value == 0.0;
            run.renewed += name == "candidate_builds" && value > 1.0;
        }
    }
    set_threads(0);
    run.q = simulation->state().q;
    return run;
}

RunResult run_wall(int threads, int resume_at, double dt = 0.0) {
    Scene scene = builtin("wrecking-ball", {{"blocks", 12.0}, {"chain", false}});
    if (dt > 0.0) scene.dt = dt;
    return run_steps(scene, 30, threads, resume_at);
}

// A bolt turns in its nut: it moves by many contact ranges in a step, but little compared with its size, and candidates
// serve two steps or more.
TEST(AffinePhysics, SlidingBodiesKeepTheirCandidatesForSeveralSteps) {
    const Scene scene = builtin("screw", {{"dt", 0.01}});
    const RunResult one = run_steps(scene, 60, 1, -1);
    EXPECT_GE(one.kept, 24);
    EXPECT_LE(one.kept, 45);
    // Resumed where candidates begin to serve and where they go on.
    for (const int resume_at : {50, 51, 52, 53})
        EXPECT_EQ(one.q, run_steps(scene, 60, 1 + resume_at % 2, resume_at).q) << resume_at;
}

TEST(AffinePhysics, SameBitsForAnyNumberOfThreadsAndAfterResuming) {
    const RunResult one = run_wall(1, -1), two = run_wall(2, -1), resumed = run_wall(1, 17);
    for (std::size_t i = 0; i < one.q.size(); ++i) {
        EXPECT_EQ(one.q[i], two.q[i]) << i;
        EXPECT_EQ(one.q[i], resumed.q[i]) << i;
    }
}

TEST(AffinePhysics, SameBitsWhereThreadsShareTheSearchOfOnePair) {
    std::vector<Mat34> q[2];
    for (const int threads : {1, 2}) {
        set_threads(threads);
        Simulation simulation(builtin("screw", {{"preset", std::string("paper")}}));
        double candidates = 0.0;
        for (int k = 0; k < 8; ++k)
            for (const auto& [name, value] : simulation.step().metrics)
                if (name == "candidates") candidates = value;
        EXPECT_GT(candidates, 5000.0);
        q[threads - 1] = simulation.state().q;
    }
    set_threads(0);
    EXPECT_EQ(q[0], q[1]);
}

// Detailed bodies on cones of a few long triangles, which are searched one by one.
TEST(AffinePhysics, SameBitsOfDetailedBodiesForAnyNumberOfThreadsAndAfterResuming) {
    const Scene scene = builtin("spiky-pile", {{"detail", 20.0}});
    const RunResult one = run_steps(scene, 60, 1, -1);
    EXPECT_GT(one.renewed, 3);
    EXPECT_EQ(one.q, run_steps(scene, 60, 2, -1).q);
    for (const int resume_at : {34, 37, 40, 45, 50})
        EXPECT_EQ(one.q, run_steps(scene, 60, 1, resume_at).q) << resume_at;
}

TEST(AffinePhysics, SmallStepsShareCandidatesAlsoAfterResuming) {
    const RunResult whole = run_wall(1, -1, 5e-4);
    EXPECT_GT(whole.kept, 15);
    for (const int resume_at : {9, 10, 11, 12, 13}) {
        const RunResult resumed = run_wall(1, resume_at, 5e-4);
        for (std::size_t i = 0; i < whole.q.size(); ++i) EXPECT_EQ(whole.q[i], resumed.q[i]) << i;
    }
}

// A ball hits a wall: the bodies that leave their margin get new candidates within the step, and the others keep theirs for the
// steps after it.
TEST(AffinePhysics, CandidatesOfSomeBodiesLastAlsoAfterResuming) {
    const Scene scene = builtin("wrecking-ball", {{"blocks", 60.0}, {"chain", false}});
    const RunResult whole = run_steps(scene, 16, 1, -1);
    EXPECT_GE(whole.renewed, 3);
    for (const int resume_at : {4, 5, 6, 7, 9, 12, 15})
        EXPECT_EQ(whole.q, run_steps(scene, 16, 1 + resume_at % 2, resume_at).q) << resume_at;
}

TEST(AffinePhysics, HingesStayClosedAndAPendulumKeepsItsPeriod) {
    // A rod of length L hinged at its end swings like a pendulum of length 2 L / 3: small swings take
    // 2 pi sqrt(2 L / (3 g)).
    Scene scene;
    scene.dt = 0.002;
    scene.method_params["integrator"] = std::string("newmark");
    const double L = 0.6, tilt = 5.0 * EIGEN_PI / 180.0;
    BodySpec rod =
        body_spec(scene, "rod", box_spec({0.01, L, 0.01}),
                  Vec3(0.5 * L * std::sin(tilt), -0.5 * L * std::cos(tilt), 0), turn(5.0, Vec3::UnitZ()));
    scene.add_body(rod);
    JointSpec hinge;
    hinge.type = JointType::hinge;
    hinge.bodies = {-1, 0};
    hinge.axis = Vec3::UnitZ();
    scene.joints.push_back(hinge);
    Simulation simulation(scene);
    std::vector<double> crossings;
    double last = simulation.state().q[0](0, 3);
    while (simulation.time() < 3.0) {
        simulation.step();
        const double x = simulation.state().q[0](0, 3);
        if (x * last < 0) crossings.push_back(simulation.time() - simulation.dt() * x / (x - last));
        last = x;
        EXPECT_LT(joint_residual_max(simulation.model(), simulation.state()), 1e-9);
    }
    ASSERT_GE(crossings.size(), 3u);
    const double period = 2.0 * EIGEN_PI * std::sqrt(2.0 * L / (3.0 * 9.81)) * (1.0 + tilt * tilt / 16.0);
    EXPECT_NEAR(crossings[2] - crossings[0], period, 0.005 * period);
}

TEST(AffinePhysics, JointsBetweenMovingBodiesAreExact) {
    Simulation simulation(builtin("pendulum", {{"links", 4.0}}));
    for (int k = 0; k < 60; ++k) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged);
        EXPECT_LT(report.joint_residual, 1e-10);
    }
}

}  // namespace
}  // namespace tenon

// Whole steps of the impulse method: clouds, checkpoints, threads, the other solvers.
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "math/parallel.hpp"
#include "methods/impulse_scene.hpp"

namespace tenon {
namespace {

using namespace impulse_test;

Scene cloud(int bodies) {
    Scene scene = make_scene(0.4);
    scene.gravity = Vec3::Zero();
    const int shapes[] = {add_box(scene, Vec3(0.2, 0.3, 0.25)),
                          add_shape(scene, "icosphere", {{"radius", 0.15}, {"subdivisions", 2.0}}),
                          add_shape(scene, "cylinder", {{"radius", 0.12}, {"length", 0.3}})};
    std::mt19937 random(4);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const int side = static_cast<int>(std::ceil(std::cbrt(bodies)));
    for (int i = 0; i < bodies; ++i) {
        BodySpec& body =
            add_body(scene, shapes[i % 3], 0.5 * Vec3(i % side, i / side % side, i / side / side));
        body.linear_velocity = Vec3(uniform(random), uniform(random), uniform(random)) -
                               0.4 * (body.position - Vec3::Constant(0.25 * side));
        body.angular_velocity = 3 * Vec3(uniform(random), uniform(random), uniform(random));
    }
    return scene;
}

TEST(ImpulseCloud, KeepsMomentum) {
    Simulation simulation(cloud(500));
    const Vec3 start = linear_momentum(simulation.model(), simulation.state());
    double size = 0;
    for (int i = 0; i < simulation.model().bodies.size(); ++i)
        size += simulation.model().bodies.mass[i] * simulation.state().rate[i].col(3).norm();
    double contacts = 0, energy = energies(simulation.model(), simulation.state()).kinetic;
    for (int i = 0; i < 60; ++i) {
        contacts += simulation.step().contacts;
        const double now = energies(simulation.model(), simulation.state()).kinetic;
        EXPECT_LE(now, 1.001 * energy) << i;
        energy = now;
    }
    EXPECT_GT(contacts, 1000);
    EXPECT_LT((linear_momentum(simulation.model(), simulation.state()) - start).norm(), 1e-12 * size);
}

TEST(ImpulseMethod, ResumesBitForBitAndForAnyThreadCount) {
    Scene scene = cloud(60);
    scene.gravity = Vec3(0, -9.81, 0);
    add_body(scene, add_shape(scene, "plane"), Vec3(0, -0.5, 0), BodyType::static_body);
    set_threads(1);
    Simulation straight(scene), first(scene);
    for (int i = 0; i < 60; ++i) straight.step();
    for (int i = 0; i < 30; ++i) first.step();
    std::stringstream checkpoint;
    first.save(checkpoint);
    set_threads(2);
    Simulation second(scene);
    second.load(checkpoint);
    for (int i = 0; i < 30; ++i) second.step();
    set_threads(0);
    for (int i = 0; i < straight.model().bodies.size(); ++i) {
        EXPECT_EQ(straight.state().q[i], second.state().q[i]) << i;
        EXPECT_EQ(straight.state().rate[i], second.state().rate[i]) << i;
    }
}

class Solvers : public testing::TestWithParam<const char*> {};

TEST_P(Solvers, HoldABoxOnTheFloorAndASlope) {
    for (double tangent : {0.0, 0.3}) {
        const double angle = std::atan(tangent);
        Scene scene = make_scene(0.8);
        scene.method_params["solver"] = std::string(GetParam());
        add_body(scene, add_shape(scene, "plane"), Vec3::Zero(), BodyType::static_body).rotation =
            slope_rotation(angle);
        const Vec3 normal(std::sin(angle), std::cos(angle), 0);
        add_body(scene, add_box(scene, Vec3(0.4, 0.2, 0.3)), 0.1 * normal).rotation = slope_rotation(angle);
        Simulation simulation(scene);
        run(simulation, 1.0);
        EXPECT_LT((simulation.state().q[1].col(3) - 0.1 * normal).norm(), 1e-3) << tangent;
    }
}
INSTANTIATE_TEST_SUITE_P(All, Solvers, testing::Values("gauss-seidel", "decomposition", "ffd", "pgs"));

TEST(ImpulseMethod, BaseOfATowerCarriesItAllOnlyWithTheThirdLaw) {
    // The trap of the paper's scheme: every block sees its neighbours at rest, so each carries its own weight.
    for (bool third_law : {true, false}) {
        Scene scene = make_scene();
        scene.method_params["solver"] = std::string(third_law ? "gauss-seidel" : "decomposition");
        add_ground(scene);
        const int box = add_box(scene, Vec3(1, 1, 1));
        for (int i = 0; i < 4; ++i) add_body(scene, box, Vec3(0, 0.5 + i, 0)).mass = 1.0;
        Simulation simulation(scene);
        run(simulation, 0.2);
        double floor = 0;
        for (const Contact& c : simulation.outputs().contacts)
            if (c.a == 0) floor += c.force.y();
        EXPECT_NEAR(floor, third_law ? 4 * 9.81 : 9.81, 0.05);
    }
}

// Version 0.1 chose between the default and the paper's scheme by `third_law`.
TEST(ImpulseMethod, UnderstandsTheFormerNamesOfSolversOrRefusesThem) {
    const auto solver_of = [](const std::map<std::string, ParamValue>& values) {
        Scene scene = make_scene();
        add_ground(scene);
        add_body(scene, add_box(scene, Vec3(1, 1, 1)), Vec3(0, 0.5, 0));
        for (const auto& [name, value] : values) scene.method_params[name] = value;
        return Simulation(scene).step().solver;
    };
    EXPECT_EQ(solver_of({}), "gauss-seidel");
    EXPECT_EQ(solver_of({{"third_law", true}}), "gauss-seidel");
    EXPECT_EQ(solver_of({{"third_law", false}}), "decomposition");
    EXPECT_EQ(solver_of({{"third_law", false}, {"solver", std::string("decomposition")}}), "decomposition");
    EXPECT_EQ(solver_of({{"solver", std::string("decomposition")}}), "decomposition");
    EXPECT_THROW(solver_of({{"third_law", true}, {"solver", std::string("decomposition")}}), InputError);
    EXPECT_THROW(solver_of({{"third_law", true}, {"solver", std::string("ffd")}}), InputError);
    EXPECT_THROW(solver_of({{"third_law", false}, {"solver", std::string("gauss-seidel")}}), InputError);
}

TEST(ImpulseMethod, FastBodiesDoNotPassThroughThinOnes) {
    Scene scene = make_scene();
    scene.gravity = Vec3::Zero();
    add_body(scene, add_box(scene, Vec3(0.02, 2, 2)), Vec3(1, 0, 0), BodyType::static_body);
    add_body(scene, add_box(scene, Vec3(0.1, 0.1, 0.1)), Vec3::Zero()).linear_velocity = Vec3(60, 0, 0);
    Simulation simulation(scene);
    run(simulation, 0.2);
    EXPECT_LT(simulation.state().q[1](0, 3), 0.95);
}

TEST(ImpulseMethod, HeldAxesStayHeld) {
    Scene scene = make_scene(0.0);
    add_body(scene, add_shape(scene, "plane"), Vec3::Zero(), BodyType::static_body).rotation =
        slope_rotation(0.5);
    BodySpec& body = add_body(scene, add_box(scene, Vec3(0.4, 0.2, 0.3)), Vec3(0, 1, 0));
    body.fixed = {true, false, true, true, true, true};
    Simulation simulation(scene);
    run(simulation, 1.5);
    const Mat34& q = simulation.state().q[1];
    EXPECT_NEAR(q(0, 3), 0, 1e-12);
    EXPECT_LT((q.leftCols<3>() - Mat3::Identity()).norm(), 1e-12);
    EXPECT_LT(std::abs(simulation.state().rate[1](1, 3)), 1e-6);  // it came to rest on the slope
    EXPECT_GT(q(1, 3), 0.1);
}

}  // namespace
}  // namespace tenon

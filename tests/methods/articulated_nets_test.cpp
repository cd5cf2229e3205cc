// Nets of ball-jointed rods through their different solvers, and plates that are pulled obliquely.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Scene net(const std::string& solver, double mass_ratio, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> random(0, 1);
    Scene scene = make_builtin(*find_builtin("joint-net"), {{"n", 5.0}, {"dt", 0.01}});
    for (BodySpec& body : scene.bodies) {
        body.mass = 0.1 * std::pow(mass_ratio, random(engine));
        body.linear_velocity = Vec3(random(engine), random(engine), random(engine));
    }
    scene.method_params["solver"] = solver;
    scene.method_params["force_tolerance"] = 1e-12;  // what is compared is the solution
    return scene;
}

double difference(const Simulation& a, const Simulation& b) {
    double worst = 0;
    for (int i = 0; i < a.model().bodies.size(); ++i)
        worst = std::max(worst, (a.state().q[i] - b.state().q[i]).cwiseAbs().maxCoeff());
    return worst;
}

// Mass ratios to 1e3: the condensed points and the sparse dual system are the same step.
TEST(ArticulatedNets, PointsAgreeWithTheDualSystem) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Simulation points(net("points", 1e3, seed)), sparse(net("sparse", 1e3, seed));
        EXPECT_EQ(points.step().solver, "points");
        EXPECT_EQ(sparse.step().solver, "sparse");
        EXPECT_LT(difference(points, sparse), 1e-9) << seed;
    }
}

TEST(ArticulatedNets, MassRatiosOfAMillionStayClosed) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Simulation points(net("points", 1e6, seed));
        for (int step = 0; step < 2; ++step) EXPECT_LT(points.step().joint_residual, 1e-9) << seed;
    }
}

// Gauss-Seidel sweeps reach their tolerance on a net, where the sweeps by themselves would not.
TEST(ArticulatedNets, GaussSeidelAgreesWithThePoints) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        Simulation points(net("points", 10, seed)), sweeps(net("gauss-seidel", 10, seed));
        for (int step = 0; step < 3; ++step) {
            points.step();
            const StepReport report = sweeps.step();
            EXPECT_EQ(report.solver, "gauss-seidel");
            EXPECT_LT(report.joint_residual, 1e-9) << seed;
        }
        EXPECT_LT(difference(points, sweeps), 1e-6) << seed;
    }
}

// Square plates, each hung from a corner of the last, swing from the side: their links are loaded obliquely.
Simulation plates(double dt) {
    Scene scene = articulated_scene(dt, 1.0);
    const int material = scene.add_material(material_spec("plate", 1000.0, 1e8));
    int before = -1;
    const double side = 0.2;
    for (int i = 0; i < 4; ++i) {
        const Vec3 corner(side * i, 0, side * i), middle = corner + Vec3(0.5 * side, 0, 0.5 * side);
        BodySpec body = body_spec(scene, "plate" + std::to_string(i), box_spec({side, 0.02, side}), middle);
        body.material = material;
        body.group = "plates";
        const int index = scene.add_body(body);
        scene.joints.push_back(joint_spec("", JointType::ball, before, index, corner));
        before = index;
    }
    Simulation simulation(scene);
    while (simulation.time() < 0.4 - 1e-9) simulation.step();
    return simulation;
}

TEST(ArticulatedNets, ObliquelyLoadedPlatesConvergeAsTheStepShrinks) {
    const Simulation coarse = plates(0.01), middle = plates(0.005), fine = plates(0.0025),
                     finest = plates(0.00125);
    const double first = difference(coarse, middle), second = difference(middle, fine),
                 third = difference(fine, finest);
    EXPECT_LT(second, 0.5 * first);
    EXPECT_LT(third, 0.5 * second);
    EXPECT_LT(third, 2e-3);
}

}  // namespace
}  // namespace tenon

// Bounces through barrier and integrator, against a point mass on the same barrier with the same integrator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "methods/affine/restitution.hpp"
#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

using test::ground_scene;
using test::position;

constexpr double radius = 0.2, g = 9.81;

// A ball of few corners that falls on one of them: one point of contact.
Scene ball_scene(double drop) {
    Scene scene = ground_scene(0.0);
    const GeometrySpec ball = shape_spec("icosphere", {{"radius", radius}, {"subdivisions", 0.0}});
    const Vec3 corner = shape_mesh("icosphere", {{"radius", radius}, {"subdivisions", 0.0}}).vertices[0];
    scene.add_body(body_spec(scene, "ball", ball, Vec3(0.37, radius + drop, 0.11),
                             Quat::FromTwoVectors(corner, -Vec3::UnitY())));
    return scene;
}

// A unit mass above a barrier -(u - 1)^2 ln u, u = (x / dhat)^2, scaled to push with `stiffness` at half range.
class Twin {
  public:
    Twin(std::string integrator, double dt, double dhat, double stiffness, double height)
        : integrator_(std::move(integrator)), h_(dt), dhat_(dhat), x_(height) {
        strength_ = stiffness / force(0.5 * dhat);
        a_ = -g;
    }
    double step() {
        const bool first = steps_++ == 0;
        double target, weight;
        if (integrator_ == "newmark") {
            weight = 0.25 * h_ * h_;
            target = x_ + h_ * v_ + weight * (a_ - g);
        } else if (integrator_ == "bdf2" && !first) {
            weight = 4.0 / 9.0 * h_ * h_;
            target = (4 * x_ - older_x_) / 3 + 2.0 / 3.0 * h_ * (4 * v_ - older_v_) / 3 - weight * g;
        } else {
            weight = h_ * h_;
            target = x_ + h_ * v_ - weight * g;
        }
        // The balance x - target = weight x force has one root: bisection.
        double lo = 0.0, hi = std::max(target, dhat_);
        for (int k = 0; k < 200; ++k) {
            const double middle = 0.5 * (lo + hi);
            (middle - target - weight * strength_ * force(middle) > 0 ? hi : lo) = middle;
        }
        const double x = 0.5 * (lo + hi);
        double v = (x - x_) / h_;
        if (integrator_ == "newmark") {
            const double a = (x - x_ - h_ * v_) * 4 / (h_ * h_) - a_;
            v = v_ + 0.5 * h_ * (a_ + a);
            a_ = a;
        } else if (integrator_ == "bdf2" && !first) {
            v = (3 * x - 4 * x_ + older_x_) / (2 * h_);
        }
        older_x_ = x_;
        older_v_ = v_;
        x_ = x;
        v_ = v;
        return x_;
    }

  private:
    double force(double x) const {
        const double u = x * x / (dhat_ * dhat_);
        return u >= 1 ? 0.0 : 2 * x / (dhat_ * dhat_) * (2 * (u - 1) * std::log(u) + (u - 1) * (u - 1) / u);
    }
    std::string integrator_;
    double h_, dhat_, strength_ = 1.0, x_, v_ = 0, a_ = 0, older_x_ = 0, older_v_ = 0;
    int steps_ = 0;
};

class AffineBounce : public testing::TestWithParam<const char*> {};

TEST_P(AffineBounce, FollowsAPointMassOnTheSameBarrier) {
    const double drop = 0.3, dhat = 0.003, stiffness = 3000.0;
    Scene scene = ball_scene(drop);
    scene.dt = 0.0005;
    scene.contact.dhat = dhat;
    scene.method_params = {{"integrator", std::string(GetParam())},
                           {"contact_stiffness", stiffness},
                           {"tolerance", 1e-6},
                           {"restitution_speed", 1.0}};  // bounces are the barrier's, not the law's
    Simulation simulation(scene);
    Twin twin(GetParam(), scene.dt, dhat, stiffness, drop);
    double apart = 0, lowest = 1;
    for (int k = 0; k < 1100; ++k) {
        simulation.step();
        const double height = position(simulation, 1).y() - radius;
        apart = std::max(apart, std::abs(height - twin.step()));
        lowest = std::min(lowest, height);
    }
    EXPECT_LT(lowest, dhat);  // it did bounce
    EXPECT_LT(apart, 1e-4 * drop);
}

INSTANTIATE_TEST_SUITE_P(All, AffineBounce, testing::Values("implicit-euler", "bdf2", "newmark"),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

// Speed just after over speed just before the first bounce, by energy far from the floor.
double first_bounce(Scene scene, double drop) {
    Simulation simulation(scene);
    const double fall = std::sqrt(2 * drop / g);
    double in = 0, out = 0;
    while (simulation.time() < 1.6 * fall) {
        simulation.step();
        const double v = simulation.state().rate[1](1, 3);
        in = std::min(in, v);
        out = std::max(out, v);
    }
    return -out / in;
}

TEST(AffineRestitution, ReachesWhatIsWanted) {
    for (const double wanted : {0.3, 0.6, 0.8, 0.97}) {
        Scene scene = ball_scene(0.5);
        scene.dt = 0.0005;
        scene.materials[0].restitution = wanted;
        scene.method_params["restitution_speed"] = std::sqrt(2 * g * 0.5);
        EXPECT_NEAR(first_bounce(scene, 0.5), wanted, 0.05 * wanted) << wanted;
    }
}

TEST(AffineRestitution, SaysWhatItWillAchieveAndWhichStepWouldDo) {
    Scene scene = ball_scene(0.5);
    scene.dt = 0.02;  // 6 cm a step: too coarse for any range that suits the ball
    scene.method_params["restitution"] = 0.9;
    scene.method_params["restitution_speed"] = std::sqrt(2 * g * 0.5);
    Simulation coarse(scene);
    const StepReport report = coarse.step();
    ASSERT_FALSE(report.warnings.empty());
    const std::string& said = report.warnings[0];
    EXPECT_NE(said.find("restitution 0.9"), std::string::npos) << said;
    const std::size_t at = said.find("a step of ");
    ASSERT_NE(at, std::string::npos) << said;
    scene.dt = std::stod(said.substr(at + 10));
    EXPECT_LT(scene.dt, 0.02);
    Simulation fine(scene);
    EXPECT_TRUE(fine.step().warnings.empty());
    EXPECT_NEAR(first_bounce(scene, 0.5), 0.9, 0.05 * 0.9);
}

TEST(AffineRestitution, KeepsWhatTheUserChose) {
    Scene scene = ball_scene(0.5);
    scene.dt = 0.0005;
    scene.contact.dhat = 0.004;
    scene.method_params = {
        {"restitution", 0.7}, {"restitution_speed", 3.13}, {"integrator", std::string("bdf2")}};
    Simulation simulation(scene);
    const std::string said = simulation.step().solver;
    EXPECT_NE(said.find("bdf2"), std::string::npos) << said;
    EXPECT_NE(said.find("dhat 0.004 m"), std::string::npos) << said;
}

TEST(AffineRestitution, GoesOnAfterResuming) {
    Scene scene = ball_scene(0.05);
    scene.dt = 0.001;
    scene.materials[0].restitution = 0.7;
    Simulation whole(scene);
    for (int k = 0; k < 200; ++k) whole.step();
    std::stringstream saved;
    Simulation first(scene);
    for (int k = 0; k < 90; ++k) first.step();
    first.save(saved);
    Simulation resumed(scene);
    resumed.load(saved);
    for (int k = 90; k < 200; ++k) resumed.step();
    EXPECT_EQ(whole.state().q[1], resumed.state().q[1]);
}

}  // namespace
}  // namespace tenon

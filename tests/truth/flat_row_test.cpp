// A row of four-bars with one freedom that falls through the position in which all of its 81 rods lie on one line, and where each
// four-bar could fold another way.
//
// With n upright rods of length 1 and mass 1, n - 1 couplers that only shift, and the angle a of the uprights:
//   (n (I + 1/4) + n - 1) a'' = -(n / 2 + n - 1) g cos a.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

constexpr double g = 9.81, thick = 0.02, start = M_PI / 3, until = 0.8;
constexpr int four_bars = 40;

void add_rod(Scene& scene, const std::string& name, const Vec3& from, const Vec3& to) {
    BodySpec rod = body_spec(scene, name, box_spec({1, thick, thick}), 0.5 * (from + to), along(to - from));
    rod.mass = 1.0;
    rod.collides = false;
    scene.add_body(rod);
}

Scene row_of_four_bars(double dt) {
    Scene scene = articulated_scene(dt, until);
    const Vec3 up(std::cos(start), std::sin(start), 0);
    const auto hinge = [&](int a, int b, const Vec3& at) {
        scene.joints.push_back(
            joint_spec("h" + std::to_string(scene.joints.size()), JointType::hinge, a, b, at));
    };
    for (int k = 0; k <= four_bars; ++k) {
        add_rod(scene, "upright" + std::to_string(k), Vec3(k, 0, 0), Vec3(k, 0, 0) + up);
        hinge(-1, k, Vec3(k, 0, 0));
    }
    for (int k = 0; k < four_bars; ++k) {
        const int coupler = four_bars + 1 + k;
        add_rod(scene, "coupler" + std::to_string(k), Vec3(k, 0, 0) + up, Vec3(k + 1, 0, 0) + up);
        hinge(k, coupler, Vec3(k, 0, 0) + up);
        hinge(coupler, k + 1, Vec3(k + 1, 0, 0) + up);
    }
    return scene;
}

// Height of an upright's middle at the end, by Runge-Kutta.
double exact_height() {
    const double n = four_bars + 1, inertia = n * ((1 + thick * thick) / 12 + 0.25) + n - 1;
    const auto f = [&](double a) { return -(0.5 * n + n - 1) * g / inertia * std::cos(a); };
    double a = start, w = 0.0;
    const double h = until / 4000;
    for (int k = 0; k < 4000; ++k) {
        const double a1 = f(a), a2 = f(a + h / 2 * w), a3 = f(a + h / 2 * w + h * h / 4 * a1),
                     a4 = f(a + h * w + h * h / 2 * a2);
        a += h * w + h * h / 6 * (a1 + a2 + a3);
        w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return 0.5 * std::sin(a);
}

TEST(FlatRow, FortyFourBarsFallThroughTheirFlatPosition) {
    const double exact = exact_height();
    ASSERT_LT(exact, -0.4);  // far beyond it
    double errors[2];
    int which = 0;
    for (const double dt : {0.01, 0.005}) {
        Simulation simulation(row_of_four_bars(dt));
        double open = 0.0;
        while (simulation.time() < until - 1e-9) {
            const StepReport report = simulation.step();
            ASSERT_TRUE(report.converged) << simulation.time();
            open = std::max(open, report.joint_residual);
        }
        EXPECT_LT(open, 1e-9);
        errors[which] = 0.0;
        for (int k = 0; k <= four_bars; ++k)
            errors[which] = std::max(errors[which], std::abs(simulation.state().q[k](1, 3) - exact));
        ++which;
    }
    EXPECT_LT(errors[0], 2e-3);
    EXPECT_GT(std::log2(errors[0] / errors[1]), 1.8);
}

}  // namespace
}  // namespace tenon

// Spring-dampers, ropes and struts between two points: distance joints whose length is free.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

constexpr double g = 9.81;

Scene scene_of(const std::string& method, double dt, double seconds, const std::string& rest) {
    return parse_scene(fmt::format(R"({{"seconds": {}, "method": {{"type": "{}", "dt": {}}}, {}}})", seconds,
                                   method, dt, rest),
                       "springs.json", "");
}

// Largest difference of a body's height from `exact` over the run.
template <class Exact>
double error_of(const Scene& scene, int body, const Exact& exact) {
    Simulation simulation(scene);
    double largest = 0;
    const long steps = std::lround(scene.seconds / scene.dt);
    for (long i = 1; i <= steps; ++i) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged) << "step " << i;
        const double t = static_cast<double>(i) * scene.dt;
        largest = std::max(largest, std::abs(simulation.state().q[body](1, 3) - exact(t)));
    }
    return largest;
}

std::string hanging(const std::string& drive, double velocity) {
    return fmt::format(
        R"("bodies": [{{"name": "weight", "mass": 2, "shape": {{"type": "sphere", "radius": 0.1}},
        "position": [0, -1, 0], "linear_velocity": [0, {}, 0]}}],
        "joints": [{{"name": "line", "type": "distance", "bodies": ["world", "weight"], "point": [0, 0, 0],
                     "point_b": [0, -1, 0], {}}}])",
        velocity, drive);
}

}  // namespace

// m y'' = -m g + k (-1 - y) - c y', from y = -1 at rest: y + 1 = -(m g/k) (1 - exp(-t c/2m) (cos w t + c/(2 m w) sin w t)).
TEST(DistanceSprings, AWeightOnASpringDamper) {
    const double m = 2, k = 80, c = 3, rate = c / (2 * m), w = std::sqrt(k / m - rate * rate);
    const auto exact = [&](double t) {
        return -1 - m * g / k * (1 - std::exp(-rate * t) * (std::cos(w * t) + rate / w * std::sin(w * t)));
    };
    const std::string drive = R"("spring": {"stiffness": 80, "damping": 3})";
    const double amplitude = m * g / k;
    const double coarse = error_of(scene_of("articulated", 0.01, 1, hanging(drive, 0)), 0, exact),
                 fine = error_of(scene_of("articulated", 0.005, 1, hanging(drive, 0)), 0, exact);
    EXPECT_LT(coarse, 0.01 * amplitude);
    EXPECT_GT(std::log2(coarse / fine), 1.8);
    EXPECT_LT(error_of(scene_of("affine", 0.001, 1, hanging(drive, 0)), 0, exact), 0.02 * amplitude);
}

// Two bodies that nothing but a spring binds: the distance swings at w^2 = k (1/m_a + 1/m_b), the centre of mass stays.
TEST(DistanceSprings, TwoBodiesOnASpring) {
    const double k = 50, w = std::sqrt(k * (1.0 + 1.0 / 3.0)), amplitude = 0.25 * 0.2;
    const auto exact = [&](double t) { return -1 + amplitude * (1 - std::cos(w * t)); };
    const std::string pair =
        R"("gravity": [0, 0, 0], "bodies": [{"name": "a", "mass": 1, "shape": {"type": "box", "size": [0.1, 0.1, 0.1]}},
        {"name": "b", "mass": 3, "shape": {"type": "box", "size": [0.1, 0.1, 0.1]}, "position": [0, -1, 0]}],
        "joints": [{"type": "distance", "bodies": ["a", "b"], "point": [0, 0, 0], "point_b": [0, -1, 0],
                    "spring": {"stiffness": 50, "rest": 0.8}}])";
    EXPECT_LT(error_of(scene_of("articulated", 0.005, 1, pair), 1, exact), 0.02 * amplitude);
    // implicit Euler: T w^2 h = 7 %
    EXPECT_LT(error_of(scene_of("affine", 0.001, 1, pair), 1, exact), 0.07 * amplitude);
}

// A rope of 1.2 m: free fall for 0.2 m, then it holds the weight with m g. A strut pushes as well.
TEST(DistanceSprings, LimitsAreRopes) {
    Simulation simulation(scene_of("articulated", 0.005, 1, hanging(R"("limits": [0, 1.2])", 0)));
    double deepest = 0;
    while (simulation.time() < 0.15) {
        simulation.step();
        const double t = simulation.time();
        EXPECT_NEAR(simulation.state().q[0](1, 3), -1 - g * t * t / 2, 1e-3);
    }
    while (simulation.time() < 1 - 1e-9) {
        simulation.step();
        deepest = std::min(deepest, simulation.state().q[0](1, 3));
    }
    EXPECT_NEAR(deepest, -1.2, 1e-3);
    EXPECT_NEAR(simulation.outputs().joints[0].force.norm(), 2 * g, 0.02 * 2 * g);
}

// A governor: an arm on a shaft that turns at a given rate W, with a spring-damper between shaft and arm. With theta from the
// vertical, I_t, I_a the arm's moments across and along it, d the distance of its centre and s the spring's length,
//   (I_t + m d^2) theta'' = W^2 (I_t + m d^2 - I_a) sin cos - m g d sin - (k (s - s0) + c s') ds/dtheta.
TEST(DistanceSprings, GovernorAgainstRungeKutta) {
    const double m = 1, length = 0.4, thick = 0.04, d = 0.2, W = 9, a = 0.3, b = 0.35, k = 60, c = 1.5,
                 theta0 = 0.3;
    const double across = m * (length * length + thick * thick) / 12 + m * d * d,
                 along = m * thick * thick / 6;
    const auto spring_length = [&](double theta) {
        return std::sqrt(a * a + b * b - 2 * a * b * std::cos(theta));
    };
    const double s0 = spring_length(theta0);
    const auto acceleration = [&](double theta, double rate) {
        const double s = spring_length(theta), slope = a * b * std::sin(theta) / s;
        return (W * W * (across - along) * std::sin(theta) * std::cos(theta) - m * g * d * std::sin(theta) -
                (k * (s - s0) + c * slope * rate) * slope) /
               across;
    };
    // height of the arm's centre, -d cos(theta), by Runge-Kutta
    const auto exact = [&](double t) {
        double x = theta0, v = 0;
        const int n = 400;
        const double h = t / n;
        for (int i = 0; i < n; ++i) {
            const double a1 = acceleration(x, v), a2 = acceleration(x + h / 2 * v, v + h / 2 * a1),
                         a3 = acceleration(x + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2),
                         a4 = acceleration(x + h * v + h * h / 2 * a2, v + h * a3);
            x += h * v + h * h / 6 * (a1 + a2 + a3);
            v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        }
        return -d * std::cos(x);
    };
    const double sine = std::sin(theta0), cosine = std::cos(theta0);
    const auto governor = [&](double dt) {
        return scene_of(
            "articulated", dt, 1,
            fmt::format(
                R"("bodies": [{{"name": "shaft", "mass": 1, "shape": {{"type": "box", "size": [0.05, 1, 0.05]}}, "angular_velocity": [0, {W}, 0]}},
              {{"name": "arm", "mass": 1, "shape": {{"type": "box", "size": [0.04, 0.4, 0.04]}}, "position": [{x}, {y}, 0],
                "rotation_euler": [0, 0, {turn}], "linear_velocity": [0, 0, {vz}], "angular_velocity": [0, {W}, 0]}}],
              "joints": [{{"type": "hinge", "bodies": ["world", "shaft"], "axis": [0, 1, 0], "motor": {{"type": "velocity", "target": {W}}}}},
              {{"type": "hinge", "bodies": ["shaft", "arm"], "axis": [0, 0, 1]}},
              {{"type": "distance", "bodies": ["shaft", "arm"], "point": [0, {low}, 0], "point_b": [{sx}, {sy}, 0],
                "spring": {{"stiffness": 60, "damping": 1.5}}}}])",
                fmt::arg("W", W), fmt::arg("x", d * sine), fmt::arg("y", -d * cosine),
                fmt::arg("turn", theta0 * 180 / M_PI), fmt::arg("vz", -W * d * sine), fmt::arg("low", -a),
                fmt::arg("sx", b * sine), fmt::arg("sy", -b * cosine)));
    };
    const double coarse = error_of(governor(0.005), 1, exact), fine = error_of(governor(0.0025), 1, exact);
    EXPECT_LT(coarse, 0.02 * d);
    EXPECT_GT(std::log2(coarse / fine), 1.7);
}

}  // namespace tenon

// Figures 7 to 10 of the paper as tests: each quantity against its reference, and errors that fall with h at the order
// of the integrator.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/articulated/reference.hpp"
#include "model/rigid_state.hpp"
#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

using articulated::PendulumReference;
using articulated::reference_of;
using articulated::RigidReference;

struct Variant {
    const char* integrator;
    const char* model;
    double least, most;  // error(h) / error(h/2): 2 at first order, 4 at second
};
// BDF2 begins with eight small implicit Euler steps, whose error is of second order too.
const Variant variants[] = {
    {"bdf2", "corotated", 3.0, 5.5}, {"euler", "corotated", 1.7, 2.3}, {"euler", "rigid", 1.7, 2.3}};

Simulation simulation_of(const std::string& name, const Variant& variant, double dt) {
    Scene scene = make_builtin(*find_builtin(name), {{"dt", dt}});
    scene.method_params["integrator"] = std::string(variant.integrator);
    scene.method_params["model"] = std::string(variant.model);
    return Simulation(std::move(scene));
}

void run_to(Simulation& simulation, double seconds) {
    while (simulation.time() < seconds - 1e-9) simulation.step();
}

RigidReference runge_kutta(RigidReference body, double seconds) {
    const int steps = static_cast<int>(seconds / 1e-4);
    for (int i = 0; i < steps; ++i) step_runge_kutta(body, Vec3(0, -9.81, 0), seconds / steps);
    return body;
}

template <class Error>
void expect_order(const Error& error, double dt) {
    for (const Variant& variant : variants) {
        const double coarse = error(variant, dt), fine = error(variant, 0.5 * dt);
        EXPECT_GT(coarse / fine, variant.least)
            << variant.integrator << " " << variant.model << " " << coarse;
        EXPECT_LT(coarse / fine, variant.most) << variant.integrator << " " << variant.model << " " << coarse;
    }
}

}  // namespace

// Fig. 7. The rigid reference keeps both momenta; affine bodies lose angular momentum to their integrator.
TEST(ArticulatedFigures, MomentaOfTheSpinningBox) {
    const auto loss = [](const Variant& variant, double dt) {
        Simulation simulation = simulation_of("spinning-box", variant, dt);
        const Vec3 p = linear_momentum(simulation.model(), simulation.state()),
                   L = angular_momentum(simulation.model(), simulation.state());
        run_to(simulation, 2.0);
        EXPECT_LT((linear_momentum(simulation.model(), simulation.state()) - p).norm(), 1e-9 * p.norm());
        return (angular_momentum(simulation.model(), simulation.state()) - L).norm() / L.norm();
    };
    // implicit Euler: d omega/dt = -h omega^3
    EXPECT_NEAR(loss(variants[1], 0.01), 0.01 * 0.36 * 2.0, 0.1 * 0.0072);
    EXPECT_NEAR(loss(variants[1], 0.01) / loss(variants[1], 0.005), 2.0, 0.1);
    EXPECT_LT(loss(variants[0], 0.01), 1e-4);
    EXPECT_LT(loss(variants[2], 0.01), 1e-6);
}

// Fig. 8: body-frame spin through the first flip.
TEST(ArticulatedFigures, SpinOfTheTHandle) {
    const double until = 3.0;
    const auto error = [&](const Variant& variant, double dt) {
        Simulation simulation = simulation_of("t-handle", variant, dt);
        const RigidReference exact =
            runge_kutta(reference_of(simulation.model(), simulation.state(), 0), until);
        run_to(simulation, until);
        const RigidReference found = reference_of(simulation.model(), simulation.state(), 0);
        return (found.spin - exact.spin).norm();
    };
    expect_order(error, 0.005);
}

// Fig. 9: direction of the top's axis, which precession and nutation move.
TEST(ArticulatedFigures, AxisOfTheHeavyTop) {
    const double until = 0.4;
    const auto error = [&](const Variant& variant, double dt) {
        Simulation simulation = simulation_of("heavy-top", variant, dt);
        const RigidReference start = reference_of(simulation.model(), simulation.state(), 0, Vec3::Zero());
        const RigidReference exact = runge_kutta(start, until);
        run_to(simulation, until);
        const RigidReference found = reference_of(simulation.model(), simulation.state(), 0, Vec3::Zero());
        return (found.rotation * start.lever - exact.rotation * start.lever).norm() / start.lever.norm();
    };
    expect_order(error, 0.002);
}

// Fig. 10: angle and force of the pendulum through its first half swing.
TEST(ArticulatedFigures, PendulumThroughItsFirstHalfSwing) {
    const PendulumReference exact{2.5, 2.5 * ((1.0 + 0.0025) / 12.0 + 0.25), 0.5};
    struct Errors {
        double angle = 0, force = 0;
    };
    const auto errors = [&](const Variant& variant, double dt) {
        Simulation simulation = simulation_of("physical-pendulum", variant, dt);
        Errors worst;
        while (simulation.time() < 2 * exact.quarter_period()) {
            simulation.step();
            const JointOutput& joint = simulation.outputs().joints[0];
            const double angle = exact.angle(simulation.time());
            worst.angle = std::max(worst.angle, std::abs(-simulation.state().joint_coordinate[0][0] - angle));
            if (simulation.time() > 0.1)  // a force is a second derivative: it settles from the sudden start
                worst.force = std::max(worst.force, std::abs(joint.force.norm() - exact.force(angle)));
        }
        return worst;
    };
    const double largest = exact.force(M_PI / 2);
    for (const Variant& variant : variants) {
        const Errors fine = errors(variant, 0.001);
        EXPECT_LT(fine.angle, 0.01 * M_PI) << variant.integrator;
        EXPECT_LT(fine.force, 0.01 * largest) << variant.integrator;
    }
    expect_order([&](const Variant& variant, double dt) { return errors(variant, dt).angle; }, 0.004);
}

// The elliptic functions against the same pendulum by Runge and Kutta.
TEST(ArticulatedReference, PendulumFormulaMatchesRungeKutta) {
    const PendulumReference pendulum{2.0, 2.0 * (0.25 + 1.0 / 12), 0.5};
    RigidReference body;
    body.mass = 2.0;
    body.inertia = Vec3(0.01, pendulum.inertia, pendulum.inertia);
    body.lever = Vec3(0.5, 0, 0);
    for (int i = 1; i <= 3000; ++i) {
        step_runge_kutta(body, Vec3(0, -9.81, 0), 1e-3);
        if (i % 250) continue;
        const Vec3 rod = body.rotation * Vec3::UnitX();
        EXPECT_NEAR(std::sin(pendulum.angle(1e-3 * i)), -rod.y(), 1e-7) << i;
        EXPECT_NEAR(std::cos(pendulum.angle(1e-3 * i)), rod.x(), 1e-7) << i;
    }
    EXPECT_NEAR(pendulum.angle(pendulum.quarter_period()), M_PI / 2, 1e-12);
    EXPECT_NEAR(pendulum.angle(2 * pendulum.quarter_period()), M_PI, 1e-7);
    EXPECT_NEAR(pendulum.force(M_PI / 2), 2.0 * 9.81 * 2.5, 1e-9);  // m g + m w^2 d of a thin rod: 5/2 m g
}

}  // namespace tenon

// The articulated method: what forces and torques do to free and to jointed bodies, rigid and of any stiffness.
#include <gtest/gtest.h>

#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

constexpr double length = 1.0, thick = 0.04, mass = 1.0;
const double inertia = mass * (length * length + thick * thick) / 12.0;  // about z, kg m^2

// A rod along x; `young` 0: rigid.
Scene rod_scene(double young, double dt) {
    Scene scene = articulated_scene(dt, 0.5);
    scene.gravity.setZero();
    if (young > 0) scene.materials[0] = material_spec("rod", 1000.0, young);
    BodySpec rod = body_spec(scene, "rod", box_spec({length, thick, thick}), Vec3::Zero());
    rod.mass = mass;
    scene.add_body(rod);
    return scene;
}

// Turn of the rod about z since the start.
double turned(const Simulation& simulation) {
    const Mat3 R = simulation.state().q[0].leftCols<3>() *
                   simulation.model().shape_of(0).geometry_frame.rotation.toRotationMatrix();
    return std::atan2(R(1, 0), R(0, 0));
}

struct Outcome {
    double angle = 0, gap = 0, deformation = 0;
    Vec3 force = Vec3::Zero();
    bool converged = true;
};

Outcome run(const Scene& scene) {
    Simulation simulation(scene);
    Outcome out;
    double last = 0;
    while (simulation.time() < scene.seconds - 1e-9) {
        const StepReport report = simulation.step();
        out.converged = out.converged && report.converged;
        out.gap = std::max(out.gap, report.joint_residual);
        for (const auto& [name, value] : report.metrics)
            if (name == "deformation_max") out.deformation = std::max(out.deformation, value);
        last += std::remainder(turned(simulation) - last, 2 * M_PI);
    }
    out.angle = last;
    if (!simulation.model().joints.empty()) out.force = simulation.outputs().joints[0].force;
    return out;
}

const std::array<double, 5> moduli = {0.0, 1.0001e9, 1e11, 2e11, 1e13};

}  // namespace

// theta = torque t^2 / (2 I).
TEST(ArticulatedForces, TorqueTurnsAFreeRodWhateverItsStiffness) {
    const double exact = 0.5 * 1.0 * 0.25 / inertia;
    for (double young : moduli)
        for (double dt : {0.02, 0.01, 0.005}) {
            Scene scene = rod_scene(young, dt);
            ForceSpec force;
            force.body = 0;
            force.torque = Vec3(0, 0, 1);
            scene.forces.push_back(force);
            const Outcome out = run(scene);
            EXPECT_TRUE(out.converged) << young << " " << dt;
            EXPECT_NEAR(out.angle, exact, 0.003 * std::pow(dt / 0.01, 2) * exact) << young << " " << dt;
        }
}

// Hinged at its left end: theta = torque t^2 / (2 (I + m l^2/4)); the pivot holds m l/2 (alpha across, omega^2 along).
TEST(ArticulatedForces, TorqueTurnsAHingedRodAndThePivotHoldsIt) {
    const double about_end = inertia + mass * length * length / 4, alpha = 1.0 / about_end;
    const double exact = 0.5 * alpha * 0.25, omega = 0.5 * alpha;
    Vec3 first = Vec3::Zero();
    for (double young : moduli) {
        Scene scene = rod_scene(young, 0.01);
        scene.joints.push_back(joint_spec("pivot", JointType::hinge, -1, 0, Vec3(-0.5 * length, 0, 0)));
        ForceSpec force;
        force.body = 0;
        force.torque = Vec3(0, 0, 1);
        scene.forces.push_back(force);
        const Outcome out = run(scene);
        EXPECT_TRUE(out.converged) << young;
        EXPECT_NEAR(out.angle, exact, 0.005 * exact) << young;
        EXPECT_LT(out.gap, 1e-9) << young;
        const Vec3 acceleration = 0.5 * length * alpha * Vec3(-std::sin(exact), std::cos(exact), 0) -
                                  0.5 * length * omega * omega * Vec3(std::cos(exact), std::sin(exact), 0);
        EXPECT_LT((out.force - mass * acceleration).norm(), 0.02 * mass * acceleration.norm()) << young;
        if (young == 0) first = out.force;
        EXPECT_LT((out.force - first).norm(), 1e-4 * first.norm()) << young;
    }
}

// A force at the end of a hinged rod, fixed in direction: I theta'' = F l cos theta, integrated by Runge-Kutta.
TEST(ArticulatedForces, ForceAtAPointTurnsAHingedRod) {
    const double about_end = inertia + mass * length * length / 4;
    double theta = 0, omega = 0;
    const int steps = 5000;
    const double h = 0.5 / steps;
    const auto slope = [&](double angle) { return 2.0 * length * std::cos(angle) / about_end; };
    for (int i = 0; i < steps; ++i) {
        const double k1 = slope(theta), k2 = slope(theta + 0.5 * h * omega),
                     k3 = slope(theta + 0.5 * h * omega + 0.25 * h * h * k1),
                     k4 = slope(theta + h * omega + 0.5 * h * h * k2);
        theta += h * omega + h * h / 6 * (k1 + k2 + k3);
        omega += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    for (double young : moduli) {
        Scene scene = rod_scene(young, 0.01);
        scene.joints.push_back(joint_spec("pivot", JointType::hinge, -1, 0, Vec3(-0.5 * length, 0, 0)));
        ForceSpec force;
        force.body = 0;
        force.force = Vec3(0, 2, 0);
        force.point = Vec3(0.5 * length, 0, 0);
        scene.forces.push_back(force);
        const Outcome out = run(scene);
        EXPECT_TRUE(out.converged) << young;
        EXPECT_NEAR(out.angle, theta, 0.005 * theta) << young;
    }
}

// The lever arm is that of the step's end: of second order, as the motion.
TEST(ArticulatedForces, ForceAtAPointIsOfSecondOrder) {
    const double about_end = inertia + mass * length * length / 4;
    double exact = 0, omega = 0;  // by Runge-Kutta
    const int steps = 5000;
    const double h = 0.5 / steps;
    const auto slope = [&](double angle) { return 3.0 * length * std::cos(angle) / about_end; };
    for (int i = 0; i < steps; ++i) {
        const double k1 = slope(exact), k2 = slope(exact + 0.5 * h * omega),
                     k3 = slope(exact + 0.5 * h * omega + 0.25 * h * h * k1),
                     k4 = slope(exact + h * omega + 0.5 * h * h * k2);
        exact += h * omega + h * h / 6 * (k1 + k2 + k3);
        omega += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    double errors[2];
    for (const int fine : {0, 1}) {
        Scene scene = rod_scene(0, fine ? 0.0025 : 0.005);
        scene.joints.push_back(joint_spec("pivot", JointType::hinge, -1, 0, Vec3(-0.5 * length, 0, 0)));
        ForceSpec force;
        force.body = 0;
        force.force = Vec3(0, 3, 0);
        force.point = Vec3(0.5 * length, 0, 0);
        scene.forces.push_back(force);
        errors[fine] = std::abs(run(scene).angle - exact);
    }
    EXPECT_LT(errors[1], 1e-4 * exact);
    EXPECT_GT(std::log2(errors[0] / errors[1]), 1.8);
}

// Rigid bodies do not strain at all.
TEST(ArticulatedForces, BodiesAreRigidUnlessTheSceneGivesAModulus) {
    Scene scene = rod_scene(0, 0.01);
    scene.joints.push_back(joint_spec("pivot", JointType::ball, -1, 0, Vec3(-0.5 * length, 0, 0)));
    scene.gravity = Vec3(0, -9.81, 0);
    EXPECT_LT(run(scene).deformation, 1e-12);
}

}  // namespace tenon

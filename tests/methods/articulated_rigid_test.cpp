// The rigid reference with exact joints: what theory says of it, and that the articulated method tends to the same.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "methods/articulated/reference.hpp"
#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

Scene built(const std::string& name, const std::map<std::string, ParamValue>& values,
            const std::string& model) {
    Scene scene = make_builtin(*find_builtin(name), values);
    scene.method_params["model"] = model;
    return scene;
}

// Two bodies with one joint, thrown about for 0.3 s: largest gap, and how much of either momentum is lost.
struct Thrown {
    double gap = 0, linear = 0, angular = 0;
    int iterations = 0;
};
Thrown throw_pair(JointType type, double dt) {
    Scene scene = articulated_scene(dt, 1.0);
    scene.gravity.setZero();
    BodySpec left = body_spec(scene, "left", box_spec({0.3, 0.2, 0.1}), Vec3(-0.2, 0, 0));
    left.angular_velocity = Vec3(1, 2, -1);
    BodySpec right = body_spec(scene, "right", box_spec({0.2, 0.2, 0.2}), Vec3(0.2, 0, 0));
    right.linear_velocity = Vec3(0.3, -0.5, 0.2);
    left.collides = right.collides = false;
    const int a = scene.add_body(left), b = scene.add_body(right);
    JointSpec joint = joint_spec("joint", type, a, b, Vec3::Zero());
    if (type == JointType::universal) joint.axis_b = Vec3::UnitY();
    if (type == JointType::distance) joint.point_b = Vec3(0.1, 0.1, 0);
    scene.joints.push_back(joint);
    scene.method_params["model"] = std::string("rigid");
    Simulation simulation(scene);
    const Vec3 p = linear_momentum(simulation.model(), simulation.state()),
               L = angular_momentum(simulation.model(), simulation.state());
    Thrown out;
    while (simulation.time() < 0.3 - 1e-9) {
        const StepReport report = simulation.step();
        EXPECT_TRUE(report.converged);
        out.iterations = std::max(out.iterations, report.iterations);
        out.gap = std::max(out.gap, joint_residual_max(simulation.model(), simulation.state()));
    }
    out.linear = (linear_momentum(simulation.model(), simulation.state()) - p).norm();
    out.angular = (angular_momentum(simulation.model(), simulation.state()) - L).norm();
    return out;
}

}  // namespace

TEST(ArticulatedRigid, KeepsTheSpinMomentumOfAFreeBody) {
    Simulation simulation(built("t-handle", {}, "rigid"));
    const Vec3 L = angular_momentum(simulation.model(), simulation.state());
    for (int i = 0; i < 300; ++i) simulation.step();
    EXPECT_LT((angular_momentum(simulation.model(), simulation.state()) - L).norm(),
              1e-6 * L.norm());  // Newton's tolerance, 300 times
}

TEST(ArticulatedRigid, PendulumTendsToTheEllipticIntegralAtFirstOrder) {
    const double quarter = 1.854074677301372 * std::sqrt(((1.0 + 0.0025) / 12.0 + 0.25) / (9.81 * 0.5));
    const auto error = [&](int steps) {
        Simulation simulation(
            built("physical-pendulum", {{"dt", quarter / steps}, {"seconds", 10.0}}, "rigid"));
        for (int i = 0; i < steps; ++i) {
            const StepReport report = simulation.step();
            EXPECT_TRUE(report.converged);
            EXPECT_LT(report.joint_residual, 1e-9);
        }
        return std::abs(simulation.state().joint_coordinate[0][0] + M_PI / 2);
    };
    const double coarse = error(50), fine = error(100);
    EXPECT_LT(coarse, 0.1);
    EXPECT_NEAR(coarse / fine, 2.0, 0.2);
}

TEST(ArticulatedRigid, ForceAtRestIsTheWeight) {
    Scene scene = articulated_scene(0.01, 1.0);
    const int body = scene.add_body(body_spec(scene, "weight", box_spec(Vec3::Constant(0.1)), Vec3::Zero()));
    scene.joints.push_back(joint_spec("hook", JointType::fixed, -1, body, Vec3(0.2, 0, 0)));
    scene.method_params["model"] = std::string("rigid");
    Simulation simulation(scene);
    for (int i = 0; i < 5; ++i) simulation.step();
    const JointOutput& joint = simulation.outputs().joints[0];
    EXPECT_LT((joint.force - Vec3(0, 9.81, 0)).norm(), 1e-9);  // 1 kg
    // the weight pulls 0.2 m to the left of the anchor: m g x about it, carried by the joint
    EXPECT_LT((joint.torque - Vec3(0, 0, -0.2 * 9.81)).norm(), 1e-9);
}

// Implicit Euler keeps linear momentum, and loses angular momentum of bodies that pull on each other at first order.
TEST(ArticulatedRigid, EveryJointTypeStaysClosedAndKeepsMomentum) {
    for (JointType type :
         {JointType::ball, JointType::hinge, JointType::universal, JointType::prismatic, JointType::fixed,
          JointType::cylindrical, JointType::planar, JointType::distance}) {
        const Thrown coarse = throw_pair(type, 0.01), fine = throw_pair(type, 0.005);
        EXPECT_LT(coarse.gap, 1e-9) << static_cast<int>(type);
        EXPECT_LT(coarse.linear, 1e-7) << static_cast<int>(type);
        EXPECT_LE(coarse.iterations, 12) << static_cast<int>(type);
        EXPECT_NEAR(coarse.angular / fine.angular, 2.0, 0.5) << static_cast<int>(type);
    }
}

TEST(ArticulatedRigid, NetHangsLikeTheArticulatedOne) {
    std::vector<Mat34> other;
    for (const char* model : {"corotated", "rigid"}) {
        Scene scene = built("joint-net", {{"n", 5.0}, {"dt", 0.002}, {"young", 1e11}}, model);
        scene.method_params["integrator"] = std::string("euler");
        Simulation simulation(scene);
        for (int i = 0; i < 100; ++i) simulation.step();
        EXPECT_LT(joint_residual_max(simulation.model(), simulation.state()), 1e-9);
        if (other.empty()) other = simulation.state().q;
        double worst = 0;
        for (std::size_t i = 0; i < other.size(); ++i)
            worst = std::max(worst, (other[i].col(3) - simulation.state().q[i].col(3)).norm());
        EXPECT_LT(worst, 1e-3);  // after a fall of 0.2 m
    }
}

TEST(ArticulatedRigid, RefusesWhatItHasNoEquationsFor) {
    EXPECT_THROW(Simulation(built("four-bar", {}, "rigid")), InputError);          // a motor
    EXPECT_THROW(Simulation(built("rolling-cylinder", {}, "rigid")), InputError);  // a contact
    EXPECT_THROW(Simulation(built("gear-pair-coupled", {}, "rigid")), InputError);
}

TEST(ArticulatedRigid, SaveAndLoadGoOnBitForBit) {
    const Scene scene = built("physical-pendulum", {}, "rigid");
    Simulation one(scene), two(scene);
    for (int i = 0; i < 20; ++i) one.step();
    std::stringstream checkpoint;
    one.save(checkpoint);
    two.load(checkpoint);
    for (int i = 0; i < 20; ++i) one.step(), two.step();
    EXPECT_EQ(one.state().q[0], two.state().q[0]);
}

// A fast top: precession m g l / (I w) at small tilt, when nutation is averaged out.
TEST(ArticulatedReference, TopPrecessesAtItsKnownRate) {
    articulated::RigidReference top;
    const double spin = 200, l = 0.1, radius = 0.5, tilt = 0.1;
    const double about_axis = 0.5 * radius * radius, across = 0.25 * radius * radius + l * l;
    top.inertia = Vec3(across, about_axis, across);
    top.lever = Vec3(0, l, 0);
    top.rotation = Quat(Eigen::AngleAxisd(-tilt, Vec3::UnitZ()));
    top.spin = Vec3(0, spin, 0);
    const double rate = 9.81 * l / (about_axis * spin), seconds = 1.0;
    for (int i = 0; i < 20000; ++i) articulated::step_runge_kutta(top, Vec3(0, -9.81, 0), seconds / 20000);
    const Vec3 axis = top.rotation * Vec3::UnitY();
    EXPECT_NEAR(std::atan2(-axis.z(), axis.x()), rate * seconds, 0.01 * rate * seconds);
    EXPECT_NEAR(std::acos(axis.y()), tilt, 0.01 * tilt);
}

}  // namespace tenon

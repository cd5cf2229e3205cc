// Every joint type: what it allows leaves no residual, what it forbids leaves the residual that geometry says.
#include <cmath>

#include <gtest/gtest.h>

#include "verify/made_run.hpp"

namespace tenon::verify {
namespace {

using test::MadeRun;
using test::scene_from;
using test::set_motion;

// The second of two boxes is moved by `shift` and turned by `angle` about `axis` through the joint's point (1, 0, 0).
double residual(const std::string& joint, const Vec3& shift, const Vec3& axis, double angle) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "a", "shape": {"type": "box", "size": [1, 1, 1]}},
        {"name": "b", "shape": {"type": "box", "size": [1, 0.6, 0.4]}, "position": [2, 0, 0]}],
        "joints": [{"name": "j", "bodies": ["a", "b"], "point": [1, 0, 0], )" +
                            joint + "}]}");
    made.steps = 1;
    made.pose = [&](const Model& model, State& state, double t) {
        if (t == 0) return;
        const Vec3 arm = Eigen::AngleAxisd(angle, axis) * Vec3(1, 0, 0);
        set_motion(model, state, 1, Vec3(1, 0, 0) + arm + shift, Vec3::Zero(), axis, angle, 0);
    };
    Options options;
    options.motion = false;
    return made.verify(options).joint_residual_max;
}

const Vec3 x = Vec3::UnitX(), y = Vec3::UnitY(), z = Vec3::UnitZ(), none = Vec3::Zero();
constexpr double tiny = 1e-12, small = 1e-3;

TEST(JointAudit, BallAllowsTurningOnly) {
    EXPECT_LT(residual(R"("type": "ball")", none, Vec3(1, 2, 3).normalized(), 0.7), tiny);
    EXPECT_NEAR(residual(R"("type": "ball")", small * y, z, 0.7), small, tiny);
}

TEST(JointAudit, HingeAllowsTurningAboutItsAxis) {
    const std::string hinge = R"("type": "hinge", "axis": [0, 0, 2])";
    EXPECT_LT(residual(hinge, none, z, 2.0), tiny);
    EXPECT_NEAR(residual(hinge, none, x, small), std::sin(small), tiny);
    EXPECT_NEAR(residual(hinge, small * z, z, 1.0), small, tiny);
}

TEST(JointAudit, UniversalAllowsTwoAxes) {
    const std::string universal = R"("type": "universal", "axis": [0, 0, 1], "axis_b": [0, 1, 0])";
    EXPECT_LT(residual(universal, none, z, 0.4), tiny);
    EXPECT_LT(residual(universal, none, y, 0.4), tiny);
    EXPECT_NEAR(residual(universal, none, x, small), std::sin(small), tiny);
}

TEST(JointAudit, PrismaticAllowsSliding) {
    const std::string prismatic = R"("type": "prismatic", "axis": [1, 0, 0])";
    EXPECT_LT(residual(prismatic, 0.3 * x, z, 0), tiny);
    EXPECT_NEAR(residual(prismatic, small * y, z, 0), small, tiny);
    EXPECT_NEAR(residual(prismatic, none, x, small), std::sin(small), tiny);
}

TEST(JointAudit, FixedAllowsNothing) {
    EXPECT_LT(residual(R"("type": "fixed")", none, z, 0), tiny);
    EXPECT_NEAR(residual(R"("type": "fixed")", small * x, z, 0), small, tiny);
    for (const Vec3& axis : {x, y, z})
        EXPECT_NEAR(residual(R"("type": "fixed")", none, axis, small), std::sin(small), tiny);
}

TEST(JointAudit, CylindricalAllowsSlidingAndTurning) {
    const std::string cylindrical = R"("type": "cylindrical", "axis": [1, 0, 0])";
    EXPECT_LT(residual(cylindrical, 0.2 * x, x, 1.0), tiny);
    EXPECT_NEAR(residual(cylindrical, small * z, x, 1.0), small, tiny);
    EXPECT_NEAR(residual(cylindrical, none, y, small), std::sin(small), tiny);
}

TEST(JointAudit, PlanarAllowsThePlane) {
    const std::string planar = R"("type": "planar", "axis": [0, 1, 0])";
    EXPECT_LT(residual(planar, Vec3(0.2, 0, -0.3), y, 0.5), tiny);
    EXPECT_NEAR(residual(planar, small * y, y, 0.5), small, tiny);
    EXPECT_NEAR(residual(planar, none, x, small), std::sin(small), tiny);
}

TEST(JointAudit, DistanceKeepsItsLength) {
    const std::string distance = R"("type": "distance", "point_b": [2, 0, 0])";
    EXPECT_LT(residual(distance, none, z, 0.5), tiny);  // the anchor of b circles that of a
    EXPECT_NEAR(residual(distance, small * x, z, 0), small, tiny);
}

// Two wheels whose angles are coupled 1 : -2 turn several times, faster than half a turn a frame.
TEST(JointAudit, CouplingFollowsManyTurns) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "a", "shape": {"type": "box", "size": [1, 1, 1]}},
        {"name": "b", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [3, 0, 0]}],
        "joints": [{"name": "first", "type": "hinge", "bodies": ["world", "a"], "point": [0, 0, 0]},
                   {"name": "second", "type": "hinge", "bodies": ["world", "b"], "point": [3, 0, 0]},
                   {"name": "gear", "type": "coupling", "joints": ["first", "second"], "ratio": -2}]})");
    double slip = 0.0;
    made.pose = [&](const Model& model, State& state, double t) {
        set_motion(model, state, 0, Vec3::Zero(), Vec3::Zero(), z, 250 * t, 250);
        set_motion(model, state, 1, Vec3(3, 0, 0), Vec3::Zero(), z, -500 * t + (t > 0 ? slip : 0), -500);
    };
    const Result good = made.verify();
    EXPECT_TRUE(good.clean()) << good.to_json();
    EXPECT_LT(good.joint_residual_max, 1e-10);
    slip = 1e-5;
    EXPECT_NEAR(made.verify().joint_residual_max, 1e-5, 1e-10);
}

// A screw: the two coordinates of a cylindrical joint, angle and length, are coupled by its pitch.
TEST(JointAudit, CouplingOfOneJointWithItselfIsAScrew) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0],
        "bodies": [{"name": "bolt", "shape": {"type": "box", "size": [1, 1, 1]}}],
        "joints": [{"name": "thread", "type": "cylindrical", "bodies": ["world", "bolt"], "axis": [0, 1, 0]},
                   {"name": "pitch", "type": "coupling", "joints": ["thread", "thread"], "coordinates": [0, 1],
                    "ratio": 0.01}]})");
    double pitch = 0.01;
    made.pose = [&](const Model& model, State& state, double t) {
        const double rate = 100;
        set_motion(model, state, 0, Vec3(0, pitch * rate * t, 0), Vec3(0, pitch * rate, 0), y, rate * t,
                   rate);
    };
    EXPECT_LT(made.verify().joint_residual_max, tiny);
    pitch = 0.011;  // 20 rad at the end: off by 0.02 m
    EXPECT_NEAR(made.verify().joint_residual_max, 0.02, tiny);
}

}  // namespace
}  // namespace tenon::verify

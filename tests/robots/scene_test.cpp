// What robots add to scenes: inertia matrices, bodies without geometry, starts, keyframes, actuators, sensors.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "scene/actuators.hpp"
#include "scene/support.hpp"
#include "tenon/inertia.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

Scene read(const std::string& text) {
    return parse_scene(text, "robot", ".");
}

std::string refused(const std::string& text) {
    const InputError error = test::input_error([&] { compile(read(text)); });
    return error.path() + ": " + error.problem() + ": " + error.cure();
}

bool says(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

// An arm of two links without geometry on a hinge and a slide.
std::string arm(const std::string& more) {
    return std::string(R"({"method": "articulated", "gravity": [0, 0, 0], "bodies": [
        {"name": "a", "mass": 2, "inertia": {"moments": [1, 2, 2.5]}, "position": [1, 0, 0]},
        {"name": "b", "mass": 1, "inertia": {"matrix": [0.5, 0.1, 0, 0.6, 0, 0.7]}, "position": [2, 0, 0]}],
      "joints": [
        {"name": "turn", "type": "hinge", "bodies": ["world", "a"], "axis": [0, 0, 1]},
        {"name": "push", "type": "prismatic", "bodies": ["a", "b"], "point": [1.5, 0, 0], "axis": [1, 0, 0]}])") +
           (more.empty() ? "" : ", ") + more + "}";
}

TEST(RobotScene, InertiaMatricesGivePrincipalMomentsAndAxes) {
    const Scene scene = read(arm(""));
    Mat3 given;
    given << 0.5, 0.1, 0, 0.1, 0.6, 0, 0, 0, 0.7;
    EXPECT_LT((inertia_matrix(*scene.bodies[1].inertia) - given).norm(), 1e-15);
    const Model model = compile(scene);
    const State state = initial_state(model);
    const Mat3 R = state.q[1].leftCols<3>();
    EXPECT_LT((R * model.bodies.moments_of_inertia(1).asDiagonal() * R.transpose() - given).norm(), 1e-14);
    EXPECT_FALSE(model.bodies.collides[1]);
    EXPECT_TRUE(model.shape_of(1).mesh.empty());
    EXPECT_TRUE(says(refused(R"({"bodies": [{"mass": 1, "inertia": {"matrix": [1, 0, 0, 1, 0, 3]}}]})"),
                     "belong to no body"));
    EXPECT_TRUE(says(
        refused(R"({"bodies": [{"mass": 1, "inertia": {"matrix": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}}]})"),
        "not symmetric"));
    EXPECT_TRUE(
        says(refused(R"({"bodies": [{"mass": 1, "inertia": {"matrix": [-1, 0, 0, 1, 0, 1]}}]})"), "above 0"));
    EXPECT_TRUE(says(refused(R"({"bodies": [{"mass": 1, "inertia": {}}]})"), "no 'moments' and no 'matrix'"));
    EXPECT_TRUE(says(refused(R"({"bodies": [{"mass": 1}]})"), "has no geometry"));
}

TEST(RobotScene, PartsMakeOneSolid) {
    const Scene scene = read(R"({"bodies": [{"parts": [
        {"shape": {"type": "box", "size": [1, 1, 1]}, "position": [-1, 0, 0]},
        {"shape": {"type": "box", "size": [1, 1, 1]}, "position": [1, 0, 0], "rotation_euler": [0, 0, 90]}], "density": 10}]})");
    const Model model = compile(scene);
    const State state = initial_state(model);
    // two unit cubes 2 apart: mass 20; about x 2 * 10/6, about y and z the same plus 20 * 1^2
    EXPECT_NEAR(model.bodies.mass[0], 20, 1e-12);
    const Vec3 moments = model.bodies.moments_of_inertia(0);
    EXPECT_NEAR(moments.minCoeff(), 20.0 / 6, 1e-12);
    EXPECT_NEAR(moments.maxCoeff(), 20.0 / 6 + 20, 1e-12);
    EXPECT_EQ(parse_scene(write_scene(scene), "again", ".").geometries[0], scene.geometries[0]);
}

TEST(RobotScene, JointsStartWhereTheyAreTold) {
    const double angle = 4.0, slide = 0.3;  // beyond half a turn: counted
    Scene scene = read(arm(""));
    scene.joints[0].start = {angle};
    scene.joints[0].start_rate = {2.0};
    scene.joints[1].start = {slide};
    scene.joints[1].start_rate = {0.5};
    const Model model = compile(scene);
    const State state = initial_state(model);
    const Vec3 along(std::cos(angle), std::sin(angle), 0), across(-along.y(), along.x(), 0);
    EXPECT_LT((state.q[0].col(3) - along).norm(), 1e-14);
    EXPECT_LT((state.q[1].col(3) - (2 + slide) * along).norm(), 1e-14);
    EXPECT_LT((state.rate[1].col(3) - (0.5 * along + 2.0 * (2 + slide) * across)).norm(), 1e-13);
    EXPECT_NEAR(state.joint_coordinate[0][0], angle, 1e-14);
    EXPECT_LT(joint_residual_max(model, state), 1e-14);
}

TEST(RobotScene, LoopsThatDoNotCloseAreRefused) {
    // a parallelogram whose lower bar is told to turn but whose upper bar stays
    const std::string text = R"({"method": "articulated", "bodies": [
        {"name": "a", "mass": 1, "inertia": {"moments": [1, 1, 1]}, "position": [0, 0.5, 0]},
        {"name": "b", "mass": 1, "inertia": {"moments": [1, 1, 1]}, "position": [0.5, 1, 0]},
        {"name": "c", "mass": 1, "inertia": {"moments": [1, 1, 1]}, "position": [1, 0.5, 0]}], "joints": [
        {"name": "1", "type": "hinge", "bodies": ["world", "a"], "position": 0.3 },
        {"name": "2", "type": "hinge", "bodies": ["a", "b"], "point": [0, 1, 0] SECOND},
        {"name": "3", "type": "hinge", "bodies": ["b", "c"], "point": [1, 1, 0] },
        {"name": "4", "type": "hinge", "bodies": ["world", "c"], "point": [1, 0, 0] FOURTH}]})";
    const auto with = [&](const std::string& second, const std::string& fourth) {
        std::string out = text;
        out.replace(out.find("SECOND"), 6, second);
        out.replace(out.find("FOURTH"), 6, fourth);
        return out;
    };
    EXPECT_TRUE(says(refused(with("", "")), "gapes by"));
    const Model model = compile(read(with(R"(, "position": -0.3)", R"(, "position": 0.3)")));
    const State state = initial_state(model);
    EXPECT_LT(joint_residual_max(model, state), 1e-14);
}

TEST(RobotScene, KeyframesSetPositionsAndTargets) {
    const std::string more =
        R"("actuators": [{"name": "m", "type": "position", "joint": "turn", "kp": 10, "kd": 1, "target": 0.1}],
        "keyframes": [{"name": "home", "positions": {"turn": 0.5, "push": 0.2}, "velocities": {"push": 1}, "targets": {"m": 0.7}}],
        "sensors": [{"name": "tip", "type": "pose", "body": "b"}])";
    Scene scene = read(arm(more));
    EXPECT_EQ(compile(scene).joints[0].spec.drives[0].motor.target, 0.1);
    scene.start = "home";
    const Model model = compile(scene);
    const State state = initial_state(model);
    EXPECT_NEAR(state.joint_coordinate[1][0], 0.2, 1e-15);
    EXPECT_EQ(model.joints[0].spec.drives[0].motor.target, 0.7);
    EXPECT_EQ(model.joints[0].spec.drives[0].motor.stiffness, 10);
    EXPECT_NEAR(state.rate[1].col(3).norm(), 1.0, 1e-14);
    const Scene again = parse_scene(write_scene(scene), "again", ".");
    EXPECT_EQ(write_scene(again), write_scene(scene));
    EXPECT_TRUE(says(refused(arm(R"("keyframes": [{"name": "k", "positions": {"trun": 1}}])")),
                     "did you mean 'turn'?"));
    EXPECT_TRUE(says(refused(arm(R"("start": "k")")), "no keyframe is named 'k'"));
}

TEST(RobotScene, ActuatorsBecomeTheDrivesThatDoTheSame) {
    const auto drive = [](const std::string& actuator, int joint) {
        const Scene scene = scene::lowered(read(arm("\"actuators\": [{\"name\": \"m\", " + actuator + "}]")));
        return scene.joints[static_cast<std::size_t>(joint)].drives.at(0);
    };
    // torque through a gear, cut off at its limit: f = 5 becomes 3, the joint feels gear * f
    EXPECT_EQ(
        drive(R"("type": "torque", "joint": "turn", "gear": 4, "target": 5, "force_limits": [-3, 3])", 0)
            .motor.target,
        12);
    // l = 2 q: stiffness and damping grow with the square, the target halves
    const DriveSpec geared =
        drive(R"("type": "position", "joint": "push", "gear": 2, "kp": 10, "kd": 3, "target": 0.4)", 1);
    EXPECT_EQ(geared.motor.type, MotorSpec::Type::position);
    EXPECT_EQ(geared.motor.stiffness, 40);
    EXPECT_EQ(geared.motor.damping, 12);
    EXPECT_EQ(geared.motor.target, 0.2);
    EXPECT_FALSE(geared.spring);
    const DriveSpec servo =
        drive(R"("type": "position", "joint": "turn", "gear": 2, "target": 1, "force_limits": [-5, 5])", 0);
    EXPECT_EQ(servo.motor.type, MotorSpec::Type::position);
    EXPECT_EQ(servo.motor.target, 0.5);
    EXPECT_EQ(servo.motor.max, 10);
    const DriveSpec bounded = drive(
        R"("type": "position", "joint": "turn", "kp": 7, "kd": 2, "target": 1, "force_limits": [-5, 5])", 0);
    EXPECT_EQ(bounded.motor.stiffness, 7);
    EXPECT_EQ(bounded.motor.max, 5);
    // approached at 0.5 rad/s: a ramp of 2 s
    const DriveSpec slow =
        drive(R"("type": "position", "joint": "turn", "target": 1, "velocity_limit": 0.5)", 0);
    ASSERT_EQ(slow.motor.profile.size(), 2u);
    EXPECT_EQ(slow.motor.profile[1][0], 2.0);
    // cut profiles keep their corners: 0..10 over 10 s at limit 4 bends at 4 s
    const DriveSpec cut = drive(
        R"("type": "torque", "joint": "turn", "profile": [[0, 0], [10, 10]], "force_limits": [-4, 4])", 0);
    ASSERT_EQ(cut.motor.profile.size(), 3u);
    EXPECT_EQ(cut.motor.profile[1], (std::array<double, 2>{4, 4}));
    const auto wrong = [](const std::string& actuators) {
        return refused(arm("\"actuators\": [" + actuators + "]"));
    };
    EXPECT_TRUE(says(wrong(R"({"name": "m", "type": "position", "joint": "turn", "force_limits": [-1, 2]})"),
                     "differ in size"));
    EXPECT_TRUE(says(wrong(R"({"name": "m", "type": "velocity", "joint": "turn", "kp": 1})"), "has no kp"));
    EXPECT_TRUE(says(
        wrong(
            R"({"name": "m", "type": "velocity", "joint": "turn"}, {"name": "n", "type": "velocity", "joint": "turn"})"),
        "has a motor"));
    EXPECT_TRUE(says(wrong(R"({"name": "m", "type": "velocity"})"), "drives nothing"));
    EXPECT_TRUE(says(
        wrong(R"({"name": "m", "type": "position", "joint": "turn", "target": 3, "target_limits": [0, 1]})"),
        "beyond the target limits"));
}

TEST(RobotScene, TendonsOverCoupledJointsDriveTheFirstOfThem) {
    const std::string text = R"({"method": "articulated", "bodies": [
        {"name": "l", "mass": 1, "inertia": {"moments": [1, 1, 1]}, "position": [0, 1, 0]},
        {"name": "r", "mass": 1, "inertia": {"moments": [1, 1, 1]}, "position": [0, -1, 0]}], "joints": [
        {"name": "left", "type": "prismatic", "bodies": ["world", "l"], "axis": [0, 1, 0]},
        {"name": "right", "type": "prismatic", "bodies": ["world", "r"], "axis": [0, -1, 0]} COUPLING],
      "tendons": [{"name": "t", "joints": ["left", "right"], "coefficients": [0.5, 0.25]}],
      "actuators": [{"name": "grip", "type": "position", "tendon": "t", "kp": 100, "kd": 10, "target": 0.3}]})";
    std::string coupled = text, loose = text;
    coupled.replace(coupled.find("COUPLING"), 8,
                    R"(, {"type": "coupling", "joints": ["left", "right"], "ratio": 2})");
    loose.replace(loose.find("COUPLING"), 8, "");
    // l = 0.5 q + 0.25 (2 q) = q
    const Scene scene = scene::lowered(read(coupled));
    EXPECT_EQ(scene.joints[0].drives.at(0).motor.stiffness, 100);
    EXPECT_EQ(scene.joints[0].drives.at(0).motor.target, 0.3);
    EXPECT_TRUE(scene.joints[1].drives.empty());
    EXPECT_TRUE(says(refused(loose), "whose joints move on their own"));
}

TEST(RobotScene, TargetsOfTheCommandLineCountBeforeTheKeyframes) {
    const test::Folder folder;
    const std::string file = folder.write("k.json", R"({"method": "articulated",
"bodies": [{"name": "bar", "shape": {"type": "box", "size": [1, 0.1, 0.1]}}],
"joints": [{"name": "turn", "type": "hinge", "bodies": ["world", "bar"], "axis": [0, 0, 1]}],
"actuators": [{"name": "m", "type": "position", "joint": "turn"}],
"keyframes": [{"name": "home", "positions": {"turn": 0.4}, "targets": {"m": 0.4}}], "start": "home"})");
    const auto target = [&](const std::vector<Override>& overrides) {
        return scene::actuators_at_start(load_scene(file, overrides)).at(0).target;
    };
    EXPECT_EQ(target({}), 0.4);
    EXPECT_EQ(target({{"actuators[m].target", "0.7"}}), 0.7);
    EXPECT_EQ(target({{"keyframes[home].targets.m", "0.9"}}), 0.9);
    EXPECT_EQ(target({{"start", "home"}, {"actuators[0].target", "-0.2"}}), -0.2);
}

}  // namespace
}  // namespace tenon

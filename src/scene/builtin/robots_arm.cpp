#include "scene/builtin/robots_arm.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/error.hpp"

namespace tenon {
namespace {

// Heights at which the joints sit with the arm straight up; the hand begins at the last one.
constexpr double joint_height[] = {0.10, 0.35, 0.55, 0.75, 0.95, 1.15, 1.22};
constexpr double finger_base = 1.32, finger_length = 0.10, grip_height = 1.40;
constexpr double sample = 0.02;  // s, between the entries of a profile
constexpr double joint_speed = 1.5, joint_acceleration = 6.0, line_speed = 0.4, line_acceleration = 1.5;

Vec3 joint_axis(int k) {
    return k % 2 == 0 ? Vec3::UnitY() : Vec3::UnitZ();
}

struct JointData {
    double low, high;  // rad
    double torque;     // N m
};
constexpr JointData joint_data[] = {{-2.9, 2.9, 200}, {-1.9, 1.9, 200}, {-2.9, 2.9, 150}, {-2.7, -0.05, 150},
                                    {-2.9, 2.9, 60},  {-2.9, 2.9, 60},  {-2.9, 2.9, 60}};

int add_link(Scene& scene, int k, bool collides) {
    const double low = joint_height[k], high = joint_height[k + 1], radius = 0.052 - 0.003 * k;
    GeometrySpec shape =
        shape_spec("capsule", {{"radius", radius}, {"length", high - low}, {"segments", 16.0}});
    BodySpec body = body_spec(scene, fmt::format("link-{}", k + 1), shape, Vec3(0, 0.5 * (low + high), 0));
    body.group = "arm";
    body.collides = collides;
    body.color = k % 2 ? std::array<double, 3>{0.92, 0.92, 0.94} : std::array<double, 3>{0.95, 0.55, 0.15};
    return scene.add_body(body);
}

void add_drive(Scene& scene, const JointSpec& spec, const JointData& data) {
    JointSpec joint = spec;
    DriveSpec drive;
    drive.limits = {{data.low, data.high}};
    drive.friction = 0.2;
    drive.armature = 0.1;
    joint.drives.push_back(drive);
    scene.joints.push_back(joint);
    ActuatorSpec motor;
    motor.name = joint.name;
    motor.type = ActuatorSpec::Type::position;
    motor.joint = static_cast<int>(scene.joints.size()) - 1;
    motor.force_limits = {-data.torque, data.torque};
    scene.actuators.push_back(motor);
}

// Two fingers that a coupling moves alike, driven through a tendon of both.
void add_gripper(Scene& scene, Arm& arm, const ArmOptions& options) {
    int slides[2];
    for (int side = 0; side < 2; ++side) {
        const double out = side == 0 ? 1.0 : -1.0;
        const Vec3 center(0, finger_base + 0.5 * finger_length, out * 0.005);
        BodySpec finger = body_spec(scene, side == 0 ? "finger-left" : "finger-right",
                                    box_spec({0.02, finger_length, 0.01}), center);
        finger.group = "arm";
        finger.collides = options.collides;
        finger.material = scene.bodies.back().material;
        finger.color = {0.25, 0.27, 0.3};
        arm.fingers[side] = scene.add_body(finger);
        JointSpec slide = joint_spec(side == 0 ? "slide-left" : "slide-right", JointType::prismatic, arm.hand,
                                     arm.fingers[side], Vec3(0, finger_base, 0), Vec3(0, 0, out));
        DriveSpec drive;
        drive.limits = {{0.0, 0.05}};
        drive.armature = 0.05;
        slide.drives.push_back(drive);
        slides[side] = static_cast<int>(scene.joints.size());
        scene.joints.push_back(slide);
    }
    JointSpec mimic;
    mimic.name = "fingers-alike";
    mimic.type = JointType::coupling;
    mimic.joints = {slides[0], slides[1]};
    scene.joints.push_back(mimic);
    TendonSpec tendon;
    tendon.name = "grip";
    for (const int slide : slides) tendon.terms.push_back({slide, 0, 0.5});
    scene.tendons.push_back(tendon);
    ActuatorSpec motor;
    motor.name = "gripper";
    motor.type = ActuatorSpec::Type::position;
    motor.tendon = static_cast<int>(scene.tendons.size()) - 1;
    motor.force_limits = {-options.grip_force, options.grip_force};
    motor.target = options.opening;
    scene.actuators.push_back(motor);
}

}  // namespace

Arm add_arm(Scene& scene, const ArmOptions& options) {
    Arm arm;
    arm.first_joint = static_cast<int>(scene.joints.size());
    arm.first_actuator = static_cast<int>(scene.actuators.size());
    BodySpec base = body_spec(scene, "base",
                              shape_spec("cylinder", {{"radius", 0.08}, {"length", 0.1}, {"segments", 32.0}}),
                              Vec3(0, 0.05, 0));
    base.type = BodyType::static_body;
    base.group = "arm";
    base.color = {0.25, 0.27, 0.3};
    int below = scene.add_body(base);
    for (int k = 0; k < Arm::joints; ++k) {
        int link;
        if (k + 1 < Arm::joints) {
            link = add_link(scene, k, options.collides);
        } else {
            BodySpec hand = body_spec(scene, "hand", box_spec({0.05, finger_base - joint_height[k], 0.13}),
                                      Vec3(0, 0.5 * (finger_base + joint_height[k]), 0));
            hand.group = "arm";
            hand.collides = options.collides;
            hand.color = {0.92, 0.92, 0.94};
            link = arm.hand = scene.add_body(hand);
        }
        const Vec3 at(0, joint_height[k], 0);
        add_drive(
            scene,
            joint_spec(fmt::format("joint-{}", k + 1), JointType::hinge, below, link, at, joint_axis(k)),
            joint_data[k]);
        kinematics::Link place;
        place.name = fmt::format("joint-{}", k + 1);
        place.parent = k - 1;
        place.motion = kinematics::Link::Motion::hinge;
        place.axis = joint_axis(k);
        place.anchor = at - (k > 0 ? Vec3(0, joint_height[k - 1], 0) : Vec3(0, 0, 0));
        place.limits = {{joint_data[k].low, joint_data[k].high}};
        arm.tree.add(place);
        below = link;
    }
    add_gripper(scene, arm, options);
    arm.home = VecX::Zero(Arm::joints);
    arm.home[1] = -0.3;
    arm.home[3] = -1.9;
    arm.home[5] = 2.2 - M_PI;  // the three pitches add up to half a turn: the hand points down
    return arm;
}

kinematics::Target grip_target(const Arm&, const Vec3& point, double yaw) {
    kinematics::Target target;
    target.link = Arm::joints - 1;
    target.point = Vec3(0, grip_height - joint_height[Arm::joints - 1], 0);
    target.position = point;
    target.rotation = turn(yaw * 180.0 / M_PI, Vec3::UnitY()) * turn(-180.0, Vec3::UnitZ());
    return target;
}

ArmPlan::ArmPlan(const Arm& arm, const VecX& start, double opening)
    : arm_(arm), q_(start), opening_(opening), start_(start), start_opening_(opening) {
    add(0.0, start);
    gripper_.push_back({0.0, opening});
}

void ArmPlan::add(double time, const VecX& q) {
    for (int k = 0; k < Arm::joints; ++k) joints_[k].push_back({time, q[k]});
}

void ArmPlan::move_to(const VecX& q) {
    const VecX speed = VecX::Constant(Arm::joints, joint_speed),
               acceleration = VecX::Constant(Arm::joints, joint_acceleration);
    const auto path = kinematics::joint_trajectory(arm_.tree, q_, q, speed, acceleration);
    const int steps = std::max(1, static_cast<int>(std::ceil(path.profile.duration / sample)));
    for (int k = 1; k <= steps; ++k) add(time_ + k * sample, path.at(k * sample));
    time_ += steps * sample;
    q_ = q;
}

void ArmPlan::move_to(const Vec3& point, double yaw) {
    const auto found = kinematics::inverse_kinematics(arm_.tree, {grip_target(arm_, point, yaw)}, q_);
    if (!found.converged)
        throw InputError("", "",
                         fmt::format("the arm cannot reach ({:g}, {:g}, {:g}): {:.3g} m off", point.x(),
                                     point.y(), point.z(), found.error),
                         "put it between 0.3 and 0.65 m from the base");
    move_to(found.q);
}

void ArmPlan::line_to(const Vec3& point, double yaw) {
    const auto line = kinematics::line_trajectory(arm_.tree, q_, grip_target(arm_, point, yaw), line_speed,
                                                  line_acceleration, sample);
    for (std::size_t k = 1; k < line.q.size(); ++k) add(time_ + static_cast<double>(k) * sample, line.q[k]);
    time_ += static_cast<double>(line.q.size() - 1) * sample;
    q_ = line.q.back();
}

void ArmPlan::grip(double opening, double seconds) {
    if (gripper_.back()[0] < time_) gripper_.push_back({time_, opening_});
    opening_ = opening;
    gripper_.push_back({time_ + seconds, opening});
    wait(seconds);
}

void ArmPlan::wait(double seconds) {
    time_ += seconds;
    add(time_, q_);
}

void ArmPlan::write(Scene& scene) const {
    for (int k = 0; k < Arm::joints; ++k) {
        scene.joints[static_cast<std::size_t>(arm_.first_joint + k)].start = {start_[k]};
        scene.actuators[static_cast<std::size_t>(arm_.first_actuator + k)].profile = joints_[k];
    }
    for (int side = 0; side < 2; ++side)
        scene.joints[static_cast<std::size_t>(arm_.first_joint + Arm::joints + side)].start = {
            start_opening_};
    scene.actuators[static_cast<std::size_t>(arm_.first_actuator + Arm::joints)].profile = gripper_;
}

}  // namespace tenon

// A seven-joint arm with a gripper of two fingers, made of plain shapes, and what its planner needs of it.
#pragma once

#include <string>
#include <vector>

#include "scene/builtin/scene_parts.hpp"
#include "tenon/link_tree.hpp"
#include "tenon/scene.hpp"

namespace tenon {

struct ArmOptions {
    double grip_force = 24.0;  // N that the gripper's motor gives; each finger presses with half of it
    double opening = 0.04;     // m, of each finger at the start
    bool collides = true;
};

// The arm stands at the origin, straight up (along y) with all joints at zero. Joints turn about y and z in turn; the fingers
// slide along z of the hand.
struct Arm {
    static constexpr int joints = 7;
    int first_joint = 0;     // of the seven in the scene
    int first_actuator = 0;  // of the seven; the gripper's comes after them
    int hand = -1;           // body
    int fingers[2] = {-1, -1};
    kinematics::Tree tree;  // of the seven joints, without masses
    VecX home;              // hand down, in front of the base
};

Arm add_arm(Scene& scene, const ArmOptions& options = {});

// A target of inverse kinematics: the point between the finger tips, the hand pointing down, its fingers turned about y.
kinematics::Target grip_target(const Arm& arm, const Vec3& point, double yaw);

// A motion put together piece by piece, as targets over time of the arm's actuators and of its gripper.
class ArmPlan {
  public:
    ArmPlan(const Arm& arm, const VecX& start, double opening);
    void move_to(const VecX& q);                  // all joints start and stop together
    void move_to(const Vec3& point, double yaw);  // the same to where inverse kinematics says
    void line_to(const Vec3& point, double yaw);  // straight
    void grip(double opening, double seconds);    // of each finger, at an even pace
    void wait(double seconds);
    double time() const { return time_; }
    const VecX& position() const { return q_; }
    void write(Scene& scene) const;  // into the actuators' profiles and the joints' starts

  private:
    void add(double time, const VecX& q);
    using Table = std::vector<std::array<double, 2>>;
    const Arm& arm_;
    VecX q_;
    double opening_;
    double time_ = 0.0;
    Table joints_[Arm::joints], gripper_;
    VecX start_;
    double start_opening_;
};

}  // namespace tenon

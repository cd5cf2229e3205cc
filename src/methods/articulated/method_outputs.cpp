// What a step leaves in the world's joints: forces, coordinates, and which of them broke.
#include "methods/articulated/joint_outputs.hpp"
#include "methods/articulated/method.hpp"

namespace tenon::articulated {

// Which joints have coordinates to work out, and which can break.
void ArticulatedMethod::sort_joints(const World& world) {
    measured_ = joints_to_measure(world);
    breakable_.clear();
    joint_was_broken_.resize(world.joints.size());
    for (std::size_t j = 0; j < world.joints.size(); ++j) {
        const JointSpec& spec = world.joints[j].spec;
        if (spec.break_force < 1e299 || spec.break_torque < 1e299) breakable_.push_back(static_cast<int>(j));
        joint_was_broken_[j] = world.joints[j].broken;
    }
}

// True when a joint was broken, or mended, since the components were made.
bool ArticulatedMethod::joints_changed(const World& world) const {
    constexpr std::size_t ahead = 16;  // joints are wide apart: ask for the next ones in time
    const std::size_t count = world.joints.size();
    for (std::size_t j = 0; j < count; ++j) {
        if (j + ahead < count) __builtin_prefetch(&world.joints[j + ahead].broken);
        if (joint_was_broken_[j] != static_cast<char>(world.joints[j].broken)) return true;
    }
    return false;
}

void ArticulatedMethod::write_joints(World& world) {
    for (const Component* component : current_) component->write_forces(field_, world);
    write_joint_coordinates(world, measured_);
}

bool ArticulatedMethod::break_joints(World& world) {
    bool broke = false;
    for (int j : breakable_) {
        Joint& joint = world.joints[j];
        if (!joint.broken &&
            (joint.force.norm() > joint.spec.break_force || joint.torque.norm() > joint.spec.break_torque)) {
            joint.broken = true;
            joint.force.setZero();
            joint.torque.setZero();
            broke = true;
        }
    }
    return broke;
}

}  // namespace tenon::articulated

// What a step leaves in the world's joints: forces, coordinates, and which of them broke.
#include "methods/articulated/joint_outputs.hpp"
#include "methods/articulated/method.hpp"

namespace tenon::articulated {

// Which joints have coordinates to work out, and which can break.
void ArticulatedMethod::sort_joints(const Model& model, const State& state) {
    measured_ = joints_to_measure(model);
    breakable_.clear();
    joint_was_broken_.resize(model.joints.size());
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const JointSpec& spec = model.joints[j].spec;
        if (spec.break_force < 1e299 || spec.break_torque < 1e299) breakable_.push_back(static_cast<int>(j));
        joint_was_broken_[j] = state.broken[j];
    }
}

// True when a joint was broken, or mended, since the components were made.
bool ArticulatedMethod::joints_changed(const Model& model, const State& state) const {
    constexpr std::size_t ahead = 16;  // joints are wide apart: ask for the next ones in time
    const std::size_t count = model.joints.size();
    for (std::size_t j = 0; j < count; ++j) {
        if (j + ahead < count) __builtin_prefetch(&state.broken[j + ahead]);
        if (joint_was_broken_[j] != static_cast<char>(state.broken[j])) return true;
    }
    return false;
}

void ArticulatedMethod::write_joints(const Model& model, State& state, Outputs& outputs) {
    for (const Component* component : current_) component->write_forces(field_, model, outputs);
    write_joint_coordinates(model, state, outputs, measured_);
}

bool ArticulatedMethod::break_joints(const Model& model, State& state, Outputs& outputs) {
    bool broke = false;
    for (int j : breakable_) {
        const JointSpec& spec = model.joints[j].spec;
        JointOutput& out = outputs.joints[j];
        if (!state.broken[j] &&
            (out.force.norm() > spec.break_force || out.torque.norm() > spec.break_torque)) {
            state.broken[j] = 1;
            out.force.setZero();
            out.torque.setZero();
            broke = true;
        }
    }
    return broke;
}

}  // namespace tenon::articulated

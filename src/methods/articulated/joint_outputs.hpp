// What is recorded of joints after a step.
#pragma once

#include "tenon/state.hpp"

namespace tenon::articulated {

// The joints whose coordinates are worked out after every step: all of them, but where there are more than 5,000 not the
// plain ball joints, whose bend and twist nobody then looks at.
std::vector<int> joints_to_measure(const Model& model);

// Coordinates (turns counted) and their rates, from the world's state.
void write_joint_coordinates(const Model& model, State& state, Outputs& outputs,
                             const std::vector<int>& joints);

// Force and torque at the anchor on the second body from a generalised force on one side, `x` that side's map.
void set_joint_force(const Joint& joint, int side, const Mat34& generalised, const Mat34& x,
                     JointOutput& out);

}  // namespace tenon::articulated

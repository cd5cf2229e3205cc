// What is recorded of joints after a step.
#pragma once

#include "tenon/world.hpp"

namespace tenon::articulated {

// Coordinates (turns counted) and their rates, from the world's state.
void write_joint_coordinates(World& world);

// Force and torque at the anchor on the second body from a generalised force on one side, `x` that side's map.
void set_joint_force(Joint& joint, int side, const Mat34& generalised, const Mat34& x);

}  // namespace tenon::articulated

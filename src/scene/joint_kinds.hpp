// Joint types by name, and what the free coordinates of each one are.
#pragma once

#include <string>
#include <vector>

#include "tenon/scene.hpp"

namespace tenon::scene {

enum class Coordinate { angle, length };

// In the order of docs/joints.md; empty for types without free coordinates that can be driven.
const std::vector<Coordinate>& free_coordinates(JointType type);
// The same, and the length of a distance joint, which is free when something acts along it.
const std::vector<Coordinate>& driven_coordinates(JointType type);
const std::string& joint_type_name(JointType type);
JointType joint_type_of(const std::string& name);  // of a name that is known to be one

}  // namespace tenon::scene

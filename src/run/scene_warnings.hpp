// What is allowed in a scene but hardly meant.
#pragma once

#include <string>
#include <vector>

#include "tenon/model.hpp"
#include "tenon/scene.hpp"

namespace tenon::run {

// Meshes that look like millimetres, joint limits that look like degrees, joints that start outside their limits: each with
// its place and the cure.
std::vector<std::string> start_warnings(const Scene& scene, const Model& model);

}  // namespace tenon::run

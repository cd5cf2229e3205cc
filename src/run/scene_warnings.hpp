// Numbers of a scene that are allowed but look like another unit.
#pragma once

#include <string>
#include <vector>

#include "tenon/model.hpp"
#include "tenon/scene.hpp"

namespace tenon::run {

// Meshes that look like millimetres, joint limits that look like degrees: each with its place and the cure.
std::vector<std::string> unit_warnings(const Scene& scene, const Model& model);

}  // namespace tenon::run

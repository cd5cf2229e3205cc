// The groups of scenes that make up the affine family, one file each.
#pragma once

#include <vector>

#include "tenon/builtin.hpp"

namespace tenon {

std::vector<BuiltinScene> affine_free_scenes();
std::vector<BuiltinScene> affine_wall_scenes();
std::vector<BuiltinScene> affine_friction_scenes();
std::vector<BuiltinScene> affine_chain_scenes();
std::vector<BuiltinScene> affine_gear_scenes();
std::vector<BuiltinScene> affine_joint_scenes();
std::vector<BuiltinScene> affine_pile_scenes();
std::vector<BuiltinScene> affine_coupled_scenes();
std::vector<BuiltinScene> affine_machine_scenes();
std::vector<BuiltinScene> affine_bike_chain_scenes();

}  // namespace tenon

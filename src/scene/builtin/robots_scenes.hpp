// The built-in scenes of robots, one file each.
#pragma once

#include <vector>

#include "tenon/builtin.hpp"

namespace tenon {

BuiltinScene pick_place_scene();
BuiltinScene leg_scene();
BuiltinScene protein_scene();

inline std::vector<BuiltinScene> robot_scenes() {
    return {pick_place_scene(), leg_scene(), protein_scene()};
}

}  // namespace tenon

// What can be wrong with joints of a scene, said before anything is built.
#pragma once

#include "tenon/scene.hpp"

namespace tenon {

// Throws InputError: joints of bodies or joints that do not exist, of two bodies that never move, joints that repeat
// or contradict others.
void check_joints(const Scene& scene);

}  // namespace tenon

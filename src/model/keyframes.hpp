// Where a script of keyframes has its frame at a time.
#pragma once

#include "tenon/scene.hpp"

namespace tenon {

Mat34 keyframe_pose(const std::vector<Keyframe>& motion, double time);

}  // namespace tenon

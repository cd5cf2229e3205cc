// Random scenes whose motion is smooth: chains of links on hinges and balls with springs and dampers, free bodies under forces
// and torques. No contact, no bounds, and short enough to stay short of chaos.
#pragma once

#include <cstdint>

#include "tenon/scene.hpp"

namespace tenon::test {

// The same seed gives the same scene.
Scene random_smooth_scene(std::uint64_t seed);

}  // namespace tenon::test

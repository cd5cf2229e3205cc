// Joints that are open at a start are closed before it: what a first step has to close would become velocity.
#pragma once

#include <functional>
#include <string>

#include "tenon/scene.hpp"
#include "tenon/state.hpp"

namespace tenon::run {

// Moves bodies, as little as their masses let them, until all joints are closed and coordinates within their limits; bodies
// that are apart stay apart. Velocities stay. `scene` is the one that the model was made of. False when contact or other
// joints leave one open. `say` hears of every step; throws Interrupted when an InterruptScope says so.
bool close_joints(const Scene& scene, const Model& model, State& state,
                  const std::function<void(const std::string&)>& say);

}  // namespace tenon::run

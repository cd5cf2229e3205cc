// Actuators and keyframes, turned into what methods know: drives of joints and where joints start.
#pragma once

#include "tenon/scene.hpp"

namespace tenon::scene {

// Whether `lowered` has anything to do.
bool has_actuators_or_start(const Scene& scene);

// The scene's actuators with the targets of the keyframe `start`.
std::vector<ActuatorSpec> actuators_at_start(const Scene& scene);

// The scene with the keyframe `start` written into joints and actuators, and with every actuator as drives of
// joints; keyframes that place bodies stay in `keyframes` under the name `start`. Each drive does exactly what the
// actuator says. Throws InputError for what drives cannot express.
Scene lowered(Scene scene);

}  // namespace tenon::scene

// What a scene says in short, said in full before it is compiled.
#pragma once

#include <optional>

#include "tenon/scene.hpp"

namespace tenon::model {

// Actuators and starts as drives and poses of joints, universal joints in linear form as two hinges; nothing when the
// scene has none of them.
std::optional<Scene> expanded(const Scene& scene);

}  // namespace tenon::model

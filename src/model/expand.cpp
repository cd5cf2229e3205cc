#include "model/expand.hpp"

#include "model/two_hinge.hpp"
#include "scene/actuators.hpp"

namespace tenon::model {

std::optional<Scene> expanded(const Scene& scene) {
    std::optional<Scene> out;
    if (scene::has_actuators_or_start(scene)) out = scene::lowered(scene);
    if (has_linear_universals(out ? *out : scene)) out = split_linear_universals(out ? *out : scene);
    return out;
}

}  // namespace tenon::model

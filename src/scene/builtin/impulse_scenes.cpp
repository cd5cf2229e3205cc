// Built-in scenes of the impulse family.
#include "scene/builtin/impulse_scene_parts.hpp"

namespace tenon {

std::vector<BuiltinScene> impulse_scenes() {
    std::vector<BuiltinScene> scenes;
    for (auto group : {impulse_scene::friction_scenes, impulse_scene::pile_scenes})
        for (BuiltinScene& scene : group()) scenes.push_back(std::move(scene));
    return scenes;
}

}  // namespace tenon

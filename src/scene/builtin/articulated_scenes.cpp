// Built-in scenes of the articulated family.
#include "scene/builtin/articulated_scene_families.hpp"
#include "scene/builtin/robots_scenes.hpp"

namespace tenon {

std::vector<BuiltinScene> articulated_scenes() {
    std::vector<BuiltinScene> scenes;
    for (auto group :
         {articulated_single_scenes, articulated_chain_scenes, articulated_net_scenes,
          articulated_mechanism_scenes, articulated_tree_scenes, articulated_crowd_scenes, robot_scenes})
        for (BuiltinScene& scene : group()) scenes.push_back(std::move(scene));
    return scenes;
}

}  // namespace tenon

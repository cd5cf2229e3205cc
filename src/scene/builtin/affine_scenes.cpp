// Built-in scenes of the affine family.
#include "scene/builtin/affine_scene_families.hpp"

namespace tenon {

std::vector<BuiltinScene> affine_scenes() {
    std::vector<BuiltinScene> scenes;
    for (auto family : {affine_wall_scenes, affine_friction_scenes, affine_chain_scenes, affine_gear_scenes,
                        affine_pile_scenes, affine_joint_scenes, affine_coupled_scenes, affine_machine_scenes,
                        affine_bike_chain_scenes, affine_free_scenes})
        for (BuiltinScene& scene : family()) scenes.push_back(std::move(scene));
    return scenes;
}

}  // namespace tenon

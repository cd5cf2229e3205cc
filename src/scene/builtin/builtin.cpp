// The list of built-in scenes, and how parameters and presets reach them.
#include "tenon/builtin.hpp"

#include "scene/builtin/portraits.hpp"
#include "tenon/error.hpp"

namespace tenon {
namespace {

std::vector<BuiltinScene> collect() {
    std::vector<BuiltinScene> scenes;
    for (auto family : {affine_scenes, articulated_scenes, impulse_scenes, volume_scenes, adaptive_scenes})
        for (BuiltinScene& scene : family()) scenes.push_back(std::move(scene));
    return scenes;
}

// As the reader leaves them, so that a scene written out reads back as itself.
void normalise_directions(Scene& scene) {
    for (BodySpec& body : scene.bodies) {
        body.rotation.normalize();
        for (Keyframe& key : body.motion) key.rotation.normalize();
    }
    for (JointSpec& joint : scene.joints) {
        if (joint.axis.norm() > 0) joint.axis.normalize();
        if (joint.axis_b) joint.axis_b->normalize();
    }
    for (ElasticSpec& elastic : scene.elastic) elastic.rotation.normalize();
}

}  // namespace

const std::vector<BuiltinScene>& builtin_scenes() {
    static const std::vector<BuiltinScene> scenes = collect();
    return scenes;
}

const BuiltinScene* find_builtin(const std::string& name) {
    for (const BuiltinScene& scene : builtin_scenes())
        if (scene.name == name) return &scene;
    return nullptr;
}

Scene make_builtin(const BuiltinScene& scene, const std::map<std::string, ParamValue>& given) {
    std::vector<ParamInfo> known = scene.parameters;
    known.push_back({"preset",
                     std::string("default"),
                     "size of the scene: default, or as in the paper",
                     0,
                     0,
                     {"default", "paper"}});
    std::map<std::string, ParamValue> values = given;
    const auto preset = given.find("preset");
    if (preset != given.end() && preset->second == ParamValue(std::string("paper")))
        for (const auto& [name, value] : scene.paper_values) values.emplace(name, value);  // given ones win
    Scene made = scene.make(resolve_params(known, values, {scene.name, ""}));
    made.name = scene.name;
    normalise_directions(made);
    made.camera.try_emplace("portrait", std::vector<double>{portrait_share(scene.name) * made.seconds});
    return made;
}

}  // namespace tenon

#include "compiled.hpp"

#include <cmath>

#include <fmt/format.h>

#include "model/expand.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon::python {
namespace {

Scene checked(Scene scene) {
    if (!(scene.dt > 0) || !std::isfinite(scene.dt))
        throw InputError(scene.file.empty() ? scene.name : scene.file, "method.dt",
                         fmt::format("a time step of {:g} s", scene.dt), "must be positive");
    return scene;
}

template <class Known>
[[noreturn]] void unknown(const char* kind, const char* path, const std::string& name, const Known& known) {
    throw InputError("", path, fmt::format("there is no {} named '{}'", kind, name), suggestion(name, known));
}

// The targets that a run begins with: those of the scene, or of the keyframe it starts from.
std::vector<double> targets_at_start(const Scene& scene) {
    std::vector<double> targets;
    for (const ActuatorSpec& actuator : scene.actuators)
        targets.push_back(actuator.profile.empty() ? actuator.target : actuator.profile.front()[1]);
    for (const KeyframeSpec& keyframe : scene.keyframes)
        if (!scene.start.empty() && keyframe.name == scene.start)
            for (const KeyframeSpec::Target& target : keyframe.targets)
                targets[static_cast<std::size_t>(target.actuator)] = target.target;
    return targets;
}

void check_target(const ActuatorSpec& actuator, std::size_t index, double target) {
    const std::string path = fmt::format("actuators[{}].target", index);
    if (!std::isfinite(target))
        throw InputError("", path, fmt::format("'{}' has no finite target", actuator.name), "give a number");
    if (target < actuator.target_limits[0] || target > actuator.target_limits[1])
        throw InputError(
            "", path, fmt::format("{:g} is beyond the target limits of '{}'", target, actuator.name),
            fmt::format("stay within {:g} and {:g}", actuator.target_limits[0], actuator.target_limits[1]));
    if (actuator.velocity_limit < 1e299)
        throw InputError(
            "", path,
            fmt::format("'{}' has a velocity limit: its way is planned from the start", actuator.name),
            "leave out velocity_limit and give slow targets");
}

bool same_kinds(const std::vector<DriveSpec>& a, const std::vector<DriveSpec>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k].spring.has_value() != b[k].spring.has_value() || a[k].motor.type != b[k].motor.type)
            return false;
    return true;
}

}  // namespace

Compiled::Compiled(Scene scene)
    : scene_(checked(std::move(scene))),
      method_(scene_),
      model_(std::make_shared<const Model>(compile(scene_))),
      start_targets_(targets_at_start(scene_)) {
    for (int i = 0; i < model_->bodies.size(); ++i) bodies_.emplace(model_->bodies.name[i], i);
    for (std::size_t j = 0; j < model_->joints.size(); ++j)
        joints_.emplace(model_->joints[j].spec.name, static_cast<int>(j));
    elastic_start_.push_back(0);
    for (const ElasticBody& body : model_->elastic)
        elastic_start_.push_back(elastic_start_.back() + static_cast<int>(body.rest.size()));
    State start = initial_state(*model_);
    method_.stepper(*model_, start);  // what does not fit is told now, not in the first step
}

int Compiled::body(const std::string& name) const {
    const auto found = bodies_.find(name);
    if (found == bodies_.end()) unknown("body", "bodies", name, model_->bodies.name);
    return found->second;
}

int Compiled::joint(const std::string& name) const {
    const auto found = joints_.find(name);
    if (found != joints_.end()) return found->second;
    std::vector<std::string> names;
    for (const Joint& joint : model_->joints) names.push_back(joint.spec.name);
    unknown("joint", "joints", name, names);
}

int Compiled::elastic(const std::string& name) const {
    std::vector<std::string> names;
    for (const ElasticBody& body : model_->elastic) {
        if (body.name == name) return static_cast<int>(names.size());
        names.push_back(body.name);
    }
    unknown("elastic body", "elastic", name, names);
}

int Compiled::actuator(const std::string& name) const {
    std::vector<std::string> names;
    for (const ActuatorSpec& actuator : scene_.actuators) {
        if (actuator.name == name) return static_cast<int>(names.size());
        names.push_back(actuator.name);
    }
    unknown("actuator", "actuators", name, names);
}

bool Compiled::set_targets(Model& model, const std::vector<double>& targets) const {
    Scene scene;  // only what drives are made from
    scene.name = scene_.name;
    scene.file = scene_.file;
    scene.method = scene_.method;
    scene.bodies = scene_.bodies;
    scene.joints = scene_.joints;
    scene.tendons = scene_.tendons;
    scene.actuators = scene_.actuators;
    for (std::size_t k = 0; k < targets.size(); ++k) {
        if (targets[k] == start_targets_[k] && !scene_.actuators[k].profile.empty()) continue;
        if (targets[k] != start_targets_[k]) check_target(scene.actuators[k], k, targets[k]);
        scene.actuators[k].target = targets[k];
        if (targets[k] != start_targets_[k]) scene.actuators[k].profile.clear();
    }
    const std::optional<Scene> full = model::expanded(scene);
    const std::vector<JointSpec>& joints = full ? full->joints : scene.joints;
    if (joints.size() != model.joints.size())
        throw InputError(scene.file, "actuators", "targets of this scene cannot be changed",
                         "set them in the scene and compile it again");
    bool same = true;
    for (std::size_t j = 0; j < joints.size(); ++j) {
        same = same && same_kinds(model.joints[j].spec.drives, joints[j].drives);
        model.joints[j].spec.drives = joints[j].drives;
    }
    return same;
}

}  // namespace tenon::python

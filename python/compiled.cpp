#include "compiled.hpp"

#include <cmath>

#include <fmt/format.h>

#include "model/sensors.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon::python {
namespace {

Scene checked(Scene scene) {
    if (!(scene.dt > 0) || !std::isfinite(scene.dt))
        throw InputError(scene.file.empty() ? scene.name : scene.file, "method.dt",
                         fmt::format("a time step of {:g} s", scene.dt), "must be positive");
    if (scene.bodies.empty() && scene.elastic.empty())
        throw InputError(scene.file.empty() ? scene.name : scene.file, "bodies", "the scene has no bodies",
                         "add at least one body or elastic body");
    return scene;
}

// The place of what is named so; `name_of` gives each one's name.
template <class List, class Name>
int find(const List& list, const char* kind, const char* path, const std::string& name, const Name& name_of) {
    std::vector<std::string> names;
    for (const auto& one : list) {
        if (name_of(one) == name) return static_cast<int>(names.size());
        names.push_back(name_of(one));
    }
    throw InputError("", path, fmt::format("there is no {} named '{}'", kind, name), suggestion(name, names));
}

}  // namespace

Compiled::Compiled(Scene scene)
    : scene_(checked(std::move(scene))),
      method_(scene_),
      model_(std::make_shared<const Model>(compile(scene_))) {
    for (int i = 0; i < model_->bodies.size(); ++i) bodies_.emplace(model_->bodies.name[i], i);
    for (std::size_t j = 0; j < model_->joints.size(); ++j)
        joints_.emplace(model_->joints[j].spec.name, static_cast<int>(j));
    elastic_start_.push_back(0);
    for (const ElasticBody& body : model_->elastic)
        elastic_start_.push_back(elastic_start_.back() + static_cast<int>(body.rest.size()));
    for (const SensorSpec& sensor : scene_.sensors) {
        sensors_.push_back({sensor.name, sensor_components(sensor.type), sensor_values_});
        sensor_values_ += static_cast<int>(sensors_.back().components.size());
    }
    State start = initial_state(*model_);
    for (std::size_t k = 0; k < model_->actuators.size(); ++k)
        start_targets_.push_back(actuator_target(*model_, start, static_cast<int>(k), 0.0));
    method_.stepper(*model_, start);  // what does not fit is told now, not in the first step
}

int Compiled::body(const std::string& name) const {
    const auto found = bodies_.find(name);
    if (found != bodies_.end()) return found->second;
    return find(model_->bodies.name, "body", "bodies", name,
                [](const std::string& one) -> const std::string& { return one; });
}

int Compiled::joint(const std::string& name) const {
    const auto found = joints_.find(name);
    if (found != joints_.end()) return found->second;
    return find(model_->joints, "joint", "joints", name,
                [](const Joint& one) -> const std::string& { return one.spec.name; });
}

int Compiled::elastic(const std::string& name) const {
    return find(model_->elastic, "elastic body", "elastic", name,
                [](const ElasticBody& one) -> const std::string& { return one.name; });
}

int Compiled::actuator(const std::string& name) const {
    return find(model_->actuators, "actuator", "actuators", name,
                [](const ActuatorSpec& one) -> const std::string& { return one.name; });
}

int Compiled::sensor(const std::string& name) const {
    return find(sensors_, "sensor", "sensors", name,
                [](const SensorPlace& one) -> const std::string& { return one.name; });
}

}  // namespace tenon::python

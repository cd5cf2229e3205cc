#include "tenon/simulation.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include <fmt/format.h>

#include "model/sensors.hpp"
#include "scene/edit.hpp"

namespace tenon {
namespace {

// The state of `old`, carried over to a model with some bodies more or fewer, which are found by name; `old_joint` says
// which joint of the old model each joint of the new one was, -1 for none.
State carried_over(const Model& old, const State& from, const Model& model,
                   const std::vector<int>& old_joint) {
    State state = initial_state(model);
    state.time = from.time;
    state.step = from.step;
    state.gravity = from.gravity;
    std::unordered_map<std::string, int> place;
    for (int i = 0; i < old.bodies.size(); ++i) place[old.bodies.name[i]] = i;
    for (int i = 0; i < model.bodies.size(); ++i) {
        const auto found = place.find(model.bodies.name[i]);
        if (found != place.end()) {
            state.q[i] = from.q[found->second];
            state.rate[i] = from.rate[found->second];
            state.type[i] = from.type[found->second];
        } else if (state.type[i] == BodyType::kinematic_body) {
            state.q[i] = scripted_pose(model, i, state.time);
            state.rate[i] = scripted_rate(model, i, state.time);
        }
    }
    state.elastic = from.elastic;
    for (std::size_t k = 0; k < model.actuators.size(); ++k)
        for (std::size_t m = 0; m < old.actuators.size(); ++m)
            if (old.actuators[m].name == model.actuators[k].name) state.targets[k] = from.targets[m];
    for (std::size_t j = 0; j < old_joint.size(); ++j) {
        if (old_joint[j] < 0) continue;
        state.broken[j] = from.broken[old_joint[j]];
        state.joint_coordinate[j] = from.joint_coordinate[old_joint[j]];
    }
    return state;
}

}  // namespace

Simulation::Simulation(Scene scene) : Simulation(std::move(scene), Start()) {}

Simulation::Simulation(Scene scene, const Start& start)
    : scene_(std::move(scene)),
      method_(scene_),
      model_(std::make_shared<const Model>(compile(scene_))),
      state_(initial_state(*model_)),
      outputs_(*model_) {
    if (start) start(scene_, *model_, state_);
    method_.stepper(*model_,
                    state_);  // parameters that do not fit the scene are told now, not in the first step
}

StepReport Simulation::step() {
    if (before_) before_(*this);
    const std::vector<Mat34> rate_before = scene_.sensors.empty() ? std::vector<Mat34>() : state_.rate;
    StepReport report = method_.step(*model_, state_, outputs_, scene_.dt);
    if (!scene_.sensors.empty()) {
        sensor_values_ = read_sensors(scene_.sensors, *model_, state_, outputs_, rate_before, scene_.dt);
        report.metrics.insert(report.metrics.end(), sensor_values_.begin(), sensor_values_.end());
    }
    if (after_) after_(*this);
    return report;
}

void Simulation::recompile(Scene changed, const std::vector<int>& old_joint) {
    auto model = std::make_shared<const Model>(compile(changed, model_.get()));
    State state = carried_over(*model_, state_, *model, old_joint);
    Outputs outputs(*model);
    outputs.path_sink = outputs_.path_sink;
    method_.stepper(*model, state);
    scene_ = std::move(changed);
    model_ = std::move(model);
    state_ = std::move(state);
    outputs_ = std::move(outputs);
}

int Simulation::add_body(const BodySpec& body, const GeometrySpec& geometry) {
    if (!body.name.empty() && scene_.body_index(body.name) >= 0)
        throw InputError(scene_.file, "bodies", fmt::format("there is a body named '{}' already", body.name),
                         "give the new one another name");
    Scene changed = scene_;
    BodySpec spec = body;
    spec.geometry = changed.add_geometry(geometry);
    const int index = scene::add_body_before_elastic(changed, spec);
    std::vector<int> joints(scene_.joints.size());
    std::iota(joints.begin(), joints.end(), 0);
    recompile(std::move(changed), joints);
    return index;
}

void Simulation::remove_body(const std::string& name) {
    const int index = scene_.body_index(name);
    if (index < 0)
        throw InputError(scene_.file, "bodies", fmt::format("there is no body named '{}'", name),
                         suggestion(name, model_->bodies.name));
    Scene changed = scene_;
    const std::vector<int> joints = scene::remove_body(changed, index);
    recompile(std::move(changed), joints);
}

void Simulation::save(std::ostream& out) const {
    save_state(state_, out);
}

void Simulation::load(std::istream& in) {
    State loaded;
    try {
        load_state(*model_, loaded, in);
        method_.stepper(*model_, loaded);
    } catch (const std::runtime_error& error) {
        throw InputError(scene_.file, "checkpoint", error.what(),
                         "resume with the scene and the program that the run was started with");
    }
    state_ = std::move(loaded);
}

}  // namespace tenon

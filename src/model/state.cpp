// The state at the start, its copies and its saved form.
#include "tenon/state.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "math/binary_io.hpp"
#include "model/saved_memory.hpp"

namespace tenon {
namespace {

// Of all that is saved here and by the methods: to be raised whenever one of them saves something else.
constexpr std::uint64_t state_layout = 0x7463'0000'0008;
constexpr std::uint64_t last_layout_of_0_1 = 0x7463'0000'0004;

void refuse(const char* what) {
    throw std::runtime_error(std::string("holds another number of ") + what + " than the scene");
}

template <class T>
bool all_finite(const std::vector<T>& values) {
    return std::all_of(values.begin(), values.end(), [](const T& value) { return value.allFinite(); });
}

// What bytes of the right number can still be wrong in: no step may start from it.
void refuse_damaged(const Model& model, const State& state) {
    bool sound = std::isfinite(state.time) && state.step >= 0 && state.gravity.allFinite() &&
                 all_finite(state.q) && all_finite(state.rate);
    for (const ElasticState& body : state.elastic) sound = sound && all_finite(body.x) && all_finite(body.v);
    for (const auto& coordinate : state.joint_coordinate)
        for (const double value : coordinate) sound = sound && std::isfinite(value);
    for (const double target : state.targets) sound = sound && !std::isinf(target);
    for (const char broken : state.broken) sound = sound && (broken == 0 || broken == 1);
    for (std::size_t i = 0; i < state.type.size(); ++i)  // a type changes only when a script lets its body go
        sound = sound && (state.type[i] == model.bodies.start_type[i] ||
                          (state.type[i] == BodyType::dynamic_body &&
                           model.bodies.start_type[i] == BodyType::kinematic_body));
    if (!sound) throw std::runtime_error("is damaged: it holds values that no run has");
}

}  // namespace

void State::assign_without_memory(const State& other) {
    time = other.time;
    step = other.step;
    q = other.q;
    rate = other.rate;
    type = other.type;
    elastic = other.elastic;
    broken = other.broken;
    joint_coordinate = other.joint_coordinate;
    targets = other.targets;
    gravity = other.gravity;
    pushes = other.pushes;
}

State initial_state(const Model& model) {
    State state;
    state.q = model.bodies.start_q;
    state.rate = model.bodies.start_rate;
    state.type = model.bodies.start_type;
    for (const ElasticBody& body : model.elastic) state.elastic.push_back({body.start_x, body.start_v});
    state.broken.assign(model.joints.size(), 0);
    for (const Joint& joint : model.joints) state.joint_coordinate.push_back(joint.start_coordinate);
    state.targets.assign(model.actuators.size(), std::numeric_limits<double>::quiet_NaN());
    state.gravity = model.gravity;
    return state;
}

Outputs::Outputs(const Model& model) : joints(model.joints.size()) {
    for (const ElasticBody& body : model.elastic) element_state.emplace_back(body.tets.size(), 0.0f);
}

// A body leaves its script with the script's velocity, or with its own where it has been given one.
bool release_kinematic_bodies(const Model& model, State& state) {
    bool any = false;
    for (int i = 0; i < model.bodies.size(); ++i) {
        if (state.type[i] != BodyType::kinematic_body || state.time < model.bodies.kinematic_until[i] - 1e-12)
            continue;
        any = true;
        state.type[i] = BodyType::dynamic_body;
        const auto own = model.release_velocity.find(i);
        if (own == model.release_velocity.end()) continue;
        const auto& [linear, angular] = own->second;
        for (int k = 0; k < 3; ++k) state.rate[i].col(k) = angular.cross(Vec3(state.q[i].col(k)));
        state.rate[i].col(3) = linear;
    }
    return any;
}

void save_state(const State& state, std::ostream& out) {
    write_value(out, state_layout);
    write_value(out, state.time);
    write_value(out, state.step);
    write_value(out, state.gravity);
    write_values(out, state.type);
    write_values(out, state.q);
    write_values(out, state.rate);
    for (const ElasticState& body : state.elastic) {
        write_values(out, body.x);
        write_values(out, body.v);
    }
    write_values(out, state.broken);
    write_values(out, state.joint_coordinate);
    write_values(out, state.targets);
    std::ostringstream memory;
    if (state.memory) state.memory.get()->save(memory);
    const std::string bytes = memory.str();
    write_value(out, static_cast<char>(state.memory ? 1 : 0));
    write_values(out, std::vector<char>(bytes.begin(), bytes.end()));
}

void load_state(const Model& model, State& state, std::istream& in) {
    auto layout = state_layout;
    read_value(in, layout);
    if (layout <= last_layout_of_0_1 && layout >> 32 == state_layout >> 32)
        throw std::runtime_error("was made by version 0.1 of this program");
    if (layout != state_layout) throw std::runtime_error("was made by another version of this program");
    const std::size_t bodies = model.bodies.mass.size(), joints = model.joints.size();
    read_value(in, state.time);
    read_value(in, state.step);
    read_value(in, state.gravity);
    read_values(in, state.type);
    read_values(in, state.q);
    read_values(in, state.rate);
    if (state.q.size() != bodies || state.rate.size() != bodies || state.type.size() != bodies)
        refuse("bodies");
    state.elastic.resize(model.elastic.size());
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const std::size_t vertices = model.elastic[e].rest.size();
        read_values(in, state.elastic[e].x);
        read_values(in, state.elastic[e].v);
        if (state.elastic[e].x.size() != vertices || state.elastic[e].v.size() != vertices)
            refuse("vertices");
    }
    read_values(in, state.broken);
    read_values(in, state.joint_coordinate);
    if (state.broken.size() != joints || state.joint_coordinate.size() != joints) refuse("joints");
    read_values(in, state.targets);
    if (state.targets.size() != model.actuators.size()) refuse("actuators");
    char has_memory = 0;
    std::vector<char> bytes;
    read_value(in, has_memory);
    read_values(in, bytes);
    if (has_memory)
        state.memory.reset(std::make_unique<SavedMemory>(std::string(bytes.begin(), bytes.end())));
    else
        state.memory.reset();
    refuse_damaged(model, state);
}

}  // namespace tenon

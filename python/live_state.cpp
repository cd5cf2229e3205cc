#include "live_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "errors.hpp"
#include "math/binary_io.hpp"
#include "model/sensors.hpp"

namespace tenon::python {
namespace {

constexpr std::uint64_t saved_layout = 0x7470'0000'0002;

static_assert(sizeof(Mat34) == 12 * sizeof(double) && sizeof(Vec3) == 3 * sizeof(double));

bool same_bits(const double* a, const double* b, std::size_t count) {
    return count == 0 || std::memcmp(a, b, count * sizeof(double)) == 0;
}

const double* numbers(const std::vector<Mat34>& list) {
    return reinterpret_cast<const double*>(list.data());
}
const double* numbers(const std::vector<Vec3>& list) {
    return reinterpret_cast<const double*>(list.data());
}

// FNV-1a: tells damaged bytes before their lengths are believed.
std::uint64_t hash_of(const char* bytes, std::size_t count) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < count; ++i)
        hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
    return hash;
}

void check_parameter(bool good, const char* what, const char* array, const std::string& body, int index,
                     double value, const char* cure) {
    if (good) return;
    throw InputError("", fmt::format("state.{}[{}]", array, index),
                     fmt::format("'{}' is given a {} of {:g}", body, what, value), cure);
}

// Inertia grows with mass: the body keeps its shape.
void set_parameters(Bodies& own, const Bodies& start, const double* mass, const double* friction) {
    for (std::size_t i = 0; i < own.mass.size(); ++i) {
        own.second_moments[i] = start.second_moments[i];
        if (mass[i] != start.mass[i]) own.second_moments[i] *= mass[i] / start.mass[i];
        own.mass[i] = mass[i];
        own.friction[i] = friction[i];
    }
}

}  // namespace

Arrays::Arrays(const Compiled& compiled, std::size_t states) {
    const auto bodies = static_cast<std::size_t>(compiled.model().bodies.size());
    const auto vertices = static_cast<std::size_t>(compiled.elastic_start().back());
    q.resize(states * 12 * bodies);
    rate.resize(states * 12 * bodies);
    x.resize(states * 3 * vertices);
    v.resize(states * 3 * vertices);
    targets.resize(states * compiled.start_targets().size());
    gravity.resize(states * 3);
    mass.resize(states * bodies);
    friction.resize(states * bodies);
    force.resize(states * 3 * bodies);
    torque.resize(states * 3 * bodies);
    sensors.resize(states * static_cast<std::size_t>(compiled.sensor_values()));
}

LiveState::LiveState(std::shared_ptr<const Compiled> compiled)
    : LiveState(compiled, std::make_shared<Arrays>(*compiled, 1), 0) {}

LiveState::LiveState(std::shared_ptr<const Compiled> compiled, std::shared_ptr<Arrays> arrays,
                     std::size_t place)
    : compiled_(std::move(compiled)),
      arrays_(std::move(arrays)),
      place_(place),
      bodies_(static_cast<std::size_t>(compiled_->model().bodies.size())),
      vertices_(static_cast<std::size_t>(compiled_->elastic_start().back())),
      actuators_(compiled_->start_targets().size()),
      sensor_values_(static_cast<std::size_t>(compiled_->sensor_values())) {
    for (const ActuatorSpec& actuator : compiled_->model().actuators)
        has_profiles_ = has_profiles_ || !actuator.profile.empty();
    reset();
}

LiveState::Use::Use(LiveState& state) : state_(state) {
    if (state.busy_.exchange(true))
        throw std::runtime_error(
            "another thread is working with this state: give each thread a state of its own");
}

void LiveState::reset(bool keep_overrides) {
    if (!keep_overrides) own_model_.reset();
    state_ = initial_state(compiled_->model());
    outputs_ = Outputs(compiled_->model());
    report_ = StepReport{};
    shown_targets_ = compiled_->start_targets();
    std::copy(shown_targets_.begin(), shown_targets_.end(), targets());
    std::fill_n(force(), 3 * bodies_, 0.0);
    std::fill_n(torque(), 3 * bodies_, 0.0);
    if (!keep_overrides) publish_parameters();
    measure(state_.rate);
    publish();
}

void LiveState::publish_parameters() {
    std::copy_n(state_.gravity.data(), 3, gravity());
    std::copy(model().bodies.mass.begin(), model().bodies.mass.end(), mass());
    std::copy(model().bodies.friction.begin(), model().bodies.friction.end(), friction());
}

void LiveState::publish() {
    std::copy_n(numbers(state_.q), 12 * bodies_, q());
    std::copy_n(numbers(state_.rate), 12 * bodies_, rate());
    for (std::size_t e = 0; e < state_.elastic.size(); ++e) {
        const int first = 3 * compiled_->elastic_start()[e];
        std::copy_n(numbers(state_.elastic[e].x), 3 * state_.elastic[e].x.size(), x() + first);
        std::copy_n(numbers(state_.elastic[e].v), 3 * state_.elastic[e].v.size(), v() + first);
    }
    for (std::size_t k = 0; has_profiles_ && k < actuators_; ++k)
        targets()[k] = shown_targets_[k] = actuator_target(model(), state_, static_cast<int>(k), state_.time);
}

void LiveState::measure(const std::vector<Mat34>& rate_before) {
    if (sensor_values_ == 0) return;
    const auto values =
        read_sensors(compiled_->scene().sensors, model(), state_, outputs_, rate_before, compiled_->dt());
    for (std::size_t k = 0; k < values.size() && k < sensor_values_; ++k) sensors()[k] = values[k].second;
}

void LiveState::take_targets() {
    if (same_bits(targets(), shown_targets_.data(), actuators_)) return;
    for (std::size_t k = 0; k < actuators_; ++k) {
        if (same_bits(targets() + k, &shown_targets_[k], 1)) continue;
        set_target(model(), state_, static_cast<int>(k), targets()[k]);
        shown_targets_[k] = targets()[k];
    }
}

// A method may have taken parameters into its own tables: it goes on from its saved form.
void LiveState::restart_method() {
    MemoryPointer saved = state_.memory;
    state_.memory = std::move(saved);
}

void LiveState::take_overrides() {
    if (!same_bits(gravity(), state_.gravity.data(), 3)) {
        const Vec3 wanted = Eigen::Map<const Vec3>(gravity());
        if (!wanted.allFinite())
            throw InputError("", "state.gravity", "gravity is not finite", "write three numbers, m/s^2");
        state_.gravity = wanted;
        restart_method();
    }
    const Bodies& bodies = model().bodies;
    if (same_bits(mass(), bodies.mass.data(), bodies_) &&
        same_bits(friction(), bodies.friction.data(), bodies_))
        return;
    for (int i = 0; i < bodies.size(); ++i) {
        const double m = mass()[i], mu = friction()[i];
        check_parameter(m == bodies.mass[i] || (std::isfinite(m) && m > 0), "mass", "masses", bodies.name[i],
                        i, m, "write a positive mass, kg");
        check_parameter(std::isfinite(mu) && mu >= 0, "friction", "friction", bodies.name[i], i, mu,
                        "write a coefficient, 0 or more");
    }
    if (!own_model_) own_model_ = std::make_unique<Model>(compiled_->model());
    set_parameters(own_model_->bodies, compiled_->model().bodies, mass(), friction());
    restart_method();
}

void LiveState::take_forces() {
    state_.pushes.clear();
    for (std::size_t i = 0; i < bodies_; ++i) {
        const Vec3 pull = Eigen::Map<const Vec3>(force() + 3 * i),
                   turn = Eigen::Map<const Vec3>(torque() + 3 * i);
        if (pull.isZero(0) && turn.isZero(0)) continue;
        const std::string& name = model().bodies.name[i];
        if (!pull.allFinite() || !turn.allFinite())
            throw InputError("", fmt::format("state.forces[{}]", i),
                             fmt::format("the force or torque on '{}' is not finite", name), "write numbers");
        ForceSpec push;
        push.body = static_cast<int>(i);
        push.force = pull;
        push.torque = turn;
        state_.pushes.push_back(push);
    }
}

void LiveState::put_arrays(State& into) const {
    std::memcpy(static_cast<void*>(into.q.data()), q(), 12 * bodies_ * sizeof(double));
    std::memcpy(static_cast<void*>(into.rate.data()), rate(), 12 * bodies_ * sizeof(double));
    for (std::size_t e = 0; e < into.elastic.size(); ++e) {
        ElasticState& body = into.elastic[e];
        const int first = 3 * compiled_->elastic_start()[e];
        std::memcpy(static_cast<void*>(body.x.data()), x() + first, body.x.size() * sizeof(Vec3));
        std::memcpy(static_cast<void*>(body.v.data()), v() + first, body.v.size() * sizeof(Vec3));
    }
}

void LiveState::take_written() {
    bool same = same_bits(q(), numbers(state_.q), 12 * bodies_) &&
                same_bits(rate(), numbers(state_.rate), 12 * bodies_);
    for (std::size_t e = 0; same && e < state_.elastic.size(); ++e) {
        const int first = 3 * compiled_->elastic_start()[e];
        same = same_bits(x() + first, numbers(state_.elastic[e].x), 3 * state_.elastic[e].x.size()) &&
               same_bits(v() + first, numbers(state_.elastic[e].v), 3 * state_.elastic[e].v.size());
    }
    if (same) return;
    State written;
    written.assign_without_memory(state_);
    put_arrays(written);
    check_written(*compiled_, state_, written);
    state_.assign_without_memory(written);
    state_.memory.reset();  // its history is of another motion
}

State LiveState::seen() const {
    State now;
    now.assign_without_memory(state_);
    put_arrays(now);
    now.gravity = Eigen::Map<const Vec3>(gravity());
    return now;
}

const State& LiveState::current() {
    take_targets();
    take_overrides();
    take_written();
    take_forces();
    return state_;
}

void LiveState::advance() {
    current();
    const std::vector<Mat34> rate_before = sensor_values_ == 0 ? std::vector<Mat34>() : state_.rate;
    try {
        report_ = compiled_->method().step(model(), state_, outputs_, compiled_->dt());
    } catch (const StepFailure& failure) {
        const int body = failure.body();
        const bool known = body >= 0 && body < model().bodies.size();
        throw NamedStepFailure(failure.what(), body, known ? model().bodies.name[body] : std::string());
    }
    measure(rate_before);
    publish();
}

std::shared_ptr<LiveState> LiveState::copy() const {
    auto made = std::make_shared<LiveState>(compiled_);
    std::copy_n(q(), 12 * bodies_, made->q());
    std::copy_n(rate(), 12 * bodies_, made->rate());
    std::copy_n(x(), 3 * vertices_, made->x());
    std::copy_n(v(), 3 * vertices_, made->v());
    std::copy_n(targets(), actuators_, made->targets());
    std::copy_n(gravity(), 3, made->gravity());
    std::copy_n(mass(), bodies_, made->mass());
    std::copy_n(friction(), bodies_, made->friction());
    std::copy_n(force(), 3 * bodies_, made->force());
    std::copy_n(torque(), 3 * bodies_, made->torque());
    std::copy_n(sensors(), sensor_values_, made->sensors());
    if (own_model_) made->own_model_ = std::make_unique<Model>(*own_model_);
    made->shown_targets_ = shown_targets_;
    made->state_ = state_;
    made->outputs_ = outputs_;
    made->report_ = report_;
    return made;
}

void LiveState::take_over(const LiveState& other) {
    const Compiled& from = *other.compiled_;
    const State seen = other.seen();
    const auto place = [](const auto& names, const auto& name) {
        const auto found = std::find(names.begin(), names.end(), name);
        return found == names.end() ? names.size() : static_cast<std::size_t>(found - names.begin());
    };
    const auto names = [](const auto& list, const auto& name_of) {
        std::vector<std::string> out;
        for (const auto& one : list) out.push_back(name_of(one));
        return out;
    };
    std::unordered_map<std::string, std::size_t> body_of;
    for (std::size_t i = 0; i < other.bodies_; ++i) body_of[from.model().bodies.name[i]] = i;
    state_.time = seen.time;
    state_.step = seen.step;
    std::copy_n(other.gravity(), 3, gravity());
    for (std::size_t i = 0; i < bodies_; ++i) {
        const auto found = body_of.find(compiled_->model().bodies.name[i]);
        if (found == body_of.end()) continue;
        const std::size_t k = found->second;
        if (compiled_->model().bodies.start_type[i] == from.model().bodies.start_type[k])
            state_.type[i] = seen.type[k];
        state_.q[i] = seen.q[k];
        state_.rate[i] = seen.rate[k];
        if (other.mass()[k] != from.model().bodies.mass[k]) mass()[i] = other.mass()[k];
        if (other.friction()[k] != from.model().bodies.friction[k]) friction()[i] = other.friction()[k];
    }
    const auto joint_name = [](const Joint& joint) { return joint.spec.name; };
    const auto joints = names(from.model().joints, joint_name);
    for (std::size_t j = 0; j < state_.broken.size(); ++j) {
        const std::size_t k = place(joints, joint_name(compiled_->model().joints[j]));
        if (k == joints.size()) continue;
        state_.broken[j] = seen.broken[k];
        state_.joint_coordinate[j] = seen.joint_coordinate[k];
    }
    const auto elastic_name = [](const ElasticBody& body) { return body.name; };
    const auto elastic = names(from.model().elastic, elastic_name);
    for (std::size_t e = 0; e < state_.elastic.size(); ++e) {
        const std::size_t k = place(elastic, elastic_name(compiled_->model().elastic[e]));
        if (k < elastic.size() && seen.elastic[k].x.size() == state_.elastic[e].x.size())
            state_.elastic[e] = seen.elastic[k];
    }
    publish();
    const auto actuator_name = [](const ActuatorSpec& actuator) { return actuator.name; };
    const auto actuators = names(from.model().actuators, actuator_name);
    for (std::size_t a = 0; a < actuators_; ++a) {
        const std::size_t k = place(actuators, actuator_name(compiled_->model().actuators[a]));
        if (k < actuators.size() && !std::isnan(other.state_.targets[k])) targets()[a] = other.targets()[k];
    }
}

std::string LiveState::save() {
    current();
    std::ostringstream out;
    write_value(out, saved_layout);
    write_values(out, std::vector<double>(mass(), mass() + bodies_));
    write_values(out, std::vector<double>(friction(), friction() + bodies_));
    save_state(state_, out);
    const std::string text = out.str();
    write_value(out, hash_of(text.data(), text.size()));
    return std::move(out).str();
}

void LiveState::load(const std::string& bytes) {
    State loaded;
    std::vector<double> masses, frictions;
    std::unique_ptr<Model> own;
    try {
        std::uint64_t layout = 0, hash = 0;
        if (bytes.size() < 2 * sizeof(hash)) throw std::runtime_error("these bytes are no saved state");
        const std::size_t length = bytes.size() - sizeof(hash);
        std::memcpy(&hash, bytes.data() + length, sizeof(hash));
        std::istringstream in(bytes.substr(0, length));
        read_value(in, layout);
        if (layout != saved_layout) throw std::runtime_error("these bytes are no saved state");
        if (hash != hash_of(bytes.data(), length)) throw std::runtime_error("the saved state is damaged");
        read_values(in, masses);
        read_values(in, frictions);
        if (masses.size() != bodies_ || frictions.size() != bodies_)
            throw std::runtime_error("holds another number of bodies than the scene");
        load_state(compiled_->model(), loaded, in);
        if (!all_finite(loaded)) throw std::runtime_error("a coordinate is not a finite number");
        const Bodies& start = compiled_->model().bodies;
        if (masses != start.mass || frictions != start.friction) {
            own = std::make_unique<Model>(compiled_->model());
            set_parameters(own->bodies, start, masses.data(), frictions.data());
        }
        compiled_->method().stepper(own ? *own : compiled_->model(), loaded);
    } catch (const std::exception& error) {
        throw InputError("", "state", error.what(),
                         "load what state.save() gave, with the same scene and version");
    }
    own_model_ = std::move(own);
    state_ = std::move(loaded);
    outputs_ = Outputs(model());
    report_ = StepReport{};
    for (std::size_t k = 0; k < actuators_; ++k)
        targets()[k] = actuator_target(model(), state_, static_cast<int>(k), state_.time);
    shown_targets_.assign(targets(), targets() + actuators_);
    publish_parameters();
    measure(state_.rate);
    publish();
}

}  // namespace tenon::python

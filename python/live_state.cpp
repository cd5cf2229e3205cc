#include "live_state.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "errors.hpp"
#include "math/binary_io.hpp"
#include "model/sensors.hpp"

namespace tenon::python {
namespace {

constexpr std::uint64_t saved_layout = 0x7470'0000'0001;

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

}  // namespace

Arrays::Arrays(const Compiled& compiled, std::size_t states) {
    const std::size_t poses = states * 12 * static_cast<std::size_t>(compiled.model().bodies.size());
    const std::size_t points = states * 3 * static_cast<std::size_t>(compiled.elastic_start().back());
    q.resize(poses);
    rate.resize(poses);
    x.resize(points);
    v.resize(points);
    targets.resize(states * compiled.start_targets().size());
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
      actuators_(compiled_->start_targets().size()) {
    reset();
}

LiveState::Use::Use(LiveState& state) : state_(state) {
    if (state.busy_.exchange(true))
        throw std::runtime_error(
            "another thread is working with this state: give each thread a state of its own");
}

void LiveState::reset() {
    own_model_.reset();
    taken_targets_ = compiled_->start_targets();
    std::copy(taken_targets_.begin(), taken_targets_.end(), targets());
    state_ = initial_state(compiled_->model());
    outputs_ = Outputs(compiled_->model());
    report_ = StepReport{};
    sensor_values_.clear();
    publish();
}

void LiveState::publish() {
    std::copy_n(numbers(state_.q), 12 * bodies_, q());
    std::copy_n(numbers(state_.rate), 12 * bodies_, rate());
    for (std::size_t e = 0; e < state_.elastic.size(); ++e) {
        const int first = 3 * compiled_->elastic_start()[e];
        std::copy_n(numbers(state_.elastic[e].x), 3 * state_.elastic[e].x.size(), x() + first);
        std::copy_n(numbers(state_.elastic[e].v), 3 * state_.elastic[e].v.size(), v() + first);
    }
}

// The method's memory is kept in its saved form and made anew with the new drives; drives of other kinds begin afresh.
void LiveState::take_targets() {
    if (same_bits(targets(), taken_targets_.data(), actuators_)) return;
    std::vector<double> wanted(targets(), targets() + actuators_);
    auto changed = std::make_unique<Model>(model());
    const bool same_kinds = compiled_->set_targets(*changed, wanted);
    if (same_kinds) {
        MemoryPointer kept = state_.memory;
        state_.memory = std::move(kept);
    } else {
        state_.memory.reset();
    }
    own_model_ = std::move(changed);
    taken_targets_ = std::move(wanted);
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
    std::memcpy(static_cast<void*>(written.q.data()), q(), 12 * bodies_ * sizeof(double));
    std::memcpy(static_cast<void*>(written.rate.data()), rate(), 12 * bodies_ * sizeof(double));
    for (std::size_t e = 0; e < written.elastic.size(); ++e) {
        ElasticState& body = written.elastic[e];
        const int first = 3 * compiled_->elastic_start()[e];
        std::memcpy(static_cast<void*>(body.x.data()), x() + first, body.x.size() * sizeof(Vec3));
        std::memcpy(static_cast<void*>(body.v.data()), v() + first, body.v.size() * sizeof(Vec3));
    }
    check_written(*compiled_, state_, written);
    state_.assign_without_memory(written);
    state_.memory.reset();  // its history is of another motion
}

const State& LiveState::current() {
    take_targets();
    take_written();
    return state_;
}

void LiveState::advance() {
    current();
    const std::vector<SensorSpec>& sensors = compiled_->scene().sensors;
    const std::vector<Mat34> rate_before = sensors.empty() ? std::vector<Mat34>() : state_.rate;
    try {
        report_ = compiled_->method().step(model(), state_, outputs_, compiled_->dt());
    } catch (const StepFailure& failure) {
        const int body = failure.body();
        const bool known = body >= 0 && body < model().bodies.size();
        throw NamedStepFailure(failure.what(), body, known ? model().bodies.name[body] : std::string());
    }
    if (!sensors.empty())
        sensor_values_ = read_sensors(sensors, model(), state_, outputs_, rate_before, compiled_->dt());
    publish();
}

std::shared_ptr<LiveState> LiveState::copy() const {
    auto made = std::make_shared<LiveState>(compiled_);
    auto& self = const_cast<LiveState&>(*this);  // its arrays are only read
    std::copy_n(self.q(), 12 * bodies_, made->q());
    std::copy_n(self.rate(), 12 * bodies_, made->rate());
    std::copy_n(self.x(), 3 * vertices_, made->x());
    std::copy_n(self.v(), 3 * vertices_, made->v());
    std::copy_n(self.targets(), actuators_, made->targets());
    if (own_model_) made->own_model_ = std::make_unique<Model>(*own_model_);
    made->taken_targets_ = taken_targets_;
    made->state_ = state_;
    made->outputs_ = outputs_;
    made->report_ = report_;
    made->sensor_values_ = sensor_values_;
    return made;
}

std::string LiveState::save() {
    current();
    std::ostringstream out;
    write_value(out, saved_layout);
    write_values(out, taken_targets_);
    save_state(state_, out);
    return std::move(out).str();
}

void LiveState::load(const std::string& bytes) {
    State loaded;
    std::vector<double> wanted;
    std::unique_ptr<Model> changed;
    try {
        std::istringstream in(bytes);
        auto layout = saved_layout;
        read_value(in, layout);
        if (layout != saved_layout) throw std::runtime_error("these bytes are no saved state");
        read_values(in, wanted);
        if (wanted.size() != actuators_)
            throw std::runtime_error("holds another number of actuators than the scene");
        load_state(compiled_->model(), loaded, in);
        if (in.peek() != std::istringstream::traits_type::eof())
            throw std::runtime_error("the saved state is followed by something else");
        if (!all_finite(loaded)) throw std::runtime_error("a coordinate is not a finite number");
        if (wanted != compiled_->start_targets()) {
            changed = std::make_unique<Model>(compiled_->model());
            compiled_->set_targets(*changed, wanted);
        }
        compiled_->method().stepper(changed ? *changed : compiled_->model(), loaded);
    } catch (const std::exception& error) {
        throw InputError("", "state", error.what(),
                         "load what state.save() gave, with the same scene and version");
    }
    own_model_ = std::move(changed);
    taken_targets_ = std::move(wanted);
    std::copy(taken_targets_.begin(), taken_targets_.end(), targets());
    state_ = std::move(loaded);
    outputs_ = Outputs(model());
    report_ = StepReport{};
    sensor_values_.clear();
    publish();
}

}  // namespace tenon::python

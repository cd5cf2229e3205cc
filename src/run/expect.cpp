// What a scene expects of its run, measured while it goes.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "run/run_loop.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
// Relative slack in time: k * dt and the time asked for are rounded differently.
constexpr double time_slack = 1e-9;

const std::vector<std::string> body_quantities = {"x",     "y",    "z",        "speed",    "spin",
                                                  "moved", "tilt", "turned_x", "turned_y", "turned_z"};
const std::vector<std::string> scene_quantities = {"kinetic_energy", "joint_residual", "min_distance",
                                                   "max_speed", "intersections"};

bool contains(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

const char* unit_of(const std::string& quantity) {
    if (quantity == "speed" || quantity == "max_speed") return " m/s";
    if (quantity == "spin") return " rad/s";
    if (quantity == "tilt" || quantity.starts_with("turned_")) return " rad";
    if (quantity == "kinetic_energy") return " J";
    if (quantity == "joint_residual" || quantity == "intersections") return "";
    return " m";
}

// The rotation by which `to` is turned against `from`, as axis times angle (at most half a turn). Affine
// bodies are close enough to rigid that the quaternion of the columns, normalised, is the rotation.
Vec3 turn_between(const Mat34& from, const Mat34& to) {
    const Mat3 relative = to.leftCols<3>() * from.leftCols<3>().transpose();
    return logarithm_map(Quat(relative).normalized());
}

Vec3 geometry_position(const Model& model, int body, const Mat34& q) {
    return transform(q, model.shape_of(body).geometry_frame.position);
}

struct Center {
    Vec3 position = Vec3::Zero(), velocity = Vec3::Zero();
};

Center elastic_center(const ElasticBody& model, const ElasticState& body) {
    Center center;
    double mass = 0;
    for (std::size_t i = 0; i < body.x.size(); ++i) {
        center.position += model.vertex_mass[i] * body.x[i];
        center.velocity += model.vertex_mass[i] * body.v[i];
        mass += model.vertex_mass[i];
    }
    if (mass > 0) {
        center.position /= mass;
        center.velocity /= mass;
    }
    return center;
}

std::string range_text(double min, double max, const char* unit) {
    if (min <= -1e299 && max >= 1e299) return "anything";
    if (min <= -1e299) return fmt::format("at most {:.6g}{}", max, unit);
    if (max >= 1e299) return fmt::format("at least {:.6g}{}", min, unit);
    return fmt::format("{:.6g} to {:.6g}{}", min, max, unit);
}

}  // namespace

struct ExpectChecker::Data {
    std::vector<ExpectSpec> expect;
    std::vector<int> body_of;  // body of each entry, -1: all; elastic ones come after
    std::vector<std::vector<ExpectResult>> done;
    std::vector<char> decided;
    std::vector<Mat34> start_q, last_q;  // bodies
    std::vector<Vec3> turned;            // bodies, filled only when somebody asks
    std::vector<Vec3> start_center;      // elastic bodies
    Vec3 up = Vec3::UnitY();
    bool track_turns = false;
    double min_distance = 1e300;
    IntersectionCounter count_intersections;

    void resolve(const Scene& scene, const Model& model, std::size_t index);
    void track(const std::vector<Mat34>& q);
    double body_value(const Model& model, const State& state, const std::string& quantity, int body) const;
    double scene_value(const Model& model, const State& state, const std::string& quantity) const;
    Vec3 position(const Model& model, const State& state, int body) const;
    std::string name(const Model& model, int body) const;
    std::vector<ExpectResult> evaluate(const Model& model, const State& state, std::size_t index) const;
    ExpectResult evaluate_position(const Model& model, const State& state, std::size_t index) const;
    ExpectResult evaluate_quantity(const Model& model, const State& state, std::size_t index) const;
};

// Finds the bodies an entry speaks of, and refuses what could not be measured.
void ExpectChecker::Data::resolve(const Scene& scene, const Model& model, std::size_t index) {
    const ExpectSpec& entry = expect[index];
    const std::string file = scene.file.empty() ? scene.name : scene.file;
    const std::string path = fmt::format("expect[{}]", index);
    const bool of_body = contains(body_quantities, entry.quantity);
    if (!entry.quantity.empty() && !of_body && !contains(scene_quantities, entry.quantity)) {
        std::vector<std::string> known = body_quantities;
        known.insert(known.end(), scene_quantities.begin(), scene_quantities.end());
        throw InputError(file, path + ".quantity", fmt::format("unknown quantity '{}'", entry.quantity),
                         "known:" + suggestion(entry.quantity, known));
    }
    const int bodies = model.bodies.size();
    body_of[index] = -1;
    if (entry.body.empty()) return;
    const auto& names = model.bodies.name;
    const auto found = std::find(names.begin(), names.end(), entry.body);
    if (found != names.end()) {
        body_of[index] = static_cast<int>(found - names.begin());
    } else {
        for (std::size_t i = 0; i < model.elastic.size(); ++i)
            if (model.elastic[i].name == entry.body) body_of[index] = bodies + static_cast<int>(i);
    }
    if (body_of[index] < 0)
        throw InputError(file, path + ".body", fmt::format("there is no body named '{}'", entry.body),
                         "name a body of the scene");
    if (body_of[index] >= bodies &&
        (entry.quantity == "spin" || entry.quantity == "tilt" || entry.quantity.starts_with("turned_")))
        throw InputError(file, path + ".quantity", fmt::format("an elastic body has no {}", entry.quantity),
                         "use x y z speed or moved");
}

void ExpectChecker::Data::track(const std::vector<Mat34>& q) {
    if (!track_turns) return;
    for (std::size_t i = 0; i < q.size(); ++i) turned[i] += turn_between(last_q[i], q[i]);
    last_q = q;
}

Vec3 ExpectChecker::Data::position(const Model& model, const State& state, int body) const {
    const int bodies = model.bodies.size();
    if (body >= bodies)
        return elastic_center(model.elastic[body - bodies], state.elastic[body - bodies]).position;
    return geometry_position(model, body, state.q[body]);
}

std::string ExpectChecker::Data::name(const Model& model, int body) const {
    const int bodies = model.bodies.size();
    return body >= bodies ? model.elastic[body - bodies].name : model.bodies.name[body];
}

double ExpectChecker::Data::body_value(const Model& model, const State& state, const std::string& quantity,
                                       int body) const {
    const int bodies = model.bodies.size();
    if (quantity == "x") return position(model, state, body).x();
    if (quantity == "y") return position(model, state, body).y();
    if (quantity == "z") return position(model, state, body).z();
    if (quantity == "moved") {
        // Of the centre of mass: a body that only turns has not moved.
        const Vec3 now = body >= bodies ? position(model, state, body) : Vec3(state.q[body].col(3));
        return (now - (body >= bodies ? start_center[body - bodies] : Vec3(start_q[body].col(3)))).norm();
    }
    if (quantity == "speed")
        return body >= bodies ? elastic_center(model.elastic[body - bodies], state.elastic[body - bodies])
                                    .velocity.norm()
                              : state.rate[body].col(3).norm();
    const Mat34& q = state.q[body];
    if (quantity == "spin") return spin_of(q, state.rate[body]).norm();
    if (quantity == "tilt") {
        // How far what pointed up at the start has turned away from up.
        const Vec3 local = start_q[body].leftCols<3>().transpose() * up;
        const Vec3 now = q.leftCols<3>() * local;
        return std::atan2(now.cross(up).norm(), now.dot(up));
    }
    if (quantity == "turned_x") return turned[body].x();
    if (quantity == "turned_y") return turned[body].y();
    if (quantity == "turned_z") return turned[body].z();
    return no_value;
}

double ExpectChecker::Data::scene_value(const Model& model, const State& state,
                                        const std::string& quantity) const {
    if (quantity == "kinetic_energy") return energies(model, state).kinetic;
    if (quantity == "joint_residual") return joint_residual_max(model, state);
    if (quantity == "min_distance") return min_distance;
    if (quantity == "intersections")
        return count_intersections ? static_cast<double>(count_intersections(model, state)) : no_value;
    if (quantity == "max_speed") {
        double fastest = 0;
        for (int i = 0; i < model.bodies.size(); ++i)
            fastest = std::max(fastest, state.rate[i].col(3).norm());
        for (const ElasticState& body : state.elastic)
            for (const Vec3& v : body.v) fastest = std::max(fastest, v.norm());
        return fastest;
    }
    return no_value;
}

ExpectResult ExpectChecker::Data::evaluate_position(const Model& model, const State& state,
                                                    std::size_t index) const {
    const ExpectSpec& entry = expect[index];
    const Vec3 now = position(model, state, body_of[index]);
    const Vec3& wanted = *entry.position;
    const double off = (now - wanted).norm();
    ExpectResult result;
    result.held = off <= entry.within;
    result.text = fmt::format(
        "{} is at ({:.6g}, {:.6g}, {:.6g}) m, {:.3g} m from ({:.6g}, {:.6g}, {:.6g}), "
        "wanted within {:.3g} m",
        entry.body, now.x(), now.y(), now.z(), off, wanted.x(), wanted.y(), wanted.z(), entry.within);
    return result;
}

// For an entry about all dynamic bodies the one that is furthest out of (or nearest to leaving) the range speaks.
ExpectResult ExpectChecker::Data::evaluate_quantity(const Model& model, const State& state,
                                                    std::size_t index) const {
    const ExpectSpec& entry = expect[index];
    std::string subject;
    double value = no_value;
    if (contains(scene_quantities, entry.quantity)) {
        value = scene_value(model, state, entry.quantity);
    } else if (body_of[index] >= 0) {
        subject = entry.body + " ";
        value = body_value(model, state, entry.quantity, body_of[index]);
    } else {
        double worst = -std::numeric_limits<double>::infinity();
        const int bodies = model.bodies.size();
        for (int i = 0; i < bodies; ++i) {
            if (!state.dynamic(i)) continue;
            const double now = body_value(model, state, entry.quantity, i);
            const double excess = std::max(entry.min - now, now - entry.max);
            if (!(excess > worst)) continue;
            worst = excess;
            value = now;
            subject = name(model, i) + " (of all) ";
        }
    }
    const char* unit = unit_of(entry.quantity);
    ExpectResult result;
    result.held = value >= entry.min && value <= entry.max;
    const bool none = entry.quantity == "min_distance" && value > 1e299;
    std::string shown = none ? std::string("(nothing came near)") : fmt::format("{:.6g}{}", value, unit);
    if (std::isnan(value)) shown = "not measured";
    result.text = fmt::format("{}{} = {}, wanted {}", subject, entry.quantity, shown,
                              range_text(entry.min, entry.max, unit));
    return result;
}

std::vector<ExpectResult> ExpectChecker::Data::evaluate(const Model& model, const State& state,
                                                        std::size_t index) const {
    std::vector<ExpectResult> results;
    if (expect[index].position && body_of[index] >= 0)
        results.push_back(evaluate_position(model, state, index));
    if (!expect[index].quantity.empty()) results.push_back(evaluate_quantity(model, state, index));
    for (ExpectResult& result : results) {
        if (expect[index].at >= 0) result.text += fmt::format(" at {:.6g} s", expect[index].at);
        if (!expect[index].note.empty()) result.text += ": " + expect[index].note;
    }
    return results;
}

ExpectChecker::ExpectChecker(const Simulation& start, IntersectionCounter count_intersections)
    : data_(std::make_shared<Data>()) {
    const Model& model = start.model();
    const State& now = start.state();
    Data& data = *data_;
    data.expect = start.scene().expect;
    data.count_intersections = std::move(count_intersections);
    data.up = start.scene().up == "z" ? Vec3(Vec3::UnitZ()) : Vec3(Vec3::UnitY());
    const std::size_t count = data.expect.size();
    data.body_of.resize(count);
    data.done.resize(count);
    data.decided.assign(count, 0);
    data.start_q = now.q;
    for (std::size_t i = 0; i < count; ++i) {
        data.resolve(start.scene(), model, i);
        if (data.expect[i].quantity.starts_with("turned_")) data.track_turns = true;
    }
    if (data.track_turns) {
        data.last_q = now.q;
        data.turned.assign(now.q.size(), Vec3::Zero());
    }
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        data.start_center.push_back(elastic_center(model.elastic[e], now.elastic[e]).position);
    for (std::size_t i = 0; i < count; ++i) {
        if (data.expect[i].at != 0) continue;
        data.done[i] = data.evaluate(model, now, i);
        data.decided[i] = 1;
    }
}

void ExpectChecker::replay(const Frame& frame) {
    data_->track(frame.q);
}

void ExpectChecker::replay(const StepReport& report) {
    data_->min_distance = std::min(data_->min_distance, report.min_distance);
}

void ExpectChecker::after_step(const Simulation& now, const StepReport& report) {
    Data& data = *data_;
    data.track(now.state().q);
    data.min_distance = std::min(data.min_distance, report.min_distance);
    for (std::size_t i = 0; i < data.expect.size(); ++i) {
        const double at = data.expect[i].at;
        if (data.decided[i] || at < 0 || now.time() < at - time_slack * std::max(1.0, at)) continue;
        data.done[i] = data.evaluate(now.model(), now.state(), i);
        data.decided[i] = 1;
    }
}

// Entries whose time the run did not reach are not judged.
bool ExpectChecker::reached(const Simulation& end, std::size_t index) const {
    const double at = data_->expect[index].at;
    return data_->decided[index] || at <= end.time() * (1 + time_slack) + time_slack;
}

std::vector<ExpectResult> ExpectChecker::results(const Simulation& end) const {
    const Data& data = *data_;
    std::vector<ExpectResult> all;
    for (std::size_t i = 0; i < data.expect.size(); ++i) {
        if (!reached(end, i)) continue;
        const std::vector<ExpectResult> results =
            data.decided[i] ? data.done[i] : data.evaluate(end.model(), end.state(), i);
        all.insert(all.end(), results.begin(), results.end());
    }
    return all;
}

std::string ExpectChecker::skipped(const Simulation& end) const {
    const Data& data = *data_;
    std::size_t count = 0, first = 0;
    for (std::size_t i = data.expect.size(); i-- > 0;) {
        if (reached(end, i)) continue;
        ++count;
        first = i;
    }
    if (count == 0) return {};
    const ExpectSpec& entry = data.expect[first];
    return fmt::format(
        "the run of {:.6g} s is shorter than its expectations: {} skipped, the first of them expect[{}] "
        "({}{} at {:.6g} s)",
        end.time(), count, first, entry.body.empty() ? "" : entry.body + " ",
        entry.quantity.empty() ? "position" : entry.quantity, entry.at);
}

}  // namespace tenon::run

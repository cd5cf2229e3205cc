// What a scene expects of its run, measured while it goes.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

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
    Quat turn(relative);
    turn.normalize();
    if (turn.w() < 0) turn.coeffs() *= -1;
    const double sine = turn.vec().norm();
    if (sine < 1e-300) return Vec3::Zero();
    return turn.vec() * (2 * std::atan2(sine, turn.w()) / sine);
}

Vec3 geometry_position(const World& world, int body, const Mat34& q) {
    return transform(q, world.shape_of(body).geometry_frame.position);
}

// World-frame angular velocity: the axial vector of (dA/dt) A^-1, with A^-1 taken as A^T.
Vec3 angular_velocity(const Mat34& q, const Mat34& rate) {
    const Mat3 w = rate.leftCols<3>() * q.leftCols<3>().transpose();
    return 0.5 * Vec3(w(2, 1) - w(1, 2), w(0, 2) - w(2, 0), w(1, 0) - w(0, 1));
}

struct Center {
    Vec3 position = Vec3::Zero(), velocity = Vec3::Zero();
};

Center elastic_center(const ElasticBody& body) {
    Center center;
    double mass = 0;
    for (std::size_t i = 0; i < body.x.size(); ++i) {
        center.position += body.vertex_mass[i] * body.x[i];
        center.velocity += body.vertex_mass[i] * body.v[i];
        mass += body.vertex_mass[i];
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

struct ExpectChecker::State {
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

    void resolve(const Scene& scene, const World& world, std::size_t index);
    void track(const std::vector<Mat34>& q);
    double body_value(const World& world, const std::string& quantity, int body) const;
    double scene_value(const World& world, const std::string& quantity) const;
    Vec3 position(const World& world, int body) const;
    std::string name(const World& world, int body) const;
    std::vector<ExpectResult> evaluate(const World& world, std::size_t index) const;
    ExpectResult evaluate_position(const World& world, std::size_t index) const;
    ExpectResult evaluate_quantity(const World& world, std::size_t index) const;
};

// Finds the bodies an entry speaks of, and refuses what could not be measured.
void ExpectChecker::State::resolve(const Scene& scene, const World& world, std::size_t index) {
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
    const int bodies = world.bodies.size();
    body_of[index] = -1;
    if (entry.body.empty()) return;
    const auto& names = world.bodies.name;
    const auto found = std::find(names.begin(), names.end(), entry.body);
    if (found != names.end()) {
        body_of[index] = static_cast<int>(found - names.begin());
    } else {
        for (std::size_t i = 0; i < world.elastic.size(); ++i)
            if (world.elastic[i].name == entry.body) body_of[index] = bodies + static_cast<int>(i);
    }
    if (body_of[index] < 0)
        throw InputError(file, path + ".body", fmt::format("there is no body named '{}'", entry.body),
                         "name a body of the scene");
    if (body_of[index] >= bodies &&
        (entry.quantity == "spin" || entry.quantity == "tilt" || entry.quantity.starts_with("turned_")))
        throw InputError(file, path + ".quantity", fmt::format("an elastic body has no {}", entry.quantity),
                         "use x y z speed or moved");
}

void ExpectChecker::State::track(const std::vector<Mat34>& q) {
    if (!track_turns) return;
    for (std::size_t i = 0; i < q.size(); ++i) turned[i] += turn_between(last_q[i], q[i]);
    last_q = q;
}

Vec3 ExpectChecker::State::position(const World& world, int body) const {
    const int bodies = world.bodies.size();
    if (body >= bodies) return elastic_center(world.elastic[body - bodies]).position;
    return geometry_position(world, body, world.bodies.q[body]);
}

std::string ExpectChecker::State::name(const World& world, int body) const {
    const int bodies = world.bodies.size();
    return body >= bodies ? world.elastic[body - bodies].name : world.bodies.name[body];
}

double ExpectChecker::State::body_value(const World& world, const std::string& quantity, int body) const {
    const int bodies = world.bodies.size();
    if (quantity == "x") return position(world, body).x();
    if (quantity == "y") return position(world, body).y();
    if (quantity == "z") return position(world, body).z();
    if (quantity == "moved") {
        // Of the centre of mass: a body that only turns has not moved.
        const Vec3 now = body >= bodies ? position(world, body) : Vec3(world.bodies.q[body].col(3));
        return (now - (body >= bodies ? start_center[body - bodies] : Vec3(start_q[body].col(3)))).norm();
    }
    if (quantity == "speed")
        return body >= bodies ? elastic_center(world.elastic[body - bodies]).velocity.norm()
                              : world.bodies.rate[body].col(3).norm();
    const Mat34& q = world.bodies.q[body];
    if (quantity == "spin") return angular_velocity(q, world.bodies.rate[body]).norm();
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

double ExpectChecker::State::scene_value(const World& world, const std::string& quantity) const {
    if (quantity == "kinetic_energy") return energies(world).kinetic;
    if (quantity == "joint_residual") return joint_residual_max(world);
    if (quantity == "min_distance") return min_distance;
    if (quantity == "intersections")
        return count_intersections ? static_cast<double>(count_intersections(world)) : no_value;
    if (quantity == "max_speed") {
        double fastest = 0;
        for (int i = 0; i < world.bodies.size(); ++i)
            fastest = std::max(fastest, world.bodies.rate[i].col(3).norm());
        for (const ElasticBody& body : world.elastic)
            for (const Vec3& v : body.v) fastest = std::max(fastest, v.norm());
        return fastest;
    }
    return no_value;
}

ExpectResult ExpectChecker::State::evaluate_position(const World& world, std::size_t index) const {
    const ExpectSpec& entry = expect[index];
    const Vec3 now = position(world, body_of[index]);
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
ExpectResult ExpectChecker::State::evaluate_quantity(const World& world, std::size_t index) const {
    const ExpectSpec& entry = expect[index];
    std::string subject;
    double value = no_value;
    if (contains(scene_quantities, entry.quantity)) {
        value = scene_value(world, entry.quantity);
    } else if (body_of[index] >= 0) {
        subject = entry.body + " ";
        value = body_value(world, entry.quantity, body_of[index]);
    } else {
        double worst = -std::numeric_limits<double>::infinity();
        const int bodies = world.bodies.size();
        for (int i = 0; i < bodies; ++i) {
            if (!world.bodies.dynamic(i)) continue;
            const double now = body_value(world, entry.quantity, i);
            const double excess = std::max(entry.min - now, now - entry.max);
            if (!(excess > worst)) continue;
            worst = excess;
            value = now;
            subject = name(world, i) + " (of all) ";
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

std::vector<ExpectResult> ExpectChecker::State::evaluate(const World& world, std::size_t index) const {
    std::vector<ExpectResult> results;
    if (expect[index].position && body_of[index] >= 0) results.push_back(evaluate_position(world, index));
    if (!expect[index].quantity.empty()) results.push_back(evaluate_quantity(world, index));
    for (ExpectResult& result : results) {
        if (expect[index].at >= 0) result.text += fmt::format(" at {:.6g} s", expect[index].at);
        if (!expect[index].note.empty()) result.text += ": " + expect[index].note;
    }
    return results;
}

ExpectChecker::ExpectChecker(const Simulation& start, IntersectionCounter count_intersections)
    : state_(std::make_shared<State>()) {
    const World& world = start.world();
    State& state = *state_;
    state.expect = start.scene().expect;
    state.count_intersections = std::move(count_intersections);
    state.up = start.scene().up == "z" ? Vec3(Vec3::UnitZ()) : Vec3(Vec3::UnitY());
    const std::size_t count = state.expect.size();
    state.body_of.resize(count);
    state.done.resize(count);
    state.decided.assign(count, 0);
    state.start_q = world.bodies.q;
    for (std::size_t i = 0; i < count; ++i) {
        state.resolve(start.scene(), world, i);
        if (state.expect[i].quantity.starts_with("turned_")) state.track_turns = true;
    }
    if (state.track_turns) {
        state.last_q = world.bodies.q;
        state.turned.assign(world.bodies.q.size(), Vec3::Zero());
    }
    for (const ElasticBody& body : world.elastic) state.start_center.push_back(elastic_center(body).position);
    for (std::size_t i = 0; i < count; ++i) {
        if (state.expect[i].at != 0) continue;
        state.done[i] = state.evaluate(world, i);
        state.decided[i] = 1;
    }
}

void ExpectChecker::replay(const Frame& frame) {
    state_->track(frame.q);
}

void ExpectChecker::replay(const StepReport& report) {
    state_->min_distance = std::min(state_->min_distance, report.min_distance);
}

void ExpectChecker::after_step(const Simulation& now, const StepReport& report) {
    State& state = *state_;
    state.track(now.world().bodies.q);
    state.min_distance = std::min(state.min_distance, report.min_distance);
    for (std::size_t i = 0; i < state.expect.size(); ++i) {
        const double at = state.expect[i].at;
        if (state.decided[i] || at < 0 || now.time() < at - time_slack * std::max(1.0, at)) continue;
        state.done[i] = state.evaluate(now.world(), i);
        state.decided[i] = 1;
    }
}

std::vector<ExpectResult> ExpectChecker::results(const Simulation& end) const {
    const State& state = *state_;
    std::vector<ExpectResult> all;
    for (std::size_t i = 0; i < state.expect.size(); ++i) {
        std::vector<ExpectResult> results = state.decided[i] ? state.done[i] : state.evaluate(end.world(), i);
        const double at = state.expect[i].at;
        const bool never = !state.decided[i] && at > end.time() * (1 + time_slack) + time_slack;
        for (ExpectResult& result : results) {
            if (never) {
                result.held = false;
                result.text += fmt::format(" (the run ended at {:.6g} s)", end.time());
            }
            all.push_back(std::move(result));
        }
    }
    return all;
}

}  // namespace tenon::run

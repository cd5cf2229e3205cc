#include "verify/flight.hpp"
#include "math/rotation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tenon::verify {
namespace {

constexpr double fall_share = 1e-3;      // of what gravity gives: methods agree on it to rounding
constexpr double handed_on = 1.0 / 3.0;  // BDF2: of what pushed a body in one step, the next one sees a third
constexpr double speed_share = 1e-6;     // of the speed: rounding, and solvers' tolerances
constexpr double disagreement =
    0.5;  // of all paths: single impacts and whirls may disagree, not most of a run
// Of a body's size: paths without a velocity that mean nothing, where overlaps are mended and elsewhere.
constexpr double mended_share = 0.01, rounding_share = 1e-9;

}  // namespace

FlightAudit::FlightAudit(const run::RunReader& run, const nlohmann::json& scene, const SceneFacts& facts)
    : run_(run),
      facts_(facts),
      free_(run.bodies().size(), 1),
      multistep_(run.meta("method") == "articulated"),
      push_(run.bodies().size(), Vec3::Zero()),
      mends_overlaps_(!never_overlaps(run.meta("method"))),
      disagreeing_(run.bodies().size(), 0.0),
      worst_(run.bodies().size(), 0.0) {
    for (std::size_t i = 0; i < free_.size(); ++i)
        if (run.bodies()[i].type != BodyType::dynamic_body) free_[i] = 0;
    for (const run::JointInfo& joint : run.joints())
        for (const int body : joint.bodies)
            if (body >= 0) free_[body] = 0;
    const auto clear = [&](const std::string& name) {
        for (std::size_t i = 0; i < free_.size(); ++i)
            if (run.bodies()[i].name == name) free_[i] = 0;
    };
    if (const auto forces = scene.find("forces"); forces != scene.end() && forces->is_array())
        for (const auto& force : *forces)
            if (force.is_object() && force.contains("body") && force["body"].is_string())
                clear(force["body"].get<std::string>());
    if (const auto bodies = scene.find("bodies"); bodies != scene.end() && bodies->is_array())
        for (std::size_t i = 0; i < std::min(free_.size(), bodies->size()); ++i)
            if ((*bodies)[i].is_object() && (*bodies)[i].contains("fixed")) free_[i] = 0;
    if (const auto elastic = scene.find("elastic"); elastic != scene.end() && elastic->is_array())
        for (const auto& body : *elastic)
            if (const auto pins = body.find("pins"); pins != body.end() && pins->is_array())
                for (const auto& pin : *pins)
                    if (pin.is_object() && pin.contains("body") && pin["body"].is_string())
                        clear(pin["body"].get<std::string>());
    damped_ = scene.contains("wind") || facts.pushed;
}

// Bodies whose boxes, grown by half of themselves, meet no other that they may touch in either frame or between them.
std::vector<char> FlightAudit::alone(const run::Frame& before, const run::Frame& now,
                                     const std::vector<Box3>& boxes_before,
                                     const std::vector<Box3>& boxes_now) const {
    std::vector<Box3> boxes = boxes_before;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        boxes[i].add(boxes_now[i]);
        if (i < free_.size() && free_[i])
            boxes[i].inflate(0.25 * (boxes_now[i].hi - boxes_now[i].lo).maxCoeff());
    }
    std::vector<char> result = free_;
    for (const auto& [a, b] : overlapping_pairs(boxes))
        for (const int body : {a, b})
            if (static_cast<std::size_t>(body) < result.size()) result[body] = 0;
    for (const run::Frame* frame : {&before, &now})
        for (const Contact& contact : frame->contacts)
            for (const int body : {contact.a, contact.b})
                if (body >= 0 && static_cast<std::size_t>(body) < result.size()) result[body] = 0;
    return result;
}

// What gravity did not do to its velocity. A multistep rule hands on a part of the push that a body had while it was last
// touched: from then on, v_n+1 - v_n - h g = (v_n - v_n-1 - h g) / 3, or nothing at all after a step of implicit Euler.
Vec3 FlightAudit::unexplained_push(std::size_t body, const Vec3& push, long steps) const {
    if (!multistep_) return push;
    const Vec3& last = push_[body].value();
    const double most = std::pow(handed_on, static_cast<double>(steps));
    const double square = last.squaredNorm();
    return square > 0 ? push - std::clamp(push.dot(last) / square, 0.0, most) * last : push;
}

void FlightAudit::check_fall(long index, std::size_t body, const run::Frame& before, const run::Frame& now,
                             Result& result, FindingList& findings) {
    const double seconds = now.time - before.time;
    const Vec3 v0 = before.rate[body].col(3), v1 = now.rate[body].col(3);
    const Vec3 push = v1 - v0 - seconds * facts_.gravity;
    // Of a push just before nothing is known yet.
    const bool judged = !multistep_ || push_[body].has_value();
    const double off = judged ? unexplained_push(body, push, now.step - before.step).norm() : 0.0;
    push_[body] = push;
    const double allowed =
        fall_share * seconds * facts_.gravity.norm() + speed_share * (v0.norm() + v1.norm()) + 1e-9;
    if (off <= allowed) return;
    ++result.velocity_errors;
    findings.add(finding(
        "flight", index, now.time, run_.bodies()[body].name,
        fmt::format("nothing is near it, yet its velocity changed by {:.3g} m/s beyond gravity's share", off),
        off));
}

// On a smooth path the mean of two velocities carries a body from one frame to the next.
void FlightAudit::weigh_velocity(std::size_t body, const run::Frame& before, const run::Frame& now) {
    const double seconds = now.time - before.time;
    const Vec3 v0 = before.rate[body].col(3), v1 = now.rate[body].col(3);
    const Vec3 moved = (now.q[body].col(3) - before.q[body].col(3)) / seconds;
    const double spin = std::max(spin_of(before.q[body], before.rate[body]).norm(),
                                 spin_of(now.q[body], now.rate[body]).norm());
    // An impact or a fast turn between the frames hides what happened: nothing is learnt from those.
    const double speed = std::max(v0.norm(), v1.norm());
    if ((v1 - v0).norm() > 0.5 * speed || spin * seconds > 1.0) return;
    const double length = seconds * std::max(speed, moved.norm());
    const double allowed = 0.5 * (v1 - v0).norm() + seconds * facts_.gravity.norm() + 0.1 * speed;
    const double off = (moved - 0.5 * (v0 + v1)).norm();
    if (off <= allowed) {
        agreeing_ += length;
        return;
    }
    disagreeing_[body] += length;
    worst_[body] = std::max(worst_[body], off);
}

double FlightAudit::radius(std::size_t body) const {
    double largest = 0;
    for (const Vec3& vertex : run_.shapes()[run_.bodies()[body].shape].mesh.vertices)
        largest = std::max(largest, vertex.squaredNorm());
    return std::sqrt(largest);
}

void FlightAudit::add(long index, const run::Frame& before, const run::Frame& now,
                      const std::vector<Box3>& boxes_before, const std::vector<Box3>& boxes_now,
                      Result& result, FindingList& findings) {
    last_frame_ = index;
    last_time_ = now.time;
    if (!(now.time > before.time)) return;
    const std::vector<char> lonely = alone(before, now, boxes_before, boxes_now);
    for (std::size_t i = 0; i < free_.size(); ++i) {
        if (run_.bodies()[i].type != BodyType::dynamic_body) continue;
        weigh_velocity(i, before, now);
        if (!lonely[i])
            push_[i].reset();
        else if (!damped_)
            check_fall(index, i, before, now, result, findings);
    }
}

// Paths that say nothing: rounding, and where a method mends overlaps, what it moves bodies by without a velocity.
void FlightAudit::finish(Result& result, FindingList& findings) {
    const double silent = mends_overlaps_ ? mended_share : rounding_share;
    double off = 0;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < disagreeing_.size(); ++i) {
        if (disagreeing_[i] <= silent * radius(i)) continue;
        off += disagreeing_[i];
        if (worst_[i] > worst_[worst] || disagreeing_[worst] <= silent * radius(worst)) worst = i;
    }
    const double all = agreeing_ + off;
    if (all > 0) result.unexplained_path = off / all;
    if (off <= 0 || off < disagreement * all) return;
    ++result.velocity_errors;
    findings.add(finding(
        "velocity", last_frame_, last_time_, run_.bodies()[worst].name,
        fmt::format(
            "{:.0f} % of all paths are not explained by the recorded velocities; this body's by {:.3g} m/s",
            100 * off / all, worst_[worst]),
        worst_[worst]));
}

}  // namespace tenon::verify

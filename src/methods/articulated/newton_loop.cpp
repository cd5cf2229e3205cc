#include "methods/articulated/newton_loop.hpp"

#include <cmath>

#include "math/parallel.hpp"
#include "tenon/error.hpp"

namespace tenon::articulated {
namespace {

constexpr std::size_t kGrain = 4096;
constexpr double shortest_step = 1e-3;

}  // namespace

NewtonLoop::NewtonLoop(const Options& options, BodyField& field, ContactSet& contacts, Component& component,
                       const std::vector<int>& touched, const std::vector<Mat34>& last_q, double h)
    : options_(options),
      field_(field),
      contacts_(contacts),
      component_(component),
      touched_(touched),
      last_q_(last_q),
      h_(h) {
    const bool touches = !touched.empty() || component.has_contacts();
    side_changes_ = touches ? options.contact.max_iterations : options.max_iterations;
}

SolveReport NewtonLoop::run() {
    for (int iteration = 1;; ++iteration) {
        if (from_start_) start(iteration > 1);
        contacts_.make_dense(field_, touched_);
        component_.solve(field_);
        ++report_.solves;
        const double before = energy_;
        search();
        if (done(iteration, before)) break;
    }
    report_.strain = state_.strain;
    if (report_.residual > 1e3 * options_.joint_tolerance) report_.converged = false;
    return report_;
}

// The potential to beat is that of the last state; the solve starts from the predicted pose.
void NewtonLoop::start(bool again) {
    const std::vector<int>& bodies = component_.bodies;
    if (again) {
        for (int body : bodies) field_.x[body] = last_q_[body];
        refresh(field_, bodies);
    }
    energy_ = potential(known_energy(field_, bodies));
    closed_ = component_.residual(field_) < options_.joint_tolerance;
    predict(field_, bodies);
}

double NewtonLoop::potential(double own) const {
    double sum = own + component_.soft_energy(field_);
    for (int body : touched_) sum += contacts_.energy(field_, body);
    return sum;
}

void NewtonLoop::move(double length) {
    const std::vector<int>& bodies = component_.bodies;
    parallel_for(bodies.size(), kGrain,
                 [&](std::size_t i) { field_.x[bodies[i]] += length * field_.dq[bodies[i]]; });
}

// The step to judge, and to shorten, is the one from the last state.
void NewtonLoop::aim_from_last() {
    const std::vector<int>& bodies = component_.bodies;
    parallel_for(bodies.size(), kGrain, [&](std::size_t i) {
        const int body = bodies[i];
        field_.dq[body] += field_.x[body] - last_q_[body];
        field_.x[body] = last_q_[body];
    });
}

// Takes the whole increment, or the longest of its halves that lowers the potential.
void NewtonLoop::search() {
    const std::vector<int>& bodies = component_.bodies;
    const bool linear = component_.linear();
    if (!linear) {  // corrections leave the straight path: every length starts over
        if (from_start_) aim_from_last();
        auto& scratch = component_.scratch;
        scratch.x.clear(), scratch.dq.clear();
        for (int body : bodies) scratch.x.push_back(field_.x[body]), scratch.dq.push_back(field_.dq[body]);
    }
    moved_ = 0.0;
    double energy = 0.0;
    for (double length = 1.0;; length *= 0.5, ++report_.halvings) {
        bool joined = true;
        if (linear)
            go_straight(length);
        else
            joined = go_and_close(length);
        state_ = refresh(field_, bodies);
        report_.fallbacks += state_.fallbacks;
        energy = potential(state_.energy);
        const bool fell = energy <= energy_ + 1e-9 * std::abs(energy_);
        const bool good = std::isfinite(energy) && joined && (fell || !closed_ || !options_.backtracking);
        if (good || length < shortest_step) break;
    }
    if (!std::isfinite(energy))
        throw StepFailure("the solve gave numbers that are not finite", bodies.front());
    energy_ = energy;
}

// Linear rows hold at any length. Only when the whole step is refused is it worked out from the last state.
void NewtonLoop::go_straight(double length) {
    if (from_start_ && moved_ == 1.0) {
        move(-1.0);
        aim_from_last();
        moved_ = 0.0;
    }
    move(length - moved_);
    moved_ = length;
}

// Rows that are not linear are corrected with the same factors. False when that does not close them.
bool NewtonLoop::go_and_close(double length) {
    const std::vector<int>& bodies = component_.bodies;
    const auto& scratch = component_.scratch;
    for (std::size_t i = 0; i < bodies.size(); ++i)
        field_.x[bodies[i]] = scratch.x[i] + length * scratch.dq[i];
    double open = component_.residual(field_);
    for (int k = 0; k < options_.max_corrections && open > options_.joint_tolerance;
         ++k, ++report_.corrections) {
        component_.correct(field_);
        move(1.0);
        const double before = open;
        open = component_.residual(field_);
        if (!(open < 2.0 * before)) break;  // too far for corrections: take a shorter step
    }
    return open <= 10.0 * options_.joint_tolerance;
}

bool NewtonLoop::change_sides() {
    bool changed = component_.update_bounds(field_);
    for (int body : touched_) changed |= contacts_.update(field_, body, h_);
    return changed;
}

// Further solves only while strain is above tolerance and the potential still falls, or sides change.
bool NewtonLoop::done(int iteration, double energy_before) {
    const bool still = energy_ > energy_before - 1e-4 * std::abs(energy_before) && iteration > 1;
    from_start_ = iteration < side_changes_ && change_sides();
    report_.residual = component_.residual(field_);
    closed_ = report_.residual < options_.joint_tolerance;
    const bool strained =
        state_.strain > options_.strain_tolerance && !still && iteration < options_.max_iterations;
    if (closed_ && !from_start_ && !strained && iteration >= options_.min_iterations) return true;
    if (iteration < options_.max_iterations + side_changes_) return false;
    report_.converged = false;
    return true;
}

}  // namespace tenon::articulated

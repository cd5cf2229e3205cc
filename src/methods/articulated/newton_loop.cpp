#include "methods/articulated/newton_loop.hpp"

#include <cmath>

#include "math/interrupt.hpp"
#include "math/parallel.hpp"
#include "tenon/error.hpp"

namespace tenon::articulated {
namespace {

constexpr std::size_t kGrain = 4096;
constexpr double shortest_step = 1e-3;
constexpr int most_ventures = 3;
constexpr double hopeless = 0.5;  // excess of a body that turned by a radian

}  // namespace

NewtonLoop::NewtonLoop(const Options& options, BodyField& field, ContactSet& contacts, Component& component,
                       const std::vector<int>& touched, const std::vector<Mat34>& last_q)
    : options_(options),
      field_(field),
      contacts_(contacts),
      component_(component),
      touched_(touched),
      last_q_(last_q) {
    touches_ = !touched.empty() || component.has_contacts();
    // what the next step starts from is held to more
    most_excess_ = (component.forgets_excess() ? 1.0 : carried_share) * options.strain_tolerance;
    side_changes_ = (touches_ ? options.contact.max_iterations : options.max_iterations) - 1;
}

SolveReport NewtonLoop::run() {
    for (int iteration = 1;; ++iteration) {
        check_interrupt();
        if (iteration == 1)
            start();
        else
            go_on();
        solve_sides(iteration == 1 ? first_ : nullptr);
        const double before = energy_;
        search();
        if (done(iteration, before)) break;
    }
    if (length_ == 1.0 && component_.forgets_excess() && !field_.polar_free)
        forget_excess(field_, component_.bodies, component_.scratch.rotation);
    report_.strain = state_.strain;
    report_.excess = state_.excess;
    report_.settled = !cut_short() && state_.excess <= 2.0 * most_excess_;
    if (report_.residual > 1e3 * options_.joint_tolerance) report_.converged = false;
    return report_;
}

// The potential to beat is that of the last state; the solve starts from the predicted pose.
void NewtonLoop::start() {
    const std::vector<int>& bodies = component_.bodies;
    own_energy_ = known_energy(field_, bodies);
    energy_ = potential(own_energy_);
    closed_ = component_.residual(field_) < options_.joint_tolerance;
    auto& scratch = component_.scratch;
    scratch.x.resize(bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) scratch.x[i] = last_q_[bodies[i]];
    predict(field_, bodies);
    component_.iterate_moved();
}

// Solves at the pose at hand, again for as long as the whole increment makes contacts, motors or limits change sides: with
// all else kept, that is the active-set method for the quadratic model of the step.
void NewtonLoop::solve_sides(const std::vector<Mat34>* given) {
    const std::vector<int>& bodies = component_.bodies;
    auto& scratch = component_.scratch;
    scratch.start.resize(bodies.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) scratch.start[i] = field_.x[bodies[i]];
    bool changed = false;
    for (;;) {
        if (given) {
            for (int body : bodies) field_.dq[body] = (*given)[body] - field_.x[body];
        } else {
            contacts_.make_dense(field_, touched_);
            component_.solve(field_);
        }
        ++report_.solves;
        aim();
        at_whole_ = go(1.0) ? 1 : 0;
        if (side_changes_ <= 0 || !at_whole_ || !change_sides()) break;
        --side_changes_;
        changed = true;
        for (std::size_t i = 0; i < bodies.size(); ++i) field_.x[bodies[i]] = scratch.start[i];
        component_.iterate_moved();
    }
    if (!changed) return;
    // friction has changed with the sides, and with it what the last state costs
    const double own = own_energy_;
    for (std::size_t i = 0; i < bodies.size(); ++i) field_.x[bodies[i]] = scratch.x[i];
    component_.iterate_moved();
    energy_ = potential(own);
    at_whole_ = -1;
}

// The next solve is made near the iterate, from the turned pose: an increment turns a body along a straight line, which
// stretches it by half the square of the angle. That stretch is no strain to be felt, only to be taken out.
void NewtonLoop::go_on() {
    const std::vector<int>& bodies = component_.bodies;
    auto& scratch = component_.scratch;
    if (ventures_ == 0) {
        for (std::size_t i = 0; i < bodies.size(); ++i) scratch.x[i] = field_.x[bodies[i]];
        own_energy_ = state_.energy;
    }
    if (length_ == 1.0 && !field_.polar_free) straighten(field_, bodies, scratch.rotation);
    component_.iterate_moved();
}

// The step to judge, and to shorten, is the one from the last accepted iterate, in which linear rows hold.
void NewtonLoop::aim() {
    const std::vector<int>& bodies = component_.bodies;
    auto& scratch = component_.scratch;
    scratch.dq.resize(bodies.size());
    scratch.rotation.resize(bodies.size());
    parallel_for(bodies.size(), kGrain, [&](std::size_t i) {
        const int body = bodies[i];
        scratch.dq[i] = field_.dq[body] + field_.x[body] - scratch.x[i];
        scratch.rotation[i] = field_.rotation[body];
    });
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
    component_.iterate_moved();
}

// Takes the whole increment, or the longest of its halves that lowers the potential. Where it is raised by turns too large
// for one solve, the turned pose is still the best place for the next one: it is followed a few times before halving.
void NewtonLoop::search() {
    const std::vector<int>& bodies = component_.bodies;
    double energy = 0.0;
    for (length_ = 1.0;; length_ *= 0.5, ++report_.halvings) {
        const bool joined = length_ == 1.0 && at_whole_ >= 0 ? at_whole_ == 1 : go(length_);
        state_ = refresh(field_, bodies, length_ == 1.0 ? &component_.scratch.rotation : nullptr);
        report_.fallbacks += state_.fallbacks;
        energy = potential(state_.energy);
        const bool fell = energy <= energy_ + 1e-9 * std::abs(energy_);
        const bool good = std::isfinite(energy) && joined && (fell || !closed_ || !options_.backtracking);
        if (good || length_ < shortest_step) break;
        if (ventures_ < most_ventures && std::isfinite(energy) && joined && may_venture()) {
            ++ventures_;
            return;
        }
    }
    ventures_ = 0;
    if (!std::isfinite(energy))
        throw StepFailure("the solve gave numbers that are not finite", bodies.front());
    energy_ = energy;
}

// Linear rows hold at any length; others are corrected with the same factors. False when that does not close them.
bool NewtonLoop::go(double length) {
    const std::vector<int>& bodies = component_.bodies;
    const auto& scratch = component_.scratch;
    parallel_for(bodies.size(), kGrain,
                 [&](std::size_t i) { field_.x[bodies[i]] = scratch.x[i] + length * scratch.dq[i]; });
    component_.iterate_moved();
    if (component_.linear()) return true;
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

bool NewtonLoop::may_venture() const {
    return length_ == 1.0 && state_.excess > most_excess_ && !field_.polar_free &&
           report_.solves < options_.max_iterations;
}

// A shortened last step leaves bodies short of where they are going: that is a stop, not a solution. Only contacts, whose
// sides may go on changing from solve to solve, are content with it.
bool NewtonLoop::cut_short() const {
    return length_ < 1.0 && !touches_;
}

bool NewtonLoop::change_sides() {
    bool changed = component_.update_bounds(field_);
    for (int body : touched_) changed |= contacts_.update(field_, body);
    return changed;
}

// Further solves only while turning has left strain above tolerance and the potential still falls, or sides change.
bool NewtonLoop::done(int iteration, double energy_before) {
    if (may_give_up_ && !touches_ && state_.excess > hopeless) return true;
    if (ventures_ > 0) return false;
    // little is gained: the component's potential falls no more, and no body would make it start again in smaller steps
    // that the next solve could save
    const bool bearable = state_.excess <= 2.0 * most_excess_;
    const bool still = energy_ > energy_before - 1e-4 * std::abs(energy_before) &&
                       (bearable || state_.excess > 0.5 * excess_before_) && iteration > 1;
    excess_before_ = state_.excess;
    const bool sides = length_ < 1.0 && side_changes_ > 0 && change_sides();
    report_.residual = component_.residual(field_);
    closed_ = report_.residual < options_.joint_tolerance;
    const bool strained =
        (cut_short() || (state_.excess > most_excess_ && !still)) && iteration < options_.max_iterations;
    if (closed_ && !sides && !strained && iteration >= options_.min_iterations) return true;
    if (iteration < options_.max_iterations) return false;
    report_.converged = false;
    return true;
}

}  // namespace tenon::articulated

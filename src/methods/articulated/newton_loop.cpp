#include "methods/articulated/newton_loop.hpp"

#include <cmath>

#include "math/interrupt.hpp"
#include "methods/articulated/convex_solve.hpp"
#include "tenon/error.hpp"

namespace tenon::articulated {
namespace {

constexpr double too_far = 1.0;  // rad: a turn that one linearisation cannot follow
// Passes that leave more than this of the distance are given up for a new linearisation; in the last try, where redundant joints
// near a dead point may need many of them, later.
constexpr double slow_passes = 0.2, slowest_passes = 0.7;
constexpr int most_branch_solves = 40;
constexpr int patient_from = 6;  // linearisations of a last try, after which contacts get as many solves
constexpr int last_try_iterations = 4;  // times the linearisations otherwise allowed
constexpr int last_try_passes = 3;      // times the corrections
// Distances of an iterate that was nearly a solution, and of one that is far from any: back to the former.
constexpr double nearly = 1e3, far_away = 1e6;

}  // namespace

NewtonLoop::NewtonLoop(const Options& options, BodyField& field, ContactSet& contacts, Component& component,
                       const std::vector<int>& touched)
    : options_(options), field_(field), contacts_(contacts), component_(component), touched_(touched) {
    touches_ = !touched.empty() || component.has_contacts();
    force_tolerance_ = touches_ ? contact_tolerance : options.force_tolerance;
}

void NewtonLoop::near_others() {
    touches_ = true;
    force_tolerance_ = contact_tolerance;
}

// In units of what is tolerated: at most 1 at a solution.
double NewtonLoop::distance(const Balance& balance) const {
    if (!balance.consistent) return 1e300;
    return std::max(balance.relative_gap / options_.joint_tolerance,
                    balance.force / (force_tolerance_ * balance.scale + 1e-300));
}

// Contacts change sides from one linearisation to the next: to find all of them at once is worth it only where that goes on and
// no smaller steps come after this one.
int NewtonLoop::most_solves(int iteration) const {
    if (touches_ && (may_give_up_ || iteration <= patient_from)) return options_.contact.max_iterations;
    return touches_ ? std::max(options_.contact.max_iterations, most_branch_solves) : most_branch_solves;
}

SolveReport NewtonLoop::run() {
    const std::vector<int>& bodies = component_.bodies;
    component_.last_try = !may_give_up_;
    predict(field_, bodies, !touches_);
    component_.predict_more();
    // where no smaller steps come after this one, friction that settles slowly is worth waiting for
    const int most = may_give_up_ ? options_.max_iterations : last_try_iterations * options_.max_iterations;
    for (int iteration = 1; iteration <= most; ++iteration) {
        check_interrupt();
        ConvexSolve convex(field_, contacts_, component_, touched_);
        report_.solves += convex.run(most_solves(iteration));
        if (!note(move_all()) || (may_give_up_ && turned_ > too_far)) break;
        if (correct() && iteration >= options_.min_iterations) {
            report_.converged = true;
            remember_joint_moves(field_, bodies);
            break;
        }
        if (!finite_) break;
        if (distance_ > far_away && nearest_.distance < nearly) go_back();
    }
    if (!report_.converged && distance_ > nearest_.distance && (nearest_.distance < nearly || !finite_))
        go_back();
    return report_;
}

void NewtonLoop::keep(double now) {
    distance_ = now;
    if (may_give_up_ || !(now < nearest_.distance) || !component_.keep_nearest()) return;
    nearest_.distance = now;
    const std::size_t count = component_.bodies.size();
    nearest_.x.resize(count), nearest_.rotation.resize(count);
    nearest_.stress.resize(count), nearest_.force_stress.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const int body = component_.bodies[i];
        nearest_.x[i] = field_.x[body];
        nearest_.rotation[i] = field_.rotation[body];
        nearest_.stress[i] = field_.stress[body];
        nearest_.force_stress[i] = field_.force_stress[body];
    }
}

void NewtonLoop::go_back() {
    for (std::size_t i = 0; i < nearest_.x.size(); ++i) {
        const int body = component_.bodies[i];
        field_.x[body] = nearest_.x[i];
        field_.rotation[body] = nearest_.rotation[i];
        field_.stress[body] = nearest_.stress[i];
        field_.force_stress[body] = nearest_.force_stress[i];
    }
    component_.go_to_nearest();
    distance_ = nearest_.distance;
    report_.residual = judge_iterate().gap;
}

Balance NewtonLoop::judge_iterate() {
    Balance balance;
    contacts_.roll(field_, touched_);
    contacts_.set_forces(field_, touched_);
    component_.balance(field_, balance);
    return balance;
}

// Passes with the factors of the last solve, while each brings the iterate closer. True at the solution.
bool NewtonLoop::correct() {
    double before = 1e300;
    const double slow = may_give_up_ ? slow_passes : slowest_passes;
    const int most = may_give_up_ ? options_.max_corrections : last_try_passes * options_.max_corrections;
    for (int pass = 0;; ++pass) {
        const Balance balance = judge_iterate();
        report_.residual = balance.gap;
        const double now = distance(balance);
        keep(now);
        if (now <= 1.0) {
            double friction = component_.update_lag(field_, true);
            for (int body : touched_) friction = std::max(friction, contacts_.update_lag(field_, body, true));
            return friction <= contact_tolerance * balance.scale;
        }
        if (!balance.consistent || pass >= most || !(now < slow * before)) break;
        before = now;
        component_.refine(field_);
        ++report_.corrections;
        if (!note(move_all())) return false;
    }
    component_.update_lag(field_, false);
    for (int body : touched_) contacts_.update_lag(field_, body, false);
    return false;
}

FieldReport NewtonLoop::move_all() {
    FieldReport report = move(field_, component_.bodies);
    component_.move_more(1.0, report);
    return report;
}

// False when the increment was not finite and the step may be made again in smaller ones.
bool NewtonLoop::note(const FieldReport& moved) {
    finite_ = moved.finite;
    if (!finite_ && nearest_.distance < 1e300) {  // goes on from the nearest iterate, unconverged
        distance_ = 1e300;
        return false;
    }
    if (!finite_ && !may_give_up_)
        throw StepFailure("the solve gave numbers that are not finite",
                          component_.bodies.empty() ? -1 : component_.bodies.front());
    if (!finite_) return false;
    turned_ = moved.turn;
    report_.fallbacks += moved.fallbacks;
    report_.strain = moved.strain;
    return true;
}

}  // namespace tenon::articulated

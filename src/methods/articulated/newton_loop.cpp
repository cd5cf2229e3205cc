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
// An iterate this far from a solution, and this many times as far as the nearest one: back to that.
constexpr double far_away = 1e6, many_times = 1e3;
constexpr double nearly = 1e3;           // distance of an iterate that was nearly a solution
constexpr double nearly_balanced = 0.1;  // share of the forces that it leaves unbalanced, at most
constexpr double inconsistent = 10.0;    // of an iterate where a constraint is on a wrong branch, at least
constexpr double wide_open = 1.0;        // gap of a joint over the size of its bodies
constexpr double least_share = 1.0 / 64.0;

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
double NewtonLoop::distance(const Balance& balance, double scale) const {
    if (!std::isfinite(balance.force)) return 1e300;
    const double left = std::max(balance.force, balance.branch) / (force_tolerance_ * scale + 1e-300);
    const double away = std::max(balance.relative_gap / options_.joint_tolerance, left);
    return balance.consistent ? away : std::max(away, inconsistent);
}

// Both measured by the smaller forces of the two: a body that is thrown off leaves no more than its own huge inertia unbalanced.
bool NewtonLoop::nearer(const Balance& now, const Balance& than, double share) const {
    const double scale = std::min(now.scale, than.scale);
    return distance(now, scale) < share * distance(than, scale);
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
    ConvexSolve convex(field_, contacts_, component_, touched_);
    for (int iteration = 1; iteration <= most; ++iteration) {
        check_interrupt();
        report_.solves += convex.run(most_solves(iteration));
        if (!note(move_all(share_)) || (may_give_up_ && turned_ > too_far)) break;
        if (correct() && iteration >= options_.min_iterations) {
            report_.converged = true;
            remember_joint_moves(field_, bodies);
            break;
        }
        if (!finite_) break;
        if (distance_ > far_away && distance_ > many_times * nearest_.distance) {
            go_back();  // the same way again leads as far off: a part of it
            share_ = std::max(least_share, 0.5 * share_);
        } else {
            share_ = std::min(1.0, 2.0 * share_);
        }
    }
    const bool near = nearest_.distance < std::min(nearly, nearly_balanced / force_tolerance_);
    if (!report_.converged && distance_ > nearest_.distance &&
        (near || !finite_ || distance_ > many_times * nearest_.distance))
        go_back();
    if (!report_.converged && !may_give_up_) expect_closed();
    return report_;
}

// An iterate whose joints are open by as much as their bodies measure is no result to go on from.
void NewtonLoop::expect_closed() {
    const double open = judge_iterate().relative_gap;
    if (open < wide_open) return;
    throw StepFailure("no solution was found: joints stay open by more than the size of their bodies",
                      component_.bodies.empty() ? -1 : component_.bodies.front());
}

void NewtonLoop::keep(const Balance& now) {
    distance_ = distance(now, now.scale);
    const bool first = !(nearest_.distance < 1e300);
    if (may_give_up_ || !(distance_ < 1e300) || !(first || nearer(now, nearest_.balance))) return;
    component_.keep_nearest();
    nearest_.distance = distance_;
    nearest_.balance = now;
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
    Balance before;
    const double slow = may_give_up_ ? slow_passes : slowest_passes;
    const int full = may_give_up_ ? options_.max_corrections : last_try_passes * options_.max_corrections;
    const int most = share_ < 1.0 ? 0 : full;  // they would go the rest of the way
    for (int pass = 0;; ++pass) {
        const Balance balance = judge_iterate();
        report_.residual = balance.gap;
        keep(balance);
        if (distance_ <= 1.0) {
            return renew_contacts() <= contact_tolerance * balance.scale;
        }
        if (!balance.consistent || pass >= most || (pass > 0 && !nearer(balance, before, slow))) break;
        before = balance;
        component_.refine(field_);
        ++report_.corrections;
        if (!note(move_all(1.0))) return false;
    }
    renew_contacts();
    return false;
}

// By how much the friction of a contact misses what its normal force at the iterate allows, N.
double NewtonLoop::renew_contacts() {
    double most = component_.renew_contacts(field_);
    for (int body : touched_) most = std::max(most, contacts_.renew(field_, body));
    return most;
}

FieldReport NewtonLoop::move_all(double share) {
    FieldReport report = move(field_, component_.bodies, share);
    component_.move_more(share, report);
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

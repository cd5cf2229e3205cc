// Steps of worlds that consist of ball-jointed chains: two passes over the state, and the new state takes the old one's
// place by exchanging arrays.
#include <cmath>

#include "methods/articulated/method.hpp"

namespace tenon::articulated {
namespace {

// Of the strain tolerance: what straight increments may leave of strain in turning bodies.
constexpr double turning_share = 0.4;

}  // namespace

bool ArticulatedMethod::may_sweep(const Model& model, const State& state) const {
    return only_chains_ && !has_external_wrenches(model, state);
}

SweepRule ArticulatedMethod::sweep_rule(const Vec3& gravity, double h, bool with_history) const {
    const double eta = field_.etas[0];
    SweepRule rule;
    if (with_history)
        rule = {4.0 / 3.0, -1.0 / 3.0, 4.0 * eta / 3.0, -eta / 3.0, 1.5 / h};
    else
        rule = {1.0, 0.0, h, 0.0, 1.0 / h};
    for (int k = 0; k < 3; ++k) rule.gravity[k] = eta * eta * gravity[k];
    return rule;
}

SweepState ArticulatedMethod::sweep_state(const State& state, bool with_history) {
    const auto numbers = [](const std::vector<Mat34>& values) { return values.front().data(); };
    SweepState arrays;
    arrays.q = numbers(state.q);
    arrays.rate = numbers(state.rate);
    arrays.previous_q = with_history ? numbers(previous_q_) : arrays.q;
    arrays.previous_rate = with_history ? numbers(previous_rate_) : arrays.rate;
    arrays.new_q = field_.x.front().data();
    arrays.new_rate = new_rate_.front().data();
    return arrays;
}

// False when one solve with straight increments is not enough: then the step is made in the general way.
bool ArticulatedMethod::sweep(State& state, double h, bool with_history) {
    for (int body : fixed_) field_.x[body] = state.q[body];
    if (new_rate_.size() != field_.x.size()) new_rate_.assign(field_.x.size(), Mat34::Zero());
    const SweepRule rule = sweep_rule(state.gravity, h, with_history);
    const SweepState arrays = sweep_state(state, with_history);
    reports_.assign(components_.size(), {});
    bool enough = true;
    {
        auto guard = timer_.stage("solve");
        for (std::size_t c = 0; c < components_.size(); ++c) {
            const SweepReport swept =
                static_cast<BallChain&>(*components_[c]).sweep(field_, sweep_kinds_, rule, arrays);
            if (!swept.near || !std::isfinite(swept.energy_after)) return false;
            reports_[c].solves = 1;
            reports_[c].strain = swept.strain;
            reports_[c].residual = swept.gap_after;
            reports_[c].converged = true;
            const bool closed = swept.gap_before < options_.joint_tolerance;
            const bool fell =
                swept.energy_after <= swept.energy_before + 1e-9 * std::abs(swept.energy_before);
            enough = enough && (fell || !closed) && swept.gap_after < options_.joint_tolerance &&
                     swept.excess <= turning_share * options_.strain_tolerance;
        }
    }
    if (!enough) return false;
    current_.clear();
    for (const auto& component : components_) current_.push_back(component.get());
    add_reports();
    auto guard = timer_.stage("commit");
    commit_sweep(state, with_history);
    return true;
}

void ArticulatedMethod::commit_sweep(State& state, bool with_history) {
    for (int body : fixed_) new_rate_[body] = state.rate[body];
    for (std::size_t k = 0; k < scripted_.size(); ++k) new_rate_[scripted_[k]] = scripted_rate_[k];
    if (with_history) {
        previous_q_.swap(state.q);
        previous_rate_.swap(state.rate);
    }
    state.q.swap(field_.x);
    state.rate.swap(new_rate_);
    // what was exchanged is written again before it is read, but for bodies that do not move
    for (int body : fixed_) field_.x[body] = state.q[body];
}

}  // namespace tenon::articulated

// Steps of worlds that consist of ball-jointed chains: two passes over the state, and the new state takes the old one's
// place by exchanging arrays.
#include <cmath>

#include "methods/articulated/method.hpp"

namespace tenon::articulated {
namespace {

constexpr int most_sweeps = 8;
constexpr double rounding = 1e-15;  // of strains

// The strain whose stress, as a force at the body's gyration radius, is this force. Straight increments strain turning bodies;
// beyond the tolerance of forces such a step is not the solution.
double strain_of_force(const std::vector<BodyKind>& kinds, double force) {
    double strain = 1e300;
    for (const BodyKind& kind : kinds)
        strain = std::min(strain, force * kind.gyration / (2.0 * kind.volume_mu + 3.0 * kind.volume_lambda));
    return strain;
}

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

// False when no straight increment after the first solves is near enough to a turn: then the step is made in the general way.
bool ArticulatedMethod::sweep(State& state, double h, bool with_history) {
    for (int body : fixed_) field_.x[body] = state.q[body];
    if (new_rate_.size() != field_.x.size()) new_rate_.assign(field_.x.size(), Mat34::Zero());
    const SweepRule rule = sweep_rule(state.gravity, h, with_history);
    const SweepState arrays = sweep_state(state, with_history);
    reports_.assign(components_.size(), {});
    {
        auto guard = timer_.stage("solve");
        for (std::size_t c = 0; c < components_.size(); ++c)
            if (!sweep_chain(static_cast<BallChain&>(*components_[c]), rule, arrays, reports_[c]))
                return false;
    }
    current_.clear();
    for (const auto& component : components_) current_.push_back(component.get());
    add_reports(false);
    auto guard = timer_.stage("commit");
    commit_sweep(state, with_history);
    return true;
}

bool ArticulatedMethod::sweep_chain(BallChain& chain, const SweepRule& rule, const SweepState& arrays,
                                    SolveReport& report) {
    for (int solve = 0; solve < most_sweeps; ++solve) {
        const SweepReport swept = chain.sweep(field_, sweep_kinds_, rule, arrays, solve > 0);
        if (!swept.near || !std::isfinite(swept.energy_after)) return false;
        ++report.solves;
        report.strain = swept.strain;
        report.residual = swept.gap_after;
        const double allowed =
            strain_of_force(field_.kinds, options_.force_tolerance * swept.force) + rounding;
        if (swept.excess > allowed) continue;
        report.converged = swept.gap_after < options_.joint_tolerance;
        return report.converged;
    }
    return false;
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

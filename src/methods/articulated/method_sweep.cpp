// Steps of worlds that consist of ball-jointed chains: two passes over the state, and the new state takes the old one's
// place by exchanging arrays.
#include <cmath>

#include "methods/articulated/method.hpp"

namespace tenon::articulated {

bool ArticulatedMethod::may_sweep(const World& world) const {
    return only_chains_ && sweep_next_ && world.forces.empty() && world.wind.drag <= 0;
}

// True when the step is done. A step that one solve does not settle is left to the general way, and so are the steps after
// it until one solve suffices again.
bool ArticulatedMethod::sweep(World& world, double h, bool with_history) {
    const double eta = field_.etas[0];
    SweepRule rule;
    if (with_history)
        rule = {4.0 / 3.0, -1.0 / 3.0, 4.0 * eta / 3.0, -eta / 3.0, 1.5 / h};
    else
        rule = {1.0, 0.0, h, 0.0, 1.0 / h};
    for (int k = 0; k < 3; ++k) rule.gravity[k] = eta * eta * world.gravity[k];
    for (int body : fixed_) field_.x[body] = world.bodies.q[body];
    if (new_rate_.size() != field_.x.size()) new_rate_.assign(field_.x.size(), Mat34::Zero());
    const auto numbers = [](const std::vector<Mat34>& values) { return values.front().data(); };
    SweepState state;
    state.q = numbers(world.bodies.q);
    state.rate = numbers(world.bodies.rate);
    state.previous_q = with_history ? numbers(previous_q_) : state.q;
    state.previous_rate = with_history ? numbers(previous_rate_) : state.rate;
    state.new_q = field_.x.front().data();
    state.new_rate = new_rate_.front().data();
    bool settled = true;
    {
        auto guard = timer_.stage("solve");
        reports_.assign(components_.size(), {});
        for (std::size_t c = 0; c < components_.size() && settled; ++c) {
            const SweepReport swept =
                static_cast<BallChain&>(*components_[c]).sweep(field_, sweep_kinds_, rule, state);
            reports_[c].solves = 1;
            reports_[c].strain = swept.strain;
            reports_[c].residual = swept.gap_after;
            const bool closed = swept.gap_before < options_.joint_tolerance;
            const bool fell =
                swept.energy_after <= swept.energy_before + 1e-9 * std::abs(swept.energy_before);
            settled = swept.near && std::isfinite(swept.energy_after) &&
                      (fell || !closed || !options_.backtracking) &&
                      swept.gap_after < options_.joint_tolerance && swept.strain <= options_.strain_tolerance;
        }
    }
    known_ = false;  // rotation and stress of the field are those of an older state
    if (!settled) {
        ++total_.solves;
        return false;
    }
    current_.clear();
    for (const auto& component : components_) current_.push_back(component.get());
    add_reports();
    swept_ = true;
    auto guard = timer_.stage("commit");
    commit_sweep(world, with_history);
    return true;
}

void ArticulatedMethod::commit_sweep(World& world, bool with_history) {
    for (int body : fixed_) new_rate_[body] = world.bodies.rate[body];
    for (std::size_t k = 0; k < scripted_.size(); ++k) new_rate_[scripted_[k]] = scripted_rate_[k];
    if (with_history) {
        previous_q_.swap(world.bodies.q);
        previous_rate_.swap(world.bodies.rate);
    }
    world.bodies.q.swap(field_.x);
    world.bodies.rate.swap(new_rate_);
    // what was exchanged is written again before it is read, but for bodies that do not move
    for (int body : fixed_) field_.x[body] = world.bodies.q[body];
}

}  // namespace tenon::articulated

// What a run is told: rates that joints cannot have, and energy that the integrator takes.
#include <cmath>

#include <fmt/format.h>

#include "methods/articulated/method.hpp"

namespace tenon::articulated {
namespace {

constexpr double rate_step = 1e-6;         // s: rates are projected as increments over this time
constexpr double told_change = 1e-3;       // of the fastest rate
constexpr double told_loss = 0.05;         // of the kinetic energy, per second
constexpr double told_deformation = 1e-3;  // largest entry of A^T A - I
constexpr int most_bodies = 20000;         // more are not asked for their share of the energy

Vec3 spin_of(const Mat34& q, const Mat34& rate) {
    return 0.5 * torque_of(rate.leftCols<3>() * q.leftCols<3>().transpose());
}

double kinetic_energy(const Model& model, const State& state, int body) {
    const Mat34& v = state.rate[body];
    double sum = model.bodies.mass[body] * v.col(3).squaredNorm();
    for (int k = 0; k < 3; ++k) sum += model.bodies.second_moments[body][k] * v.col(k).squaredNorm();
    return 0.5 * sum;
}

}  // namespace

// Initial velocities that joints cannot have become the nearest, in kinetic energy, that they can.
void ArticulatedMethod::project_rates(const Model& model, State& state) {
    if (model.joints.empty()) return;
    set_step_size(rate_step, false);
    std::vector<Mat34> at_start = state.q;
    field_.x = state.q;
    for (int body : scripted_) field_.x[body] += rate_step * scripted_rate(model, body, state.time);
    for (std::size_t i = 0; i < field_.x.size(); ++i)
        if (field_.moving[i]) field_.target[i] = field_.x[i] + rate_step * state.rate[i];
    double fastest = 0.0, change = 0.0;
    int changed = -1;
    for (const auto& component : components_) {
        refresh(field_, component->bodies);
        component->project(field_, at_start);
        for (int body : component->bodies) {
            const Mat34 rate = in_world(field_.dq[body], field_.rotation[body]) / rate_step;
            if (!rate.allFinite()) return;
            const double size = field_.kinds[field_.kind[body]].gyration;
            const Mat34 difference = rate - state.rate[body];
            const double by = std::max(difference.col(3).norm(), size * difference.leftCols<3>().norm());
            fastest =
                std::max({fastest, rate.col(3).norm(), size * rate.leftCols<3>().norm(),
                          state.rate[body].col(3).norm(), size * state.rate[body].leftCols<3>().norm()});
            if (by > change) change = by, changed = body;
            state.rate[body] = rate;
        }
    }
    // joints that are closed to rounding ask for as much over `rate_step`
    double reach = 0.0;
    for (const Mat34& q : at_start) reach = std::max(reach, q.col(3).norm());
    const double rounding =
        64 * 2.2e-16 * (reach + field_.kinds[field_.kind[std::max(changed, 0)]].gyration) / rate_step;
    if (changed < 0 || change <= told_change * fastest + rounding) return;
    const Vec3 velocity = state.rate[changed].col(3), spin = spin_of(state.q[changed], state.rate[changed]);
    warnings_.push_back(fmt::format(
        "initial velocities that joints cannot have were projected onto what they can: '{}' starts with "
        "velocity "
        "[{:.4g}, {:.4g}, {:.4g}] m/s and angular velocity [{:.4g}, {:.4g}, {:.4g}] rad/s",
        model.bodies.name[changed], velocity.x(), velocity.y(), velocity.z(), spin.x(), spin.y(), spin.z()));
}

// What is stopped on the far side of the other body may be pushed out on any side of it.
void ArticulatedMethod::judge_impacts(const Model& model) {
    const auto [a, b] = contacts_->too_fast();
    if (a < 0 || fast_told_) return;
    fast_told_ = true;
    warnings_.push_back(fmt::format(
        "'{}' and '{}' meet so fast that they come far through each other in a step: the impact may "
        "be off; take a smaller step, or --method affine",
        model.bodies.name[a], model.bodies.name[b]));
}

// Bodies that strain beyond what their material means are not what the scene describes.
void ArticulatedMethod::judge_deformation(const Model& model, const State& state) {
    const double largest = total_.strain * (2.0 + total_.strain);
    if (deformation_told_ || largest <= told_deformation) return;
    for (int body = 0; body < model.bodies.size(); ++body) {
        if (!field_.moving[body]) continue;
        const Mat3 A = state.q[body].leftCols<3>();
        const double deformation = (A.transpose() * A - Mat3::Identity()).cwiseAbs().maxCoeff();
        const MaterialSpec& material = model.materials[model.bodies.material[body]];
        if (deformation <= std::max(told_deformation, material.max_strain)) continue;
        deformation_told_ = true;
        warnings_.push_back(
            fmt::format("'{}' is deformed by {:.2g}: its material '{}' is soft for this load; leave out its "
                        "\"young\" for "
                        "a rigid body, raise it, or say \"max_strain\" when it is meant",
                        model.bodies.name[body], deformation, material.name));
        return;
    }
}

// A turning body loses spin by BDF2 at (omega h)^4/(4 h) per second, by implicit Euler at (omega h)^2/h: twice that of its energy.
void ArticulatedMethod::judge_energy_loss(const Model& model, const State& state, double dt) {
    if (loss_told_ || model.bodies.size() > most_bodies) return;
    double lost = 0.0, all = 0.0, most = 0.0, worst_spin = 0.0;
    int worst = -1;
    for (int body = 0; body < model.bodies.size(); ++body) {
        if (!field_.moving[body]) continue;
        const double energy = kinetic_energy(model, state, body);
        const Mat34& v = state.rate[body];
        const double turning = energy - 0.5 * model.bodies.mass[body] * v.col(3).squaredNorm();
        const double spin = spin_of(state.q[body], v).norm(), angle = spin * dt;
        const double rate = options_.bdf2 ? 0.5 * std::pow(angle, 4) / dt : 2.0 * angle * angle / dt;
        all += energy;
        lost += rate * turning;
        if (rate * turning > most) most = rate * turning, worst = body, worst_spin = spin;
    }
    if (!(lost > told_loss * all)) return;
    loss_told_ = true;
    const double enough = options_.bdf2 ? std::cbrt(2.0 * told_loss / std::pow(worst_spin, 4))
                                        : 0.5 * told_loss / (worst_spin * worst_spin);
    warnings_.push_back(
        fmt::format("the integrator takes more than {:.0f} % of the kinetic energy per second: '{}' turns by "
                    "{:.2g} rad in a step "
                    "of {:g} s; dt = {:.1g} s{} would do",
                    100 * told_loss, model.bodies.name[worst], worst_spin * dt, dt, enough,
                    options_.bdf2 ? "" : ", or integrator = bdf2,"));
}

}  // namespace tenon::articulated

#include "methods/affine/restitution.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "math/binary_io.hpp"
#include "methods/affine/barrier.hpp"

namespace tenon::affine {
namespace {

constexpr int phases = 8;
constexpr double good = 0.015;  // relative distance from the wish that counts as reached

// Minimum of 1/2 (x - target)^2 + scale V(x) over x > 0, for a unit mass: Newton, kept inside a shrinking bracket.
double settle(double target, double scale, double strength, double x) {
    const ContactRange unit{1.0, 0.0};
    if (target >= 1.0) return target;
    double lo = 0.0, hi = 1.0;
    x = std::clamp(x, 1e-3, 0.9);
    for (int k = 0; k < 100; ++k) {
        const RadialBarrier b = radial_barrier(x * x, unit, strength);
        const double slope = x - target - scale * b.force;
        (slope > 0.0 ? hi : lo) = x;
        double next = x - slope / (1.0 + scale * b.stiffness);
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (std::abs(next - x) < 1e-13) return next;
        x = next;
    }
    return x;
}

struct PointMass {
    double x = 0, v = 0, a = 0, older_x = 0, older_v = 0;
};

// One step in units of dt and dhat: the same three rules as integrator.cpp, for one coordinate.
void advance(PointMass& p, Integrator integrator, double strength) {
    double x, v, a = 0.0;
    if (integrator == Integrator::newmark) {
        x = settle(p.x + p.v + 0.25 * p.a, 0.25, strength, p.x);
        a = 4.0 * (x - p.x - p.v) - p.a;
        v = p.v + 0.5 * (p.a + a);
    } else if (integrator == Integrator::bdf2) {
        const double x_mix = (4.0 * p.x - p.older_x) / 3.0, v_mix = (4.0 * p.v - p.older_v) / 3.0;
        x = settle(x_mix + 2.0 / 3.0 * v_mix, 4.0 / 9.0, strength, p.x);
        v = (3.0 * x - 4.0 * p.x + p.older_x) / 2.0;
    } else {
        x = settle(p.x + p.v, 1.0, strength, p.x);
        v = x - p.x;
    }
    p = {x, v, a, p.x, p.v};
}

// `approach`: ranges per step; `push`: ranges per step^2 at half range.
Bounce bounce(Integrator integrator, double approach, double push) {
    const double strength = strength_for_force(push, 1.0);
    Bounce out{0.0, 1e300, 0.0, 1.0};
    for (int phase = 0; phase < phases; ++phase) {
        const double x = 1.0 + phase * approach / phases;
        PointMass p{x, -approach, 0.0, x + approach, -approach};
        for (int k = 0; k < 5000 && !(p.v > 0.0 && p.x > 1.0 && p.older_x > 1.0); ++k) {
            advance(p, integrator, strength);
            out.closest = std::min(out.closest, p.x);
        }
        const double ratio = p.v / approach;
        out.mean += ratio / phases;
        out.least = std::min(out.least, ratio);
        out.most = std::max(out.most, ratio);
    }
    return out;
}

// Bounces that come back the same from whatever moment they begin, and stay clear of the wall.
bool steady(const Bounce& b) {
    return b.most - b.least < 0.02 && b.closest > 0.02;
}

struct Choice {
    double push = 0.0;
    Bounce bounce;
    double miss = 1e300;
};

// The stiffness for a range: from hard to soft the bounce grows (and Newmark's becomes steady), until the barrier is too
// soft to stop the body.
Choice best_push(Integrator integrator, double approach, double wanted, double least_push,
                 double fixed_push) {
    Choice best;
    const auto consider = [&](double push) {
        const Bounce b = bounce(integrator, approach, push);
        const double miss = std::abs(b.mean - wanted) / wanted + 0.5 * (b.most - b.least);
        if (miss < best.miss) best = {push, b, miss};
        return b;
    };
    if (fixed_push > 0.0) {
        consider(fixed_push);
        return best;
    }
    double hard = 100.0, soft = 0.0;
    for (double push = hard; push >= std::max(least_push, 1e-6); push /= 2.0) {
        const Bounce b = consider(push);
        if (b.closest < 0.02) break;
        if (b.mean >= wanted && steady(b)) {
            soft = push;
            break;
        }
        hard = push;
    }
    if (soft == 0.0) return best;
    for (int k = 0; k < 12 && best.miss > 0.1 * good; ++k) {
        const double middle = std::sqrt(hard * soft);
        (consider(middle).mean >= wanted ? soft : hard) = middle;
    }
    return best;
}

// Implicit Euler first: what it returns depends least on when within a step an impact begins.
Choice best_of_all(const BounceWish& wish, double dhat, double dt, Integrator& integrator) {
    const double approach = wish.speed * dt / dhat, unit = dt * dt / dhat;
    Choice best;
    for (const Integrator each : {Integrator::implicit_euler, Integrator::bdf2, Integrator::newmark}) {
        if (wish.integrator && *wish.integrator != each) continue;
        // Soft contacts must still carry what rests on them.
        const Choice choice =
            best_push(each, approach, wish.restitution, 10.0 * wish.gravity * unit, wish.stiffness * unit);
        if (choice.miss >= best.miss) continue;
        best = choice;
        integrator = each;
        if (best.miss < good) break;
    }
    return best;
}

const char* name_of(Integrator integrator) {
    return integrator == Integrator::newmark ? "newmark"
           : integrator == Integrator::bdf2  ? "bdf2"
                                             : "implicit-euler";
}

}  // namespace

Bounce bounce_of(Integrator integrator, double dt, double dhat, double stiffness, double speed) {
    return bounce(integrator, speed * dt / dhat, stiffness * dt * dt / dhat);
}

BouncePlan plan_bounce(const BounceWish& wish) {
    BouncePlan plan;
    plan.wanted = wish.restitution;
    plan.speed = wish.speed;
    Choice best;
    for (double dhat = wish.least_dhat;; dhat = std::min(1.3 * dhat, wish.most_dhat)) {
        Integrator integrator = plan.integrator;
        const Choice choice = best_of_all(wish, dhat, wish.dt, integrator);
        if (choice.miss < best.miss) {
            best = choice;
            plan.integrator = integrator;
            plan.dhat = dhat;
        }
        if (best.miss < good || dhat >= wish.most_dhat) break;
    }
    plan.stiffness = best.push * plan.dhat / (wish.dt * wish.dt);
    plan.one = best.bounce;
    plan.four = bounce(plan.integrator, wish.speed * wish.dt / plan.dhat, 4.0 * best.push);
    if (best.miss < good) return plan;
    Integrator integrator = plan.integrator;
    plan.enough_dt = wish.dt;
    do plan.enough_dt *= 0.8;
    while (best_of_all(wish, wish.most_dhat, plan.enough_dt, integrator).miss >= good &&
           plan.enough_dt > 1e-4 * wish.dt);
    return plan;
}

std::string describe(const BouncePlan& plan) {
    std::string text = fmt::format(
        "restitution {:.3g} at {:.3g} m/s: {}, dhat {:.3g} m, contact_stiffness {:.3g} m/s^2 give {:.3g} "
        "({:.3g} to "
        "{:.3g}) for one point of contact, {:.3g} for four",
        plan.wanted, plan.speed, name_of(plan.integrator), plan.dhat, plan.stiffness, plan.one.mean,
        plan.one.least, plan.one.most, plan.four.mean);
    if (!plan.reached()) text += fmt::format("; a step of {:.2g} s would reach it", plan.enough_dt);
    return text;
}

double wanted_restitution(const Model& model) {
    // One body of each kind stands for all of its kind.
    std::map<std::pair<int, double>, int> kinds;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (model.bodies.collides[i]) kinds[{model.bodies.material[i], model.bodies.restitution[i]}] = i;
    double wanted = 0.0;
    for (const auto& [first, a] : kinds)
        for (const auto& [second, b] : kinds) wanted = std::max(wanted, model.pair_restitution(a, b));
    return wanted;
}

BouncePlan plan_restitution(const Model& model, const State& state, double thinnest, double dt,
                            Settings& settings, double& dhat) {
    BounceWish wish;
    wish.restitution = settings.restitution >= 0.0 ? settings.restitution : wanted_restitution(model);
    wish.speed = settings.restitution_speed;
    if (wish.restitution <= 0.0) return {};
    wish.dt = dt;
    wish.gravity = state.gravity.norm();
    const bool dhat_given = settings.dhat > 0.0 || model.contact_spec.dhat;
    wish.least_dhat = dhat;
    wish.most_dhat = dhat_given ? dhat : std::max(dhat, std::min(0.1 * thinnest, 1.0));
    if (settings.integrator_given) wish.integrator = settings.integrator;
    wish.stiffness = settings.contact_stiffness;
    const BouncePlan plan = plan_bounce(wish);
    dhat = plan.dhat;
    settings.integrator = plan.integrator;
    return plan;
}

BouncePlan load_plan(std::istream& in, Settings& settings) {
    BouncePlan plan;
    read_value(in, plan);
    expect_sound(plan.integrator >= Integrator::implicit_euler && plan.integrator <= Integrator::newmark);
    if (plan.wanted > 0.0) settings.integrator = plan.integrator;
    return plan;
}

}  // namespace tenon::affine

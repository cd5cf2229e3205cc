#include "methods/impulse/sweeps.hpp"

#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"

namespace tenon::impulse {

// Runs the kernel on every group, phase by phase. Returns the largest value met.
template <class Kernel>
double Sweeper::sweep(const Phases& phases, bool backward, const Kernel& kernel) {
    double worst = 0;
    for (std::size_t k = 0; k < phases.size(); ++k) {
        const std::vector<Range>& ranges = phases[backward ? phases.size() - 1 - k : k];
        errors_.assign(ranges.size(), 0.0);
        parallel_for(ranges.size(), 1, [&](std::size_t i) {
            const Range range = ranges[i];
            double largest = 0;
            if (backward)
                for (int g = range.end - 1; g >= range.begin; --g)
                    largest = std::max(largest, kernel(groups_[g]));
            else
                for (int g = range.begin; g < range.end; ++g) largest = std::max(largest, kernel(groups_[g]));
            errors_[i] = largest;
        });
        for (double value : errors_) worst = std::max(worst, value);
    }
    return worst;
}

double Sweeper::sweep_contacts(ContactProblem& problem, bool backward) {
    Twist* twist = problem.twist.data();
    const InverseMass* mass = problem.mass.data();
    auto run = [&](auto pyramid) {
        return sweep(phases_, backward, [&](const RowGroup& g) {
            const InverseMass &ma = mass[g.a], &mb = mass[g.b];
            PairState state(twist[g.a], twist[g.b]);
            double largest = 0;
            for (int i = g.begin; i < g.end; ++i)
                largest = std::max(largest, relax<decltype(pyramid)::value>(rows_[i], g.mu, ma, mb, state));
            state.store(ma, mb, twist[g.a], twist[g.b]);
            return largest;
        });
    };
    return settings_.pyramid ? run(std::true_type{}) : run(std::false_type{});
}

// The change of one sweep is minus a gradient: add a multiple of the previous direction (Fletcher-Reeves), and
// start over where the change grew.
void Sweeper::accelerate(ContactProblem& problem, double& previous_norm) {
    const std::size_t rows = active_rows_, bodies = problem.twist.size();
    const double norm = parallel_sum(rows, 2048, 0.0, [&](std::size_t i) {
        const Row& r = rows_[i];
        const double d0 = r.p[0] - last_p_[i][0], d1 = r.p[1] - last_p_[i][1], d2 = r.p[2] - last_p_[i][2];
        return (d0 * d0 + d1 * d1 + d2 * d2) * r.kn;
    });
    const double ratio = previous_norm > 0 ? norm / previous_norm : 2.0;
    const double beta = ratio > 1.0 ? 0.0 : ratio;
    previous_norm = norm;
    parallel_for(rows, 2048, [&](std::size_t i) {
        Row& r = rows_[i];
        for (int k = 0; k < 3; ++k) {
            const double change = r.p[k] - last_p_[i][k];
            const double extra = beta * step_p_[i][k];
            r.p[k] += extra;
            step_p_[i][k] = change + extra;
        }
    });
    parallel_for(bodies, 2048, [&](std::size_t i) {
        Twist& t = problem.twist[i];
        const Vec3 dv = t.v - last_v_[i].v, dw = t.w - last_v_[i].w;
        t.v += beta * step_v_[i].v;
        t.w += beta * step_v_[i].w;
        step_v_[i].v = dv + beta * step_v_[i].v;
        step_v_[i].w = dw + beta * step_v_[i].w;
    });
}

SolveReport Sweeper::solve(ContactProblem& problem) {
    SolveReport report;
    if (active_rows_ == 0) return report;
    Twist* twist = problem.twist.data();
    const InverseMass* mass = problem.mass.data();
    // warm start: apply the impulses of the last step
    sweep(phases_, false, [&](const RowGroup& g) {
        PairState state(twist[g.a], twist[g.b]);
        for (int i = g.begin; i < g.end; ++i) {
            const Row& r = rows_[i];
            double P[3];
            for (int k = 0; k < 3; ++k) P[k] = r.p[0] * r.n[k] + r.p[1] * r.t1[k] + r.p[2] * r.t2[k];
            state.apply(r, mass[g.a], mass[g.b], P[0], P[1], P[2]);
        }
        state.store(mass[g.a], mass[g.b], twist[g.a], twist[g.b]);
        return 0.0;
    });
    if (settings_.accelerate) {
        last_p_.resize(active_rows_);
        step_p_.assign(active_rows_, Vec3::Zero());
        step_v_.assign(problem.twist.size(), Twist{});
    }
    double previous_norm = 0;
    report.converged = false;
    while (report.sweeps < settings_.max_sweeps) {
        if (settings_.accelerate) {
            parallel_for(active_rows_, 2048, [&](std::size_t i) {
                last_p_[i] = Vec3(rows_[i].p[0], rows_[i].p[1], rows_[i].p[2]);
            });
            last_v_ = problem.twist;
        }
        report.residual = sweep_contacts(problem, settings_.graph_order && report.sweeps % 2 == 1);
        ++report.sweeps;
        if (report.residual <= settings_.tolerance) {
            report.converged = true;
            break;
        }
        if (settings_.accelerate && report.sweeps < settings_.max_sweeps) accelerate(problem, previous_norm);
    }
    write_back(problem);
    return report;
}

void Sweeper::write_back(ContactProblem& problem) const {
    for (int i = 0; i < active_rows_; ++i)
        problem.contacts[source_[i]].impulse = Vec3(rows_[i].p[0], rows_[i].p[1], rows_[i].p[2]);
}

void Sweeper::bounce(ContactProblem& problem, int sweeps) {
    bool any = false;
    for (int i = 0; i < active_rows_; ++i) {
        const ContactPoint& c = problem.contacts[source_[i]];
        if (c.bounce <= 0 || rows_[i].p[0] <= 0) continue;
        rows_[i].target = std::max(rows_[i].target, c.bounce);
        any = true;
    }
    if (!any) return;
    for (int s = 0; s < sweeps; ++s) sweep_contacts(problem, s % 2 == 1);
    write_back(problem);
}

bool Sweeper::correct(const ContactProblem& problem, double slop, double rate, double max_speed, int sweeps,
                      std::vector<Twist>& pseudo) {
    pseudo_target_.resize(rows_.size());
    bool any = false;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const ContactPoint& c = problem.contacts[source_[i]];
        // where the velocities will have taken the gap by the end of the step
        const double gap = c.distance + problem.dt * c.normal.dot(problem.relative_velocity(c));
        const double excess = -gap - slop;
        pseudo_target_[i] =
            excess > 0 ? std::min(rate * excess / problem.dt, max_speed) : excess / problem.dt;
        any = any || excess > 0;
    }
    if (!any) return false;
    pseudo.assign(problem.twist.size(), Twist{});
    pseudo_impulse_.assign(rows_.size(), 0.0);
    Twist* twist = pseudo.data();
    const InverseMass* mass = problem.mass.data();
    for (int s = 0; s < sweeps; ++s)
        sweep(all_phases_, s % 2 == 1, [&](const RowGroup& g) {
            const InverseMass &ma = mass[g.a], &mb = mass[g.b];
            PairState state(twist[g.a], twist[g.b]);
            for (int i = g.begin; i < g.end; ++i)
                relax_normal(rows_[i], pseudo_target_[i], pseudo_impulse_[i], ma, mb, state);
            state.store(ma, mb, twist[g.a], twist[g.b]);
            return 0.0;
        });
    return true;
}

}  // namespace tenon::impulse

#include "methods/impulse/sweeps.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "math/interrupt.hpp"
#include "math/static_partition.hpp"

namespace tenon::impulse {

// Runs the kernel on every range of groups, phase by phase; results are gathered in a fixed order.
template <class Kernel>
SweepResult Sweeper::sweep(const Phases& phases, bool backward, const Kernel& kernel) {
    SweepResult total;
    for (std::size_t k = 0; k < phases.size(); ++k) {
        const std::vector<Range>& ranges = phases[backward ? phases.size() - 1 - k : k];
        results_.assign(ranges.size(), SweepResult{});
        static_partition_for(ranges.size(), 1,
                             [&](std::size_t i) { results_[i] = kernel(ranges[i].begin, ranges[i].end); });
        for (const SweepResult& result : results_) {
            total.worst = std::max(total.worst, result.worst);
            total.change += result.change;
        }
    }
    return total;
}

SweepResult Sweeper::sweep_contacts(ContactProblem& problem, bool backward, bool keep_change) {
    double* twist = problem.twist.data()->v.data();
    double* change = keep_change ? change_.data()->x : nullptr;
    const auto relax = settings_.pyramid ? relax_pyramid : sweep_kernels().relax;
    return sweep(phases_, backward, [&](int begin, int end) {
        return relax(rows_.data(), groups_.data(), begin, end, backward, twist, mass_.data(), change);
    });
}

// The change of one sweep is minus a gradient: add a multiple of the previous direction (Fletcher-Reeves). Twists are
// linear in the impulses, so they take the same step.
void Sweeper::accelerate(ContactProblem& problem, double beta) {
    static_partition_for(active_rows_, 2048, [&](std::size_t i) {
        Row& r = rows_[i];
        for (int k = 0; k < 3; ++k) {
            const double extra = beta * step_p_[i].x[k];
            r.p[k] += extra;
            step_p_[i].x[k] = change_[i].x[k] + extra;
        }
    });
    static_partition_for(problem.twist.size(), 2048, [&](std::size_t i) {
        Twist& t = problem.twist[i];
        const Vec3 dv = t.v - last_v_[i].v, dw = t.w - last_v_[i].w;
        step_v_[i].v *= beta;
        step_v_[i].w *= beta;
        t.v += step_v_[i].v;
        t.w += step_v_[i].w;
        step_v_[i].v += dv;
        step_v_[i].w += dw;
        last_v_[i] = t;
    });
}

SolveReport Sweeper::solve(ContactProblem& problem) {
    SolveReport report;
    if (active_rows_ == 0) return report;
    start_v_ = problem.twist;
    double* twist = problem.twist.data()->v.data();
    sweep(phases_, false, [&](int begin, int end) {
        apply_impulses(rows_.data(), groups_.data(), begin, end, twist, mass_.data());
        return SweepResult{};
    });
    if (settings_.accelerate) {
        change_.resize(active_rows_);
        step_p_.assign(active_rows_, Four{});
        step_v_.assign(problem.twist.size(), Twist{});
        last_v_ = problem.twist;
    }
    double previous = 0;
    report.converged = false;
    while (report.sweeps < settings_.max_sweeps) {
        check_interrupt();
        const bool backward = settings_.graph_order && report.sweeps % 2 == 1;
        const SweepResult result = sweep_contacts(problem, backward, settings_.accelerate);
        report.residual = result.worst;
        ++report.sweeps;
        if (report.residual <= settings_.tolerance) {
            report.converged = true;
            break;
        }
        if (!settings_.accelerate || report.sweeps == settings_.max_sweeps) continue;
        // start over where the change grew
        const double ratio = previous > 0 ? result.change / previous : 2.0;
        previous = result.change;
        accelerate(problem, ratio > 1.0 ? 0.0 : ratio);
    }
    limit_energy(problem, report);
    write_back(problem);
    return report;
}

void Sweeper::write_back(ContactProblem& problem) const {
    static_partition_for(active_rows_, 2048, [&](std::size_t i) {
        problem.contacts[source_[i]].impulse = Vec3(rows_[i].p[0], rows_[i].p[1], rows_[i].p[2]);
    });
}

bool Sweeper::correct(const ContactProblem& problem, double slop, double rate, double max_speed, int sweeps,
                      std::vector<Twist>& pseudo) {
    pseudo_target_.resize(rows_.size());
    std::atomic<bool> any = false;
    static_partition_ranges(rows_.size(), 2048, [&](std::size_t begin, std::size_t end) {
        bool here = false;
        for (std::size_t i = begin; i < end; ++i) {
            const ContactPoint& c = problem.contacts[source_[i]];
            // where the velocities will have taken the gap by the end of the step
            const double gap = c.distance + problem.dt * c.normal.dot(problem.relative_velocity(c));
            const double excess = -gap - slop;
            pseudo_target_[i] =
                excess > 0 ? std::min(rate * excess / problem.dt, max_speed) : excess / problem.dt;
            here = here || excess > 0;
        }
        if (here) any = true;
    });
    if (!any) return false;
    pseudo.assign(problem.twist.size(), Twist{});
    pseudo_impulse_.assign(rows_.size(), 0.0);
    double* twist = pseudo.data()->v.data();
    for (int s = 0; s < sweeps; ++s) {
        const bool backward = s % 2 == 1;
        sweep(all_phases_, backward, [&](int begin, int end) {
            sweep_kernels().correct(rows_.data(), groups_.data(), begin, end, backward, twist, mass_.data(),
                                    pseudo_target_.data(), pseudo_impulse_.data());
            return SweepResult{};
        });
    }
    return true;
}

}  // namespace tenon::impulse

#include "verify/momentum.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tenon::verify {
namespace {

constexpr double exact_fit = 1e-7;   // relative: rounding of positions, divided by the step
constexpr double exact_share = 0.9;  // of the samples, for a scheme to count as recognised

}  // namespace

MomentumAudit::MomentumAudit(const run::RunReader& run, const SceneFacts& facts)
    : run_(run), gravity_(facts.gravity), facts_(facts), steps_(run.steps()) {
    for (const run::ShapeData& shape : run.shapes())
        for (const Vec3& vertex : shape.mesh.vertices) size_ = std::max(size_, vertex.norm());
}

bool MomentumAudit::moves_freely(std::size_t body, double time) const {
    if (run_.bodies()[body].type == BodyType::dynamic_body) return true;
    return time >= facts_.free_from[body] - 1e-9 * (1 + time);
}

Measures MomentumAudit::measure(const run::Frame& frame) const {
    Measures sum;
    const auto& bodies = run_.bodies();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (!moves_freely(i, frame.time)) continue;
        const Mat34 &q = frame.q[i], &rate = frame.rate[i];
        const Vec3 p = bodies[i].mass * rate.col(3);
        Vec3 l = q.col(3).cross(p);
        double twice = p.dot(rate.col(3));
        for (int k = 0; k < 3; ++k) {
            l += bodies[i].second_moments[k] * q.col(k).cross(rate.col(k));
            twice += bodies[i].second_moments[k] * rate.col(k).squaredNorm();
        }
        sum.linear += p;
        sum.angular += l;
        sum.kinetic += 0.5 * twice;
        sum.gravity -= bodies[i].mass * gravity_.dot(q.col(3));
        sum.size_gravity += bodies[i].mass * gravity_.norm() * q.col(3).norm();
        sum.mass += bodies[i].mass;
        sum.size_linear += p.norm();
        sum.size_angular += l.norm();
    }
    for (std::size_t e = 0; e < frame.v.size(); ++e) {
        const std::vector<double>& mass = run_.elastic()[e].vertex_mass;
        for (std::size_t i = 0; i < mass.size(); ++i) {
            const Vec3 p = mass[i] * frame.v[e][i];
            sum.linear += p;
            sum.angular += frame.x[e][i].cross(p);
            sum.kinetic += 0.5 * p.dot(frame.v[e][i]);
            sum.gravity -= mass[i] * gravity_.dot(frame.x[e][i]);
            sum.size_gravity += mass[i] * gravity_.norm() * frame.x[e][i].norm();
            sum.mass += mass[i];
            sum.size_linear += p.norm();
            sum.size_angular += frame.x[e][i].cross(p).norm();
        }
    }
    return sum;
}

// Each step's row holds momenta and energies that were measured when the step was made.
void MomentumAudit::compare_with_step(long index, const run::Frame& frame, const Measures& now,
                                      const Options& options, Result& result, FindingList& findings) {
    const auto row = std::lower_bound(steps_.begin(), steps_.end(), frame.step,
                                      [](const run::StepRow& r, long step) { return r.step < step; });
    if (row == steps_.end() || row->step != frame.step) return;
    if (!row->linear_momentum.allFinite() || !row->angular_momentum.allFinite()) return;
    const auto compare = [&](const char* what, double difference, double size) {
        const double relative = difference / std::max(size, 1e-12);
        result.momentum_mismatch = std::max(result.momentum_mismatch, relative);
        if (relative <= options.momentum_tolerance) return;
        Finding finding;
        finding.kind = "momentum";
        finding.frame = index;
        finding.time = frame.time;
        finding.amount = relative;
        finding.text =
            fmt::format("the frame's {} differs from the recorded step's by {:.3g} of it", what, relative);
        ++result.momentum_errors;
        findings.add(finding);
    };
    compare("linear momentum", (now.linear - row->linear_momentum).norm(), now.size_linear);
    compare("angular momentum", (now.angular - row->angular_momentum).norm(), now.size_angular);
    compare("potential energy", std::abs(now.gravity - row->energy.gravity), now.size_gravity);
    compare("kinetic energy", std::abs(now.kinetic - row->energy.kinetic), now.kinetic);
}

// With every step recorded, positions and velocities are tied by the integrator's rule. Which rule it is need not
// be known: the mismatch is the smallest over the usual ones.
void MomentumAudit::follow_positions(const run::Frame& frame) {
    Past now;
    now.step = frame.step;
    now.time = frame.time;
    const auto& bodies = run_.bodies();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        now.x.push_back(frame.q[i].col(3));
        now.v.push_back(frame.rate[i].col(3));
    }
    if (last_.step == now.step - 1 && now.time > last_.time) {
        const double h = now.time - last_.time;
        const bool two = before_.step == last_.step - 1;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            if (!moves_freely(i, last_.time)) continue;
            const Vec3 d = (now.x[i] - last_.x[i]) / h;
            double mismatch = std::min((now.v[i] - d).norm(), (0.5 * (now.v[i] + last_.v[i]) - d).norm());
            // Explicit rules: by the velocity before, with or without what gravity adds within the step.
            mismatch =
                std::min({mismatch, (last_.v[i] - d).norm(), (last_.v[i] + 0.5 * h * gravity_ - d).norm()});
            if (two) {
                const Vec3 e = (last_.x[i] - before_.x[i]) / h;
                mismatch = std::min(mismatch, (now.v[i] - (1.5 * d - 0.5 * e)).norm());
            }
            const double speed = std::max({d.norm(), now.v[i].norm(), last_.v[i].norm()});
            // Positions are rounded to about 1e-16 of themselves, and moved by no more than solvers resolve.
            const double floor = 1e-12 * (1 + now.x[i].norm()) / h;
            ++samples_;
            if (mismatch <= exact_fit * speed + floor)
                ++exact_;
            else
                mismatch_ = std::max(mismatch_, mismatch / std::max(speed, 1e-12));
        }
    }
    before_ = std::move(last_);
    last_ = std::move(now);
}

void MomentumAudit::add(long index, const run::Frame& frame, const Options& options, Result& result,
                        FindingList& findings) {
    last_frame_ = index;
    const Measures now = measure(frame);
    compare_with_step(index, frame, now, options, result, findings);
    follow_positions(frame);
    const double energy = now.kinetic + now.gravity;
    if (!started_) {
        started_ = true;
        start_ = now.linear;
        start_time_ = frame.time;
        result.energy_start = result.energy_max = energy;
        if (facts_.closed) result.momentum_drift = 0.0;
    }
    result.energy_end = energy;
    result.energy_max = std::max(result.energy_max, energy);
    follow_energy(now, energy, index, frame.time, result, findings);
    if (!facts_.closed) return;
    const Vec3 expected = start_ + (frame.time - start_time_) * now.mass * gravity_;
    scale_ = std::max({scale_, now.size_linear, std::sqrt(2 * now.mass * now.kinetic)});
    if (scale_ > 0)
        result.momentum_drift = std::max(result.momentum_drift, (now.linear - expected).norm() / scale_);
}

// Without springs, motors, scripts and loads, kinetic and potential energy together never exceed those of the start.
void MomentumAudit::follow_energy(const Measures& now, double energy, long index, double time, Result& result,
                                  FindingList& findings) {
    constexpr double allowed =
        0.05;  // of the energy that has been exchanged: contacts and solvers err by less
    if (facts_.has_sources) return;
    lowest_gravity_ = index == 0 || !exchanged_ ? now.gravity : std::min(lowest_gravity_, now.gravity);
    highest_gravity_ = index == 0 || !exchanged_ ? now.gravity : std::max(highest_gravity_, now.gravity);
    exchanged_ = true;
    largest_kinetic_ =
        std::max(largest_kinetic_, std::min(now.kinetic, result.energy_start - lowest_gravity_));
    // A body's size of height is what position corrections move it by at the very most.
    const double scale =
        largest_kinetic_ + highest_gravity_ - lowest_gravity_ + 1e-3 * now.mass * gravity_.norm() * size_;
    const double rise = energy - result.energy_start;
    if (!(scale > 0)) return;
    result.energy_rise = std::max({result.energy_rise, rise / scale, 0.0});
    if (rise <= allowed * scale) return;
    ++result.energy_errors;
    findings.add(finding(
        "energy", index, time, "",
        fmt::format("kinetic and potential energy are {:.3g} J above the start's, without a source", rise),
        rise));
}

void MomentumAudit::finish(Result& result, FindingList& findings) {
    // Solvers stop at a tolerance of their own; momentum that comes from nowhere is another size.
    constexpr double drift_limit = 1e-3;
    if (facts_.closed && result.momentum_drift > drift_limit) {
        Finding finding;
        finding.kind = "momentum";
        finding.frame = last_frame_;
        finding.time = last_.time;
        finding.amount = result.momentum_drift;
        finding.text =
            fmt::format("the momentum of a closed scene changed by {:.3g} of it", result.momentum_drift);
        ++result.momentum_errors;
        findings.add(finding);
    }
    // A rule that nearly all bodies keep to the last digit is the integrator's. Impacts may break it, so this is
    // a figure to look at and not a verdict.
    if (samples_ > 0 && static_cast<double>(exact_) >= exact_share * static_cast<double>(samples_))
        result.velocity_mismatch = mismatch_;
}

}  // namespace tenon::verify

// How far along the direction: what CCD leaves, and a sufficient decrease of the energy.
#include <algorithm>
#include <cmath>

#include "methods/affine/island_newton.hpp"

namespace tenon::affine {
namespace {

// Of the tolerance: what a motion without contacts is solved to where the integrator is of second order. Newton's method gets
// there in one more step.
constexpr double polished = 1e-3;

// Steps to and fro across what curves more than the model knows: so many, one after the other, that together move no point
// farther than the tolerance, have arrived.
constexpr int most_crawls = 20;

}  // namespace

// Where contacts give path as bodies turn, the model is stiffer than they are and steps repeat themselves, each a little
// shorter than the one before: then the sum of all that would follow is taken at once.
double IslandNewton::extrapolated_length() {
    double now = 0.0, before = 0.0, both = 0.0;
    if (last_length_ > 0.0)
        for (std::size_t n = 0; n < poses_.size(); ++n) {
            const Inertia& inertia = context_.bodies.body[island_.bodies[n]].inertia;
            for (int k = 0; k < 4; ++k) {
                const Vec3 d = direction_.step[n].col(k), b = last_step_[n].col(k);
                now += inertia.of_column(k) * d.squaredNorm();
                before += inertia.of_column(k) * b.squaredNorm();
                both += inertia.of_column(k) * d.dot(b);
            }
        }
    last_step_ = direction_.step;
    if (both <= 0.8 * std::sqrt(now * before) || both == 0.0) return 1.0;
    const double left = both / before, most = std::min(16.0, 4.0 * std::max(1.0, last_length_));
    return std::clamp(last_length_ / std::max(1.0 - left, 0.05), 1.0, most);
}

// Gaps of round bodies are what is left of the distance of their cores: their energies are known to that many digits less.
double IslandNewton::round_contact_noise() const {
    constexpr double digits = 1e-15;
    double sum = 0.0;
    for (const int k : island_.pairs) {
        const PairContacts& contacts = context_.field.contacts(k);
        if (contacts.range.separation <= 0.0) continue;
        for (const ContactPoint& point : contacts.points) sum += point.force * contacts.range.separation;
    }
    return digits * context_.bodies.potential_scale * sum;
}

void IslandNewton::take_step() {
    trial_length_ = -1.0;
    const double motion = *std::max_element(motion_.begin(), motion_.end());
    const bool small = was_small_ = motion <= context_.tolerance;
    const bool done = small && (!polish_ || motion <= polished * context_.tolerance || ++polishes_ > 2);
    IterationLog& log = result_.log.emplace_back();
    log.slope = direction_.slope;
    log.motion = motion;
    log.affine = affine_;
    log.bodies = static_cast<int>(poses_.size());
    log.contacts = affine_ ? affine_system_.contacts() : rigid_system_.contacts();
    log.energy = energy_;
    double t = extrapolated_length();
    move_trial(t);
    if (t > 1.0 && !within_margin()) move_trial(t = 1.0);
    // A step that leaves the margin is shortened. New candidates are due only when nothing else shortens it further; they
    // follow a heading no longer than anything moves in this time step, so that one far longer is cut to that first.
    double leaves = 1e300;
    if (!within_margin()) {
        note_heading();
        const double shortest = 0.05 * std::min(1.0, context_.largest_motion / motion);
        while (!within_margin() && t > shortest) move_trial(t *= 0.5);
        leaves = t;
        result_.out_of_margin = !within_margin();
        if (result_.out_of_margin) return;
    }
    last_length_ = 0.0;
    log.filtered = t = filter(t);
    if (result_.out_of_margin) return;
    const double noise = 1e-12 * std::abs(energy_) + round_off_ + round_contact_noise();
    for (double shorter = 0.5; t > 1e-9; t = filter(shorter * t)) {
        ++result_.line_search_steps;
        double trial_energy;
        {
            Clock clock(result_.energy_ms);
            evaluate_pairs(island_, context_, trial_);
            trial_energy = energy_at(island_, context_, trial_);
        }
        if (trial_energy <= energy_ + noise + 1e-4 * t * direction_.slope || (small && t < 0.3)) {
            const double gained = energy_ - trial_energy;
            accept(trial_energy);
            log.energy = trial_energy;
            log.length = t;
            overshot_ = t < 0.1 * std::min(1.0, log.filtered);
            blocked_steps_ = log.filtered < 0.02 ? blocked_steps_ + 1 : 0;
            last_length_ = t;
            crawls_ = log.filtered >= 1.0 && most_crawls * t * motion <= context_.tolerance ? crawls_ + 1 : 0;
            // Rigid steps that promise too much again and again: what resists them is strain.
            const double promised = -t * (1.0 - 0.5 * std::min(t, 1.0)) * direction_.slope;
            const bool poor = t < 0.6 * std::min(1.0, log.filtered) || gained < 0.25 * promised;
            poor_steps_ = poor && !small ? poor_steps_ + 1 : 0;
            if (poor_steps_ >= 6 && !affine_) strain_matters();
            result_.out_of_margin = t > 0.9 * leaves;
            // A small step may be small because its model of friction was too stiff: look again, a few times.
            const bool look_again = friction_stale_ && small && ++stale_steps_ <= 3;
            result_.converged = (done && leaves > 1.0 && !look_again) || crawls_ >= most_crawls;
            return;
        }
        // Minimum of the parabola through both energies and the slope.
        const double rise = trial_energy - energy_ - t * direction_.slope;
        shorter = std::clamp(-0.5 * t * direction_.slope / rise, 0.1, 0.5);
        if (small && std::abs(trial_energy - energy_) < 1e-9 * std::abs(energy_)) break;
    }
    // No decrease to be had: either at the bottom, to round-off, or stuck; or new candidates are needed to tell.
    evaluate_pairs(island_, context_, poses_);
    if (result_.out_of_margin) return;
    result_.converged = small;
    stuck_ = !small;
}

void IslandNewton::accept(double energy) {
    energy_ = energy;
    parallel_for(poses_.size(), grain_of(island_, 16),
                 [&](std::size_t n) { context_.q[island_.bodies[n]] = poses_[n] = trial_[n]; });
    if (context_.record_path) result_.path.push_back(poses_);
}

// Bodies that keep their velocity are there already; where that would cost energy, stay.
void IslandNewton::start_from_prediction() {
    for (std::size_t n = 0; n < poses_.size(); ++n) {
        const BodyStep& body = context_.bodies.body[island_.bodies[n]];
        trial_[n] = body.hold >= 0 || !island_.rows.empty() ? poses_[n] : body.predicted;
    }
    const std::vector<Mat34> goal = trial_;
    double t = 1.0;
    for (int attempt = 0; attempt < 4; ++attempt) {
        for (std::size_t n = 0; n < poses_.size(); ++n) trial_[n] = poses_[n] + t * (goal[n] - poses_[n]);
        if (!within_margin() || !right_handed()) {
            t *= 0.5;
            continue;
        }
        {
            Clock clock(result_.ccd_ms);
            const double fraction = safe_fraction(island_, context_, poses_, trial_, 0.4);
            if (fraction < 1.0) {
                t *= 0.9 * fraction;
                for (std::size_t n = 0; n < poses_.size(); ++n)
                    trial_[n] = poses_[n] + t * (goal[n] - poses_[n]);
            }
        }
        // Poses in between may be a little farther off the reference motion than both ends.
        if (!within_margin() || !right_handed()) continue;
        Clock clock(result_.energy_ms);
        evaluate_pairs(island_, context_, trial_);
        const double trial_energy = energy_at(island_, context_, trial_);
        if (trial_energy < energy_) {
            accept(trial_energy);
            return;
        }
        t *= 0.3;
    }
    evaluate_pairs(island_, context_, poses_);
}

}  // namespace tenon::affine

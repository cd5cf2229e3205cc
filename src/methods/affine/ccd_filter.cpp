// Steps that keep every gap open, within the candidates that there are.
#include <atomic>
#include <cmath>

#include <Eigen/LU>

#include "methods/affine/island_newton.hpp"

namespace tenon::affine {
namespace {

constexpr int most_margin_cuts =
    2;  // of a step by the margin of its candidates, before new ones are asked for

// The chord to a turned pose cuts off the arc, so that a long one runs into what a short one slides along: the gap
// closes as c1 t + c2 t^2. From the part of the chord to t that is free (and that of a longer one, when there was one)
// follows the t whose chord just fits.
double shorter_chord(double t, double fraction, double longer, double longer_fraction) {
    const double most = 0.98 * t, least = t * fraction;  // all of it due to c2, all due to c1
    if (fraction <= 0.0) return 0.0;
    if (longer <= t || longer_fraction <= 0.0)
        return fraction < 0.3 ? t * std::sqrt(fraction) : std::min(most, least);
    const double g = 1.0 / (fraction * t), g_longer = 1.0 / (longer_fraction * longer);
    const double c2 = std::max(0.0, (g_longer - g) / (longer - t)), c1 = std::max(0.0, g - c2 * t);
    const double fits = 2.0 / (c1 + std::sqrt(c1 * c1 + 4.0 * c2));
    return std::clamp(0.98 * fits, std::min(most, least), most);
}

}  // namespace

// Largest fraction of the straight move from the present poses to `to` that keeps every gap open.
double safe_fraction(const Island& island, StepContext& context, const std::vector<Mat34>& from,
                     const std::vector<Mat34>& to, double keep) {
    const std::size_t grain = grain_of(island, pair_grain);
    ContactField& field = context.field;
    parallel_for(island.bodies.size(), grain,
                 [&](std::size_t n) { field.plan_trial(island.bodies[n], from[n], to[n]); });
    // Most pairs are far enough apart: only the others' vertices are needed.
    std::vector<char> needed(island.bodies.size(), 0);
    std::vector<int> pairs;
    for (const int k : island.pairs) {
        if (!field.may_close(k, 1.0, keep)) continue;
        pairs.push_back(k);
        for (const int body : {field.pair(k).a, field.pair(k).b})
            if (context.node[body] >= 0) needed[context.node[body]] = 1;
    }
    parallel_for(island.bodies.size(), grain, [&](std::size_t n) {
        if (needed[n]) field.place_trial(island.bodies[n]);
    });
    std::vector<double> fraction(pairs.size(), 1.0);
    parallel_for(pairs.size(), grain,
                 [&](std::size_t k) { fraction[k] = field.safe_step(pairs[k], 1.0, keep); });
    double smallest = 1.0;
    for (const double f : fraction) smallest = std::min(smallest, f);
    return smallest;
}

// The full step, no body's longer than anything moves in this time step: the next candidates follow it.
void IslandNewton::note_heading() {
    for (std::size_t n = 0; n < poses_.size(); ++n) {
        const int body = island_.bodies[n];
        const Mat34 displacement = trial_[n] - poses_[n];
        const double length = displacement_bound(displacement, shape(n));
        const double t = length > context_.largest_motion ? context_.largest_motion / length : 1.0;
        context_.heading[body] = poses_[n] + t * displacement;
        context_.outside[body] = !within_margin(n);
    }
}

bool IslandNewton::within_margin() const {
    std::atomic<bool> within = true;
    parallel_for(poses_.size(), grain_of(island_, 32), [&](std::size_t n) {
        if (!within_margin(n)) within = false;
    });
    return within;
}

bool IslandNewton::right_handed() const {
    for (const Mat34& q : trial_)
        if (q.leftCols<3>().determinant() <= 0.0) return false;
    return true;
}

// Shortens t until the straight path to the trial poses is free.
double IslandNewton::filter(double t) {
    double keep = 0.4, before = 0.0, fraction_before = 0.0;
    int margin_cuts = 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
        move_trial(t);
        Clock clock(result_.ccd_ms);
        // Poses on the path to others may be off the straight line between: candidates are known within margin only. Where
        // that is what shortens the step, new ones are due.
        if (!within_margin() && ++margin_cuts > most_margin_cuts) {
            note_heading();
            result_.out_of_margin = true;
            return 0.0;
        }
        if (!right_handed() || !within_margin()) {
            t *= 0.5;
            continue;
        }
        const double fraction = safe_fraction(island_, context_, poses_, trial_, keep);
        if (fraction >= 1.0) return t;
        const double shorter = shorter_chord(t, fraction, before, fraction_before);
        before = t;
        fraction_before = fraction;
        t = shorter;
        keep = std::max(0.9 * keep, 0.2);  // the shorter chord differs a little: ask a little less of it
    }
    return 0.0;
}

}  // namespace tenon::affine

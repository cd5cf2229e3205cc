#include "methods/affine/coupled_newton.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/LU>

#include "math/interrupt.hpp"
#include "math/parallel.hpp"
#include "methods/affine/system_dump.hpp"

namespace tenon::affine {
namespace {

constexpr double longest = 16.0;  // times a Newton step: an extrapolated one
// Candidates found for a long path: more are worth another search for what is left of it.
constexpr std::size_t worth_narrowing = 4000;
constexpr int most_cuts = 60;         // of a step by contact
constexpr double shortest = 1e-9;     // part of a step that is worth taking
constexpr double sufficient = 1e-4;   // part of the promised decrease
constexpr double price_factor = 2.0;  // times a row's multiplier: what its residual costs
constexpr double trial_part = 0.01,
                 linear_part = 1e-3;  // of the tolerance: what trial states and linear solves close to
constexpr double motion_part =
    1e-7;  // of the last step's motion: joints as open as this after a linear solve are closed
constexpr int most_branches = 40;    // solves with other pieces of the drives' potentials
constexpr int most_blocked = 40;     // steps one after the other of which contact leaves nearly nothing
constexpr double short_part = 0.02;  // of a step: contact has left little of it
constexpr double polished = 1e-3;    // of the tolerance, where that is asked for
constexpr int most_polishes = 2;
constexpr int most_short = 8;  // such steps one after the other: barriers are too soft for their load

}  // namespace

double CoupledNewton::energy_at(const std::vector<Mat34>& q, std::vector<Vec3>& x) {
    const auto stage = timer_.stage("energy");
    step_.contacts.place(q, x);
    const double contact = step_.contacts.evaluate(x) + step_.contacts.friction_energy(x);
    return step_.smooth_energy(q, vertices_) + step_.potential_scale * contact;
}

double CoupledNewton::penalty(const std::vector<double>& values) const {
    double sum = 0.0;
    for (std::size_t r = 0; r < values.size(); ++r) sum += price_[r] * std::abs(values[r]);
    return sum;
}

void CoupledNewton::note_residual() {
    result_.residual = 0.0;
    const auto& rows = step_.joints.rows();
    for (std::size_t r = 0; r < values_.size(); ++r)
        if (std::abs(values_[r]) > result_.residual) {
            result_.residual = std::abs(values_[r]);
            result_.open_joint = rows[r].joint;
        }
}

void CoupledNewton::find_direction() {
    {
        const auto stage = timer_.stage("assemble");
        step_.place_vertices(*q_, vertices_);
        system_.assemble(step_, *q_, x_, vertices_, *multipliers_);
    }
    if (!options_.dump.empty())
        dump_system(fmt::format("{}-iteration{}", options_.dump, result_.iterations - 1),
                    system_.matrix_to_factor(), system_.right_side());
    const auto stage = timer_.stage("solve");
    system_.factor();
    gradient_ = system_.gradient();
    solve_model();
    if (!step_.joints.drives().empty()) follow_drives();
    slope_ = slope_of(direction_);
    price_.resize(multipliers_->size(), 0.0);
    for (std::size_t r = 0; r < price_.size(); ++r)
        price_[r] = std::max(price_[r], price_factor * std::abs((*multipliers_)[r]));
}

void CoupledNewton::solve_model() {
    system_.solve(step_, std::max(linear_part * options_.joint_tolerance, motion_part * last_motion_),
                  direction_, *multipliers_);
    ++result_.solves;
}

double CoupledNewton::slope_of(const std::vector<double>& direction) const {
    double slope = 0.0;
    for (std::size_t k = 0; k < direction.size(); ++k) slope += gradient_[k] * direction[k];
    return slope;
}

// Limits and bounded drives have potentials of several pieces, far stiffer here than there: with the pieces at q alone steps
// go to and fro over the corners. The direction has to lead to the minimum of a model that has the corners: Newton's
// method again, with an exact line search, which ends on corners.
void CoupledNewton::follow_drives() {
    const auto& drives = step_.joints.drives();
    const std::vector<double> plain = direction_, plain_multipliers = *multipliers_;
    std::vector<double> from, at;
    std::vector<int> branch = branch_;
    for (int pass = 0; pass < most_branches; ++pass) {
        system_.drive_coordinates(direction_, at);
        bool same = true;
        for (std::size_t k = 0; k < drives.size(); ++k)
            same = same && drive_branch(drives[k].row, at[k]) == branch[k];
        if (same) break;
        if (pass > 0) {
            const double part = system_.least_between(step_, from, direction_);
            for (std::size_t k = 0; k < from.size(); ++k) from[k] += part * (direction_[k] - from[k]);
            system_.drive_coordinates(from, at);
        } else {
            from = direction_;
        }
        for (std::size_t k = 0; k < drives.size(); ++k) branch[k] = drive_branch(drives[k].row, at[k]);
        system_.linearise_drives(step_, at);
        solve_model();
    }
    if (slope_of(direction_) < 0.0 || slope_of(plain) >= 0.0) return;
    direction_ = plain;
    *multipliers_ = plain_multipliers;
}

double CoupledNewton::largest_motion(const std::vector<double>& increments) const {
    double largest = 0.0;
    for (int n = 0; n < step_.nodes.size(); ++n) {
        const CoupledNode& node = step_.nodes.node[n];
        const Eigen::Map<const Vec12> d(increments.data() + 12 * n);
        if (node.turns()) {
            largest = std::max(largest, d.segment<3>(3).norm() +
                                            node.size * (d.head<3>().norm() + d.tail<6>().cwiseAbs().sum()));
        } else {
            for (int k = 0; k < 4; ++k) largest = std::max(largest, d.segment<3>(3 * k).norm());
        }
    }
    return largest;
}

// Where the model is stiffer than what it stands for (stresses and contacts whose negative curvature is left out), steps
// repeat themselves, each a little shorter than the one before: then the sum of all that would follow is tried. Where it is
// softer (friction near the speed at which it slides), they go to and fro: then the place between.
double CoupledNewton::extrapolated_length() {
    double now = 0.0, before = 0.0, both = 0.0;
    if (last_length_ > 0.0)
        for (int n = 0; n < step_.nodes.size(); ++n) {
            const CoupledNode& node = step_.nodes.node[n];
            const auto add = [&](int first, int count, double scale) {
                for (int k = 12 * n + first; k < 12 * n + first + count; ++k) {
                    now += scale * direction_[k] * direction_[k];
                    before += scale * last_direction_[k] * last_direction_[k];
                    both += scale * direction_[k] * last_direction_[k];
                }
            };
            const Vec4& mass = step_.node[n].mass;
            if (node.turns()) {
                add(0, 3, mass.head<3>().maxCoeff());
                add(3, 3, mass[3]);
                add(6, 6, mass.head<3>().maxCoeff());
            } else {
                for (int k = 0; k < 4; ++k) add(3 * k, 3, mass[k]);
            }
        }
    last_direction_ = direction_;
    if (std::abs(both) <= 0.8 * std::sqrt(now * before) || both == 0.0) return 1.0;
    const double left = both / before;
    if (left < 0.0) return left < -0.5 ? std::min(1.0, last_length_ / (1.0 - left)) : 1.0;
    const double most = std::min(longest, 4.0 * std::max(1.0, last_length_));
    return std::clamp(last_length_ / std::max(1.0 - left, 0.05), 1.0, most);
}

// The state a fraction t along the direction; joints then are open by 1 - t of what they were. Turns bend the paths of
// anchors: what that opens is closed again in the metric of the matrix. False where that takes more motion than the step
// itself, as near a dead point of a mechanism: the step is beyond what its linear model tells.
bool CoupledNewton::make_trial(double t) {
    const auto stage = timer_.stage("move");
    trial_.resize(q_->size());
    parallel_for(trial_.size(), 128, [&](std::size_t n) {
        trial_[n] =
            moved(step_.nodes.node[n], (*q_)[n], Eigen::Map<const Vec12>(direction_.data() + 12 * n), t);
    });
    if (values_.empty()) return true;
    const double most = t * largest_motion(direction_);
    for (int pass = 0; pass < 3; ++pass) {
        step_.joints.values(trial_, trial_values_);
        gap_.resize(trial_values_.size());
        double worst = 0.0;
        for (std::size_t r = 0; r < gap_.size(); ++r) {
            gap_[r] = trial_values_[r] - (1.0 - t) * values_[r];
            worst = std::max(worst, std::abs(gap_[r]));
        }
        if (worst <= trial_part * options_.joint_tolerance) return true;
        system_.close(step_, gap_, linear_part * options_.joint_tolerance, correction_);
        if (largest_motion(correction_) > most) return false;
        for (std::size_t n = 0; n < trial_.size(); ++n)
            trial_[n] = moved(step_.nodes.node[n], trial_[n],
                              Eigen::Map<const Vec12>(correction_.data() + 12 * n), 1.0);
    }
    step_.joints.values(trial_, trial_values_);
    return true;
}

bool CoupledNewton::right_handed() const {
    for (std::size_t n = 0; n < trial_.size(); ++n)
        if (step_.nodes.node[n].turns() && trial_[n].leftCols<3>().determinant() <= 0.0) return false;
    return true;
}

// Shortens t until the straight path to the trial state is free.
double CoupledNewton::filter(double t) {
    for (int cut = 0; cut < most_cuts && t > shortest; ++cut) {
        if (!make_trial(t) || !right_handed()) {
            t *= 0.5;
            continue;
        }
        const auto stage = timer_.stage("ccd");
        step_.contacts.place(trial_, trial_x_);
        if (!step_.contacts.covers(trial_x_)) {
            step_.contacts.find(x_, trial_x_);
            step_.contacts.evaluate(x_);
        }
        const double part = step_.contacts.safe_step(x_, trial_x_, 0.2);
        if (part >= 1.0) return t;
        t *= std::min(0.95, 0.98 * part);
    }
    return 0.0;
}

// A drive that was on one piece of its potential at the last iterate and is on another at this one.
bool CoupledNewton::some_drive_changed_branch() {
    const auto& drives = step_.joints.drives();
    bool changed = false;
    branch_.resize(drives.size(), 0);
    for (std::size_t k = 0; k < drives.size(); ++k) {
        const int branch = drive_branch(drives[k].row, step_.joints.coordinate(drives[k], *q_));
        changed = changed || branch != branch_[k];
        branch_[k] = branch;
    }
    return changed;
}

// False when no step leads down.
bool CoupledNewton::take_step() {
    const double motion = last_motion_ = largest_motion(direction_);
    const bool small = motion <= options_.tolerance;
    const bool done = small && (!options_.polish || !step_.contacts.contacts().empty() ||
                                motion <= polished * options_.tolerance || ++polishes_ > most_polishes);
    const double start = energy_ + penalty(values_), slope = slope_ - penalty(values_);
    double price = 0.0;
    for (const double p : price_) price += p;
    const double noise = 1e-12 * std::abs(energy_) + 1e-3 * options_.joint_tolerance * price;
    double t = filter(std::min(extrapolated_length(), options_.most_motion / std::max(motion, 1e-300)));
    last_length_ = 0.0;
    CoupledLog line{result_.solves,
                    static_cast<int>(step_.contacts.contacts().size()),
                    0,
                    energy_,
                    slope_,
                    motion,
                    result_.residual,
                    t,
                    0.0};
    if (t > 0.0) step_.contacts.judge_friction(x_, trial_x_, t);
    while (t > shortest) {
        ++result_.line_search_steps;
        ++line.trials;
        const double energy = energy_at(trial_, trial_x_);
        const double value = energy + penalty(values_.empty() ? values_ : trial_values_);
        if (value <= start + noise + sufficient * t * slope || (small && t < 0.3)) {
            energy_ = energy;
            *q_ = trial_;
            x_ = trial_x_;
            if (!values_.empty()) values_ = trial_values_;
            note_residual();
            if (options_.record_path) result_.path.push_back(trial_);
            last_length_ = line.length = t;
            short_steps_ = line.filtered < short_part ? short_steps_ + 1 : 0;
            if (options_.log) result_.log.push_back(line);
            const bool yields = some_drive_changed_branch();
            result_.converged = done && !yields && result_.residual <= options_.joint_tolerance;
            return true;
        }
        const double rise = value - start - t * slope;
        t = filter(t * std::clamp(rise > 0.0 ? -0.5 * t * slope / rise : 0.5, 0.1, 0.5));
    }
    step_.contacts.evaluate(x_);
    result_.converged = small && result_.residual <= options_.joint_tolerance;
    if (options_.log) result_.log.push_back(line);
    return false;
}

// The first steps are the long ones; candidates for them are many times those of the rest.
void CoupledNewton::narrow_candidates() {
    if (!make_trial(1.0)) return;
    const auto stage = timer_.stage("candidates");
    step_.contacts.place(trial_, trial_x_);
    step_.contacts.find(x_, trial_x_);
    step_.contacts.evaluate(x_);
}

// A logarithm stops a contact late where much else has energy to gain: then its gap is all the room that steps have, and
// they come to nothing.
void CoupledNewton::stiffen_blockers() {
    short_steps_ = 0;
    if (step_.contacts.stiffen_close_pairs()) energy_ = energy_at(*q_, x_);
}

CoupledResult CoupledNewton::run(std::vector<Mat34>& q, std::vector<double>& multipliers) {
    q_ = &q;
    multipliers_ = &multipliers;
    result_ = {};
    const std::size_t rows = step_.joints.rows().size();
    multipliers.resize(rows, 0.0);
    price_.assign(rows, 0.0);
    last_length_ = 0.0;
    short_steps_ = polishes_ = 0;
    last_motion_ = 0.0;
    step_.joints.values(q, values_);
    energy_ = energy_at(q, x_);
    note_residual();
    some_drive_changed_branch();
    int blocked = 0;
    while (result_.iterations < options_.max_iterations) {
        check_interrupt();
        ++result_.iterations;
        find_direction();
        if (result_.iterations == 3 && step_.contacts.candidate_count() > worth_narrowing)
            narrow_candidates();
        const double before = energy_;
        const bool moved_on = take_step();
        blocked = std::abs(energy_ - before) <= 1e-10 * std::abs(before) ? blocked + 1 : 0;
        if (short_steps_ >= most_short) stiffen_blockers();
        if (!result_.converged && moved_on && blocked < most_blocked) continue;
        if (!result_.converged || !step_.contacts.stiffen_close_pairs()) break;
        result_.converged = false;
        energy_ = energy_at(q, x_);
    }
    return std::move(result_);
}

}  // namespace tenon::affine

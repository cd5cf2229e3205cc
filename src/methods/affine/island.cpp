#include "methods/affine/island.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <numeric>

#include <Eigen/LU>

#include "math/interrupt.hpp"
#include "math/parallel.hpp"
#include "math/timer.hpp"
#include "methods/affine/newton_system.hpp"
#include "methods/affine/system_dump.hpp"

namespace tenon::affine {

struct IslandMemory {
    NewtonSystem<6> rigid_system;
    NewtonSystem<12> affine_system;
    solve::BlockCholesky part_solver;
    Direction direction;
    std::vector<Mat34> poses, trial, last_step;
    std::vector<double> motion, excess;
    std::vector<char> stale;
};

IslandMemories::IslandMemories() = default;
IslandMemories::~IslandMemories() = default;

std::unique_ptr<IslandMemory> IslandMemories::take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<IslandMemory>();
    auto memory = std::move(free_.back());
    free_.pop_back();
    return memory;
}

void IslandMemories::give(std::unique_ptr<IslandMemory> memory) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(memory));
}

namespace {

constexpr std::size_t pair_grain = 4;
constexpr double settled = 0.01;  // of the tolerance: bodies that a Newton step moves by less may stay
constexpr double restless =
    0.3;  // of the tolerance: bodies that a Newton step moves by more go on by themselves
constexpr std::size_t least_split = 16;  // bodies of the smallest island that is worth it

class UnionFind {
  public:
    explicit UnionFind(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
    int root(int i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(int i, int j) {
        i = root(i);
        j = root(j);
        parent_[std::max(i, j)] = std::min(i, j);
    }

  private:
    std::vector<int> parent_;
};

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

class IslandNewton {
  public:
    IslandNewton(const Island& island, StepContext& context)
        : island_(island), context_(context), memory_(context.memories.take()) {
        rigid_system_.forget();
        affine_system_.forget();
        const std::size_t count = island.bodies.size();
        poses_.resize(count);
        trial_.resize(count);
        for (std::size_t n = 0; n < count; ++n) {
            poses_[n] = context.q[island.bodies[n]];
            context.node[island.bodies[n]] = static_cast<int>(n);
        }
        affine_ = island.held || !island.rows.empty();
        if (!context.strained.empty())
            for (const int body : island.bodies) affine_ = affine_ || context.strained[body];
        // Neo-Hookean energies are differences of numbers as large as the stiffness.
        if (context.settings.rigidity == RigidityModel::neo_hookean)
            for (const int body : island.bodies) round_off_ += 4e-15 * context.bodies.body[body].rigidity;
    }

    ~IslandNewton() { context_.memories.give(std::move(memory_)); }

    IslandResult run(bool fresh) {
        start();
        if (fresh) start_from_prediction();
        const int limit = context_.settings.max_iterations;
        while (result_.iterations < limit && !result_.converged && !result_.out_of_slack) {
            check_interrupt();
            ++result_.iterations;
            if (overshot_) start_friction_again();
            if (blocked_steps_ >= 8) stiffen_blockers();
            find_direction();
            for (int again = 0; again < 3 && stiffen_reversals(); ++again) find_direction();
            note_motion();
            rest_settled_bodies();
            move_friction();
            take_step();
            if (!result_.converged && !result_.out_of_slack && result_.iterations < limit) solve_restless();
        }
        return std::move(result_);
    }

  private:
    struct Clock {
        explicit Clock(double& sum_) : sum(sum_), start(StageTimer::Clock::now()) {}
        ~Clock() { sum += StageTimer::elapsed_ms(start); }
        double& sum;
        StageTimer::Clock::time_point start;
    };

    void start() {
        Clock clock(result_.energy_ms);
        evaluate_pairs(island_, context_, poses_);
        energy_ = energy_at(island_, context_, poses_);
    }

    // Where only a few bodies still move, the others stay until these are done: iterations cost what moves. All of them
    // are looked at again before the island counts as converged.
    void solve_restless() {
        if (poses_.size() < least_split || !island_.rows.empty() || !may_split_) return;
        const std::vector<Island> parts = restless_parts();
        if (parts.empty()) return;
        std::vector<IslandResult> results(parts.size());
        for_islands(parts, [&](std::size_t k) {
            IslandNewton part(parts[k], context_);
            part.depth_ = depth_ + 1;
            results[k] = part.run(false);
        });
        for (std::size_t n = 0; n < poses_.size(); ++n)
            context_.node[island_.bodies[n]] = static_cast<int>(n);
        IslandResult later;
        later.converged = true;
        later.path = path_of(parts, results);
        stay_where_converged(parts, results);
        for (IslandResult& result : results) {
            if (!result.converged && !result.out_of_slack)
                result.iterations = static_cast<int>(result.log.size());
            later.go_beside(std::move(result));
        }
        may_split_ = later.converged;
        result_.go_on(std::move(later));
        double moved = 0.0;
        for (std::size_t n = 0; n < poses_.size(); ++n) {
            const Mat34& q = context_.q[island_.bodies[n]];
            moved = std::max(moved, displacement_bound(q - poses_[n], shape(n)));
            poses_[n] = q;
        }
        // Whoever split this island off looks at it again. No need to where only friction was in doubt, which is
        // settled, or where the parts ended so near that the rest, which had settled, cannot feel it.
        result_.converged = may_split_ && (depth_ > 0 || was_small_ || moved <= context_.tolerance);
        start();
    }

    // The bodies that still move, as islands of their own; none when they are too many.
    std::vector<Island> restless_parts() {
        std::vector<char> moves(poses_.size(), 0);
        for (std::size_t n = 0; n < poses_.size(); ++n) moves[n] = motion_[n] > restless * context_.tolerance;
        for (std::size_t k = 0; k < island_.pairs.size(); ++k) {
            const CandidatePair& pair = context_.field.pair(island_.pairs[k]);
            if (stale_[k])
                for (const int body : {pair.a, pair.b})
                    if (context_.node[body] >= 0) moves[context_.node[body]] = 1;
        }
        const auto count = static_cast<std::size_t>(std::count(moves.begin(), moves.end(), 1));
        if (10 * count > 7 * poses_.size()) return {};
        // To the parts, the others stand still.
        parallel_for(poses_.size(), grain_of(island_, 16), [&](std::size_t n) {
            if (!moves[n]) context_.field.set_trial(island_.bodies[n], poses_[n], poses_[n]);
        });
        const auto moving_node = [&](int body) {
            const int n = context_.node[body];
            return n >= 0 && moves[n] ? n : -1;
        };
        UnionFind sets(poses_.size());
        for (const int k : island_.pairs) {
            const CandidatePair& pair = context_.field.pair(k);
            const int a = moving_node(pair.a), b = moving_node(pair.b);
            if (a >= 0 && b >= 0) sets.join(a, b);
        }
        std::vector<Island> parts;
        std::vector<int> part_of(poses_.size(), -1);
        for (const int n : solver().order()) {
            if (!moves[n]) continue;
            int& part = part_of[sets.root(n)];
            if (part < 0) {
                part = static_cast<int>(parts.size());
                parts.emplace_back().in_order = true;
            }
            parts[part].bodies.push_back(island_.bodies[n]);
            parts[part].held = parts[part].held || context_.bodies.body[island_.bodies[n]].hold >= 0;
        }
        for (const int k : island_.pairs) {
            const CandidatePair& pair = context_.field.pair(k);
            const int a = moving_node(pair.a), n = a >= 0 ? a : moving_node(pair.b);
            if (n >= 0) parts[part_of[sets.root(n)]].pairs.push_back(k);
        }
        for (const int body : island_.bodies) context_.node[body] = -1;
        return parts;
    }

    // Parts do not meet: their pieces can be told together, as those of islands are.
    std::vector<std::vector<Mat34>> path_of(const std::vector<Island>& parts,
                                            std::vector<IslandResult>& results) const {
        std::size_t longest = 0;
        for (const IslandResult& result : results) longest = std::max(longest, result.path.size());
        std::vector<std::vector<Mat34>> path(longest, poses_);
        for (std::size_t k = 0; k < parts.size(); ++k) {
            for (std::size_t piece = 0; piece < longest && !results[k].path.empty(); ++piece) {
                const auto& poses = results[k].path[std::min(piece, results[k].path.size() - 1)];
                for (std::size_t m = 0; m < poses.size(); ++m)
                    path[piece][context_.node[parts[k].bodies[m]]] = poses[m];
            }
            results[k].path.clear();
        }
        return path;
    }

    // When some part left its slack, all bodies but that part's are to stay near where they are.
    void stay_where_converged(const std::vector<Island>& parts, const std::vector<IslandResult>& results) {
        if (std::none_of(results.begin(), results.end(),
                         [](const IslandResult& r) { return r.out_of_slack; }))
            return;
        std::vector<char> heading(poses_.size(), 0);
        for (std::size_t k = 0; k < parts.size(); ++k)
            if (results[k].out_of_slack)
                for (const int body : parts[k].bodies) heading[context_.node[body]] = 1;
        for (std::size_t n = 0; n < poses_.size(); ++n) {
            if (heading[n]) continue;
            context_.wanted[island_.bodies[n]] = context_.q[island_.bodies[n]];
            context_.left[island_.bodies[n]] = 0;
        }
    }

    void find_direction() {
        if (!affine_) {
            direction_with(rigid_system_, solver());
            // Contacts as stiff as the body itself: strain and motion must be solved together.
            if (direction_.softness > 0.2) strain_matters();
        }
        if (affine_) direction_with(affine_system_, solver());
    }

    void strain_matters() {
        affine_ = true;
        if (!context_.strained.empty())
            for (const int body : island_.bodies) context_.strained[body] = 1;
    }

    // A part has its own: the whole island will come back to the order it found.
    solve::BlockCholesky& solver() {
        if (depth_ > 0) return memory_->part_solver;
        auto& one = context_.solvers[island_.bodies[0]];
        if (!one) one = std::make_unique<solve::BlockCholesky>();
        return *one;
    }

    template <int Dof>
    bool link(NewtonSystem<Dof>& system) {
        Clock clock(result_.assemble_ms);
        return system.link(island_, context_);
    }

    template <int Dof>
    void direction_with(NewtonSystem<Dof>& system, solve::BlockCholesky& factors) {
        const auto sum = [&] {
            Clock clock(result_.assemble_ms);
            system.sum(island_, context_);
        };
        const auto analyse = [&] {
            Clock clock(result_.solve_ms);
            system.analyse(island_, factors);
        };
        // An order of elimination is one thread's work: the other sums contacts meanwhile.
        if (link(system) && !factors.has_analysed(system.matrix().pattern, Dof))
            parallel_for(2, grain_of(island_, 1), [&](std::size_t part) { part == 0 ? analyse() : sum(); });
        else
            sum();
        Clock clock(result_.solve_ms);
        system.solve(island_, context_, factors, direction_);
        ++result_.solves;
        result_.fallbacks += system.used_ldlt();
        if (!context_.dump.empty())
            dump_system(context_.dump + "-body" + std::to_string(island_.bodies[0]) + "-solve" +
                            std::to_string(result_.solves),
                        system.matrix(), system.right());
    }

    // Bodies that this step hardly moves stay where they are: their contacts with each other need no new distances.
    // Never in the first iteration, where even the smallest acceleration counts, and never when the descent is theirs:
    // without it the others' part of the direction may lead uphill.
    void rest_settled_bodies() {
        if (result_.iterations < 2 || !island_.rows.empty()) return;
        double slope = direction_.slope;
        resting_.clear();
        for (std::size_t n = 0; n < poses_.size(); ++n) {
            if (motion_[n] > settled * context_.tolerance) continue;
            slope -= direction_.slope_of[n];
            resting_.push_back(n);
        }
        if (slope > 0.5 * direction_.slope) return;
        direction_.slope = slope;
        for (const std::size_t n : resting_) {
            motion_[n] = 0.0;
            direction_.slope_of[n] = 0.0;
            direction_.step[n].setZero();
            direction_.turn[n].setZero();
            direction_.stretch[n].setZero();
        }
    }

    // The poses of a step of length t along the direction, in `trial_`.
    void move_trial(double t) {
        if (t == trial_length_) return;
        Clock clock(result_.move_ms);
        trial_length_ = t;
        parallel_for(poses_.size(), grain_of(island_, 16), [&](std::size_t n) {
            if (motion_[n] == 0.0) {
                trial_[n] = poses_[n];
                return;
            }
            trial_[n] = move_along(poses_[n], direction_, static_cast<int>(n), t);
            const BodyStep& body = context_.bodies.body[island_.bodies[n]];
            if (body.hold < 0) return;
            const Mat34 moved = trial_[n] - poses_[n];
            const Vec12 held =
                context_.bodies.holds[body.hold].projection * Eigen::Map<const Vec12>(moved.data());
            trial_[n] = poses_[n] + Eigen::Map<const Mat34>(held.data());
        });
        if (island_.rows.empty() && !island_.held) {
            if (affine_)
                affine_system_.onto_gaps(island_, context_, solver(), direction_, t, trial_);
            else
                rigid_system_.onto_gaps(island_, context_, solver(), direction_, t, trial_);
        }
        // Keeping rotations rotations moves anchors a little: back onto the joints, in the metric of the Hessian.
        if (!island_.rows.empty()) {
            for (std::size_t n = 0; n < poses_.size(); ++n) trial_[n] -= poses_[n];
            affine_system_.onto_joints(island_, context_, solver(), trial_, t);
            for (std::size_t n = 0; n < poses_.size(); ++n) trial_[n] += poses_[n];
        }
    }

    // A logarithm stops a contact late where much else has energy to gain: then its gap is all the room that steps have,
    // and they come to nothing.
    void stiffen_blockers() {
        blocked_steps_ = 0;
        for (const int k : island_.pairs) context_.field.stiffen_if_close(k);
        start();
    }

    // The full step, no body's longer than anything moves in this time step: the next candidates follow it.
    void note_wanted() {
        for (std::size_t n = 0; n < poses_.size(); ++n) {
            const int body = island_.bodies[n];
            const Mat34 way = trial_[n] - poses_[n];
            const double length = displacement_bound(way, shape(n));
            const double t = length > context_.largest_motion ? context_.largest_motion / length : 1.0;
            context_.wanted[body] = poses_[n] + t * way;
            context_.left[body] = !within_slack(n);
        }
    }

    const ContactShape& shape(std::size_t n) const { return context_.field.shape(island_.bodies[n]); }

    void note_motion() {
        motion_.resize(poses_.size());
        parallel_for(poses_.size(), grain_of(island_, 32),
                     [&](std::size_t n) { motion_[n] = displacement_bound(direction_.step[n], shape(n)); });
    }

    bool within_slack(std::size_t n) const {
        const Sweep& sweep = context_.sweeps[island_.bodies[n]];
        return deviation_from(sweep, trial_[n], shape(n)) <= sweep.slack;
    }

    bool within_slack() const {
        std::atomic<bool> within = true;
        parallel_for(poses_.size(), grain_of(island_, 32), [&](std::size_t n) {
            if (!within_slack(n)) within = false;
        });
        return within;
    }

    bool right_handed() const {
        for (const Mat34& q : trial_)
            if (q.leftCols<3>().determinant() <= 0.0) return false;
        return true;
    }

    // Shortens t until the straight way to the trial poses is free.
    double filter(double t) {
        double keep = 0.4, before = 0.0, fraction_before = 0.0;
        for (int attempt = 0; attempt < 60; ++attempt) {
            move_trial(t);
            Clock clock(result_.ccd_ms);
            // Poses on the way to others may be off the straight line between: candidates are known within slack only.
            if (!right_handed() || !within_slack()) {
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

    template <class Change>
    void for_friction(const Change& change) {
        const auto& bodies = context_.bodies.body;
        parallel_for(island_.pairs.size(), grain_of(island_, pair_grain), [&](std::size_t k) {
            PairContacts& contacts = context_.field.contacts(island_.pairs[k]);
            if (contacts.friction.empty()) return;
            const CandidatePair& pair = context_.field.pair(island_.pairs[k]);
            change(k, pair, contacts, context_.q[pair.a] - bodies[pair.a].start,
                   context_.q[pair.b] - bodies[pair.b].start);
        });
    }

    // Back to a model of friction that no step overshoots.
    void start_friction_again() {
        for_friction([&](std::size_t, const CandidatePair&, PairContacts& contacts, const Mat34&,
                         const Mat34&) { stiffen_friction(contacts); });
    }

    Mat34 step_of(int body) const {
        const int n = context_.node[body];
        return n >= 0 ? direction_.step[n] : Mat34(Mat34::Zero());
    }

    // A step that turns sliding around sees friction pushing it on, where in truth friction would hold it. Such contacts
    // get the stiff model, before the step rather than after it has failed. True when that changes the direction.
    bool stiffen_reversals() {
        excess_.assign(island_.pairs.size(), 0.0);
        const auto look = [&](bool stiffen) {
            for_friction([&](std::size_t k, const CandidatePair& pair, PairContacts& contacts,
                             const Mat34& moved_a, const Mat34& moved_b) {
                excess_[k] = friction_excess(contacts, moved_a, moved_b, step_of(pair.a), step_of(pair.b),
                                             context_.friction_eps, stiffen);
            });
        };
        look(false);
        const double excess =
            context_.bodies.potential_scale * std::accumulate(excess_.begin(), excess_.end(), 0.0);
        if (excess < -0.1 * direction_.slope) return false;
        look(true);
        return true;
    }

    // After a Newton direction is known: friction's directions as its linear model has them.
    void move_friction() {
        const auto mass_of = [&](int body) {
            return context_.node[body] >= 0 ? context_.bodies.body[body].inertia.mass : 1e300;
        };
        stale_.assign(island_.pairs.size(), 0);
        for_friction([&](std::size_t k, const CandidatePair& pair, PairContacts& contacts,
                         const Mat34& moved_a, const Mat34& moved_b) {
            const double error = update_friction_duals(contacts, moved_a, moved_b, step_of(pair.a),
                                                       step_of(pair.b), context_.friction_eps);
            stale_[k] = context_.bodies.potential_scale * error >
                        context_.tolerance * std::min(mass_of(pair.a), mass_of(pair.b));
        });
        friction_stale_ = std::any_of(stale_.begin(), stale_.end(), [](char s) { return s != 0; });
    }

    // Where contacts give way as bodies turn, the model is stiffer than they are and steps repeat themselves, each a little
    // shorter than the one before: then the sum of all that would follow is taken at once.
    double stretched() {
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

    void take_step() {
        trial_length_ = -1.0;
        const double motion = *std::max_element(motion_.begin(), motion_.end());
        const bool small = was_small_ = motion <= context_.tolerance;
        IterationLog& log = result_.log.emplace_back();
        log.slope = direction_.slope;
        log.motion = motion;
        log.affine = affine_;
        log.bodies = static_cast<int>(poses_.size());
        log.contacts = affine_ ? affine_system_.contacts() : rigid_system_.contacts();
        log.energy = energy_;
        double t = stretched();
        move_trial(t);
        if (t > 1.0 && !within_slack()) move_trial(t = 1.0);
        // A step that leaves the slack is shortened. New candidates are due only when nothing else shortens it further.
        double leaves = 1e300;
        if (!within_slack()) {
            note_wanted();
            while (!within_slack() && t > 0.05) move_trial(t *= 0.5);
            leaves = t;
            result_.out_of_slack = !within_slack();
            if (result_.out_of_slack) return;
        }
        last_length_ = 0.0;
        log.filtered = t = filter(t);
        const double noise = 1e-12 * std::abs(energy_) + round_off_;
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
                // Rigid steps that promise too much again and again: what resists them is strain.
                const double promised = -t * (1.0 - 0.5 * std::min(t, 1.0)) * direction_.slope;
                const bool poor = t < 0.6 * std::min(1.0, log.filtered) || gained < 0.25 * promised;
                poor_steps_ = poor && !small ? poor_steps_ + 1 : 0;
                if (poor_steps_ >= 6 && !affine_) strain_matters();
                result_.out_of_slack = t > 0.9 * leaves;
                // A small step may be small because its model of friction was too stiff: look again, a few times.
                const bool look_again = friction_stale_ && small && ++stale_steps_ <= 3;
                result_.converged = small && leaves > 1.0 && !look_again;
                return;
            }
            // Minimum of the parabola through both energies and the slope.
            const double rise = trial_energy - energy_ - t * direction_.slope;
            shorter = std::clamp(-0.5 * t * direction_.slope / rise, 0.1, 0.5);
            if (small && std::abs(trial_energy - energy_) < 1e-9 * std::abs(energy_)) break;
        }
        // No decrease to be had: either at the bottom, to round-off, or stuck.
        evaluate_pairs(island_, context_, poses_);
        result_.converged = small;
        if (!small) result_.iterations = context_.settings.max_iterations;
    }

    void accept(double energy) {
        energy_ = energy;
        parallel_for(poses_.size(), grain_of(island_, 16),
                     [&](std::size_t n) { context_.q[island_.bodies[n]] = poses_[n] = trial_[n]; });
        if (context_.record_path) result_.path.push_back(poses_);
    }

    // Bodies that keep their velocity are there already; where that would cost energy, stay.
    void start_from_prediction() {
        for (std::size_t n = 0; n < poses_.size(); ++n) {
            const BodyStep& body = context_.bodies.body[island_.bodies[n]];
            trial_[n] = body.hold >= 0 || !island_.rows.empty() ? poses_[n] : body.predicted;
        }
        const std::vector<Mat34> goal = trial_;
        double t = 1.0;
        for (int attempt = 0; attempt < 4; ++attempt) {
            for (std::size_t n = 0; n < poses_.size(); ++n) trial_[n] = poses_[n] + t * (goal[n] - poses_[n]);
            if (!within_slack() || !right_handed()) {
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
            if (!within_slack() || !right_handed()) continue;
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

    const Island& island_;
    StepContext& context_;
    IslandResult result_;
    std::unique_ptr<IslandMemory> memory_;
    NewtonSystem<6>& rigid_system_ = memory_->rigid_system;
    NewtonSystem<12>& affine_system_ = memory_->affine_system;
    Direction& direction_ = memory_->direction;
    std::vector<Mat34>&poses_ = memory_->poses, &trial_ = memory_->trial;
    double energy_ = 0.0;
    double round_off_ = 0.0;  // of energies, beyond what their size says
    std::vector<char>& stale_ = memory_->stale;
    std::vector<double>& excess_ = memory_->excess;
    std::vector<std::size_t> resting_;
    std::vector<double>& motion_ =
        memory_->motion;  // m, of each body's fastest point over the whole Newton step
    std::vector<Mat34>& last_step_ = memory_->last_step;
    double last_length_ = 0.0;    // of it that was taken; 0: none
    double trial_length_ = -1.0;  // of the step that `trial_` is at; negative: of none
    bool friction_stale_ = false;
    bool overshot_ = false;  // the last step had to be shortened although nothing was in its way
    int blocked_steps_ = 0;  // one after the other that CCD has left little of
    int stale_steps_ = 0;
    int poor_steps_ = 0;
    int depth_ = 0;
    bool was_small_ = false;  // the last step was within the tolerance
    bool may_split_ = true;
    bool affine_ = false;
};

}  // namespace

void evaluate_pairs(const Island& island, StepContext& context, const std::vector<Mat34>& poses) {
    const std::size_t grain = grain_of(island, pair_grain);
    parallel_for(island.bodies.size(), grain,
                 [&](std::size_t n) { context.field.set_pose(island.bodies[n], poses[n]); });
    parallel_for(island.pairs.size(), grain, [&](std::size_t k) { context.field.evaluate(island.pairs[k]); });
}

// E(q): inertia, rigidity, barrier and friction, from poses and the contacts evaluated there.
double energy_at(const Island& island, const StepContext& context, const std::vector<Mat34>& poses) {
    const auto& bodies = context.bodies.body;
    const auto pose_of = [&](int body) -> const Mat34& {
        return context.node[body] >= 0 ? poses[context.node[body]] : context.q[body];
    };
    double energy = parallel_sum(island.bodies.size(), large_island, 0.0, [&](std::size_t n) {
        return body_energy(bodies[island.bodies[n]], poses[n], context.settings.rigidity);
    });
    energy += context.bodies.potential_scale *
              parallel_sum(island.pairs.size(), large_island, 0.0, [&](std::size_t k) {
                  const CandidatePair& pair = context.field.pair(island.pairs[k]);
                  const PairContacts& contacts = context.field.contacts(island.pairs[k]);
                  return contacts.energy + friction_energy(contacts, pose_of(pair.a), pose_of(pair.b),
                                                           bodies[pair.a].start, bodies[pair.b].start,
                                                           context.friction_eps);
              });
    return energy;
}

std::vector<Island> find_islands(const StepBodies& bodies, const ContactField& field,
                                 const std::vector<JointRow>& rows) {
    const std::size_t count = bodies.body.size();
    const auto moves = [&](int i) { return bodies.body[i].role != Role::still; };
    UnionFind sets(count);
    std::vector<char> touched(count, 0);
    for (int k = 0; k < field.pair_count(); ++k) {
        const CandidatePair& pair = field.pair(k);
        touched[pair.a] = touched[pair.b] = 1;
        if (moves(pair.a) && moves(pair.b)) sets.join(pair.a, pair.b);
    }
    for (const JointRow& row : rows) {
        touched[row.a] = touched[row.b] = 1;
        sets.join(row.a, row.b);
    }
    std::vector<int> island_of(count, -1);
    std::vector<Island> islands;
    for (std::size_t i = 0; i < count; ++i) {
        const int body = static_cast<int>(i);
        if (!touched[i] || !moves(body)) continue;
        const int root = sets.root(body);
        if (island_of[root] < 0) {
            island_of[root] = static_cast<int>(islands.size());
            islands.emplace_back();
        }
        Island& island = islands[island_of[root]];
        island.bodies.push_back(body);
        island.held = island.held || bodies.body[i].hold >= 0;
    }
    for (int k = 0; k < field.pair_count(); ++k) {
        const CandidatePair& pair = field.pair(k);
        Island& island = islands[island_of[sets.root(moves(pair.a) ? pair.a : pair.b)]];
        island.pairs.push_back(k);
        island.detailed = island.detailed || pieces_of(pair) > 1;
    }
    for (std::size_t r = 0; r < rows.size(); ++r)
        islands[island_of[sets.root(rows[r].a)]].rows.push_back(static_cast<int>(r));
    return islands;
}

void IslandResult::go_on(IslandResult later) {
    const int together = iterations + later.iterations;
    converged = true;
    out_of_slack = false;
    go_beside(std::move(later));
    iterations = together;
}

void IslandResult::go_beside(IslandResult later) {
    iterations = std::max(iterations, later.iterations);
    solves += later.solves;
    fallbacks += later.fallbacks;
    line_search_steps += later.line_search_steps;
    converged = converged && later.converged;
    out_of_slack = out_of_slack || later.out_of_slack;
    assemble_ms += later.assemble_ms;
    solve_ms += later.solve_ms;
    ccd_ms += later.ccd_ms;
    energy_ms += later.energy_ms;
    move_ms += later.move_ms;
    log.insert(log.end(), later.log.begin(), later.log.end());
    path.insert(path.end(), std::make_move_iterator(later.path.begin()),
                std::make_move_iterator(later.path.end()));
}

void for_islands(const std::vector<Island>& islands, const std::function<void(std::size_t)>& solve) {
    std::vector<std::size_t> order(islands.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return islands[a].pairs.size() > islands[b].pairs.size();
    });
    parallel_for(order.size(), 1, [&](std::size_t k) { solve(order[k]); });
}

IslandResult solve_island(const Island& island, StepContext& context, bool fresh) {
    return IslandNewton(island, context).run(fresh);
}

}  // namespace tenon::affine

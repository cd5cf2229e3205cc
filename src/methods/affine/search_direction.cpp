// The Newton direction, and the poses along it.
#include "methods/affine/island_newton.hpp"
#include "methods/affine/system_dump.hpp"

namespace tenon::affine {

void IslandNewton::find_direction() {
    if (!affine_) {
        direction_with(rigid_system_, solver());
        // Contacts as stiff as the body itself: strain and motion must be solved together.
        if (direction_.softness > 0.2) strain_matters();
    }
    if (affine_) direction_with(affine_system_, solver());
}

void IslandNewton::strain_matters() {
    affine_ = true;
    if (!context_.strained.empty())
        for (const int body : island_.bodies) context_.strained[body] = 1;
}

// A part has its own: the whole island will come back to the order it found.
solve::BlockCholesky& IslandNewton::solver() {
    if (depth_ > 0) return memory_->part_solver;
    auto& one = context_.solvers[island_.bodies[0]];
    if (!one) one = std::make_unique<solve::BlockCholesky>();
    return *one;
}

template <int Dof>
void IslandNewton::direction_with(NewtonSystem<Dof>& system, solve::BlockCholesky& factors) {
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

// The poses of a step of length t along the direction, in `trial_`.
void IslandNewton::move_trial(double t) {
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
            affine_system_.second_order_correction(island_, context_, solver(), direction_, t, trial_);
        else
            rigid_system_.second_order_correction(island_, context_, solver(), direction_, t, trial_);
    }
    // Keeping rotations rotations moves anchors a little: back onto the joints, in the metric of the Hessian.
    if (!island_.rows.empty()) {
        for (std::size_t n = 0; n < poses_.size(); ++n) trial_[n] -= poses_[n];
        affine_system_.project_onto_joints(island_, context_, solver(), trial_, t);
        for (std::size_t n = 0; n < poses_.size(); ++n) trial_[n] += poses_[n];
    }
}

void IslandNewton::note_motion() {
    motion_.resize(poses_.size());
    parallel_for(poses_.size(), grain_of(island_, 32),
                 [&](std::size_t n) { motion_[n] = displacement_bound(direction_.step[n], shape(n)); });
}

}  // namespace tenon::affine

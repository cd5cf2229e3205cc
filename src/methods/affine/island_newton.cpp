#include "methods/affine/island_newton.hpp"

#include "math/interrupt.hpp"

namespace tenon::affine {

IslandNewton::IslandNewton(const Island& island, StepContext& context)
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
    polish_ = island.pairs.empty() && context.settings.integrator != Integrator::implicit_euler;
    if (!context.strained.empty())
        for (const int body : island.bodies) affine_ = affine_ || context.strained[body];
    // Neo-Hookean energies are differences of numbers as large as the stiffness.
    if (context.settings.rigidity == RigidityModel::neo_hookean)
        for (const int body : island.bodies) round_off_ += 4e-15 * context.bodies.body[body].rigidity;
}

IslandResult IslandNewton::run(bool fresh) {
    start();
    if (fresh) start_from_prediction();
    const int limit = context_.settings.max_iterations;
    while (result_.iterations < limit && !stuck_ && !result_.out_of_margin &&
           (!result_.converged || stiffen_close_contacts())) {
        check_interrupt();
        ++result_.iterations;
        if (overshot_) start_friction_again();
        if (blocked_steps_ >= 8) stiffen_blockers();
        find_direction();
        for (int again = 0; again < 3 && stiffen_reversals(); ++again) find_direction();
        note_motion();
        rest_bodies();
        move_friction();
        take_step();
        if (!result_.converged && !result_.out_of_margin && !stuck_ && result_.iterations < limit)
            solve_active_set();
    }
    return std::move(result_);
}

void IslandNewton::start() {
    Clock clock(result_.energy_ms);
    evaluate_pairs(island_, context_, poses_);
    energy_ = energy_at(island_, context_, poses_);
}

// A logarithm stops a contact late where much else has energy to gain: then its gap is all the room that steps have,
// and they come to nothing.
void IslandNewton::stiffen_blockers() {
    blocked_steps_ = 0;
    for (const int k : island_.pairs) context_.field.stiffen_if_close(k);
    start();
}

// A solution with contacts pressed far into their range is one of a barrier that is too soft for its load: true when some
// were stiffened, and there is more to do.
bool IslandNewton::stiffen_close_contacts() {
    bool some = false;
    for (const int k : island_.pairs) some = context_.field.stiffen_if_close(k) || some;
    if (!some) return false;
    result_.converged = false;
    last_length_ = 0.0;
    start();
    return true;
}

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

IslandResult solve_island(const Island& island, StepContext& context, bool fresh) {
    return IslandNewton(island, context).run(fresh);
}

}  // namespace tenon::affine

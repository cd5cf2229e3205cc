// The incremental potential E(q) of an island.
#include "math/parallel.hpp"
#include "methods/affine/island_newton.hpp"

namespace tenon::affine {

void evaluate_pairs(const Island& island, StepContext& context, const std::vector<Mat34>& poses) {
    const std::size_t grain = grain_of(island, pair_grain);
    parallel_for(island.bodies.size(), grain,
                 [&](std::size_t n) { context.field.set_pose(island.bodies[n], poses[n]); });
    parallel_for(island.pairs.size(), grain, [&](std::size_t k) { context.field.evaluate(island.pairs[k]); });
}

double motor_off(const Motor& motor, const StepContext& context, const std::vector<Mat34>& poses) {
    const auto pose_of = [&](int body) { return body >= 0 ? &poses[context.node[body]] : nullptr; };
    return motor.off(pose_of(motor.a), pose_of(motor.b));
}

// E(q): inertia, rigidity, barrier, friction and motors, from poses and the contacts evaluated there.
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
                                                           bodies[pair.a].slide_from,
                                                           bodies[pair.b].slide_from, context.friction_eps);
              });
    for (const int m : island.motors)
        energy += context.bodies.potential_scale *
                  context.motors[m].energy(motor_off(context.motors[m], context, poses));
    return energy;
}

}  // namespace tenon::affine

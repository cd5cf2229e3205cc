// Bodies that turn far within a step, whose moments of inertia differ much: where the midpoint rule fails.
#pragma once

#include "model/rigid_state.hpp"

namespace tenon::impulse {

double turning_energy(const model::RigidState& state, const Vec3& moments);

// Free turning over dt, for steps of any length: angular momentum is kept, and so is energy, exactly so where two moments
// are equal. The pose turns with the spin.
void turn_freely(model::RigidState& state, const Vec3& moments, double dt);

// Free flight over dt, and the turn that contacts add to it. A body that was hit late in the step has turned less far than
// its new spin says: it turns freely for that much less. What else there is turns body and spin as one, since a pose that
// turned without the spin would have another energy.
void turn_far(model::RigidState& state, const Vec3& moments, const Vec3& added, double dt);

}  // namespace tenon::impulse

// The paper's scheme: every body by itself, its neighbours as they were before the step (Fig. 4).
#pragma once

#include "methods/impulse/body_by_body.hpp"

namespace tenon::impulse {

// Solves one gathered body: contact impulse, distribution, friction, coupling. Leaves the twist in `block.phi`
// and the impulses in its contacts. False: its contacts contradict each other.
bool solve_body_by_decomposition(BodyBlock& block);

// All bodies side by side. `limit_energy`: see body_by_body.hpp; without it this is the paper's scheme.
SolveReport solve_by_decomposition(ContactProblem& problem, bool limit_energy = true);

// Bodies at rest, or nearly so, that touch nothing movable: when their contacts can hold them, their twist and
// impulses are exact at once, however many contacts share the work, and no sweep is needed. Not so where one is deeper than
// `deepest`. Marks them in `done`.
void hold_single_bodies(ContactProblem& problem, double slow, double deepest, std::vector<char>& done);

}  // namespace tenon::impulse

// The paper's scheme: every body by itself, its neighbours as they were before the step (Fig. 4).
#pragma once

#include "methods/impulse/body_block.hpp"

namespace tenon::impulse {

// Solves one gathered body: contact impulse, distribution, friction, coupling. Leaves the twist in `block.phi`
// and the impulses in its contacts. False: its contacts contradict each other.
bool solve_body_by_decomposition(BodyBlock& block);

// All bodies side by side. Impulses on the two sides of a contact need not agree: the mean is reported.
SolveReport solve_by_decomposition(ContactProblem& problem);

// Bodies at rest, or nearly so, that touch nothing movable: when their contacts can hold them, their twist and
// impulses are exact at once, however many contacts share the work, and no sweep is needed. Marks them in `done`.
void hold_single_bodies(ContactProblem& problem, double slow, std::vector<char>& done);

}  // namespace tenon::impulse

// Every body by itself, its neighbours as they were before the step: the common frame of the paper's scheme and
// of fast frictional dynamics.
#pragma once

#include "methods/impulse/body_block.hpp"

namespace tenon::impulse {

// Solves one gathered body: leaves its twist in `block.phi` and the impulses in its contacts. False: its contacts
// contradict each other.
using BodySolver = bool (*)(BodyBlock& block);

// All bodies side by side. Impulses on the two sides of a contact need not agree: the mean is reported.
//
// Nothing in such a scheme keeps a heavy body from taking on a light one's velocity, and energy grows.
// `limit_energy` undoes that: a group of touching bodies that ends with more energy than it had, plus what scripted
// bodies gave it, is scaled back to that energy. This is the nearest point (in the mass metric) with the right
// energy; rest stays rest, and what separates still separates.
SolveReport solve_body_by_body(ContactProblem& problem, BodySolver solver, bool limit_energy);

}  // namespace tenon::impulse

// Fast frictional dynamics: the method the paper improves on, as a solver of its own.
#pragma once

#include "methods/impulse/body_by_body.hpp"

namespace tenon::impulse {

// Normal impulses by projection on each normal (Eq. 7), friction against the body's own motion (Eqs. 8-9).
// Leaves the twist in `block.phi`; `alpha` holds the projected amounts. False: contradicting contacts.
bool solve_body_by_ffd(BodyBlock& block);

SolveReport solve_by_ffd(ContactProblem& problem, bool limit_energy = true);

}  // namespace tenon::impulse

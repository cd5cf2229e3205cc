// Cuts a world into connected components and gives each the solver that its topology allows.
#pragma once

#include <memory>
#include <vector>

#include "methods/articulated/component.hpp"
#include "methods/articulated/dual_rows.hpp"

namespace tenon::articulated {

std::vector<std::unique_ptr<Component>> make_components(const Model& model, const State& state,
                                                        const SolverChoice& choice);

// The joints whose rows belong to a component with these bodies.
std::vector<int> joints_among(const Model& model, const State& state, const std::vector<int>& bodies);

}  // namespace tenon::articulated

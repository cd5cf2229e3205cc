// Cuts a world into connected components and gives each the solver that its topology allows.
#pragma once

#include <memory>
#include <vector>

#include "methods/articulated/component.hpp"
#include "methods/articulated/dual_rows.hpp"

namespace tenon::articulated {

std::vector<std::unique_ptr<Component>> make_components(const World& world, const SolverChoice& choice);

// The joints whose rows belong to a component with these bodies.
std::vector<int> joints_among(const World& world, const std::vector<int>& bodies);

}  // namespace tenon::articulated

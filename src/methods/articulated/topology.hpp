// Cuts a world into connected components and gives each the solver that its topology allows.
#pragma once

#include <memory>
#include <vector>

#include "methods/articulated/component.hpp"
#include "methods/articulated/dual_rows.hpp"

namespace tenon::articulated {

std::vector<std::unique_ptr<Component>> make_components(const World& world, const SolverChoice& choice);

}  // namespace tenon::articulated

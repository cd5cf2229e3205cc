// Initial velocities that joints cannot have.
#pragma once

#include <string>

#include "tenon/state.hpp"

namespace tenon::run {

// What the joint that the bodies' rates violate most would do: "" when all rates fit.
std::string misfit_of_start_velocities(const Model& model, const State& state);

}  // namespace tenon::run

// Applied forces and torques on bodies where they will be, for integrators that balance forces at the end of a step: a lever arm
// of the step's beginning would leave an error of first order.
#pragma once

#include "tenon/state.hpp"

namespace tenon {

// As external_wrenches, on poses extrapolated by `ahead` seconds.
void wrenches_ahead(const Model& model, const State& state, double time, double ahead,
                    std::vector<Wrench>& out);

}  // namespace tenon

// Bodies that are meant to be rigid and strain all the same.
#pragma once

#include <vector>

#include "tenon/method.hpp"

namespace tenon::affine {

// Records the largest entry of A^T A - I. Bodies that strain are made stiffer from the next step on, and told of unless the
// scene gives their stiffness (`kappa`, 0: not given).
void report_deformation(const Model& model, const State& state, double kappa,
                        std::vector<double>& rigidity_factor, StepReport& report);

}  // namespace tenon::affine

// What the parameters of a plan take, sample by sample.
#pragma once

#include <vector>

#include "sweep/plan.hpp"

namespace tenon::sweep {

// One row per sample, one entry per parameter (or per key of a list's runs, nothing where a run has none).
std::vector<std::vector<Cell>> samples(const Plan& plan);

}  // namespace tenon::sweep

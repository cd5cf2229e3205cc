// The parts of the volume benchmark.
#pragma once

#include "bench/bench.hpp"

namespace tenon::bench {

// Random overlapping piles: untangled, run with `affine` for 50 steps, verified exactly.
void untangle_piles(const Options& options);

}  // namespace tenon::bench

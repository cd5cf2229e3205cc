// The parts of the volume benchmark.
#pragma once

#include "bench/bench.hpp"

namespace tenon::bench {

// Random overlapping piles: untangled, run with `affine` for 50 steps, verified exactly.
void untangle_piles(const Options& options);

// Fig. 6: what is left of an overlap after one solution of the position problem, by grid resolution.
void separation_by_cells(const Options& options);

// Fig. 7: the dragged snake with contacts per cell against contacts per vertex, by cell size.
void friction_by_cells(const Options& options);

}  // namespace tenon::bench

// Figures 7 to 10 of the paper, drawn: ours at several steps beside implicit rigid bodies and the reference.
#pragma once

#include "bench/bench.hpp"

namespace tenon::bench {

void articulated_figures(const Options& options);

}  // namespace tenon::bench

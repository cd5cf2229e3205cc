// Table 1 of the paper: its scenes at its sizes, our figures beside the printed ones.
#pragma once

#include "bench/bench.hpp"

namespace tenon::bench {

void articulated_table1(const Options& options);

}  // namespace tenon::bench

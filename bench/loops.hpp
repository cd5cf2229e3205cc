// Short loops on two threads, a part of the bench `solve`.
#pragma once

#include "bench/bench.hpp"

namespace tenon::bench {

void run_loops(const Options& options);

}  // namespace tenon::bench

// Robots beside MuJoCo.
#pragma once

#include "bench/bench.hpp"

namespace tenon::bench {

Bench robots_bench();

}  // namespace tenon::bench

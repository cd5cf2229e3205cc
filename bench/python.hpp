// The C++ side of what bench/python_bench.py measures.
#pragma once

#include "bench/bench.hpp"

namespace tenon::bench {

Bench python_bench();

}  // namespace tenon::bench

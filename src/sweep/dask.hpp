// Runs of a sweep on a Dask cluster, by way of a Python helper beside the program.
#pragma once

#include "sweep/execute.hpp"

namespace tenon::sweep {

Tally execute_on_dask(const Sweep& sweep, const std::vector<long>& tasks, const Execution& how);

}  // namespace tenon::sweep

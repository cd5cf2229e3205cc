// Series over time, thinned for plots: of many values in a pixel the smallest and the largest stay.
#pragma once

#include <string>
#include <vector>

#include "serve/run_store.hpp"

namespace tenon::serve {

constexpr int max_series = 16;        // in one request
constexpr long series_points = 1200;  // kept of a series
constexpr long series_frames = 1500;  // read for series of bodies and joints: spread evenly over longer runs

// Names as in run/series.hpp. Throws InputError.
std::string describe_series(const OpenRun& run, const std::vector<std::string>& names);

}  // namespace tenon::serve

// Which plots a run gets.
#pragma once

#include <string>
#include <vector>

#include "export/svg_plot.hpp"
#include "run/series.hpp"

namespace tenon::app {

// Lines over time; series without a single value are left out.
exporting::PlotPanel panel_of(const std::vector<run::Series>& series, const std::string& title);

// Energies, momenta, contacts, iterations, timings, residuals and joint forces: those with something to show.
std::vector<exporting::PlotPanel> standard_panels(const run::RunReader& reader);

}  // namespace tenon::app

// Runs as plain-text USD (USDA): one stage, bodies as transforms with time samples, elastic solids as moving points.
#pragma once

#include "export/export.hpp"

namespace tenon::exporting {

ExportReport write_usd(const run::RunReader& run, const ExportOptions& options);

}  // namespace tenon::exporting

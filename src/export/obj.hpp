// One OBJ per frame, with one object per body and a material file for the colours.
#pragma once

#include "export/export.hpp"

namespace tenon::exporting {

// `output` is a folder: frame_000000.obj ..., numbered as in the run, and materials.mtl.
ExportReport write_obj_series(const run::RunReader& run, const ExportOptions& options);

}  // namespace tenon::exporting

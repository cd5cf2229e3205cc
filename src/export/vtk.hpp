// VTK XML files for ParaView and everything built on VTK.
#pragma once

#include "export/export.hpp"

namespace tenon::exporting {

// `output` is the .pvd; beside it a folder <name>_vtk holds per frame bodies_*.vtu (with their velocities),
// solids_*.vtu (tetrahedra, velocities, element states) and contacts_*.vtu (points with force, normal, distance).
ExportReport write_vtk(const run::RunReader& run, const ExportOptions& options);

}  // namespace tenon::exporting

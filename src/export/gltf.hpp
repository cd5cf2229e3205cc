// glTF 2.0: shared meshes, one node per body with an animation, morph targets for elastic solids.
#pragma once

#include "export/export.hpp"

namespace tenon::exporting {

// `output` ends in .glb (one file) or .gltf (with a .bin beside it). The animation starts at time 0 with the first
// chosen frame. Stretch and shear of affine bodies are kept exactly.
ExportReport write_gltf(const run::RunReader& run, const ExportOptions& options);

}  // namespace tenon::exporting

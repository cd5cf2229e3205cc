// What does not change during a run: shapes as vertex and index buffers, bodies, joints, as JSON beside them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "serve/run_store.hpp"

namespace tenon::serve {

// Positions, normals and indices of each shape in turn, then the triangles of each elastic surface.
Geometry pack_geometry(const OpenRun& run);
std::string describe_model(const OpenRun& run);

// Text that JSON can carry: what is not UTF-8 is replaced.
std::string dump(const nlohmann::json& value);

}  // namespace tenon::serve

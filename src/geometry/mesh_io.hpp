// Reading meshes: OBJ, STL (ASCII and binary), PLY (ASCII and binary), OFF. All in double.
#pragma once

#include <string>

#include "tenon/mesh.hpp"

namespace tenon::geometry {

// Chooses the reader by content where it can, by ending where it must. Throws InputError that names the
// file and the line or byte. Polygons are triangulated; OBJ lines and points become edges and points.
Mesh read_mesh(const std::string& file);

void write_obj(const Mesh& mesh, const std::string& file);

}  // namespace tenon::geometry

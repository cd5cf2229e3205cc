// The mesh a GeometrySpec describes, checked or mended.
#pragma once

#include "tenon/mesh.hpp"
#include "tenon/scene.hpp"

namespace tenon {

// Throws InputError for meshes that would give wrong masses or contacts, unless `repair` mends them.
Mesh geometry_mesh(const GeometrySpec& geometry, const Origin& origin);

}  // namespace tenon

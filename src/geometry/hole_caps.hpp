// Surfaces with holes, closed for the sake of their volume.
#pragma once

#include "tenon/mesh.hpp"

namespace tenon::geometry {

struct CappedMesh {
    Mesh mesh;               // of triangles, every hole closed by a fan about its rim's centre
    double cap_share = 0.0;  // area of the fans over the area of the surface
    bool closed = false;     // false when the rims are no loops, or triangles disagree on which side is out
};

CappedMesh cap_holes(const Mesh& mesh);

}  // namespace tenon::geometry

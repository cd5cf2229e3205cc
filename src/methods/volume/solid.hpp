// A solid as contact sees it.
#pragma once

#include "geometry/bvh_surface.hpp"
#include "tenon/types.hpp"

namespace tenon::volume {

// One solid: a shape's surface in a pose (rigid bodies), or a surface in the world frame with q the identity.
struct Solid {
    const geometry::SurfaceTree* surface = nullptr;
    const geometry::Bvh* blocks =
        nullptr;  // over the surface's blocks as they are now; null: the surface's own
    Mat34 q = Mat34::Identity();
    bool gradient_per_vertex = false;  // deformable: the gradient is wanted for each vertex
    Box3 box;                          // of its vertices in the world
};

}  // namespace tenon::volume

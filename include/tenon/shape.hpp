// Geometry and mass distribution that bodies share.
#pragma once

#include <string>
#include <vector>

#include "tenon/mesh.hpp"
#include "tenon/types.hpp"

namespace tenon {

// A simple solid that a mesh approximates: methods with analytic contact use it instead of the mesh.
struct Primitive {
    enum class Kind { none, box, sphere, capsule, cylinder, cone, plane } kind = Kind::none;
    Vec3 size = Vec3::Zero();  // box: full lengths; sphere: radius; capsule, cylinder, cone: radius, length
    Pose frame;                // of the primitive in the body frame (axis along its y; plane normal along y)
};

// Shared by all bodies that look alike. The body frame has its origin in the centre of mass and its axes along
// the principal axes.
struct Shape {
    std::string name;
    Mesh mesh;                    // in the body frame
    std::vector<Edge> all_edges;  // every edge of the mesh, loose ones included
    Pose geometry_frame;          // the geometry's own frame, seen from the body frame
    Primitive primitive;
    double volume = 0.0;                 // m^3
    Vec3 second_moments = Vec3::Zero();  // integral of x_k^2 over the volume, m^5 (unit density)
    double radius = 0.0;                 // largest distance of a vertex from the origin
    Box3 box;                            // of the vertices, body frame
    bool closed = false;                 // watertight and oriented
    bool convex = false;
};

}  // namespace tenon

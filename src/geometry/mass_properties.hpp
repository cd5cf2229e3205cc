// Exact volume, centroid and second moments of meshes; principal frames.
#pragma once

#include "tenon/mesh.hpp"

namespace tenon::geometry {

// Integrals at unit density. `second` is the integral of (x - centroid)(x - centroid)^T: not the inertia tensor.
struct MassProperties {
    double volume = 0.0;
    Vec3 centroid = Vec3::Zero();
    Mat3 second = Mat3::Zero();
    bool solid = false;  // from a closed surface; otherwise from area, length or points with a thickness
};

// Closed meshes by the divergence theorem. Open or flat ones by area x thickness, wires by length x
// thickness^2, point clouds by thickness^3 a point; the thickness enters the second moments (m t^2/12).
MassProperties mass_properties(const Mesh& mesh, double thickness);

// A right-handed frame in which `second` is diagonal. For already diagonal input it is the identity.
struct PrincipalFrame {
    Mat3 axes;     // columns, in the mesh's frame
    Vec3 moments;  // diagonal of the rotated `second`
};
PrincipalFrame principal_frame(const Mat3& second);

}  // namespace tenon::geometry

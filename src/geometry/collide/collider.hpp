// What a shape is to the contact finder: a primitive, a convex hull, or samples with a signed distance.
#pragma once

#include <memory>
#include <vector>

#include "geometry/collide/manifold.hpp"
#include "geometry/signed_distance.hpp"
#include "tenon/params.hpp"
#include "tenon/shape.hpp"

namespace tenon::geometry::collide {

// Faces of a convex polyhedron, coplanar triangles merged.
struct Hull {
    std::vector<Vec3> vertices;
    std::vector<std::vector<int>> faces;       // corners, counter-clockwise seen from outside
    std::vector<Vec3> normals;                 // one per face
    std::vector<std::vector<int>> neighbours;  // of each vertex, along edges
};

// Points spread over a surface, in clusters with bounding spheres so that far ones are skipped together.
struct SurfaceSamples {
    struct Cluster {
        Vec3 center;
        double radius;
        int begin, end;
    };
    std::vector<Vec3> points;
    std::vector<Cluster> clusters;
};

struct Collider {
    enum class Kind { sphere, capsule, box, cylinder, cone, hull, plane, mesh };

    Kind kind = Kind::mesh;
    Vec3 half = Vec3::Zero();  // box: half lengths; others: radius and half length
    Pose frame;                // of the primitive in the body frame
    bool framed = false;       // false: that frame is the body frame
    double radius = 0.0;       // around the body's origin
    Box3 box;                  // in the body frame
    Hull hull;
    SurfaceSamples samples;                       // body frame
    std::shared_ptr<const SignedDistance> field;  // body frame; of meshes, and of what they meet

    bool round() const { return kind == Kind::sphere || kind == Kind::capsule; }
    double core_radius() const { return round() ? half.x() : 0.0; }  // what surrounds the core
};

// `with_field`: also samples and signed distances of shapes that have analytic contacts among themselves, for
// scenes in which they meet non-convex meshes. Throws InputError for shapes that have neither.
Collider make_collider(const Shape& shape, bool with_field, const SignedDistanceOptions& options,
                       const Origin& origin);

// Does this shape need signed distances (is it neither a primitive nor convex)?
bool needs_field(const Shape& shape);

// Where a collider is: its primitive's frame, or the body frame, to the world.
struct Placement {
    Mat3 R = Mat3::Identity();
    Vec3 t = Vec3::Zero();
    Vec3 to_world(const Vec3& x) const { return R * x + t; }
    Vec3 to_local(const Vec3& x) const { return R.transpose() * (x - t); }
};
inline Placement placement(const Collider& collider, const Mat3& R, const Vec3& t) {
    if (!collider.framed) return {R, t};
    return {R * collider.frame.rotation.toRotationMatrix(), R * collider.frame.position + t};
}

}  // namespace tenon::geometry::collide

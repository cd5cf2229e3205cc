// Questions to one surface, in its body frame: the closest point, inside or outside, the first hit of a ray.
#pragma once

#include <limits>
#include <vector>

#include "geometry/bvh_surface.hpp"
#include "tenon/types.hpp"

namespace tenon::geometry {

struct SurfacePoint {
    double squared = std::numeric_limits<double>::infinity();  // distance^2; infinite: nothing within reach
    Vec3 point = Vec3::Zero();
    // What the point lies on: one of the three is set.
    int triangle = -1;
    int edge = -1;    // loose edges only
    int vertex = -1;  // loose points only

    bool found() const { return triangle >= 0 || edge >= 0 || vertex >= 0; }
};

// The closest point of the surface within `reach`. Ties go to the same primitive every time.
SurfacePoint closest_point(const SurfaceTree& surface, const Vec3& p,
                           double reach = std::numeric_limits<double>::infinity());

struct RayHit {
    double t = std::numeric_limits<double>::infinity();
    int triangle = -1;
    bool found() const { return triangle >= 0; }
};
// The first triangle, from either side, that the ray origin + t direction meets for 0 <= t <= t_max.
RayHit first_hit(const SurfaceTree& surface, const Vec3& origin, const Vec3& direction,
                 double t_max = std::numeric_limits<double>::infinity());

// The generalised winding number: how often the surface encloses a point. 1 inside and 0 outside a closed,
// outward-oriented surface; in between near the holes of an open one. Far parts of the surface are seen as dipoles:
// for a node of radius r at distance d > accuracy * r, which errs by less than about 1 / (4 accuracy^2).
class WindingNumber {
  public:
    explicit WindingNumber(const SurfaceTree& surface);

    double at(const Vec3& p, double accuracy = 4.0) const;
    double exact(const Vec3& p) const;  // sum over all triangles
    bool inside(const Vec3& p) const { return at(p) > 0.5; }

    // Distance to the surface, negative inside.
    double signed_distance(const Vec3& p) const;

  private:
    struct Dipole {
        Vec3 center = Vec3::Zero();  // mean of the triangles' centres, weighted by area
        Vec3 normal = Vec3::Zero();  // sum of area vectors
        double area = 0.0;
        double radius = 0.0;  // around center, contains all of the node
    };
    double block_angle(int block, const Vec3& p) const;

    const SurfaceTree* surface_ = nullptr;
    std::vector<Dipole> dipoles_;  // one per node of the surface's tree
};

}  // namespace tenon::geometry

// Intersection volumes of two solids and their gradients, from three layered depth images (section 3.2 of the paper),
// whole or divided into the cells of a grid (section 5).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "geometry/bvh_surface.hpp"
#include "geometry/ldi.hpp"
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

// The gradient of a volume over one solid. With c the derivative of the volume over a crossing's depth along axis e,
// summed over crossings at points x: area[e] = sum c, moment.col(e) = sum c x. From these follow, for rigid motion,
//   dV/dx = area,   dV/d(rotation about p) = sum over e of (moment.col(e) - area[e] p) x e,
// and, with a normal n, the area-weighted velocity of Eq. 20.
struct SideGradient {
    Vec3 area = Vec3::Zero();
    Mat3 moment = Mat3::Zero();
    std::vector<std::pair<int, Vec3>> vertex;  // (vertex, dV/dp) where asked for, ascending

    Vec3 torque(const Vec3& about) const {
        Vec3 sum = Vec3::Zero();
        for (int e = 0; e < 3; ++e) sum += (moment.col(e) - area[e] * about).cross(Vec3::Unit(e));
        return sum;
    }
};

// The part of an intersection inside one cell of the grid.
struct CellVolume {
    std::array<int, 3> cell{};
    Vec3 axis_volume = Vec3::Zero();  // as seen along each axis
    Vec3 longest = Vec3::Zero();      // longest overlap of a ray along each axis
    double volume() const { return axis_volume.sum() / 3; }
    double reach() const;  // the shortest of these, over the axes that see the overlap: no contact is deeper
    std::array<SideGradient, 2> side;
    std::array<Vec3, 2> surface_area{Vec3::Zero(),
                                     Vec3::Zero()};  // of each side's surface, as vectors pointing outward
};

struct Grid {
    double pixel = 0.01;  // m
    int cell_pixels = 0;  // pixels along a cell's side; 0: one volume for the whole pair
};

struct IntersectionStats {
    long triangles = 0, rays = 0, crossings = 0;
    long parity_errors = 0;  // rays on which a surface is left without being entered, or the reverse
    int layers = 0;          // most crossings of a ray
    void add(const IntersectionStats& other) {
        layers = std::max(layers, other.layers);
        triangles += other.triangles, rays += other.rays, crossings += other.crossings;
        parity_errors += other.parity_errors;
    }
};

// Buffers of one thread.
struct IntersectionScratch {
    std::vector<geometry::LdiTriangle> triangles;
    geometry::LayeredDepthImage image;
};

// Appends the cells with a non-zero volume, in ascending order of their index. Pixels and cells lie on one lattice for
// the whole scene, so that faces on pixel boundaries give exact volumes.
void intersect(const Solid& a, const Solid& b, const Grid& grid, IntersectionScratch& scratch,
               std::vector<CellVolume>& cells, IntersectionStats& stats);

// The same for a surface that overlaps itself: where it is inside itself twice. Both sides of a cell belong to it.
void intersect_self(const Solid& solid, const Grid& grid, IntersectionScratch& scratch,
                    std::vector<CellVolume>& cells, IntersectionStats& stats);

// Whether a point is inside a closed surface: parity of the crossings of one ray.
bool inside(const Solid& solid, const Vec3& point);

}  // namespace tenon::volume

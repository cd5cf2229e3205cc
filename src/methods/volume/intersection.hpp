// Intersection volumes of two solids and their gradients, from three layered depth images (section 3.2 of the paper),
// whole or divided into the cells of a grid (section 5).
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "geometry/ldi.hpp"
#include "methods/volume/region.hpp"
#include "methods/volume/solid.hpp"

namespace tenon::volume {

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

// What one image adds to a cell: it sees volumes and gradients along its own axis.
struct CellInImage {
    struct Side {
        double area = 0;
        Vec3 moment = Vec3::Zero(), surface_area = Vec3::Zero();
        std::vector<std::pair<int, double>>
            vertex;  // in the order of the crossings, each as often as it comes
    };
    double volume = 0, longest = 0;
    std::array<Side, 2> side;
};

// The intersection of two solids, or of one with itself, in pieces of work for several threads: begin, the three images
// in any order or at once, finish. Keeps its buffers. Pixels and cells lie on one lattice for the whole scene, so that
// faces on pixel boundaries give exact volumes.
class Intersection {
  public:
    void begin(const Solid& a, const Solid& b, const Grid& grid);
    // Where a surface is inside itself twice. Both sides of a cell belong to it.
    void begin_self(const Solid& solid, const Grid& grid);
    void image(int axis);
    bool empty() const { return cells_[0].empty() && cells_[1].empty() && cells_[2].empty(); }
    // Appends the cells with a non-zero volume, in ascending order of their index.
    void finish(std::vector<CellVolume>& cells, IntersectionStats& stats) const;

  private:
    using Cells = std::map<std::array<int, 3>, CellInImage>;

    std::array<const Solid*, 2> solids_{nullptr, nullptr};
    Grid grid_;
    OverlapRegion region_;
    std::vector<geometry::LdiTriangle> triangles_;
    std::array<Cells, 3> cells_;
    std::array<IntersectionStats, 3> stats_;
};

// Whether a point is inside a closed surface: parity of the crossings of one ray.
bool inside(const Solid& solid, const Vec3& point);

}  // namespace tenon::volume

// Signed distances of closed meshes on a regular grid, with gradients: one per shape, shared by its bodies.
#pragma once

#include <memory>
#include <vector>

#include "tenon/mesh.hpp"
#include "tenon/types.hpp"

namespace tenon::geometry {

struct SignedDistanceOptions {
    int cells = 40;   // along the longest side of the mesh's box
    int padding = 3;  // cells around it
};

// Distances at the nodes are exact within two cells of the surface (closest point on the triangles, sign by
// angle-weighted pseudo-normals) and those of a nearby triangle beyond; trilinear in between, so flat faces
// are exact and edges are rounded at the size of a cell. Negative inside.
class SignedDistance {
  public:
    struct Sample {
        double distance = 0.0;
        Vec3 gradient =
            Vec3::Zero();  // of the interpolant: near unit length, the outward normal at the surface
    };

    // Throws std::invalid_argument when the mesh has an open edge or no triangles.
    explicit SignedDistance(const Mesh& mesh, const SignedDistanceOptions& options = {});

    // Outside the grid: the value at the nearest point of the grid's box, plus the way there.
    double distance(const Vec3& point) const;
    Sample sample(const Vec3& point) const;

    const Box3& box() const { return box_; }  // of the grid
    double cell_size() const { return cell_; }
    std::size_t nodes() const { return value_.size(); }

  private:
    struct Place {
        std::size_t node;
        Vec3 fraction;
    };
    Place locate(const Vec3& inside_box) const;

    Box3 box_;
    double cell_ = 0.0;
    int nx_ = 0, ny_ = 0, nz_ = 0;
    std::vector<float> value_;
};

}  // namespace tenon::geometry

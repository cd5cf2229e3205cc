// A surface mesh, which may also hold loose edges and loose points.
#pragma once

#include "tenon/types.hpp"

namespace tenon {

struct Mesh {
    std::vector<Vec3> vertices;
    std::vector<Triangle> triangles;
    std::vector<Edge> edges;  // edges that belong to no triangle (wires)
    std::vector<int> points;  // vertices that belong to no triangle or edge (point clouds)

    bool empty() const { return triangles.empty() && edges.empty() && points.empty(); }
};

}  // namespace tenon

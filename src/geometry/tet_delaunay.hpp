// Delaunay tetrahedra of points with whole-number coordinates: every decision is exact, so degenerate input (lattices,
// flat faces) needs no tolerance.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::geometry {

using GridPoint = std::array<std::int32_t, 3>;

class Delaunay {
  public:
    // Points lie in [0, range]^3. The determinants have degree five: differences of 24 bits fit in 128-bit integers.
    static constexpr std::int32_t range = 1 << 21;

    struct Cell {
        std::array<int, 4> vertex{-1, -1, -1, -1};    // positively oriented; first -1: not in use
        std::array<int, 4> neighbor{-1, -1, -1, -1};  // beyond the face opposite each vertex; -1: none
        bool used() const { return vertex[0] >= 0; }
    };

    Delaunay();

    // The number of the new point, or of the point that is there already. Numbers start at 0.
    int insert(const GridPoint& point);

    // Cells have vertices as counted by insert(), shifted by 4; those below 4 belong to the surrounding tetrahedron.
    static constexpr int surrounding = 4;
    const std::vector<Cell>& cells() const { return cells_; }
    const GridPoint& point(int vertex) const { return points_[vertex]; }
    int size() const { return static_cast<int>(points_.size()) - surrounding; }

    // Six times the signed volume: its sign.
    static int orientation(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d);
    // 1 where p lies strictly inside the sphere through a positively oriented tetrahedron.
    static int in_sphere(const std::array<const GridPoint*, 4>& tet, const GridPoint& p);

  private:
    int locate(const GridPoint& p) const;
    bool conflicts(int cell, const GridPoint& p) const;
    int new_cell();

    std::vector<GridPoint> points_;
    std::vector<Cell> cells_;
    std::vector<int> free_;
    std::vector<int> mark_;  // per cell: the insertion that last looked at it
    int stamp_ = 0, last_ = 0;
    std::vector<int> cavity_;
    struct Side {
        std::uint64_t edge;
        int cell, face;
    };
    std::vector<Side> sides_;
};

}  // namespace tenon::geometry

// Layered depth images: for a lattice of parallel rays along a coordinate axis, every crossing with triangles.
//
// Watertight: rays are shifted by an infinitesimal amount that is the same for all triangles, so that a ray through a
// shared edge or vertex of a closed surface crosses it exactly as often as a ray beside it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::geometry {

struct LdiTriangle {
    std::array<Vec3, 3> corner;
    int surface = 0;
    int id = 0;
};

struct LdiCrossing {
    double depth = 0.0;
    Vec3 weight = Vec3::Zero();  // of the triangle's corners
    int surface = 0;
    int id = 0;
    bool exit = false;  // the ray leaves the solid here
};

// Where the line along `axis` through (u, v) meets a triangle. (u, v) are the coordinates that follow the axis
// cyclically: (y, z) for x, (z, x) for y, (x, y) for z.
bool ldi_cross(int axis, double u, double v, const std::array<Vec3, 3>& corner, LdiCrossing& crossing);

// Which rays of an image are wanted, by square tiles of them.
class RayMask {
  public:
    void reset(int tile_pixels, int columns, int rows);  // of tiles; none is wanted
    void want(int column, int row) { sum_[index(column + 1, row + 1)] = 1; }
    void finish();  // before questions are asked

    // Whether any tile of a range is wanted, ends included.
    bool any(int first_column, int last_column, int first_row, int last_row) const {
        return sum_[index(last_column + 1, last_row + 1)] - sum_[index(first_column, last_row + 1)] -
                   sum_[index(last_column + 1, first_row)] + sum_[index(first_column, first_row)] >
               0;
    }
    bool wants_ray(int column, int row) const {
        const int i = column / tile_pixels_, j = row / tile_pixels_;
        return any(i, i, j, j);
    }
    int tile_pixels() const { return tile_pixels_; }
    int columns() const { return columns_; }
    int rows() const { return rows_; }

  private:
    std::size_t index(int column, int row) const {
        return static_cast<std::size_t>(row) * (columns_ + 1) + column;
    }
    int tile_pixels_ = 1, columns_ = 0, rows_ = 0;
    std::vector<int> sum_;  // of wanted tiles before each column and row
};

class LayeredDepthImage {
  public:
    // Rays along `axis` through the centres of square pixels that cover the box; crossings outside the box's depth
    // range are left out, and those of rays that are not wanted.
    void rasterise(int axis, const Box3& box, double pixel, std::span<const LdiTriangle> triangles,
                   const RayMask* mask = nullptr);

    int axis() const { return axis_; }
    int width() const { return width_; }
    int height() const { return height_; }
    int rays() const { return width_ * height_; }
    double u(int column) const { return u0_ + (column + 0.5) * pixel_; }
    double v(int row) const { return v0_ + (row + 0.5) * pixel_; }
    Vec3 point(int ray, double depth) const;
    // Ascending depth; where depths are equal, exits come before entries.
    std::span<const LdiCrossing> ray(int index) const {
        return {crossings_.data() + start_[index], crossings_.data() + start_[index + 1]};
    }

  private:
    int axis_ = 2, width_ = 0, height_ = 0;
    double u0_ = 0, v0_ = 0, pixel_ = 1;
    std::vector<int> start_;
    std::vector<LdiCrossing> crossings_, unsorted_;
    std::vector<int> ray_of_;
};

}  // namespace tenon::geometry

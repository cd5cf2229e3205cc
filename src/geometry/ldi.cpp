#include "geometry/ldi.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::geometry {
namespace {

struct Flat {
    double u, v;
};

// Twice the signed area of (a, b, p), with the exact opposite value for (b, a, p): both triangles at an edge then
// agree on which side a ray passes. A ray on the line counts as shifted by (epsilon, epsilon^2).
double side(const Flat& a, const Flat& b, double u, double v, int& sign) {
    const bool swapped = b.u < a.u || (b.u == a.u && b.v < a.v);
    const Flat &p = swapped ? b : a, &q = swapped ? a : b;
    double value = (q.u - p.u) * (v - p.v) - (q.v - p.v) * (u - p.u);
    int direction = value > 0 ? 1 : value < 0 ? -1 : 0;
    if (direction == 0) direction = q.v != p.v ? (q.v < p.v ? 1 : -1) : (q.u > p.u ? 1 : q.u < p.u ? -1 : 0);
    sign = swapped ? -direction : direction;
    return swapped ? -value : value;
}

}  // namespace

bool ldi_cross(int axis, double u, double v, const std::array<Vec3, 3>& corner, LdiCrossing& crossing) {
    const int iu = (axis + 1) % 3, iv = (axis + 2) % 3;
    const Flat a{corner[0][iu], corner[0][iv]}, b{corner[1][iu], corner[1][iv]},
        c{corner[2][iu], corner[2][iv]};
    int sa, sb, sc;
    const double wa = side(b, c, u, v, sa), wb = side(c, a, u, v, sb), wc = side(a, b, u, v, sc);
    if (sa == 0 || sa != sb || sb != sc) return false;
    const double sum = wa + wb + wc;
    crossing.exit = sa > 0;
    if (sum == 0) return false;
    crossing.weight = Vec3(wa, wb, wc) / sum;
    crossing.depth = crossing.weight[0] * corner[0][axis] + crossing.weight[1] * corner[1][axis] +
                     crossing.weight[2] * corner[2][axis];
    return true;
}

Vec3 LayeredDepthImage::point(int ray, double depth) const {
    Vec3 p;
    p[axis_] = depth;
    p[(axis_ + 1) % 3] = u(ray % width_);
    p[(axis_ + 2) % 3] = v(ray / width_);
    return p;
}

void RayMask::reset(int tile_pixels, int columns, int rows) {
    tile_pixels_ = tile_pixels;
    columns_ = columns;
    rows_ = rows;
    sum_.assign(static_cast<std::size_t>(columns + 1) * (rows + 1), 0);
}

void RayMask::finish() {
    for (int j = 1; j <= rows_; ++j)
        for (int i = 1; i <= columns_; ++i)
            sum_[index(i, j)] += sum_[index(i - 1, j)] + sum_[index(i, j - 1)] - sum_[index(i - 1, j - 1)];
}

void LayeredDepthImage::rasterise(int axis, const Box3& box, double pixel,
                                  std::span<const LdiTriangle> triangles, const RayMask* mask) {
    const int iu = (axis + 1) % 3, iv = (axis + 2) % 3;
    axis_ = axis;
    pixel_ = pixel;
    u0_ = box.lo[iu];
    v0_ = box.lo[iv];
    width_ = std::max(1, static_cast<int>(std::ceil((box.hi[iu] - box.lo[iu]) / pixel - 1e-9)));
    height_ = std::max(1, static_cast<int>(std::ceil((box.hi[iv] - box.lo[iv]) / pixel - 1e-9)));
    unsorted_.clear();
    ray_of_.clear();
    const double per_pixel = 1 / pixel;
    for (const LdiTriangle& triangle : triangles) {
        double lo_u = 1e300, hi_u = -1e300, lo_v = 1e300, hi_v = -1e300;
        for (const Vec3& corner : triangle.corner) {
            lo_u = std::min(lo_u, corner[iu]), hi_u = std::max(hi_u, corner[iu]);
            lo_v = std::min(lo_v, corner[iv]), hi_v = std::max(hi_v, corner[iv]);
        }
        // rays between the triangle's sides, and a little more: the test decides, not the rounding here; most triangles
        // that are smaller than a pixel meet none
        // (casts, since rounding is a call on plain x86-64)
        constexpr double slack = 1e-6;
        const auto first = [&](double at, int count) {
            const double place = std::clamp(at * per_pixel - 0.5 - slack, 0.0, static_cast<double>(count));
            const int down = static_cast<int>(place);
            return down < place ? down + 1 : down;
        };
        const auto last = [&](double at, int count) {
            const double place = at * per_pixel - 0.5 + slack;
            return place < 0 ? -1 : static_cast<int>(std::min(place, count - 1.0));
        };
        const int first_u = first(lo_u - u0_, width_), last_u = last(hi_u - u0_, width_);
        const int first_v = first(lo_v - v0_, height_), last_v = last(hi_v - v0_, height_);
        LdiCrossing crossing;
        crossing.surface = triangle.surface;
        crossing.id = triangle.id;
        for (int row = first_v; row <= last_v; ++row)
            for (int column = first_u; column <= last_u; ++column)
                if ((!mask || mask->wants_ray(column, row)) &&
                    ldi_cross(axis, u(column), v(row), triangle.corner, crossing) &&
                    crossing.depth >= box.lo[axis] && crossing.depth <= box.hi[axis]) {
                    unsorted_.push_back(crossing);
                    ray_of_.push_back(row * width_ + column);
                }
    }
    start_.assign(rays() + 1, 0);
    for (int ray : ray_of_) ++start_[ray + 1];
    for (int i = 0; i < rays(); ++i) start_[i + 1] += start_[i];
    crossings_.resize(unsorted_.size());
    for (std::size_t i = unsorted_.size(); i-- > 0;) crossings_[--start_[ray_of_[i] + 1]] = unsorted_[i];
    for (int i = 0; i < rays(); ++i) start_[i] = start_[i + 1];
    start_[rays()] = static_cast<int>(crossings_.size());
    for (int i = 0; i < rays(); ++i)
        std::sort(crossings_.begin() + start_[i], crossings_.begin() + start_[i + 1],
                  [](const LdiCrossing& x, const LdiCrossing& y) {
                      if (x.depth != y.depth) return x.depth < y.depth;
                      if (x.exit != y.exit) return x.exit;
                      return x.surface != y.surface ? x.surface < y.surface : x.id < y.id;
                  });
}

}  // namespace tenon::geometry

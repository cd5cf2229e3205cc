// Bowyer and Watson's insertion. Spheres are open: a point on a sphere is not in conflict with it, which leaves every
// cavity strictly visible from the new point (a face coplanar with it has both its cells in conflict, or neither).
#include "geometry/tet_delaunay.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::geometry {
namespace {

using Wide = __int128;

int sign(Wide value) {
    return (value > 0) - (value < 0);
}

struct Difference {
    std::int64_t x, y, z;
};
Difference minus(const GridPoint& a, const GridPoint& b) {
    return {std::int64_t(a[0]) - b[0], std::int64_t(a[1]) - b[1], std::int64_t(a[2]) - b[2]};
}

// The determinant of three rows in double, with a bound of its rounding.
double determinant(const Difference& a, const Difference& b, const Difference& c, double& magnitude) {
    const double ax = double(a.x), ay = double(a.y), az = double(a.z), bx = double(b.x), by = double(b.y),
                 bz = double(b.z), cx = double(c.x), cy = double(c.y), cz = double(c.z);
    magnitude = std::abs(ax) * (std::abs(by * cz) + std::abs(bz * cy)) +
                std::abs(ay) * (std::abs(bz * cx) + std::abs(bx * cz)) +
                std::abs(az) * (std::abs(bx * cy) + std::abs(by * cx));
    return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
}
Wide exact_determinant(const Difference& a, const Difference& b, const Difference& c) {
    return Wide(a.x) * (b.y * c.z - b.z * c.y) + Wide(a.y) * (b.z * c.x - b.x * c.z) +
           Wide(a.z) * (b.x * c.y - b.y * c.x);
}

constexpr double rounding = 4e-15;  // of sums of a few dozen products, relative to their magnitudes

}  // namespace

int Delaunay::orientation(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d) {
    const Difference u = minus(b, a), v = minus(c, a), w = minus(d, a);
    double magnitude;
    const double value = determinant(u, v, w, magnitude);
    if (std::abs(value) > rounding * magnitude) return value > 0 ? 1 : -1;
    return sign(exact_determinant(u, v, w));
}

int Delaunay::in_sphere(const std::array<const GridPoint*, 4>& tet, const GridPoint& p) {
    std::array<Difference, 4> r;
    std::array<std::int64_t, 4> square;
    for (int i = 0; i < 4; ++i) {
        r[i] = minus(*tet[i], p);
        square[i] = r[i].x * r[i].x + r[i].y * r[i].y + r[i].z * r[i].z;
    }
    constexpr std::array<std::array<int, 3>, 4> others{{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};
    double sum = 0, bound = 0;
    for (int i = 0; i < 4; ++i) {
        double magnitude;
        const double minor = determinant(r[others[i][0]], r[others[i][1]], r[others[i][2]], magnitude);
        sum += (i % 2 ? -1 : 1) * double(square[i]) * minor;
        bound += double(square[i]) * magnitude;
    }
    if (std::abs(sum) > rounding * bound) return sum > 0 ? 1 : -1;
    Wide exact = 0;
    for (int i = 0; i < 4; ++i) {
        const Wide term =
            Wide(square[i]) * exact_determinant(r[others[i][0]], r[others[i][1]], r[others[i][2]]);
        exact += i % 2 ? -term : term;
    }
    return sign(exact);
}

Delaunay::Delaunay() {
    constexpr std::int32_t half = range / 2, far = 4 * range;
    points_ = {{half + far, half + far, half + far},
               {half + far, half - far, half - far},
               {half - far, half + far, half - far},
               {half - far, half - far, half + far}};
    Cell cell;
    cell.vertex = {0, 1, 2, 3};
    if (orientation(points_[0], points_[1], points_[2], points_[3]) < 0)
        std::swap(cell.vertex[2], cell.vertex[3]);
    cells_.push_back(cell);
    mark_.push_back(0);
}

// Walks through faces that have the point beyond them.
int Delaunay::locate(const GridPoint& p) const {
    int cell = last_;
    for (;;) {
        const Cell& at = cells_[cell];
        int next = -1;
        for (int i = 0; i < 4 && next < 0; ++i) {
            std::array<const GridPoint*, 4> corner;
            for (int k = 0; k < 4; ++k) corner[k] = &points_[at.vertex[k]];
            corner[i] = &p;
            if (orientation(*corner[0], *corner[1], *corner[2], *corner[3]) < 0) next = at.neighbor[i];
        }
        if (next < 0) return cell;
        cell = next;
    }
}

bool Delaunay::conflicts(int cell, const GridPoint& p) const {
    const auto& v = cells_[cell].vertex;
    return in_sphere({&points_[v[0]], &points_[v[1]], &points_[v[2]], &points_[v[3]]}, p) > 0;
}

int Delaunay::new_cell() {
    if (!free_.empty()) {
        const int cell = free_.back();
        free_.pop_back();
        return cell;
    }
    cells_.emplace_back();
    mark_.push_back(0);
    return static_cast<int>(cells_.size()) - 1;
}

int Delaunay::insert(const GridPoint& p) {
    const int start = locate(p);
    for (int v : cells_[start].vertex)
        if (points_[v] == p) return v - surrounding;
    const int vertex = static_cast<int>(points_.size());
    points_.push_back(p);

    // cells in conflict: marked with stamp; looked at and kept: with stamp + 1
    stamp_ += 2;
    cavity_.assign(1, start);
    mark_[start] = stamp_;
    for (std::size_t i = 0; i < cavity_.size(); ++i)
        for (int next : cells_[cavity_[i]].neighbor) {
            if (next < 0 || mark_[next] >= stamp_) continue;
            mark_[next] = conflicts(next, p) ? stamp_ : stamp_ + 1;
            if (mark_[next] == stamp_) cavity_.push_back(next);
        }

    // one cell over every face around the cavity; they meet where their faces share an edge
    sides_.clear();
    const std::size_t conflicting = cavity_.size();
    for (std::size_t i = 0; i < conflicting; ++i) {
        const Cell old = cells_[cavity_[i]];
        for (int f = 0; f < 4; ++f) {
            const int beyond = old.neighbor[f];
            if (beyond >= 0 && mark_[beyond] == stamp_) continue;
            const int made = new_cell();
            Cell cell = old;
            cell.vertex[f] = vertex;
            cell.neighbor = {-1, -1, -1, -1};
            cell.neighbor[f] = beyond;
            if (beyond >= 0)
                for (int& back : cells_[beyond].neighbor)
                    if (back == cavity_[i]) back = made;
            cells_[made] = cell;
            mark_[made] = stamp_ + 1;
            for (int k = 0; k < 4; ++k) {
                if (k == f) continue;
                int a = -1, b = -1;
                for (int m = 0; m < 4; ++m)
                    if (m != f && m != k) (a < 0 ? a : b) = cell.vertex[m];
                if (a > b) std::swap(a, b);
                sides_.push_back(
                    {(static_cast<std::uint64_t>(a) << 32) | static_cast<std::uint64_t>(b), made, k});
            }
            last_ = made;
        }
    }
    std::sort(sides_.begin(), sides_.end(), [](const Side& a, const Side& b) { return a.edge < b.edge; });
    for (std::size_t i = 0; i + 1 < sides_.size(); i += 2) {
        cells_[sides_[i].cell].neighbor[sides_[i].face] = sides_[i + 1].cell;
        cells_[sides_[i + 1].cell].neighbor[sides_[i + 1].face] = sides_[i].cell;
    }
    for (std::size_t i = 0; i < conflicting; ++i) {
        cells_[cavity_[i]].vertex[0] = -1;
        free_.push_back(cavity_[i]);
    }
    return vertex - surrounding;
}

}  // namespace tenon::geometry

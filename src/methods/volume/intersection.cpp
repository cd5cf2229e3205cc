#include "methods/volume/intersection.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <map>

#include "methods/volume/region.hpp"

namespace tenon::volume {
namespace {

using geometry::LdiCrossing;

// A box, widened to whole pixels of the scene's lattice with one to spare.
Box3 pixel_region(const Box3& box, double pixel) {
    Box3 region = box;
    if (region.empty()) return region;
    for (int k = 0; k < 3; ++k) {
        region.lo[k] = (std::floor(region.lo[k] / pixel) - 1) * pixel;
        region.hi[k] = (std::ceil(region.hi[k] / pixel) + 1) * pixel;
    }
    return region;
}

void gather(const Solid& solid, int surface, const Box3& region, std::vector<geometry::LdiTriangle>& out) {
    const geometry::SurfaceTree& tree = *solid.surface;
    for (int block : blocks_in(solid, region).block)
        for (const auto& t : tree.block(block).triangles) {
            geometry::LdiTriangle triangle;
            Box3 box;
            for (int k = 0; k < 3; ++k) {
                const Vec3& corner = tree.vertices()[tree.triangles()[t.id][k]];
                triangle.corner[k] = solid.blocks ? corner : transform(solid.q, corner);
                box.add(triangle.corner[k]);
            }
            if (!box.overlaps(region)) continue;
            triangle.surface = surface;
            triangle.id = t.id;
            out.push_back(triangle);
        }
}

// Whether a point is inside: parity of the crossings beyond it, up or down an axis.
bool is_inside(const Solid& solid, int axis, const Vec3& start, bool up) {
    const geometry::SurfaceTree& tree = *solid.surface;
    const Box3& box = solid.box;
    for (int k = 0; k < 3; ++k)
        if (start[k] < box.lo[k] || start[k] > box.hi[k]) return false;
    const Mat3 inverse = solid.q.leftCols<3>().inverse();
    const Vec3 local = inverse * (start - solid.q.col(3));
    const Vec3 direction = (up ? 1.0 : -1.0) * inverse.col(axis);
    bool inside = false;
    LdiCrossing crossing;
    (solid.blocks ? *solid.blocks : tree.tree()).visit_ray(local, direction, 1e300, [&](int block) {
        for (const auto& t : tree.block(block).triangles) {
            std::array<Vec3, 3> corner;
            for (int k = 0; k < 3; ++k)
                corner[k] = transform(solid.q, tree.vertices()[tree.triangles()[t.id][k]]);
            if (geometry::ldi_cross(axis, start[(axis + 1) % 3], start[(axis + 2) % 3], corner, crossing) &&
                (up ? crossing.depth > start[axis] : crossing.depth < start[axis]))
                inside = !inside;
        }
    });
    return inside;
}

// A ray that does not meet the solid within the region is inside all along or not at all: the nearer way out tells.
bool passes_inside(const Solid& solid, const geometry::LayeredDepthImage& image, int ray,
                   const Box3& region) {
    const int axis = image.axis();
    const double down = region.lo[axis] - solid.box.lo[axis], up = solid.box.hi[axis] - region.hi[axis];
    return is_inside(solid, axis, image.point(ray, up < down ? region.hi[axis] : region.lo[axis]), up < down);
}

// |n_e| n for a triangle's outward normal n. A ray along e stands for an area a / |n_e| of the surface, and the three
// images share it by the weights n_e^2, which add up to one: summed over crossings this is the surface's vector area,
// and for a flat surface it has exactly the direction of its normal, however few the pixels.
Vec3 weighted_normal(const Solid& solid, int triangle, int axis) {
    const Triangle& t = solid.surface->triangles()[triangle];
    const Mat3 A = solid.q.leftCols<3>();
    const Vec3& a = solid.surface->vertices()[t[0]];
    const Vec3 n =
        (A * (solid.surface->vertices()[t[1]] - a)).cross(A * (solid.surface->vertices()[t[2]] - a));
    return std::abs(n[axis]) / n.squaredNorm() * n;
}

// Adds up volumes and gradients of intervals of intersection, cell by cell.
class Accumulator {
  public:
    Accumulator(const std::array<const Solid*, 2>& solids, const Grid& grid) : solids_(solids), grid_(grid) {}

    // The solid that the lower crossing belongs to is side 0 or 1; for a surface that meets itself it is both.
    void add_interval(const geometry::LayeredDepthImage& image, int ray, const LdiCrossing& lower,
                      const LdiCrossing& upper) {
        const double length = upper.depth - lower.depth;
        if (!(length > 0)) return;
        const int axis = image.axis();
        const Vec3 low = image.point(ray, lower.depth), high = image.point(ray, upper.depth);
        if (grid_.cell_pixels == 0) {
            add_part(entry({0, 0, 0}), axis, lower, upper, low, high, length, 1.0);
            return;
        }
        const double side = grid_.cell_pixels * grid_.pixel;
        std::array<int, 3> cell;
        for (int k = 0; k < 3; ++k) cell[k] = static_cast<int>(std::floor(low[k] / side));
        const int last = static_cast<int>(std::floor(upper.depth / side));
        for (int k = cell[axis]; k <= last; ++k) {
            // the walls move with the two surfaces (Eqs. 22, 23), so this cell takes its share of the interval
            const double from = std::max(lower.depth, k * side), to = std::min(upper.depth, (k + 1) * side);
            if (!(to > from)) continue;
            cell[axis] = k;
            add_part(entry(cell), axis, lower, upper, low, high, to - from, (to - from) / length);
        }
    }

    void finish(std::vector<CellVolume>& cells) {
        for (auto& [cell, sums] : cells_) {
            CellVolume volume = std::move(sums.volume);
            volume.cell = cell;
            for (int s = 0; s < 2; ++s)
                for (auto& [vertex, gradient] : sums.vertex[s])
                    volume.side[s].vertex.emplace_back(vertex, gradient);
            cells.push_back(std::move(volume));
        }
    }

  private:
    struct Sums {
        CellVolume volume;
        std::array<std::map<int, Vec3>, 2> vertex;
    };

    Sums& entry(const std::array<int, 3>& cell) { return cells_[cell]; }

    void add_part(Sums& sums, int axis, const LdiCrossing& lower, const LdiCrossing& upper, const Vec3& low,
                  const Vec3& high, double length, double share) {
        const double pixel_area = grid_.pixel * grid_.pixel;
        sums.volume.axis_volume[axis] += pixel_area * length;
        sums.volume.longest[axis] = std::max(sums.volume.longest[axis], upper.depth - lower.depth);
        add_gradient(sums, axis, upper, high, pixel_area * share);
        add_gradient(sums, axis, lower, low, -pixel_area * share);
    }

    void add_gradient(Sums& sums, int axis, const LdiCrossing& crossing, const Vec3& point,
                      double coefficient) {
        SideGradient& side = sums.volume.side[crossing.surface];
        side.area[axis] += coefficient;
        side.moment.col(axis) += coefficient * point;
        const Solid& solid = *solids_[crossing.surface];
        sums.volume.surface_area[crossing.surface] +=
            std::abs(coefficient) * weighted_normal(solid, crossing.id, axis);
        if (!solid.gradient_per_vertex) return;
        const Triangle& triangle = solid.surface->triangles()[crossing.id];
        for (int k = 0; k < 3; ++k) {
            const auto [at, added] = sums.vertex[crossing.surface].try_emplace(triangle[k], Vec3::Zero());
            at->second[axis] += coefficient * crossing.weight[k];
        }
    }

    std::array<const Solid*, 2> solids_;
    Grid grid_;
    std::map<std::array<int, 3>, Sums> cells_;
};

// How many times a ray is inside each solid where it starts: often enough that it never leaves what it is not in. The
// order of crossings at one depth does not matter then (the two faces of a cut that has not opened).
std::array<int, 2> starting_depths(const geometry::LayeredDepthImage& image, int ray,
                                   const std::array<const Solid*, 2>& solids, const OverlapRegion& region) {
    std::array<int, 2> sum{0, 0}, least{0, 0};
    std::array<bool, 2> met{false, false};
    for (const LdiCrossing& crossing : image.ray(ray)) {
        const int s = crossing.surface;
        met[s] = true;
        sum[s] += crossing.exit ? -1 : 1;
        least[s] = std::min(least[s], sum[s]);
    }
    std::array<int, 2> depth{-least[0], -least[1]};
    for (int s = 0; s < 2; ++s)
        if (!met[s] && !region.known_outside(image.axis(), s) &&
            passes_inside(*solids[s], image, ray, region.box))
            depth[s] = 1;
    return depth;
}

// Walks along one ray and hands on every interval that lies in both solids.
void sweep_ray(const geometry::LayeredDepthImage& image, int ray, const std::array<const Solid*, 2>& solids,
               const OverlapRegion& region, Accumulator& sums, IntersectionStats& stats) {
    const auto crossings = image.ray(ray);
    if (crossings.empty()) return;
    std::array<int, 2> depth = starting_depths(image, ray, solids, region);
    const LdiCrossing* lower = nullptr;
    bool odd = depth[0] > 1 || depth[1] > 1;
    for (const LdiCrossing& crossing : crossings) {
        const bool was = depth[0] > 0 && depth[1] > 0;
        depth[crossing.surface] += crossing.exit ? -1 : 1;
        // a deformable surface may overlap itself
        if (depth[crossing.surface] > 1 && !solids[crossing.surface]->gradient_per_vertex) odd = true;
        const bool is = depth[0] > 0 && depth[1] > 0;
        if (!was && is) lower = &crossing;
        if (was && !is && lower) {
            sums.add_interval(image, ray, *lower, crossing);
            lower = nullptr;
        }
    }
    if (odd) ++stats.parity_errors;
}

// Where one surface is inside itself twice or more. The lower crossing goes to side 0, the upper to side 1.
void sweep_ray_of_one(const geometry::LayeredDepthImage& image, int ray, Accumulator& sums) {
    int depth = 0;
    const LdiCrossing* lower = nullptr;
    for (const LdiCrossing& crossing : image.ray(ray)) {
        const bool was = depth > 1;
        depth += crossing.exit ? -1 : 1;
        if (!was && depth > 1) lower = &crossing;
        if (was && depth <= 1 && lower) {
            LdiCrossing low = *lower, high = crossing;
            low.surface = 0, high.surface = 1;
            sums.add_interval(image, ray, low, high);
            lower = nullptr;
        }
    }
}

}  // namespace

void intersect_self(const Solid& solid, const Grid& grid, IntersectionScratch& scratch,
                    std::vector<CellVolume>& cells, IntersectionStats& stats) {
    const Box3 region = pixel_region(solid.box, grid.pixel);
    if (region.empty()) return;
    scratch.triangles.clear();
    gather(solid, 0, region, scratch.triangles);
    stats.triangles += static_cast<long>(scratch.triangles.size());
    Accumulator sums({&solid, &solid}, grid);
    for (int axis = 0; axis < 3; ++axis) {
        scratch.image.rasterise(axis, region, grid.pixel, scratch.triangles);
        stats.rays += scratch.image.rays();
        for (int ray = 0; ray < scratch.image.rays(); ++ray) sweep_ray_of_one(scratch.image, ray, sums);
    }
    sums.finish(cells);
}

double CellVolume::reach() const {
    double shortest = 1e300;
    for (int axis = 0; axis < 3; ++axis)
        if (axis_volume[axis] >= 0.5 * volume()) shortest = std::min(shortest, longest[axis]);
    return shortest;
}

bool inside(const Solid& solid, const Vec3& point) {
    return is_inside(solid, 2, point, false);
}

void intersect(const Solid& a, const Solid& b, const Grid& grid, IntersectionScratch& scratch,
               std::vector<CellVolume>& cells, IntersectionStats& stats) {
    const OverlapRegion region = find_region(a, b, grid.pixel);
    if (region.box.empty()) return;
    scratch.triangles.clear();
    gather(a, 0, region.box, scratch.triangles);
    const std::size_t of_a = scratch.triangles.size();
    gather(b, 1, region.box, scratch.triangles);
    if (of_a == 0 && scratch.triangles.empty()) return;
    stats.triangles += static_cast<long>(scratch.triangles.size());
    const std::array<const Solid*, 2> solids{&a, &b};
    Accumulator sums(solids, grid);
    for (int axis = 0; axis < 3; ++axis) {
        scratch.image.rasterise(axis, region.box, grid.pixel, scratch.triangles);
        stats.rays += scratch.image.rays();
        for (int ray = 0; ray < scratch.image.rays(); ++ray) {
            stats.crossings += static_cast<long>(scratch.image.ray(ray).size());
            stats.layers = std::max(stats.layers, static_cast<int>(scratch.image.ray(ray).size()));
            sweep_ray(scratch.image, ray, solids, region, sums, stats);
        }
    }
    sums.finish(cells);
}

}  // namespace tenon::volume

#include "methods/volume/intersection.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdint>

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

// Which rays of the scene's lattice a vertex lies between, along each axis: the number of the gap, 21 bits each. Gaps
// that differ by two million are taken for one, but no block of triangles is that wide.
struct Gaps {
    std::uint64_t key = 0;
    bool on_ray = false;  // or so close to one that rounding may decide
};

class GapFinder {
  public:
    GapFinder(const Mat34& q, double pixel) {
        for (int k = 0; k < 3; ++k) {
            for (int l = 0; l < 4; ++l) row_[k][l] = q(k, l) / pixel;
            row_[k][3] += kShift - 0.5;
        }
    }

    Gaps operator()(const Vec3& p) const {
        Gaps gaps;
        for (int k = 0; k < 3; ++k) {
            const double place = row_[k][0] * p[0] + row_[k][1] * p[1] + row_[k][2] * p[2] + row_[k][3];
            const int gap = static_cast<int>(place);
            const double beyond = place - gap;
            gaps.key |= static_cast<std::uint64_t>(gap & 0x1fffff) << (21 * k);
            gaps.on_ray |= beyond < kSlack || beyond > 1 - kSlack;
        }
        return gaps;
    }

  private:
    static constexpr double kShift = 1 << 29;  // makes places positive, so that a cast rounds down
    static constexpr double kSlack = 1e-5;     // of a pixel: wider than that of the images
    std::array<std::array<double, 4>, 3> row_;
};

// Whether any ray along any axis may meet the triangle: its corners must lie in different gaps along the other two axes.
// Most triangles much smaller than a pixel lie between the rays.
bool meets_rays(const Gaps& a, const Gaps& b, const Gaps& c) {
    constexpr std::uint64_t one = 0x1fffff;
    const std::uint64_t differ = (a.key ^ b.key) | (b.key ^ c.key);
    const int axes = ((differ & one) != 0) + ((differ & (one << 21)) != 0) + ((differ & (one << 42)) != 0);
    return axes >= 2 || a.on_ray || b.on_ray || c.on_ray;
}

// The solid's triangles that rays may meet and whose boxes pass a test, as those of larger parts then do.
template <class Test>
void gather(const Solid& solid, int surface, double pixel, const Test& test,
            std::vector<geometry::LdiTriangle>& out) {
    const geometry::SurfaceTree& tree = *solid.surface;
    const GapFinder gaps_of(solid.q, pixel);
    std::array<Gaps, geometry::SurfaceTree::block_vertices> gaps;
    NodeBoxes(solid).visit_blocks(test, [&](int b) {
        const geometry::SurfaceTree::Block block = tree.block(b);
        for (std::size_t v = 0; v < block.vertices.size(); ++v)
            gaps[v] = gaps_of(tree.vertices()[block.vertices[v]]);
        for (const auto& t : block.triangles) {
            if (!meets_rays(gaps[t.corner[0]], gaps[t.corner[1]], gaps[t.corner[2]])) continue;
            geometry::LdiTriangle triangle;
            Box3 box;
            for (int k = 0; k < 3; ++k) {
                const Vec3& corner = tree.vertices()[block.vertices[t.corner[k]]];
                triangle.corner[k] = solid.blocks ? corner : transform(solid.q, corner);
                box.add(triangle.corner[k]);
            }
            if (!test(box)) continue;
            triangle.surface = surface;
            triangle.id = t.id;
            out.push_back(triangle);
        }
    });
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

// Adds up volumes and gradients of intervals of intersection in one image, cell by cell.
class Accumulator {
  public:
    using Cells = std::map<std::array<int, 3>, CellInImage>;
    Accumulator(const std::array<const Solid*, 2>& solids, const Grid& grid, Cells& cells)
        : solids_(solids), grid_(grid), cells_(cells) {}

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

  private:
    // Neighbouring rays mostly meet the same cell.
    CellInImage& entry(const std::array<int, 3>& cell) {
        if (!last_ || last_->first != cell) last_ = &*cells_.try_emplace(cell).first;
        return last_->second;
    }

    void add_part(CellInImage& sums, int axis, const LdiCrossing& lower, const LdiCrossing& upper,
                  const Vec3& low, const Vec3& high, double length, double share) {
        const double pixel_area = grid_.pixel * grid_.pixel;
        sums.volume += pixel_area * length;
        sums.longest = std::max(sums.longest, upper.depth - lower.depth);
        add_gradient(sums, axis, upper, high, pixel_area * share);
        add_gradient(sums, axis, lower, low, -pixel_area * share);
    }

    void add_gradient(CellInImage& sums, int axis, const LdiCrossing& crossing, const Vec3& point,
                      double coefficient) {
        CellInImage::Side& side = sums.side[crossing.surface];
        const Solid& solid = *solids_[crossing.surface];
        side.area += coefficient;
        side.moment += coefficient * point;
        side.surface_area += std::abs(coefficient) * weighted_normal(solid, crossing.id, axis);
        if (!solid.gradient_per_vertex) return;
        const Triangle& triangle = solid.surface->triangles()[crossing.id];
        for (int k = 0; k < 3; ++k) side.vertex.emplace_back(triangle[k], coefficient * crossing.weight[k]);
    }

    std::array<const Solid*, 2> solids_;
    Grid grid_;
    Cells& cells_;
    Cells::value_type* last_ = nullptr;
};

// Three images' gradients by vertices become one, with the vertices in ascending order.
void join_vertices(const std::array<const CellInImage*, 3>& images, int side,
                   std::vector<std::pair<int, Vec3>>& out) {
    std::size_t count = 0;
    for (const CellInImage* image : images)
        if (image) count += image->side[side].vertex.size();
    if (count == 0) return;
    struct Entry {
        int vertex, axis;
        double value;
    };
    std::vector<Entry> all;
    all.reserve(count);
    for (int axis = 0; axis < 3; ++axis)
        if (images[axis])
            for (const auto& [vertex, value] : images[axis]->side[side].vertex)
                all.push_back({vertex, axis, value});
    std::stable_sort(all.begin(), all.end(),
                     [](const Entry& x, const Entry& y) { return x.vertex < y.vertex; });
    for (const Entry& entry : all) {
        if (out.empty() || out.back().first != entry.vertex) out.emplace_back(entry.vertex, Vec3::Zero());
        out.back().second[entry.axis] += entry.value;
    }
}

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
    // a deformable surface may overlap itself
    const auto twice_inside = [&](int s) { return depth[s] > 1 && !solids[s]->gradient_per_vertex; };
    bool odd = twice_inside(0) || twice_inside(1);
    for (const LdiCrossing& crossing : crossings) {
        const bool was = depth[0] > 0 && depth[1] > 0;
        depth[crossing.surface] += crossing.exit ? -1 : 1;
        odd = odd || twice_inside(crossing.surface);
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

void Intersection::begin(const Solid& a, const Solid& b, const Grid& grid) {
    solids_ = {&a, &b};
    grid_ = grid;
    triangles_.clear();
    region_ = find_region(a, b, grid.pixel);
    if (region_.box.empty()) return;
    const auto wanted = [&](const Box3& box) { return region_.on_wanted_rays(box); };
    gather(a, 0, grid.pixel, wanted, triangles_);
    gather(b, 1, grid.pixel, wanted, triangles_);
}

void Intersection::begin_self(const Solid& solid, const Grid& grid) {
    solids_ = {&solid, &solid};
    grid_ = grid;
    triangles_.clear();
    region_ = {};
    region_.box = pixel_region(solid.box, grid.pixel);
    if (!region_.box.empty())
        gather(
            solid, 0, grid.pixel, [](const Box3&) { return true; }, triangles_);
}

void Intersection::image(int axis) {
    static thread_local geometry::LayeredDepthImage image;
    cells_[axis].clear();
    IntersectionStats& stats = stats_[axis] = {};
    if (triangles_.empty()) return;
    const bool alone = solids_[0] == solids_[1];
    image.rasterise(axis, region_.box, grid_.pixel, triangles_, alone ? nullptr : &region_.rays[axis]);
    stats.rays = image.rays();
    Accumulator sums(solids_, grid_, cells_[axis]);
    for (int ray = 0; ray < image.rays(); ++ray) {
        const int crossings = static_cast<int>(image.ray(ray).size());
        stats.crossings += crossings;
        stats.layers = std::max(stats.layers, crossings);
        if (alone)
            sweep_ray_of_one(image, ray, sums);
        else
            sweep_ray(image, ray, solids_, region_, sums, stats);
    }
}

void Intersection::finish(std::vector<CellVolume>& cells, IntersectionStats& stats) const {
    stats.triangles += static_cast<long>(triangles_.size());
    std::map<std::array<int, 3>, std::array<const CellInImage*, 3>> joined;
    for (int axis = 0; axis < 3; ++axis) {
        stats.add(stats_[axis]);
        for (const auto& [cell, sums] : cells_[axis]) joined[cell][axis] = &sums;
    }
    for (const auto& [cell, images] : joined) {
        CellVolume& made = cells.emplace_back();
        made.cell = cell;
        for (int axis = 0; axis < 3; ++axis) {
            if (!images[axis]) continue;
            made.axis_volume[axis] = images[axis]->volume;
            made.longest[axis] = images[axis]->longest;
            for (int s = 0; s < 2; ++s) {
                made.side[s].area[axis] = images[axis]->side[s].area;
                made.side[s].moment.col(axis) = images[axis]->side[s].moment;
                made.surface_area[s] += images[axis]->side[s].surface_area;
            }
        }
        for (int s = 0; s < 2; ++s) join_vertices(images, s, made.side[s].vertex);
    }
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

}  // namespace tenon::volume

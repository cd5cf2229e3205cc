#include "methods/volume/region.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenon::volume {
namespace {

constexpr int kTiles = 64;  // along a side, at most
constexpr int kPasses = 5;  // over the three axes, for boxes of one size

// Sizes of the boxes that stand for the surfaces, and of the tiles they are seen in.
struct Stage {
    double box_pixels;
    int tile_pixels;
};
constexpr Stage kStages[] = {{16, 4}, {4, 2}, {1, 1}};

struct Span {
    double lo = 1e300, hi = -1e300;
    bool empty() const { return lo > hi; }
};

class Narrowing {
  public:
    Narrowing(const Solid& a, const Solid& b, double pixel)
        : solids_{&a, &b}, nodes_{NodeBoxes(a), NodeBoxes(b)}, pixel_(pixel) {
        region_.box.lo = a.box.lo.cwiseMax(b.box.lo);
        region_.box.hi = a.box.hi.cwiseMin(b.box.hi);
        if (region_.box.empty()) return;
        // to whole pixels, with one to spare
        for (int k = 0; k < 3; ++k) {
            region_.box.lo[k] = (std::floor(region_.box.lo[k] / pixel) - 1) * pixel;
            region_.box.hi[k] = (std::ceil(region_.box.hi[k] / pixel) + 1) * pixel;
            for (int s = 0; s < 2; ++s) {
                region_.outside_at_start[k][s] = region_.box.lo[k] < solids_[s]->box.lo[k];
                region_.outside_at_end[k][s] = region_.box.hi[k] > solids_[s]->box.hi[k];
            }
        }
    }

    OverlapRegion result() {
        for (const Stage& stage : kStages) {
            least_tile_ = stage.tile_pixels;
            for (int s = 0; s < 2 && !region_.box.empty(); ++s)
                nodes_[s].cover(region_.box, stage.box_pixels * pixel_, boxes_[s]);
            for (int pass = 0; pass < kPasses && !region_.box.empty(); ++pass) {
                const double before = region_.box.size().prod();
                for (int axis = 0; axis < 3 && !region_.box.empty(); ++axis) narrow(axis);
                if (region_.box.empty() || region_.box.size().prod() > 0.9 * before) break;
            }
        }
        region_.pixel = pixel_;
        for (int axis = 0; axis < 3 && !region_.box.empty(); ++axis) mark_rays(axis);
        return region_;
    }

  private:
    int pixels(int axis) const {
        return static_cast<int>(std::lround((region_.box.hi[axis] - region_.box.lo[axis]) / pixel_));
    }

    // Spans of both solids' boxes in each tile of the image along an axis.
    void fill_tiles(int axis) {
        u_ = (axis + 1) % 3, v_ = (axis + 2) % 3;
        const int longest = std::max(pixels(u_), pixels(v_));
        tile_pixels_ = std::max(least_tile_, (longest + kTiles - 1) / kTiles);
        nu_ = (pixels(u_) + tile_pixels_ - 1) / tile_pixels_;
        nv_ = (pixels(v_) + tile_pixels_ - 1) / tile_pixels_;
        const double per_tile = 1 / (tile_pixels_ * pixel_);
        for (int s = 0; s < 2; ++s) {
            span_[s].assign(static_cast<std::size_t>(nu_) * nv_, {});
            std::erase_if(boxes_[s], [&](const Box3& box) { return !box.overlaps(region_.box); });
            for (const Box3& box : boxes_[s]) {
                const auto index = [&](double x, int k, int n) {
                    // towards zero is down here, since what is below zero becomes zero
                    const double at = std::clamp((x - region_.box.lo[k]) * per_tile, 0.0, n - 1.0);
                    return static_cast<int>(at);
                };
                // a little wider, so that a box on a tile's edge counts on both sides
                const double slack = 1e-6 * pixel_;
                const int first_u = index(box.lo[u_] - slack, u_, nu_),
                          last_u = index(box.hi[u_] + slack, u_, nu_);
                const int first_v = index(box.lo[v_] - slack, v_, nv_),
                          last_v = index(box.hi[v_] + slack, v_, nv_);
                for (int j = first_v; j <= last_v; ++j)
                    for (int i = first_u; i <= last_u; ++i) {
                        Span& span = span_[s][static_cast<std::size_t>(j) * nu_ + i];
                        span.lo = std::min(span.lo, box.lo[axis]);
                        span.hi = std::max(span.hi, box.hi[axis]);
                    }
            }
        }
    }

    // Where a solid may be inside, along the rays of a tile.
    Span inside_span(int axis, int s, std::size_t tile) const {
        const Span& span = span_[s][tile];
        if (span.empty()) {
            if (region_.known_outside(axis, s)) return {};
            return {region_.box.lo[axis], region_.box.hi[axis]};
        }
        return {
            region_.outside_at_start[axis][s] ? std::max(span.lo, region_.box.lo[axis])
                                              : region_.box.lo[axis],
            region_.outside_at_end[axis][s] ? std::min(span.hi, region_.box.hi[axis]) : region_.box.hi[axis]};
    }

    void narrow(int axis) {
        fill_tiles(axis);
        Span depth;
        int first_u = nu_, last_u = -1, first_v = nv_, last_v = -1;
        for (int j = 0; j < nv_; ++j)
            for (int i = 0; i < nu_; ++i) {
                const std::size_t tile = static_cast<std::size_t>(j) * nu_ + i;
                const Span a = inside_span(axis, 0, tile), b = inside_span(axis, 1, tile);
                const double lo = std::max(a.lo, b.lo), hi = std::min(a.hi, b.hi);
                if (a.empty() || b.empty() || lo > hi) continue;
                depth.lo = std::min(depth.lo, lo), depth.hi = std::max(depth.hi, hi);
                first_u = std::min(first_u, i), last_u = std::max(last_u, i);
                first_v = std::min(first_v, j), last_v = std::max(last_v, j);
            }
        if (depth.empty()) {
            region_.box = Box3{};
            return;
        }
        crop_depth(axis, depth, first_u, last_u, first_v, last_v);
        crop_rays(u_, first_u, last_u);
        crop_rays(v_, first_v, last_v);
    }

    // Tiles in which both solids may be inside at one depth.
    void mark_rays(int axis) {
        fill_tiles(axis);
        geometry::RayMask& mask = region_.rays[axis];
        mask.reset(tile_pixels_, nu_, nv_);
        for (int j = 0; j < nv_; ++j)
            for (int i = 0; i < nu_; ++i) {
                const std::size_t tile = static_cast<std::size_t>(j) * nu_ + i;
                const Span a = inside_span(axis, 0, tile), b = inside_span(axis, 1, tile);
                if (!a.empty() && !b.empty() && std::max(a.lo, b.lo) <= std::min(a.hi, b.hi)) mask.want(i, j);
            }
        mask.finish();
    }

    // The rays now start and end elsewhere: still outside only if no box of the remaining tiles lies before.
    void crop_depth(int axis, const Span& depth, int first_u, int last_u, int first_v, int last_v) {
        const double lo = std::max(region_.box.lo[axis], (std::floor(depth.lo / pixel_) - 1) * pixel_);
        const double hi = std::min(region_.box.hi[axis], (std::ceil(depth.hi / pixel_) + 1) * pixel_);
        for (int s = 0; s < 2; ++s) {
            Span all;
            for (int j = first_v; j <= last_v; ++j)
                for (int i = first_u; i <= last_u; ++i) {
                    const Span& span = span_[s][static_cast<std::size_t>(j) * nu_ + i];
                    all.lo = std::min(all.lo, span.lo), all.hi = std::max(all.hi, span.hi);
                }
            bool& start = region_.outside_at_start[axis][s];
            bool& end = region_.outside_at_end[axis][s];
            start = start && lo <= std::min(all.lo, 1e299);
            end = end && hi >= std::max(all.hi, -1e299);
        }
        region_.box.lo[axis] = lo;
        region_.box.hi[axis] = hi;
    }

    void crop_rays(int axis, int first, int last) {
        const double from = region_.box.lo[axis], tile = tile_pixels_ * pixel_;
        const double hi = std::min(region_.box.hi[axis], from + (last + 1) * tile);
        crop_ends(axis, from + first * tile, hi);
    }

    // Rays along this axis end earlier; which boxes they passed before is not known here.
    void crop_ends(int axis, double lo, double hi) {
        if (lo > region_.box.lo[axis] + 0.5 * pixel_)
            for (int s = 0; s < 2; ++s)
                if (lo > lowest(axis, s)) region_.outside_at_start[axis][s] = false;
        if (hi < region_.box.hi[axis] - 0.5 * pixel_)
            for (int s = 0; s < 2; ++s)
                if (hi < highest(axis, s)) region_.outside_at_end[axis][s] = false;
        region_.box.lo[axis] = std::round(lo / pixel_) * pixel_;  // one lattice for all
        region_.box.hi[axis] = std::round(hi / pixel_) * pixel_;
    }

    double lowest(int axis, int s) const {
        double least = 1e300;
        for (const Box3& box : boxes_[s]) least = std::min(least, box.lo[axis]);
        return least;
    }
    double highest(int axis, int s) const {
        double most = -1e300;
        for (const Box3& box : boxes_[s]) most = std::max(most, box.hi[axis]);
        return most;
    }

    std::array<const Solid*, 2> solids_;
    std::array<NodeBoxes, 2> nodes_;
    double pixel_;
    OverlapRegion region_;
    std::array<std::vector<Box3>, 2> boxes_;
    std::array<std::vector<Span>, 2> span_;
    int u_ = 1, v_ = 2, nu_ = 0, nv_ = 0, tile_pixels_ = 1, least_tile_ = 1;
};

}  // namespace

Box3 NodeBoxes::whole() const {
    Box3 box;
    if (tree_.empty()) return box;
    const double size = (tree_.node_box(0).hi - tree_.node_box(0).lo).maxCoeff() / 8;
    const auto nodes = tree_.nodes();
    for (int i = 0; i < static_cast<int>(nodes.size());) {
        const Box3 own = tree_.node_box(i);
        const bool last = nodes[i].leaf() || (own.hi - own.lo).maxCoeff() <= size;
        if (last) box.add((*this)(i));
        i = last ? nodes[i].escape : i + 1;
    }
    return box;
}

void NodeBoxes::cover(const Box3& region, double size, std::vector<Box3>& boxes) const {
    boxes.clear();
    const auto nodes = tree_.nodes();
    const int count = static_cast<int>(nodes.size());
    for (int i = 0; i < count;) {
        const Box3 box = (*this)(i);
        const bool inside = box.overlaps(region);
        const bool last = inside && (nodes[i].leaf() || (box.hi - box.lo).maxCoeff() <= size);
        if (last) boxes.push_back(box);
        i = inside && !last ? i + 1 : nodes[i].escape;
    }
}

bool OverlapRegion::on_wanted_rays(const Box3& part) const {
    if (!part.overlaps(box)) return false;
    for (int axis = 0; axis < 3; ++axis) {
        const geometry::RayMask& mask = rays[axis];
        const double per_tile = 1 / (mask.tile_pixels() * pixel), slack = 1e-5 * pixel;
        const auto index = [&](double x, int k, int n) {
            return static_cast<int>(std::clamp((x - box.lo[k]) * per_tile, 0.0, n - 1.0));
        };
        const int u = (axis + 1) % 3, v = (axis + 2) % 3;
        if (mask.any(index(part.lo[u] - slack, u, mask.columns()),
                     index(part.hi[u] + slack, u, mask.columns()), index(part.lo[v] - slack, v, mask.rows()),
                     index(part.hi[v] + slack, v, mask.rows())))
            return true;
    }
    return false;
}

OverlapRegion find_region(const Solid& a, const Solid& b, double pixel) {
    return Narrowing(a, b, pixel).result();
}

}  // namespace tenon::volume

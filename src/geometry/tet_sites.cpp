#include "geometry/tet_sites.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "geometry/tet_point_grid.hpp"
#include "math/parallel.hpp"

namespace tenon::geometry {

std::vector<SurfaceSample> scatter(const FeatureSurface& surface, double per_area) {
    std::vector<SurfaceSample> made;
    double due = 0.5;
    const Mesh& mesh = surface.mesh();
    std::mt19937 random(7);
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const Vec3 &a = mesh.vertices[mesh.triangles[t][0]], &b = mesh.vertices[mesh.triangles[t][1]],
                   &c = mesh.vertices[mesh.triangles[t][2]];
        due += 0.5 * (b - a).cross(c - a).norm() * per_area;
        for (; due >= 1; due -= 1) {
            double u = std::ldexp(static_cast<double>(random()), -32),
                   v = std::ldexp(static_cast<double>(random()), -32);
            if (u + v > 1) u = 1 - u, v = 1 - v;
            made.push_back({a + u * (b - a) + v * (c - a), static_cast<int>(t)});
        }
    }
    return made;
}

namespace {

void any_tangents(const Vec3& n, Vec3& u, Vec3& w) {
    u = n.cross(std::abs(n.x()) < 0.6 ? Vec3(Vec3::UnitX()) : Vec3(Vec3::UnitY())).normalized();
    w = n.cross(u);
}

// The size that thickness, gaps and curvature allow at a point of the surface.
double local_size(const FeatureSurface& surface, const SurfaceSample& at, double cell) {
    const Vec3 n = surface.normal_of(at.triangle);
    if (n.squaredNorm() == 0) return cell;
    double size = cell;
    for (int side : {-1, 1}) {  // inward, outward
        const Vec3 direction = side * n;
        const RayHit hit = first_hit(surface.tree(), at.x + 1e-6 * cell * direction, direction, 1.2 * cell);
        if (hit.found() && n.dot(surface.normal_of(hit.triangle)) < -0.7) size = std::min(size, 0.9 * hit.t);
    }
    const int patch = surface.patch_of(at.triangle);
    if (surface.patches()[patch].flat) return size;
    Vec3 u, w;
    any_tangents(n, u, w);
    for (const Vec3& direction : {u, w, Vec3(-u), Vec3(-w)}) {
        Vec3 foot;
        const Vec3 m = surface.patch_normal(patch, at.x + 0.5 * cell * direction, &foot);
        const double turn = std::acos(std::clamp(n.dot(m), -1.0, 1.0));
        if (turn > 0.35) size = std::min(size, 0.75 * (foot - at.x).norm() / turn);
    }
    return size;
}

// Curves that pass each other at less than a cell without meeting, and curves shorter than it.
void visit_close_features(const FeatureSurface& surface, double cell,
                          const std::function<void(const Vec3&, double)>& found) {
    PointGrid grid(cell);
    struct Place {
        Vec3 x;
        int curve;
    };
    std::vector<Place> places;
    const auto& curves = surface.curves();
    for (int c = 0; c < static_cast<int>(curves.size()); ++c) {
        const double length = curves[c].total();
        const int steps = static_cast<int>(std::ceil(8 * length / cell)) + 1;
        for (int i = 0; i <= steps; ++i) {
            places.push_back({curves[c].at(length * i / steps - (i == steps ? 1e-12 * length : 0)), c});
            if (length < cell) found(places.back().x, length);
        }
    }
    for (std::size_t i = 0; i < places.size(); ++i) grid.add(places[i].x, static_cast<int>(i));
    const auto meet = [&](int a, int b) {
        for (int i : curves[a].corner)
            for (int j : curves[b].corner)
                if (i >= 0 && i == j) return true;
        return false;
    };
    for (const Place& p : places) {
        double nearest = cell;
        grid.visit(p.x, cell, [&](int other, const Vec3& q) {
            if (places[other].curve != p.curve && !meet(places[other].curve, p.curve))
                nearest = std::min(nearest, (q - p.x).norm());
        });
        if (nearest < cell) found(p.x, nearest);
    }
}

}  // namespace

SizeField::SizeField(const FeatureSurface& surface, double cell)
    : cell_(cell), least_(cell / 4), step_(cell / 2) {
    Box3 box = surface.tree().box();
    box.inflate(cell);
    origin_ = box.lo;
    for (int k = 0; k < 3; ++k) count_[k] = static_cast<int>(std::ceil(box.size()[k] / step_)) + 1;
    value_.assign(static_cast<std::size_t>(count_[0]) * count_[1] * count_[2], static_cast<float>(cell));
    const std::vector<SurfaceSample> places = scatter(surface, 10 / (cell * cell));
    std::vector<double> found(places.size());
    parallel_for(places.size(), 64, [&](std::size_t i) { found[i] = local_size(surface, places[i], cell); });
    for (std::size_t i = 0; i < places.size(); ++i) lower(places[i].x, found[i]);
    visit_close_features(surface, cell, [&](const Vec3& p, double size) { lower(p, size); });
    spread();
}

void SizeField::lower(const Vec3& p, double size) {
    size = std::max(size, least_);
    if (size >= cell_) return;
    std::array<int, 3> at;
    for (int k = 0; k < 3; ++k)
        at[k] = std::clamp(static_cast<int>(std::lround((p[k] - origin_[k]) / step_)), 0, count_[k] - 1);
    float& value = value_[node(at)];
    value = std::min(value, static_cast<float>(size));
}

// Sizes grow by at most half the distance: two passes over the grid, forwards and backwards, until nothing changes.
void SizeField::spread() {
    if (*std::min_element(value_.begin(), value_.end()) >= static_cast<float>(cell_)) return;
    for (bool changed = true; changed;) {
        changed = false;
        for (int way : {1, -1}) {
            const auto total = static_cast<std::int64_t>(value_.size());
            for (std::int64_t i = way > 0 ? 0 : total - 1; i >= 0 && i < total; i += way) {
                const int x = static_cast<int>(i % count_[0]),
                          y = static_cast<int>(i / count_[0] % count_[1]),
                          z = static_cast<int>(i / count_[0] / count_[1]);
                const std::array<int, 3> at{x, y, z};
                for (int k = 0; k < 3; ++k) {
                    std::array<int, 3> from = at;
                    from[k] -= way;
                    if (from[k] < 0 || from[k] >= count_[k]) continue;
                    const float limit = value_[node(from)] + static_cast<float>(0.5 * step_);
                    if (limit < value_[i]) value_[i] = limit, changed = true;
                }
            }
        }
    }
}

double SizeField::at(const Vec3& p) const {
    std::array<int, 3> at;
    std::array<double, 3> part;
    for (int k = 0; k < 3; ++k) {
        const double place = std::clamp((p[k] - origin_[k]) / step_, 0.0, count_[k] - 1.0);
        at[k] = std::min(static_cast<int>(place), count_[k] - 2);
        part[k] = place - at[k];
    }
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
        std::array<int, 3> node_at = at;
        double weight = 1;
        for (int k = 0; k < 3; ++k) {
            const int up = (corner >> k) & 1;
            node_at[k] += up;
            weight *= up ? part[k] : 1 - part[k];
        }
        sum += weight * value_[node(node_at)];
    }
    return sum;
}

Site between(const FeatureSurface& surface, const Site& a, const Site& b, int curve, const SizeField& size) {
    const FeatureCurve& c = surface.curves()[curve];
    const auto place = [&](const Site& s, const Site& other) {
        if (s.kind == Site::Kind::curve) return s.along;
        // a corner at either end: the end nearer to the other one, which may itself be the opposite corner
        const bool first = s.owner == c.corner[0], last = s.owner == c.corner[1];
        if (first && last) return other.along < 0.5 * c.total() ? 0.0 : c.total();
        return first ? 0.0 : c.total();
    };
    double from = place(a, b), to = place(b, a);
    if (c.loop && std::abs(from - to) > 0.5 * c.total()) (from < to ? from : to) += c.total();
    Site made;
    made.kind = Site::Kind::curve;
    made.owner = curve;
    made.along = 0.5 * (from + to);
    if (c.loop) made.along -= c.total() * std::floor(made.along / c.total());
    made.x = c.at(made.along);
    made.size = std::min({size.at(made.x), a.size, b.size});
    return made;
}

namespace {

class Placement {
  public:
    Placement(const FeatureSurface& surface, const SizeField& size)
        : surface_(surface), size_(size), grid_(size.cell()) {}

    SiteSet place() {
        place_corners();
        for (std::size_t c = 0; c < surface_.curves().size(); ++c) place_on_curve(static_cast<int>(c));
        place_on_patches();
        for (int pass = 0; pass < 10; ++pass) relax_patches();
        fill_inside();
        return std::move(set_);
    }

  private:
    int add(Site::Kind kind, int owner, const Vec3& x, double along = 0) {
        set_.sites.push_back({x, kind, owner, along, size_.at(x)});
        grid_.add(x, static_cast<int>(set_.sites.size()) - 1);
        return static_cast<int>(set_.sites.size()) - 1;
    }

    // Corners nearer to each other than a quarter of the least size are one.
    void place_corners() {
        for (std::size_t c = 0; c < surface_.corners().size(); ++c) {
            int same = -1;
            grid_.visit(surface_.corners()[c], 0.25 * size_.least(), [&](int site, const Vec3&) {
                if (same < 0) same = site;
            });
            corner_site_.push_back(
                same >= 0 ? same : add(Site::Kind::corner, static_cast<int>(c), surface_.corners()[c]));
        }
    }

    void place_on_curve(int c) {
        const FeatureCurve& curve = surface_.curves()[c];
        // cells along the curve, the sum of ds / size, and eighths of a turn
        const int steps = std::max(16, static_cast<int>(std::ceil(8 * curve.total() / size_.least())));
        std::vector<double> sum{0};
        for (int i = 0; i < steps; ++i)
            sum.push_back(sum.back() +
                          curve.total() / steps / size_.at(curve.at(curve.total() * (i + 0.5) / steps)));
        double turning = 0;
        for (std::size_t i = 2; i < curve.points.size(); ++i) {
            const Vec3 a = (curve.points[i - 1] - curve.points[i - 2]).normalized(),
                       b = (curve.points[i] - curve.points[i - 1]).normalized();
            turning += std::acos(std::clamp(a.dot(b), -1.0, 1.0));
        }
        const int pieces = std::max({curve.loop ? 4 : 1, static_cast<int>(std::lround(sum.back())),
                                     static_cast<int>(std::ceil(turning / (0.25 * EIGEN_PI) - 1e-6)),
                                     !curve.loop && curve.corner[0] == curve.corner[1] ? 3 : 1});
        std::vector<int> chain;
        if (!curve.loop) chain.push_back(corner_site_[curve.corner[0]]);
        int step = 0;
        for (int i = curve.loop ? 0 : 1; i < pieces; ++i) {
            const double due = sum.back() * i / pieces;
            while (step + 1 < steps && sum[step + 1] < due) ++step;
            const double along =
                curve.total() * (step + (due - sum[step]) / (sum[step + 1] - sum[step])) / steps;
            const Vec3 x = curve.at(along);
            if (!grid_.free(x, 0.25 * size_.least())) continue;
            chain.push_back(add(Site::Kind::curve, c, x, along));
        }
        chain.push_back(curve.loop ? chain.front() : corner_site_[curve.corner[1]]);
        for (std::size_t i = 1; i < chain.size(); ++i)
            if (chain[i] != chain[i - 1]) {
                set_.segments.push_back({chain[i - 1], chain[i]});
                set_.segment_curve.push_back(c);
            }
    }

    void place_on_patches() {
        std::vector<SurfaceSample> candidates = scatter(surface_, 30 / (size_.cell() * size_.cell()));
        const std::size_t coarse = candidates.size();
        for (std::size_t i = 0; i < coarse; ++i) {  // more where the size is smaller
            const SurfaceSample from = candidates[i];
            const double ratio = size_.cell() / size_.at(from.x);
            const int more = static_cast<int>(std::ceil(ratio * ratio)) - 1;
            Vec3 u, w;
            any_tangents(surface_.normal_of(from.triangle), u, w);
            for (int k = 0; k < more; ++k) {
                const double radius = 0.15 * size_.cell() * std::sqrt((k + 0.5) / more),
                             turn = 2.399963 * k + double(i);
                const SurfacePoint near = closest_point(
                    surface_.tree(), from.x + radius * (std::cos(turn) * u + std::sin(turn) * w));
                candidates.push_back({near.point, near.triangle});
            }
        }
        std::mt19937 random(1);
        for (std::size_t i = candidates.size(); i > 1; --i)
            std::swap(candidates[i - 1], candidates[random() % i]);
        for (const SurfaceSample& c : candidates)
            if (grid_.free(c.x, 0.75 * size_.at(c.x)))
                add(Site::Kind::patch, surface_.patch_of(c.triangle), c.x);
    }

    // Points of a patch push each other apart, and are pushed by those on its edges.
    void relax_patches() {
        std::vector<Vec3> moved(set_.sites.size());
        parallel_for(set_.sites.size(), 64, [&](std::size_t i) {
            const Site& site = set_.sites[i];
            moved[i] = site.x;
            if (site.kind != Site::Kind::patch) return;
            const double reach = 1.5 * site.size;
            Vec3 push = Vec3::Zero();
            grid_.visit(site.x, reach, [&](int other, const Vec3& q) {
                const Site& at = set_.sites[other];
                if (other == static_cast<int>(i) || (at.kind == Site::Kind::patch && at.owner != site.owner))
                    return;
                const double distance = (site.x - q).norm();
                push += std::pow(1 - distance / reach, 2) / distance * (site.x - q);
            });
            const double most = 0.15 * site.size;
            push *= 0.5 * site.size;
            if (push.norm() > most) push *= most / push.norm();
            surface_.patch_normal(site.owner, site.x + push, &moved[i]);
        });
        grid_ = PointGrid(size_.cell());
        for (std::size_t i = 0; i < moved.size(); ++i) {
            // never nearer to an edge than half a size, where it would hide part of it
            Site& site = set_.sites[i];
            if (site.kind == Site::Kind::patch) site.x = moved[i], site.size = size_.at(site.x);
            grid_.add(site.x, static_cast<int>(i));
        }
    }

    // Body-centred lattices of the cell, half and a quarter of it, each where the size asks for it.
    void fill_inside() {
        const Box3& box = surface_.tree().box();
        for (int level = 0; level < 3; ++level) {
            const double cell = size_.cell() / (1 << level);
            std::array<int, 3> half;
            for (int k = 0; k < 3; ++k) half[k] = static_cast<int>(std::ceil(0.5 * box.size()[k] / cell)) + 1;
            std::vector<Vec3> points;
            for (int z = -2 * half[2]; z <= 2 * half[2]; ++z)
                for (int y = -2 * half[1]; y <= 2 * half[1]; ++y)
                    for (int x = -2 * half[0]; x <= 2 * half[0]; ++x) {
                        if ((x ^ y) & 1 || (y ^ z) & 1) continue;
                        const Vec3 p = box.center() + 0.5 * cell * Vec3(x, y, z);
                        if (!box.contains(p)) continue;
                        const double size = size_.at(p);
                        if (size > 0.7 * cell && (level == 0 || size <= 1.4 * cell)) points.push_back(p);
                    }
            std::vector<char> keep(points.size(), 0);
            parallel_for(points.size(), 64, [&](std::size_t i) {
                const double reach = 0.45 * size_.at(points[i]);
                keep[i] =
                    !closest_point(surface_.tree(), points[i], reach).found() && surface_.inside(points[i]);
            });
            for (std::size_t i = 0; i < points.size(); ++i)
                if (keep[i] && grid_.free(points[i], 0.65 * size_.at(points[i])))
                    add(Site::Kind::inside, -1, points[i]);
        }
    }

    const FeatureSurface& surface_;
    const SizeField& size_;
    PointGrid grid_;
    SiteSet set_;
    std::vector<int> corner_site_;
};

}  // namespace

SiteSet place_sites(const FeatureSurface& surface, const SizeField& size) {
    return Placement(surface, size).place();
}

}  // namespace tenon::geometry

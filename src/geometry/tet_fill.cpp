// Tetrahedra from a closed surface. Vertices are placed on its corners, sharp edges, patches and inside; Delaunay's
// tetrahedra of them that lie inside are kept, with more vertices where an edge or a patch is not met; then they are
// improved. Solids whose faces are all at right angles are divided into bricks instead.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "geometry/mesh_check.hpp"
#include "geometry/tet_bricks.hpp"
#include "geometry/tet_delaunay.hpp"
#include "geometry/tet_improve.hpp"
#include "geometry/tet_mesh.hpp"
#include "geometry/tet_point_grid.hpp"
#include "math/parallel.hpp"

namespace tenon::geometry {
namespace {

constexpr double kSharp = 30.0 * EIGEN_PI / 180;
constexpr double kMostCells = 4e6;
constexpr double kMostChosenCells = 5000;  // of twelve tetrahedra, where the size is left to us

class Filling {
  public:
    Filling(const FeatureSurface& surface, const SizeField& size)
        : surface_(surface), size_(size), set_(place_sites(surface, size)) {}

    TetMesh fill() {
        const Box3& box = surface_.tree().box();
        step_ = box.size().maxCoeff() / (Delaunay::range - 64);
        origin_ = box.center() - Vec3::Constant(0.5 * step_ * Delaunay::range);
        insert_all();
        classify();
        for (int round = 0; round < 12; ++round) {
            if (!refine()) break;
            classify();
        }
        mend_edges();
        return improved();
    }

  private:
    void insert(int site) {
        GridPoint p;
        for (int k = 0; k < 3; ++k)
            p[k] = static_cast<std::int32_t>(std::lround((set_.sites[site].x[k] - origin_[k]) / step_));
        const int vertex = delaunay_.insert(p);
        if (vertex == static_cast<int>(site_of_.size())) {
            site_of_.push_back(site);
            // topology is decided at the grid's points: vertices stay there until all is improved
            for (int k = 0; k < 3; ++k) set_.sites[site].x[k] = origin_[k] + step_ * p[k];
        }
    }

    // Along a space-filling curve, so that each point is found near the last one.
    void insert_all() {
        std::vector<std::pair<std::uint64_t, int>> order;
        for (std::size_t i = 0; i < set_.sites.size(); ++i) {
            std::uint64_t key = 0;
            const Vec3 at = (set_.sites[i].x - origin_) / (step_ * Delaunay::range);
            for (int bit = 0; bit < 20; ++bit)
                for (int k = 0; k < 3; ++k)
                    key = (key << 1) | ((static_cast<std::uint64_t>(at[k] * (1 << 20)) >> (19 - bit)) & 1);
            order.push_back({key, static_cast<int>(i)});
        }
        std::sort(order.begin(), order.end());
        for (const auto& [key, site] : order) insert(site);
    }

    const Site& site(int vertex) const { return set_.sites[site_of_[vertex - Delaunay::surrounding]]; }

    // All four in one flat patch: such tetrahedra come from rounding and have no volume.
    bool in_flat_patch(const Delaunay::Cell& cell) const {
        for (int v : cell.vertex)
            if (!site(v).on_surface()) return false;
        const Vec3 middle = 0.25 * (site(cell.vertex[0]).x + site(cell.vertex[1]).x + site(cell.vertex[2]).x +
                                    site(cell.vertex[3]).x);
        const SurfacePoint near = closest_point(surface_.tree(), middle, 4 * step_);
        if (!near.found() || !surface_.patches()[surface_.patch_of(near.triangle)].flat) return false;
        const Vec3& n = surface_.normal_of(near.triangle);
        for (int v : cell.vertex)
            if (std::abs(n.dot(site(v).x - near.point)) > 4 * step_) return false;
        return true;
    }

    void classify() {
        const auto& cells = delaunay_.cells();
        inside_.resize(cells.size(), 0);
        known_.resize(cells.size());
        parallel_for(cells.size(), 256, [&](std::size_t c) {
            const Delaunay::Cell& cell = cells[c];
            if (cell.used() && cell.vertex == known_[c]) return;  // as it was in the last round
            inside_[c] = 0;
            known_[c] = cell.vertex;
            if (!cell.used()) return;
            for (int v : cell.vertex)
                if (v < Delaunay::surrounding) return;
            Vec3 middle = Vec3::Zero();
            bool deep = true;
            for (int v : cell.vertex) {
                middle += 0.25 * site(v).x;
                deep = deep && !site(v).on_surface();
            }
            inside_[c] = deep || (surface_.inside(middle) && !in_flat_patch(cell));
        });
    }

    static std::uint64_t edge_key(int a, int b) {
        if (a > b) std::swap(a, b);
        return (static_cast<std::uint64_t>(a) << 32) | static_cast<std::uint64_t>(b);
    }

    // Adds vertices where a sharp edge is missing, or the boundary is not near the surface. False: nothing to add.
    bool refine() {
        std::vector<std::uint64_t> edges;
        for (const Delaunay::Cell& cell : delaunay_.cells()) {
            if (!cell.used()) continue;
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < i; ++j) {
                    const int a = cell.vertex[i], b = cell.vertex[j];
                    if (a < Delaunay::surrounding || b < Delaunay::surrounding) continue;
                    const Site &s = site(a), &t = site(b);
                    if (s.kind <= Site::Kind::curve && t.kind <= Site::Kind::curve)
                        edges.push_back(edge_key(site_of_[a - Delaunay::surrounding],
                                                 site_of_[b - Delaunay::surrounding]));
                }
        }
        std::sort(edges.begin(), edges.end());
        bool added = false;
        const std::size_t count = set_.segments.size();
        for (std::size_t s = 0; s < count; ++s) {
            const auto [a, b] = set_.segments[s];
            if (std::binary_search(edges.begin(), edges.end(), edge_key(a, b))) continue;
            if ((set_.sites[a].x - set_.sites[b].x).norm() < 0.2 * size_.least()) continue;
            const int middle = static_cast<int>(set_.sites.size());
            set_.sites.push_back(
                between(surface_, set_.sites[a], set_.sites[b], set_.segment_curve[s], size_));
            insert(middle);
            set_.segments[s] = {a, middle};
            set_.segments.push_back({middle, b});
            set_.segment_curve.push_back(set_.segment_curve[s]);
            added = true;
        }
        if (added) return true;
        return meet_patches();
    }

    bool meet_patches() {
        struct Far {
            double distance;
            Vec3 foot;
            int patch;
            double size;
        };
        std::vector<Far> far;
        const auto& cells = delaunay_.cells();
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (!inside_[c]) continue;
            for (int f = 0; f < 4; ++f) {
                const int beyond = cells[c].neighbor[f];
                if (beyond >= 0 && inside_[beyond]) continue;
                Vec3 middle = Vec3::Zero();
                double size = 1e300;
                bool deep = false;
                for (int k = 0; k < 4; ++k) {
                    if (k == f) continue;
                    const Site& at = site(cells[c].vertex[k]);
                    middle += at.x / 3;
                    size = std::min(size, at.size);
                    deep = deep || !at.on_surface();
                }
                const SurfacePoint near = closest_point(surface_.tree(), middle);
                const double distance = std::sqrt(near.squared);
                if (distance > 0.18 * size || deep)
                    far.push_back({distance, near.point, surface_.patch_of(near.triangle), size});
            }
        }
        std::stable_sort(far.begin(), far.end(),
                         [](const Far& a, const Far& b) { return a.distance > b.distance; });
        if (far.empty()) return false;
        PointGrid grid(size_.cell());
        for (std::size_t i = 0; i < set_.sites.size(); ++i) grid.add(set_.sites[i].x, static_cast<int>(i));
        bool added = false;
        for (const Far& f : far) {
            if (!grid.free(f.foot, 0.35 * f.size)) continue;
            Site made;
            made.kind = Site::Kind::patch;
            made.owner = f.patch;
            made.x = f.foot;
            made.size = std::min(f.size, size_.at(f.foot));
            set_.sites.push_back(made);
            grid.add(f.foot, static_cast<int>(set_.sites.size()) - 1);
            insert(static_cast<int>(set_.sites.size()) - 1);
            added = true;
        }
        return added;
    }

    // Numbers of the cells around an edge, given by its two vertices.
    void cells_around(int first, int a, int b, std::vector<int>& around) const {
        const auto& cells = delaunay_.cells();
        around.assign(1, first);
        for (std::size_t i = 0; i < around.size(); ++i)
            for (int f = 0; f < 4; ++f) {
                const Delaunay::Cell& cell = cells[around[i]];
                if (cell.vertex[f] == a || cell.vertex[f] == b || cell.neighbor[f] < 0) continue;
                if (std::find(around.begin(), around.end(), cell.neighbor[f]) == around.end())
                    around.push_back(cell.neighbor[f]);
            }
    }

    // Edges of a cell at which the boundary meets itself: more than two of its faces come together there.
    int pinched_edges(int c, std::vector<int>& around) const {
        const auto& cells = delaunay_.cells();
        int pinched = 0;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < i; ++j) {
                const int a = cells[c].vertex[i], b = cells[c].vertex[j];
                cells_around(c, a, b, around);
                int faces = 0;
                for (int cell : around)
                    for (int f = 0; f < 4; ++f) {
                        const Delaunay::Cell& at = cells[cell];
                        if (!inside_[cell] || at.vertex[f] == a || at.vertex[f] == b) continue;
                        faces += at.neighbor[f] < 0 || !inside_[at.neighbor[f]];
                    }
                pinched += faces > 2;
            }
        return pinched;
    }

    // Thin tetrahedra between vertices of the surface may count as inside or outside: they change sides where the boundary
    // then meets itself at fewer edges.
    void mend_edges() {
        const auto& cells = delaunay_.cells();
        std::vector<int> around;
        for (int pass = 0; pass < 4; ++pass) {
            bool changed = false;
            for (int c = 0; c < static_cast<int>(cells.size()); ++c) {
                if (!cells[c].used()) continue;
                bool shell = true, edge = false;
                for (int v : cells[c].vertex)
                    shell = shell && v >= Delaunay::surrounding && site(v).on_surface();
                for (int next : cells[c].neighbor) edge = edge || (next >= 0 && inside_[next] != inside_[c]);
                if (!shell || !edge) continue;
                const auto& v = cells[c].vertex;
                const double sine =
                    least_dihedral_sine(site(v[0]).x, site(v[1]).x, site(v[2]).x, site(v[3]).x);
                if (!inside_[c] && sine < 1e-3) continue;
                const int before = pinched_edges(c, around);
                if (before == 0) continue;
                inside_[c] = !inside_[c];
                if (pinched_edges(c, around) < before)
                    changed = true;
                else
                    inside_[c] = !inside_[c];
            }
            if (!changed) break;
        }
    }

    TetMesh improved() {
        std::vector<Tet> tets;
        const auto& cells = delaunay_.cells();
        for (std::size_t c = 0; c < cells.size(); ++c) {
            if (!inside_[c]) continue;
            Tet t;
            for (int k = 0; k < 4; ++k) t[k] = site_of_[cells[c].vertex[k] - Delaunay::surrounding];
            tets.push_back(t);
        }
        if (tets.empty()) throw std::invalid_argument("no cell of this size fits inside the surface");
        TetImprover improver(surface_, size_, set_.sites, std::move(tets), set_.segments);
        improver.improve();
        improver.settle();
        improver.balance();
        return compact(improver.sites(), improver.tets());
    }

    static TetMesh compact(const std::vector<Site>& sites, std::vector<Tet> tets) {
        TetMesh mesh;
        std::vector<int> number(sites.size(), -1);
        for (const Tet& t : tets)
            for (int v : t) number[v] = 0;
        for (std::size_t v = 0; v < sites.size(); ++v)
            if (number[v] == 0) {
                number[v] = static_cast<int>(mesh.vertices.size());
                mesh.vertices.push_back(sites[v].x);
            }
        for (Tet& t : tets)
            for (int& v : t) v = number[v];
        mesh.tets = std::move(tets);
        mesh.region.assign(mesh.tets.size(), 0);
        return mesh;
    }

    const FeatureSurface& surface_;
    const SizeField& size_;
    SiteSet set_;
    Delaunay delaunay_;
    std::vector<int> site_of_;
    std::vector<char> inside_;
    std::vector<std::array<int, 4>> known_;  // corners of the cells that inside_ speaks of
    double step_ = 1;
    Vec3 origin_ = Vec3::Zero();
};

}  // namespace

TetMesh fill_with_tets(const Mesh& surface, double cell_size, const std::vector<Box3>& regions) {
    Box3 box;
    for (const Vec3& vertex : surface.vertices) box.add(vertex);
    const Vec3 cells = (box.size() / cell_size).array() + 1;
    if (!(cells.prod() <= kMostCells))
        throw std::invalid_argument("the cell size asks for more than four million cells");
    const FeatureSurface features(surface, kSharp, 1.5 * cell_size);
    if (auto bricks = brick_tets(features, cell_size, regions)) return std::move(*bricks);
    const SizeField size(features, cell_size);
    return Filling(features, size).fill();
}

double chosen_cell_size(const Mesh& surface) {
    Box3 box;
    for (const Vec3& vertex : surface.vertices) box.add(vertex);
    const double longest = box.size().maxCoeff();
    const FeatureSurface features(surface, kSharp, 0.1 * longest);
    // walls: from the surface inwards to a face that looks the other way; one part in twenty may be thinner
    std::vector<double> walls;
    double area = 0;
    const Mesh& mesh = features.mesh();
    for (const Triangle& t : mesh.triangles)
        area += 0.5 * (mesh.vertices[t[1]] - mesh.vertices[t[0]])
                          .cross(mesh.vertices[t[2]] - mesh.vertices[t[0]])
                          .norm();
    for (const SurfaceSample& at : scatter(features, 2000 / area)) {
        const Vec3& n = features.normal_of(at.triangle);
        const RayHit hit = first_hit(features.tree(), at.x - 1e-9 * longest * n, -n, 2 * longest);
        const bool wall = hit.found() && n.dot(features.normal_of(hit.triangle)) < -0.7;
        walls.push_back(wall ? hit.t : longest);
    }
    const auto thin = walls.begin() + static_cast<std::ptrdiff_t>(walls.size() / 20);
    std::nth_element(walls.begin(), thin, walls.end());
    const double volume = std::abs(check_mesh(mesh).signed_volume);
    const double least = std::max(longest / 60, std::cbrt(volume / kMostChosenCells));
    return std::min(longest / 10, std::max(least, *thin / 2.5));
}

}  // namespace tenon::geometry

#include "geometry/tet_improve.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::geometry {
namespace {

constexpr std::array<std::array<int, 3>, 4> kFaces{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};  // outward
constexpr double kTarget = 0.34;  // sine of 20 degrees: tetrahedra below it are worked on
constexpr double kGain = 1e-4;    // a change has to be worth this much

std::array<int, 3> sorted(int a, int b, int c) {
    std::array<int, 3> key{a, b, c};
    std::sort(key.begin(), key.end());
    return key;
}

std::uint64_t edge_key(int a, int b) {
    if (a > b) std::swap(a, b);
    return (static_cast<std::uint64_t>(a) << 32) | static_cast<std::uint64_t>(b);
}

Vec3 area_of(const Vec3& a, const Vec3& b, const Vec3& c) {
    return 0.5 * (b - a).cross(c - a);
}

}  // namespace

// sin = 3 V l / (2 A B) for an edge of length l between faces of areas A and B. With area vectors twice as long and six
// times the volume: sin^2 = V6^2 l^2 / (A2^2 B2^2).
double least_dihedral_sine(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    const Vec3 u = b - a, v = c - a, w = d - a, vu = c - b, wu = d - b, wv = d - c;
    const Vec3 base = u.cross(v);
    const double volume = base.dot(w);
    // squared areas of the faces opposite a, b, c, d
    const double fa = vu.cross(wu).squaredNorm(), fb = v.cross(w).squaredNorm(),
                 fc = u.cross(w).squaredNorm(), fd = base.squaredNorm();
    const double most =
        std::max({fc * fd / u.squaredNorm(), fb * fd / v.squaredNorm(), fb * fc / w.squaredNorm(),
                  fa * fd / vu.squaredNorm(), fa * fc / wu.squaredNorm(), fa * fb / wv.squaredNorm()});
    if (!(most > 0)) return volume > 0 ? 0 : -1;
    return volume / std::sqrt(most);
}

TetImprover::TetImprover(const FeatureSurface& surface, const SizeField& size, std::vector<Site> sites,
                         std::vector<Tet> tets, const std::vector<std::array<int, 2>>& segments)
    : surface_(surface), size_(size), sites_(std::move(sites)), star_(sites_.size()) {
    for (const Tet& t : tets) add_tet(t);
    for (const auto& [a, b] : segments) locked_.insert(edge_key(a, b));
    for (const Triangle& f : tet_surface(tets)) {
        int patch = -1;
        for (int v : f)
            if (sites_[v].kind == Site::Kind::patch) patch = sites_[v].owner;
        if (patch < 0) {
            const Vec3 middle = (at(f[0]) + at(f[1]) + at(f[2])) / 3;
            patch = surface_.patch_of(closest_point(surface_.tree(), middle).triangle);
        }
        boundary_[sorted(f[0], f[1], f[2])] = patch;
    }
}

double TetImprover::star_quality(int v) const {
    double worst = 1;
    for (int tet : star_[v]) worst = std::min(worst, quality_[tet]);
    return worst;
}

bool TetImprover::has(int tet, int v) const {
    const Tet& t = tets_[tet];
    return t[0] == v || t[1] == v || t[2] == v || t[3] == v;
}

int TetImprover::add_tet(const Tet& t) {
    const int tet = static_cast<int>(tets_.size());
    tets_.push_back(t);
    quality_.push_back(quality(t));
    for (int v : t) star_[v].push_back(tet);
    return tet;
}

void TetImprover::remove_tet(int tet) {
    for (int v : tets_[tet]) star_[v].erase(std::find(star_[v].begin(), star_[v].end(), tet));
    quality_[tet] = -2;
}

int TetImprover::label(const Key& face) const {
    const auto found = boundary_.find(face);
    return found == boundary_.end() ? -1 : found->second;
}

bool TetImprover::locked(int a, int b) const {
    return locked_.count(edge_key(a, b)) > 0;
}

// The tetrahedra around an edge from a to b in the order that makes (a, b, r_i, r_i+1) positive.
TetImprover::Ring TetImprover::ring_of(int a, int b) const {
    Ring ring;
    std::vector<std::array<int, 2>> pieces;
    for (int tet : star_[a]) {
        if (!has(tet, b)) continue;
        const Tet& t = tets_[tet];
        std::array<int, 2> other{-1, -1};
        int ia = -1, ib = -1;
        for (int k = 0; k < 4; ++k) {
            if (t[k] == a)
                ia = k;
            else if (t[k] == b)
                ib = k;
            else
                (other[0] < 0 ? other[0] : other[1]) = t[k];
        }
        // parity of (a, b, other0, other1) as a permutation of the tetrahedron's order
        std::array<int, 4> order{ia, ib, -1, -1};
        int at = 2;
        for (int k = 0; k < 4; ++k)
            if (k != ia && k != ib) order[at++] = k;
        int inversions = 0;
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j) inversions += order[i] > order[j];
        if (inversions % 2) std::swap(other[0], other[1]);
        pieces.push_back(other);
        ring.tets.push_back(tet);
    }
    if (pieces.empty()) return ring;
    // begin where no piece ends; any piece when the ring is closed
    int start = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        bool ended = false;
        for (const auto& p : pieces) ended = ended || p[1] == pieces[i][0];
        if (!ended) {
            if (ring.open) return ring;  // two fans
            ring.open = true;
            start = static_cast<int>(i);
        }
    }
    std::vector<char> used(pieces.size(), 0);
    ring.around = {pieces[start][0], pieces[start][1]};
    used[start] = 1;
    for (std::size_t n = 1; n < pieces.size(); ++n) {
        bool found = false;
        for (std::size_t i = 0; i < pieces.size() && !found; ++i)
            if (!used[i] && pieces[i][0] == ring.around.back()) {
                used[i] = 1, found = true;
                ring.around.push_back(pieces[i][1]);
            }
        if (!found) return ring;
    }
    if (!ring.open) {
        if (ring.around.back() != ring.around.front()) return ring;
        ring.around.pop_back();
    }
    ring.usable = true;
    return ring;
}

// The point of a vertex' feature nearest to where it is wanted.
Vec3 TetImprover::on_feature(int v, const Vec3& wanted, double& along) const {
    const Site& site = sites_[v];
    switch (site.kind) {
        case Site::Kind::corner:
            return site.x;
        case Site::Kind::curve:
            along = site.along;
            return surface_.curves()[site.owner].nearest(wanted, along, site.size);
        case Site::Kind::patch: {
            Vec3 foot;
            surface_.patch_normal(site.owner, wanted, &foot);
            return foot;
        }
        case Site::Kind::inside:
            return wanted;
    }
    return wanted;
}

// A search by shrinking steps in fixed directions, on the feature of the vertex: the worst tetrahedron around it gets
// better. The first direction leads to the middle of the neighbours.
bool TetImprover::smooth(int v, double least) {
    Site& site = sites_[v];
    if (site.kind == Site::Kind::corner || star_[v].empty()) return false;
    double best = star_quality(v);
    if (best >= least) return false;
    const double before = best;
    const auto worst_at = [&](const Vec3& x, double enough) {
        double worst = 1;
        for (int tet : star_[v]) {
            const Tet& t = tets_[tet];
            std::array<const Vec3*, 4> corner;
            for (int k = 0; k < 4; ++k) corner[k] = t[k] == v ? &x : &sites_[t[k]].x;
            worst = std::min(worst, least_dihedral_sine(*corner[0], *corner[1], *corner[2], *corner[3]));
            if (worst <= enough) break;
        }
        return worst;
    };
    const auto try_place = [&](const Vec3& wanted) {
        double along = site.along;
        const Vec3 x = on_feature(v, wanted, along);
        const double worst = worst_at(x, best);
        if (worst <= best + 1e-9) return false;
        best = worst;
        site.x = x;
        site.along = along;
        return true;
    };
    Vec3 middle = Vec3::Zero();
    for (int tet : star_[v])
        for (int corner : tets_[tet])
            if (corner != v) middle += at(corner) / (3.0 * static_cast<double>(star_[v].size()));
    try_place(middle);
    static const std::array<Vec3, 7> directions{Vec3(1, 0, 0),
                                                Vec3(0, 1, 0),
                                                Vec3(0, 0, 1),
                                                Vec3(0.577, 0.577, 0.577),
                                                Vec3(0.577, -0.577, 0.577),
                                                Vec3(0.577, 0.577, -0.577),
                                                Vec3(-0.577, 0.577, 0.577)};
    for (double step = 0.2 * site.size; step > 0.004 * site.size && best < least; step *= 0.5) {
        for (int tries = 0; tries < 4 && best < least; ++tries) {
            bool moved = false;
            for (const Vec3& d : directions)
                for (double way : {step, -step}) moved = try_place(site.x + way * d) || moved;
            if (!moved) break;
        }
    }
    for (int tet : star_[v]) quality_[tet] = quality(tets_[tet]);
    return best > before + kGain;
}

// Removing an edge of the boundary turns the two faces at it: they have to lie in one patch, and the new ones near it.
bool TetImprover::surface_allows(int a, int b, const Ring& ring) const {
    const int first = ring.around.front(), last = ring.around.back();
    const int patch = label(sorted(a, b, first));
    if (patch < 0 || patch != label(sorted(a, b, last)) || locked(a, b)) return false;
    if (ring.tets.size() ==
        1) {  // peeled off: the edge on the far side comes to the boundary, and was not there
        const Ring beyond = ring_of(first, last);
        if (!beyond.usable || beyond.open) return false;
    } else {
        for (int tet : star_[first])
            if (has(tet, last)) return false;
    }
    const Vec3 old0 = area_of(at(a), at(b), at(first)), old1 = -area_of(at(a), at(b), at(last));
    const Vec3 new0 = area_of(at(a), at(last), at(first)), new1 = -area_of(at(b), at(last), at(first));
    const Vec3 normal = (old0 + old1).normalized();
    const double limit = surface_.patches()[patch].flat ? 0.0 : 0.9;
    for (const Vec3& n : {old0, old1, new0, new1})
        if (n.dot(normal) <= limit * n.norm()) return false;
    const double flatness = 1e-6 * size_.cell();
    const double tolerance = surface_.patches()[patch].flat ? flatness : 0.06 * sites_[a].size;
    const Vec3 middle = 0.5 * (at(first) + at(last));
    Vec3 foot;
    surface_.patch_normal(patch, middle, &foot);
    return (foot - middle).norm() <= tolerance;
}

// All triangulations of the ring are compared by dynamic programming (Klincsek); each triangle makes two tetrahedra.
bool TetImprover::remove_edge(int a, int b) {
    const Ring ring = ring_of(a, b);
    const int n = static_cast<int>(ring.around.size());
    if (!ring.usable || n > 9 || (n < 3 && !ring.open)) return false;
    double before = 1;
    for (int tet : ring.tets) before = std::min(before, quality_[tet]);
    if (ring.open && !surface_allows(a, b, ring)) return false;
    if (ring.open && n == 2 && before > 0.2) return false;  // only slivers are peeled off
    const std::vector<int>& r = ring.around;
    std::array<std::array<double, 10>, 10> best;
    std::array<std::array<int, 10>, 10> middle;
    for (int i = 0; i + 1 < n; ++i) best[i][i + 1] = 2;
    for (int span = 2; span < n; ++span)
        for (int i = 0; i + span < n; ++i) {
            const int j = i + span;
            best[i][j] = -2;
            middle[i][j] = -1;
            for (int k = i + 1; k < j; ++k) {
                double worst = std::min(best[i][k], best[k][j]);
                if (worst <= std::max(best[i][j], before)) continue;
                worst = std::min(worst, quality({r[i], r[k], r[j], b}));
                if (worst <= std::max(best[i][j], before)) continue;
                worst = std::min(worst, quality({r[k], r[i], r[j], a}));
                if (worst > best[i][j]) best[i][j] = worst, middle[i][j] = k;
            }
        }
    if (best[0][n - 1] <= before + kGain) return false;
    if (ring.open) {
        const int first = r.front(), last = r.back(), patch = label(sorted(a, b, first));
        boundary_.erase(sorted(a, b, first));
        boundary_.erase(sorted(a, b, last));
        boundary_[sorted(a, first, last)] = patch;
        boundary_[sorted(b, first, last)] = patch;
    }
    for (int tet : ring.tets) remove_tet(tet);
    std::vector<std::array<int, 2>> open{{0, n - 1}};
    while (!open.empty()) {
        const auto [i, j] = open.back();
        open.pop_back();
        if (j - i < 2) continue;
        const int k = middle[i][j];
        add_tet({r[i], r[k], r[j], b});
        add_tet({r[k], r[i], r[j], a});
        open.push_back({i, k});
        open.push_back({k, j});
    }
    return true;
}

// Two tetrahedra with a common face become three around the edge between their apices.
bool TetImprover::flip_face(int tet, int opposite) {
    const Tet t = tets_[tet];
    const int a = t[kFaces[opposite][0]], b = t[kFaces[opposite][1]], c = t[kFaces[opposite][2]],
              d = t[opposite];
    int other = -1;
    for (int s : star_[a])
        if (s != tet && has(s, b) && has(s, c)) other = s;
    if (other < 0) return false;
    int e = -1;
    for (int v : tets_[other])
        if (v != a && v != b && v != c) e = v;
    for (int s : star_[d])
        if (has(s, e)) return false;
    const double before = std::min(quality_[tet], quality_[other]);
    // (a, b, c) faces away from d, towards e
    const std::array<Tet, 3> made{Tet{a, b, e, d}, Tet{b, c, e, d}, Tet{c, a, e, d}};
    for (const Tet& m : made)
        if (quality(m) <= before + kGain) return false;
    remove_tet(tet);
    remove_tet(other);
    for (const Tet& m : made) add_tet(m);
    return true;
}

// Moves all that hangs on one vertex to another. The tetrahedra around it are replaced by those that the other one spans
// with the faces around them: valid when all of these are positive.
bool TetImprover::collapse(int from, int to) {
    const Site::Kind kind = sites_[from].kind;
    if (kind != Site::Kind::inside && kind != Site::Kind::patch) return false;
    const double before = star_quality(from);
    std::vector<Tet> made;
    for (int tet : star_[from]) {
        if (has(tet, to)) continue;
        Tet t = tets_[tet];
        for (int& v : t)
            if (v == from) v = to;
        if (quality(t) <= before + kGain) return false;
        made.push_back(t);
    }
    std::vector<std::pair<Key, int>> faces;  // of the boundary, before
    if (kind == Site::Kind::patch) {
        const int patch = sites_[from].owner;
        for (int tet : star_[from])
            for (const auto& f : kFaces) {
                const Tet& t = tets_[tet];
                const Key oriented{t[f[0]], t[f[1]], t[f[2]]};
                if (label(sorted(oriented[0], oriented[1], oriented[2])) >= 0 &&
                    (oriented[0] == from || oriented[1] == from || oriented[2] == from))
                    faces.push_back({oriented, patch});
            }
        int shared = 0;
        for (const auto& [f, p] : faces) {
            if (f[0] == to || f[1] == to || f[2] == to) {
                ++shared;
                continue;
            }
            Key moved = f;
            for (int& v : moved)
                if (v == from) v = to;
            const Vec3 old = area_of(at(f[0]), at(f[1]), at(f[2])),
                       now = area_of(at(moved[0]), at(moved[1]), at(moved[2]));
            const bool flat = surface_.patches()[patch].flat;
            if (now.dot(old) <= (flat ? 0.0 : 0.85) * now.norm() * old.norm()) return false;
            if (label(sorted(moved[0], moved[1], moved[2])) >= 0) return false;
            const Vec3 middle = (at(moved[0]) + at(moved[1]) + at(moved[2])) / 3;
            Vec3 foot;
            surface_.patch_normal(patch, middle, &foot);
            if ((foot - middle).norm() > (flat ? 1e-6 * size_.cell() : 0.08 * sites_[from].size))
                return false;
        }
        if (shared != 2) return false;
        // neighbours of both on the boundary: only the two beside the edge, or the surface would be pinched
        std::vector<int> mine, common;
        for (const auto& [f, p] : faces)
            for (int v : f)
                if (v != from && v != to) mine.push_back(v);
        std::sort(mine.begin(), mine.end());
        mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
        for (int v : mine) {
            bool joined = false, beside = false;
            for (int tet : star_[to]) joined = joined || has(tet, v);
            for (const auto& [f, p] : faces) {
                const auto in = [&](int w) { return f[0] == w || f[1] == w || f[2] == w; };
                beside = beside || (in(to) && in(v));
            }
            if (joined && !beside) return false;
        }
    }
    for (const auto& [f, p] : faces) {
        boundary_.erase(sorted(f[0], f[1], f[2]));
        Key moved = f;
        for (int& v : moved)
            if (v == from) v = to;
        if (moved[0] != moved[1] && moved[1] != moved[2] && moved[0] != moved[2])
            boundary_[sorted(moved[0], moved[1], moved[2])] = p;
    }
    for (int tet : std::vector<int>(star_[from])) remove_tet(tet);
    for (const Tet& t : made) add_tet(t);
    return true;
}

// A vertex in the middle of an edge that joins the boundary to itself through the inside, moved to where it helps most.
bool TetImprover::split(int a, int b) {
    const Ring ring = ring_of(a, b);
    if (!ring.usable || ring.open) return false;
    double before = 1;
    for (int tet : ring.tets) before = std::min(before, quality_[tet]);
    const std::vector<int> old = ring.tets;
    std::vector<Tet> removed;
    for (int tet : old) removed.push_back(tets_[tet]);
    Site site;
    site.x = 0.5 * (at(a) + at(b));
    site.size = std::min(sites_[a].size, sites_[b].size);
    const int v = static_cast<int>(sites_.size());
    sites_.push_back(site);
    star_.emplace_back();
    for (int tet : old) remove_tet(tet);
    for (const Tet& t : removed)
        for (int end : {a, b}) {
            Tet half = t;
            for (int& w : half)
                if (w == end) w = v;
            add_tet(half);
        }
    smooth(v, kTarget);
    if (star_quality(v) > before + 10 * kGain) return true;
    for (int tet : std::vector<int>(star_[v])) remove_tet(tet);
    for (const Tet& t : removed) add_tet(t);
    sites_.pop_back();
    star_.pop_back();
    return false;
}

// Vertices go to the middle of their neighbours where that leaves no tetrahedron worse than `fair`, or the worst no worse.
void TetImprover::relax(int passes) {
    constexpr double fair = 0.45;
    for (int pass = 0; pass < passes; ++pass)
        for (int v = 0; v < static_cast<int>(sites_.size()); ++v) {
            Site& site = sites_[v];
            if (site.kind == Site::Kind::corner || site.kind == Site::Kind::curve || star_[v].empty())
                continue;
            Vec3 middle = Vec3::Zero();
            double weight = 0;
            for (int tet : star_[v])
                for (int corner : tets_[tet]) {
                    if (corner == v) continue;
                    if (site.kind == Site::Kind::patch && !sites_[corner].on_surface()) continue;
                    middle += at(corner);
                    weight += 1;
                }
            if (!(weight > 0)) continue;
            double along = 0;
            const Vec3 start = site.x;
            const double before = star_quality(v);
            site.x = on_feature(v, middle / weight, along);
            double worst = 1;
            for (int tet : star_[v]) worst = std::min(worst, quality(tets_[tet]));
            if (worst < std::min(before, fair)) site.x = start;
            for (int tet : star_[v]) quality_[tet] = quality(tets_[tet]);
        }
}

bool TetImprover::improve_tet(int tet, int effort) {
    const Tet t = tets_[tet];
    constexpr std::array<std::array<int, 2>, 6> edges{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
    for (const auto& [i, j] : edges)
        if (remove_edge(t[i], t[j])) return true;
    for (int f = 0; f < 4; ++f)
        if (flip_face(tet, f)) return true;
    bool better = false;
    for (int v : t) better = smooth(v, kTarget) || better;
    if (better && quality_[tet] > 0.6 * kTarget) return true;
    for (const auto& [i, j] : edges)
        if (collapse(t[i], t[j]) || collapse(t[j], t[i])) return true;
    if (effort > 0 && !better)
        for (const auto& [i, j] : edges)
            if (split(t[i], t[j])) return true;
    return better;
}

void TetImprover::improve() {
    relax(4);
    int idle = 0;
    for (int pass = 0; pass < 24 && idle < 2; ++pass) {
        std::vector<std::pair<double, int>> bad;
        for (int tet = 0; tet < static_cast<int>(tets_.size()); ++tet)
            if (quality_[tet] > -1.5 && quality_[tet] < kTarget) bad.push_back({quality_[tet], tet});
        if (bad.empty()) break;
        std::sort(bad.begin(), bad.end());
        int changed = 0;
        for (const auto& [was, tet] : bad)
            if (quality_[tet] > -1.5 && quality_[tet] < kTarget && improve_tet(tet, idle + (pass > 3)))
                ++changed;
        idle = changed > 0 ? 0 : idle + 1;
        if (pass % 3 == 2) relax(1);
    }
}

std::vector<Tet> TetImprover::tets() const {
    std::vector<Tet> alive;
    for (std::size_t i = 0; i < tets_.size(); ++i)
        if (quality_[i] > -1.5) alive.push_back(tets_[i]);
    return alive;
}

void TetImprover::settle() {
    for (int v = 0; v < static_cast<int>(sites_.size()); ++v) {
        Site& site = sites_[v];
        if (!site.on_surface() || star_[v].empty()) continue;
        const Vec3 start = site.x;
        if (site.kind == Site::Kind::corner) site.x = surface_.corners()[site.owner];
        if (site.kind == Site::Kind::curve) site.x = surface_.curves()[site.owner].at(site.along);
        if (site.kind == Site::Kind::patch) surface_.patch_normal(site.owner, start, &site.x);
        const double before = star_quality(v);
        double worst = 1;
        for (int tet : star_[v]) worst = std::min(worst, quality(tets_[tet]));
        if (worst < std::min(before, 0.02)) site.x = start;
        for (int tet : star_[v]) quality_[tet] = quality(tets_[tet]);
    }
}

void TetImprover::balance() {
    std::vector<Triangle> faces = tet_surface(tets());
    for (int pass = 0; pass < 3; ++pass) {
        std::vector<Vec3> move(sites_.size(), Vec3::Zero());
        std::vector<double> weight(sites_.size(), 0.0);
        // patches: the mean height of the surface over each face, along the face's normal
        for (const Triangle& f : faces) {
            const int patch = label(sorted(f[0], f[1], f[2]));
            if (patch < 0 || surface_.patches()[patch].flat) continue;
            const Vec3 area = area_of(at(f[0]), at(f[1]), at(f[2])), n = area.normalized();
            double height = 0;
            constexpr int m = 4;
            int count = 0;
            for (int i = 0; i < m; ++i)  // middles of sixteen small triangles
                for (int j = 0; j < m - i; ++j)
                    for (int up = 0; up < (j < m - i - 1 ? 2 : 1); ++up) {
                        const double u = (i + (up ? 2.0 : 1.0) / 3) / m, v = (j + (up ? 2.0 : 1.0) / 3) / m;
                        const Vec3 p = at(f[0]) + u * (at(f[1]) - at(f[0])) + v * (at(f[2]) - at(f[0]));
                        Vec3 foot;
                        surface_.patch_normal(patch, p, &foot);
                        height += (foot - p).dot(n);
                        ++count;
                    }
            height /= count;
            for (int v : f)
                if (sites_[v].kind == Site::Kind::patch)
                    move[v] += area.norm() * height * n, weight[v] += area.norm();
        }
        // curves: the mean distance of the curve from each segment
        std::vector<std::uint64_t> segments(locked_.begin(), locked_.end());
        std::sort(segments.begin(), segments.end());
        for (std::uint64_t key : segments) {
            const int a = static_cast<int>(key >> 32), b = static_cast<int>(key & 0xffffffffu);
            const int curve = sites_[a].kind == Site::Kind::curve ? sites_[a].owner : sites_[b].owner;
            if (sites_[a].kind != Site::Kind::curve && sites_[b].kind != Site::Kind::curve) continue;
            Vec3 mean = Vec3::Zero();
            constexpr int m = 8;
            for (int i = 0; i < m; ++i) {
                const Vec3 p = at(a) + (i + 0.5) / m * (at(b) - at(a));
                double along = sites_[a].kind == Site::Kind::curve ? sites_[a].along : sites_[b].along;
                mean += (surface_.curves()[curve].nearest(p, along, 2 * (at(a) - at(b)).norm()) - p) / m;
            }
            const double length = (at(a) - at(b)).norm();
            for (int v : {a, b})
                if (sites_[v].kind == Site::Kind::curve) move[v] += length * mean, weight[v] += length;
        }
        for (std::size_t v = 0; v < sites_.size(); ++v) {
            if (!(weight[v] > 0)) continue;
            const Vec3 start = sites_[v].x;
            const double before = star_quality(static_cast<int>(v));
            for (double part : {1.0, 0.5, 0.0}) {
                sites_[v].x = start + part / weight[v] * move[v];
                double worst = 1;
                for (int tet : star_[v]) worst = std::min(worst, quality(tets_[tet]));
                if (worst >= std::min(before, 0.25)) break;
            }
            for (int tet : star_[v]) quality_[tet] = quality(tets_[tet]);
        }
    }
}

}  // namespace tenon::geometry

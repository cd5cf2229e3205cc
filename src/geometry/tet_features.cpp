#include "geometry/tet_features.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "geometry/mesh_check.hpp"
#include "math/union_find.hpp"

namespace tenon::geometry {

Vec3 FeatureCurve::at(double along) const {
    if (loop) along -= total() * std::floor(along / total());
    const auto after = std::upper_bound(length.begin(), length.end(), along);
    const std::size_t i = std::clamp<std::size_t>(after - length.begin(), 1, points.size() - 1);
    const double step = length[i] - length[i - 1];
    const double part = step > 0 ? std::clamp((along - length[i - 1]) / step, 0.0, 1.0) : 0.0;
    return points[i - 1] + part * (points[i] - points[i - 1]);
}

Vec3 FeatureCurve::nearest(const Vec3& p, double& along, double reach) const {
    double best = 1e300, place = along;
    Vec3 foot = at(along);
    const auto look = [&](std::size_t i, double shift) {  // segment i - 1, i, with its loop unrolled by shift
        const Vec3 edge = points[i] - points[i - 1];
        const double step = length[i] - length[i - 1];
        if (!(step > 0)) return;
        double part = edge.dot(p - points[i - 1]) / edge.squaredNorm();
        const double first = length[i - 1] + shift;
        part = std::clamp(part, std::clamp((along - reach - first) / step, 0.0, 1.0),
                          std::clamp((along + reach - first) / step, 0.0, 1.0));
        const Vec3 q = points[i - 1] + part * edge;
        const double squared = (q - p).squaredNorm();
        if (squared < best) best = squared, foot = q, place = first + part * step;
    };
    for (int turn = loop ? -1 : 0; turn <= (loop ? 1 : 0); ++turn) {
        const double shift = turn * total();
        for (std::size_t i = 1; i < points.size(); ++i)
            if (length[i] + shift >= along - reach && length[i - 1] + shift <= along + reach) look(i, shift);
    }
    along = loop ? place - total() * std::floor(place / total()) : place;
    return foot;
}

FeatureSurface::FeatureSurface(const Mesh& surface, double sharp, double least) : mesh_(weld(surface, 0.0)) {
    mesh_.edges.clear();
    mesh_.points.clear();
    if (mesh_.triangles.empty()) throw std::invalid_argument("the surface has no triangles");
    const MeshReport report = check_mesh(mesh_);
    if (report.boundary_edges > 0)
        throw std::invalid_argument("the surface is not closed: " + std::to_string(report.boundary_edges) +
                                    (report.boundary_edges == 1 ? " edge has" : " edges have") +
                                    " a triangle on one side only");
    if (report.inside_out)
        for (Triangle& t : mesh_.triangles) std::swap(t[1], t[2]);
    for (const Triangle& t : mesh_.triangles) {
        const Vec3& a = mesh_.vertices[t[0]];
        const Vec3 area = (mesh_.vertices[t[1]] - a).cross(mesh_.vertices[t[2]] - a);
        normals_.push_back(area.norm() > 0 ? Vec3(area.normalized()) : Vec3(Vec3::Zero()));
    }
    edges_ = all_edges(mesh_);
    tree_ = std::make_unique<SurfaceTree>(mesh_, edges_);
    winding_ = std::make_unique<WindingNumber>(*tree_);
    find_features(sharp, least);
    find_patches();
}

void FeatureSurface::find_features(double sharp, double least) {
    std::map<Edge, int> number;
    for (std::size_t e = 0; e < edges_.size(); ++e) number[edges_[e]] = static_cast<int>(e);
    std::vector<std::vector<int>> around(edges_.size());
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
        for (int k = 0; k < 3; ++k) {
            int a = mesh_.triangles[t][k], b = mesh_.triangles[t][(k + 1) % 3];
            if (a > b) std::swap(a, b);
            around[number.at({a, b})].push_back(static_cast<int>(t));
        }
    sharp_.assign(edges_.size(), 0);
    edge_triangles_.assign(edges_.size(), {-1, -1});
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        if (around[e].size() != 2) {
            sharp_[e] = 1;
            continue;
        }
        edge_triangles_[e] = {around[e][0], around[e][1]};
        const Vec3 &n = normals_[around[e][0]], &m = normals_[around[e][1]];
        sharp_[e] = n.squaredNorm() > 0 && m.squaredNorm() > 0 && n.dot(m) < std::cos(sharp);
    }

    std::vector<std::vector<int>> at(mesh_.vertices.size());  // sharp edges at a vertex
    for (std::size_t e = 0; e < edges_.size(); ++e)
        if (sharp_[e])
            for (int v : edges_[e]) at[v].push_back(static_cast<int>(e));
    const auto other = [&](int e, int v) { return edges_[e][0] == v ? edges_[e][1] : edges_[e][0]; };
    const auto is_corner = [&](int v) {
        if (at[v].size() != 2) return true;
        const Vec3 a = (mesh_.vertices[v] - mesh_.vertices[other(at[v][0], v)]).normalized(),
                   b = (mesh_.vertices[other(at[v][1], v)] - mesh_.vertices[v]).normalized();
        return a.dot(b) < 0.77;  // a turn of 40 degrees
    };

    std::vector<int> corner_of(mesh_.vertices.size(), -1);
    std::vector<char> done(edges_.size(), 0);
    const auto follow = [&](int v, int e) {
        std::vector<int> chain{v};
        while (!done[e]) {
            done[e] = 1;
            v = other(e, v);
            chain.push_back(v);
            if (is_corner(v) || v == chain[0]) break;
            e = at[v][0] == e ? at[v][1] : at[v][0];
        }
        return chain;
    };
    const auto add = [&](const std::vector<int>& chain) {
        FeatureCurve curve;
        double length = 0;
        for (std::size_t i = 0; i < chain.size(); ++i) {
            if (i > 0) length += (mesh_.vertices[chain[i]] - mesh_.vertices[chain[i - 1]]).norm();
            curve.points.push_back(mesh_.vertices[chain[i]]);
            curve.length.push_back(length);
        }
        // ends that lead nowhere: noise of a rough surface, too short to be kept
        const bool loose = at[chain.front()].size() == 1 || at[chain.back()].size() == 1;
        if (length < least && (loose || chain.front() == chain.back())) return;
        curve.loop = chain.front() == chain.back() && !is_corner(chain.front());
        if (!curve.loop)
            for (int end = 0; end < 2; ++end) {
                const int v = end == 0 ? chain.front() : chain.back();
                if (corner_of[v] < 0) {
                    corner_of[v] = static_cast<int>(corners_.size());
                    corners_.push_back(mesh_.vertices[v]);
                }
                curve.corner[end] = corner_of[v];
            }
        curves_.push_back(std::move(curve));
    };
    for (int pass = 0; pass < 2; ++pass)  // from corners, then loops
        for (int v = 0; v < static_cast<int>(at.size()); ++v) {
            if (at[v].empty() || (pass == 0 && !is_corner(v))) continue;
            for (int e : at[v])
                if (!done[e]) add(follow(v, e));
        }
}

void FeatureSurface::find_patches() {
    UnionFind smooth(mesh_.triangles.size());
    for (std::size_t e = 0; e < edges_.size(); ++e)
        if (!sharp_[e] && edge_triangles_[e][0] >= 0)
            smooth.join(edge_triangles_[e][0], edge_triangles_[e][1]);
    patch_of_.assign(smooth.size(), -1);
    for (std::size_t t = 0; t < smooth.size(); ++t) {
        const int r = smooth.root(static_cast<int>(t));
        if (patch_of_[r] < 0) {
            patch_of_[r] = static_cast<int>(patches_.size());
            patches_.emplace_back();
            patch_triangle_.emplace_back();
        }
        patch_of_[t] = patch_of_[r];
        patches_[patch_of_[t]].mesh.triangles.push_back(mesh_.triangles[t]);
        patch_triangle_[patch_of_[t]].push_back(static_cast<int>(t));
    }
    for (std::size_t p = 0; p < patches_.size(); ++p) {
        FeaturePatch& patch = patches_[p];
        std::map<int, int> used;  // only its own vertices
        Mesh own;
        for (Triangle t : patch.mesh.triangles) {
            for (int& v : t) {
                const auto [found, added] = used.try_emplace(v, static_cast<int>(own.vertices.size()));
                if (added) own.vertices.push_back(mesh_.vertices[v]);
                v = found->second;
            }
            own.triangles.push_back(t);
        }
        patch.mesh = std::move(own);
        patch.edges = all_edges(patch.mesh);
        patch.tree = std::make_unique<SurfaceTree>(patch.mesh, patch.edges);
        patch.flat = true;
        for (int t : patch_triangle_[p]) {
            if (normals_[t].squaredNorm() == 0) continue;
            if (patch.normal.squaredNorm() == 0) patch.normal = normals_[t];
            patch.flat = patch.flat && normals_[t].dot(patch.normal) > 1 - 1e-10;
        }
    }
}

// Two rays count how often they leave the solid. Where they disagree, one of them met an edge or a corner.
bool FeatureSurface::inside(const Vec3& p) const {
    const Box3& box = tree_->box();
    if (!box.contains(p)) return false;
    const double far = 2 * box.diagonal(), step = 1e-10 * far;
    std::array<int, 2> turns{0, 0};
    const std::array<Vec3, 2> directions{Vec3(0.8017, 0.5213, 0.2926), Vec3(-0.2311, 0.4587, -0.8580)};
    for (int ray = 0; ray < 2; ++ray) {
        double along = 0;
        for (int crossing = 0; crossing < 10000; ++crossing) {
            const RayHit hit = first_hit(*tree_, p + along * directions[ray], directions[ray], far);
            if (!hit.found()) break;
            turns[ray] += normals_[hit.triangle].dot(directions[ray]) > 0 ? 1 : -1;
            along += hit.t + step;
        }
    }
    return turns[0] == turns[1] ? turns[0] > 0 : winding_->exact(p) > 0.5;
}

Vec3 FeatureSurface::patch_normal(int patch, const Vec3& p, Vec3* foot) const {
    const SurfacePoint nearest = closest_point(*patches_[patch].tree, p);
    if (foot) *foot = nearest.point;
    return patches_[patch].flat ? patches_[patch].normal : normals_[patch_triangle_[patch][nearest.triangle]];
}

}  // namespace tenon::geometry

#include "geometry/signed_distance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace tenon::geometry {
namespace {

// PointOnTriangle point of a triangle, and which feature it lies on: 0-2 a corner, 3-5 the edge after it, 6 the face.
struct PointOnTriangle {
    Vec3 point;
    int feature;
};

PointOnTriangle closest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 ab = b - a, ac = c - a, ap = p - a;
    const double d1 = ab.dot(ap), d2 = ac.dot(ap);
    if (d1 <= 0 && d2 <= 0) return {a, 0};
    const Vec3 bp = p - b;
    const double d3 = ab.dot(bp), d4 = ac.dot(bp);
    if (d3 >= 0 && d4 <= d3) return {b, 1};
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return {a + d1 / (d1 - d3) * ab, 3};
    const Vec3 cp = p - c;
    const double d5 = ab.dot(cp), d6 = ac.dot(cp);
    if (d6 >= 0 && d5 <= d6) return {c, 2};
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return {a + d2 / (d2 - d6) * ac, 5};
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return {b + w * (c - b), 4};
    }
    const double scale = 1.0 / (va + vb + vc);
    return {a + vb * scale * ab + vc * scale * ac, 6};
}

// Normals of faces, edges and corners whose sign tells inside from outside (Baerentzen and Aanaes).
struct PseudoNormals {
    std::vector<Vec3> face, corner;
    std::vector<std::array<Vec3, 3>> edge;  // per triangle, the edge after each corner

    explicit PseudoNormals(const Mesh& mesh) {
        const std::size_t count = mesh.triangles.size();
        face.resize(count, Vec3::Zero());
        edge.resize(count);
        corner.assign(mesh.vertices.size(), Vec3::Zero());
        std::map<Edge, std::pair<Vec3, int>> sums;
        for (std::size_t t = 0; t < count; ++t) {
            const Triangle& tri = mesh.triangles[t];
            const Vec3& a = mesh.vertices[tri[0]];
            const Vec3 n = (mesh.vertices[tri[1]] - a).cross(mesh.vertices[tri[2]] - a);
            if (n.norm() > 0) face[t] = n.normalized();
            for (int i = 0; i < 3; ++i) {
                const Vec3 u = mesh.vertices[tri[(i + 1) % 3]] - mesh.vertices[tri[i]];
                const Vec3 w = mesh.vertices[tri[(i + 2) % 3]] - mesh.vertices[tri[i]];
                corner[tri[i]] += std::atan2(u.cross(w).norm(), u.dot(w)) * face[t];
                auto& sum = sums[key(tri[i], tri[(i + 1) % 3])];
                if (sum.second++ == 0) sum.first.setZero();
                sum.first += face[t];
            }
        }
        for (std::size_t t = 0; t < count; ++t)
            for (int i = 0; i < 3; ++i) {
                const auto& sum = sums[key(mesh.triangles[t][i], mesh.triangles[t][(i + 1) % 3])];
                if (sum.second < 2) throw std::invalid_argument("signed distances need a closed mesh");
                edge[t][i] = sum.first;
            }
    }
    static Edge key(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

    const Vec3& at(const Mesh& mesh, int triangle, int feature) const {
        if (feature < 3) return corner[mesh.triangles[triangle][feature]];
        if (feature < 6) return edge[triangle][feature - 3];
        return face[triangle];
    }
};

// Fills a grid with the closest triangle of every node, then with signed distances.
class GridBuilder {
  public:
    GridBuilder(const Mesh& mesh, const Box3& box, double cell, int nx, int ny, int nz)
        : mesh_(mesh), normals_(mesh), lo_(box.lo), cell_(cell), n_{nx, ny, nz} {
        const std::size_t nodes = std::size_t(nx) * ny * nz;
        nearest_.assign(nodes, -1);
        squared_.assign(nodes, 1e300);
        band_.assign(nodes, 0);
    }

    void run(std::vector<float>& value) {
        rasterise_band();
        for (int round = 0; round < 2; ++round) sweep_all();
        value.resize(nearest_.size());
        for (std::size_t node = 0; node < nearest_.size(); ++node)
            value[node] = static_cast<float>(std::sqrt(squared_[node]));
        sign(value);
    }

  private:
    std::size_t index(int i, int j, int k) const { return (std::size_t(k) * n_[1] + j) * n_[0] + i; }
    Vec3 position(int i, int j, int k) const { return lo_ + cell_ * Vec3(i, j, k); }

    PointOnTriangle closest(const Vec3& p, int triangle) const {
        const Triangle& t = mesh_.triangles[triangle];
        return closest_on_triangle(p, mesh_.vertices[t[0]], mesh_.vertices[t[1]], mesh_.vertices[t[2]]);
    }
    void offer(std::size_t node, const Vec3& p, int triangle) {
        const double d = (closest(p, triangle).point - p).squaredNorm();
        if (d < squared_[node]) {
            squared_[node] = d;
            nearest_[node] = triangle;
        }
    }

    // Nodes within two cells of a triangle get its exact distance: the sign is certain only there.
    void rasterise_band() {
        const double reach = 2.0 * cell_;
        for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
            Box3 box;
            for (int v : mesh_.triangles[t]) box.add(mesh_.vertices[v]);
            box.inflate(reach);
            int lo[3], hi[3];
            for (int a = 0; a < 3; ++a) {
                lo[a] = std::clamp(static_cast<int>(std::ceil((box.lo[a] - lo_[a]) / cell_)), 0, n_[a] - 1);
                hi[a] = std::clamp(static_cast<int>(std::floor((box.hi[a] - lo_[a]) / cell_)), 0, n_[a] - 1);
            }
            for (int k = lo[2]; k <= hi[2]; ++k)
                for (int j = lo[1]; j <= hi[1]; ++j)
                    for (int i = lo[0]; i <= hi[0]; ++i)
                        offer(index(i, j, k), position(i, j, k), static_cast<int>(t));
        }
        for (std::size_t node = 0; node < band_.size(); ++node) band_[node] = squared_[node] <= reach * reach;
    }

    // Hands closest triangles on to neighbours, in the eight diagonal directions.
    void sweep_all() {
        for (int direction = 0; direction < 8; ++direction) {
            const int d[3] = {direction & 1 ? -1 : 1, direction & 2 ? -1 : 1, direction & 4 ? -1 : 1};
            auto first = [&](int a) { return d[a] > 0 ? 1 : n_[a] - 2; };
            auto inside = [&](int a, int v) { return d[a] > 0 ? v < n_[a] : v >= 0; };
            for (int k = first(2); inside(2, k); k += d[2])
                for (int j = first(1); inside(1, j); j += d[1])
                    for (int i = first(0); inside(0, i); i += d[0]) {
                        const std::size_t node = index(i, j, k);
                        if (band_[node]) continue;
                        for (std::size_t from : {index(i - d[0], j, k), index(i, j - d[1], k),
                                                 index(i, j, k - d[2]), index(i - d[0], j - d[1], k - d[2])})
                            if (nearest_[from] >= 0 && nearest_[from] != nearest_[node])
                                offer(node, position(i, j, k), nearest_[from]);
                    }
        }
    }

    // In the band by pseudo-normals; elsewhere the sign of the neighbour, which cannot differ.
    void sign(std::vector<float>& value) {
        std::vector<std::size_t> queue;
        std::vector<char> known = band_;
        for (int k = 0; k < n_[2]; ++k)
            for (int j = 0; j < n_[1]; ++j)
                for (int i = 0; i < n_[0]; ++i) {
                    const std::size_t node = index(i, j, k);
                    if (!band_[node]) continue;
                    const Vec3 p = position(i, j, k);
                    const PointOnTriangle c = closest(p, nearest_[node]);
                    if ((p - c.point).dot(normals_.at(mesh_, nearest_[node], c.feature)) < 0)
                        value[node] = -value[node];
                    queue.push_back(node);
                }
        const std::size_t stride[3] = {1, std::size_t(n_[0]), std::size_t(n_[0]) * n_[1]};
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const std::size_t node = queue[head];
            const int at[3] = {static_cast<int>(node % n_[0]), static_cast<int>(node / n_[0] % n_[1]),
                               static_cast<int>(node / stride[2])};
            for (int a = 0; a < 3; ++a)
                for (int side : {-1, 1}) {
                    if (at[a] + side < 0 || at[a] + side >= n_[a]) continue;
                    const std::size_t next = side > 0 ? node + stride[a] : node - stride[a];
                    if (known[next]) continue;
                    known[next] = 1;
                    value[next] = std::copysign(value[next], value[node]);
                    queue.push_back(next);
                }
        }
    }

    const Mesh& mesh_;
    PseudoNormals normals_;
    Vec3 lo_;
    double cell_;
    int n_[3];
    std::vector<int> nearest_;
    std::vector<double> squared_;
    std::vector<char> band_;
};

}  // namespace

SignedDistance::SignedDistance(const Mesh& mesh, const SignedDistanceOptions& options) {
    if (mesh.triangles.empty()) throw std::invalid_argument("signed distances need a mesh with triangles");
    for (const Triangle& t : mesh.triangles)
        for (int v : t) box_.add(mesh.vertices[v]);
    cell_ = box_.size().maxCoeff() / std::max(1, options.cells);
    box_.inflate(options.padding * cell_);
    const Vec3 cells = (box_.size() / cell_).array().ceil();
    nx_ = static_cast<int>(cells.x()) + 1;
    ny_ = static_cast<int>(cells.y()) + 1;
    nz_ = static_cast<int>(cells.z()) + 1;
    box_.hi = box_.lo + cell_ * cells;
    GridBuilder(mesh, box_, cell_, nx_, ny_, nz_).run(value_);
}

SignedDistance::Place SignedDistance::locate(const Vec3& inside_box) const {
    const Vec3 g = (inside_box - box_.lo) / cell_;
    const int i = std::clamp(static_cast<int>(g.x()), 0, nx_ - 2);
    const int j = std::clamp(static_cast<int>(g.y()), 0, ny_ - 2);
    const int k = std::clamp(static_cast<int>(g.z()), 0, nz_ - 2);
    return {(std::size_t(k) * ny_ + j) * nx_ + i, g - Vec3(i, j, k)};
}

SignedDistance::Sample SignedDistance::sample(const Vec3& point) const {
    const Vec3 inside = point.cwiseMax(box_.lo).cwiseMin(box_.hi);
    const Place place = locate(inside);
    const std::size_t dy = nx_, dz = std::size_t(nx_) * ny_;
    const float* v = value_.data() + place.node;
    const double x = place.fraction.x(), y = place.fraction.y(), z = place.fraction.z();
    const double c00 = v[0] + x * (v[1] - v[0]), c10 = v[dy] + x * (v[dy + 1] - v[dy]);
    const double c01 = v[dz] + x * (v[dz + 1] - v[dz]), c11 = v[dy + dz] + x * (v[dy + dz + 1] - v[dy + dz]);
    const double c0 = c00 + y * (c10 - c00), c1 = c01 + y * (c11 - c01);
    const double gx0 = (1 - y) * (v[1] - v[0]) + y * (v[dy + 1] - v[dy]);
    const double gx1 = (1 - y) * (v[dz + 1] - v[dz]) + y * (v[dy + dz + 1] - v[dy + dz]);
    Sample sample;
    sample.distance = c0 + z * (c1 - c0);
    sample.gradient = Vec3(gx0 + z * (gx1 - gx0), (1 - z) * (c10 - c00) + z * (c11 - c01), c1 - c0) / cell_;
    const Vec3 way = point - inside;
    const double length = way.norm();
    if (length > 0) {
        for (int a = 0; a < 3; ++a)
            if (way[a] != 0) sample.gradient[a] = way[a] / length;
        sample.distance += length;
    }
    return sample;
}

double SignedDistance::distance(const Vec3& point) const {
    return sample(point).distance;
}

}  // namespace tenon::geometry

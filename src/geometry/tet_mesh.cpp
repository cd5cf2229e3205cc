#include "geometry/tet_mesh.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/bvh.hpp"
#include "math/parallel.hpp"

namespace tenon::geometry {
namespace {

double tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    return (b - a).dot((c - a).cross(d - a)) / 6;
}

Vec4 weights_in(const TetMesh& mesh, int tet, const Vec3& point) {
    const Tet& t = mesh.tets[tet];
    Mat3 edges;
    for (int k = 0; k < 3; ++k) edges.col(k) = mesh.vertices[t[k + 1]] - mesh.vertices[t[0]];
    const Vec3 w = edges.inverse() * (point - mesh.vertices[t[0]]);
    return {1 - w.sum(), w[0], w[1], w[2]};
}

}  // namespace

double tet_quality(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    const double squares = (b - a).squaredNorm() + (c - a).squaredNorm() + (d - a).squaredNorm() +
                           (c - b).squaredNorm() + (d - b).squaredNorm() + (d - c).squaredNorm();
    const double length = std::sqrt(squares / 6);
    return length > 0 ? 6 * M_SQRT2 * tet_volume(a, b, c, d) / (length * length * length) : 0;
}

TetReport check_tets(const TetMesh& mesh) {
    TetReport report;
    std::vector<char> used(mesh.vertices.size(), 0);
    for (int i = 0; i < static_cast<int>(mesh.tets.size()); ++i) {
        const Tet& t = mesh.tets[i];
        for (int v : t) used[v] = 1;
        const double quality =
            tet_quality(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]], mesh.vertices[t[3]]);
        report.worst_quality = std::min(report.worst_quality, quality);
        if (quality < -1e-12) {
            if (report.inverted++ == 0) report.first_inverted = i;
        } else if (quality <= 1e-12) {
            if (report.degenerate++ == 0) report.first_degenerate = i;
        } else if (quality < 0.02) {
            if (report.slivers++ == 0) report.first_sliver = i;
        }
    }
    report.unused_vertices = static_cast<int>(std::count(used.begin(), used.end(), 0));
    return report;
}

std::vector<Triangle> tet_surface(const std::vector<Tet>& tets) {
    struct Face {
        Triangle sorted, oriented;
    };
    std::vector<Face> faces;
    faces.reserve(4 * tets.size());
    for (const Tet& t : tets)
        for (const Triangle& f : {Triangle{t[0], t[2], t[1]}, Triangle{t[0], t[1], t[3]},
                                  Triangle{t[1], t[2], t[3]}, Triangle{t[0], t[3], t[2]}}) {
            Triangle sorted = f;
            std::sort(sorted.begin(), sorted.end());
            faces.push_back({sorted, f});
        }
    std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.sorted < b.sorted; });
    std::vector<Triangle> surface;
    for (std::size_t i = 0; i < faces.size();) {
        std::size_t same = i + 1;
        while (same < faces.size() && faces[same].sorted == faces[i].sorted) ++same;
        if (same == i + 1) surface.push_back(faces[i].oriented);
        i = same;
    }
    return surface;
}

Embedding embed(const std::vector<Vec3>& points, const TetMesh& mesh) {
    std::vector<Box3> boxes(mesh.tets.size());
    Box3 all;
    for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
        for (int v : mesh.tets[i]) boxes[i].add(mesh.vertices[v]);
        all.add(boxes[i]);
    }
    Bvh tree;
    tree.build(boxes);
    Embedding result;
    result.tet.assign(points.size(), -1);
    result.weight.resize(points.size());
    const double first_reach = 1e-9 * all.diagonal();
    parallel_for(points.size(), 64, [&](std::size_t i) {
        // the tetrahedron with the least negative weight; the search box grows until it holds some
        for (double reach = first_reach; result.tet[i] < 0;
             reach = std::max(4 * reach, 0.01 * all.diagonal())) {
            Box3 query;
            query.add(points[i]);
            query.inflate(reach);
            double best = -1e300;
            tree.visit_overlaps(query, [&](int tet) {
                const Vec4 weight = weights_in(mesh, tet, points[i]);
                const double least = weight.minCoeff();
                if (least > best || (least == best && tet < result.tet[i])) {
                    best = least;
                    result.tet[i] = tet;
                    result.weight[i] = weight;
                }
            });
        }
    });
    return result;
}

}  // namespace tenon::geometry

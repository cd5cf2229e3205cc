#include "geometry/surface_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/bvh.hpp"
#include "geometry/crossing.hpp"
#include "geometry/distance.hpp"

namespace tenon::geometry {
namespace {

// Loose edges and points as triangles with repeated corners: distances come out the same.
std::vector<Triangle> elements(const Mesh& mesh) {
    std::vector<Triangle> all = mesh.triangles;
    for (const Edge& edge : mesh.edges) all.push_back({edge[0], edge[1], edge[1]});
    for (const int point : mesh.points) all.push_back({point, point, point});
    return all;
}

Box3 box_of(const std::vector<Vec3>& x, const Triangle& t) {
    Box3 box;
    for (const int corner : t) box.add(x[static_cast<std::size_t>(corner)]);
    return box;
}

double squared_gap(const Box3& a, const Box3& b) {
    const Vec3 gap = (a.lo - b.hi).cwiseMax(b.lo - a.hi).cwiseMax(0.0);
    return gap.squaredNorm();
}

double squared_distance(const std::array<Vec3, 3>& s, const std::array<Vec3, 3>& t) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < 3; ++i) {
        if (crosses(s[i], s[(i + 1) % 3], t[0], t[1], t[2]) ||
            crosses(t[i], t[(i + 1) % 3], s[0], s[1], s[2]))
            return 0.0;
        best = std::min(best, squared_distance_point_triangle(s[i], t[0], t[1], t[2]));
        best = std::min(best, squared_distance_point_triangle(t[i], s[0], s[1], s[2]));
        for (std::size_t k = 0; k < 3; ++k)
            best = std::min(best, squared_distance_edge_edge(s[i], s[(i + 1) % 3], t[k], t[(k + 1) % 3]));
    }
    return best;
}

}  // namespace

double surface_distance(const Mesh& mesh_a, const std::vector<Vec3>& a, const Mesh& mesh_b,
                        const std::vector<Vec3>& b) {
    const std::vector<Triangle> of_a = elements(mesh_a), of_b = elements(mesh_b);
    if (of_a.empty() || of_b.empty()) return std::numeric_limits<double>::infinity();
    std::vector<Box3> boxes;
    Box3 all;
    for (const Triangle& t : of_b) {
        boxes.push_back(box_of(b, t));
        all.add(boxes.back());
    }
    Bvh tree;
    tree.build(boxes);

    // nearest elements first: they bound the search for the others
    std::vector<double> gap;
    for (const Triangle& t : of_a) gap.push_back(squared_gap(box_of(a, t), all));
    std::vector<std::size_t> order(of_a.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t k) { return gap[i] < gap[k]; });
    const auto corners = [](const std::vector<Vec3>& x, const Triangle& t) {
        return std::array<Vec3, 3>{x[static_cast<std::size_t>(t[0])], x[static_cast<std::size_t>(t[1])],
                                   x[static_cast<std::size_t>(t[2])]};
    };
    double best = std::numeric_limits<double>::infinity();  // squared
    const Vec3 first = a[static_cast<std::size_t>(of_a[order[0]][0])];
    for (const Triangle& t : of_b)
        best = std::min(best, (b[static_cast<std::size_t>(t[0])] - first).squaredNorm());
    for (const std::size_t i : order) {
        if (gap[i] > best) break;
        const std::array<Vec3, 3> s = corners(a, of_a[i]);
        Box3 reach = box_of(a, of_a[i]);
        const Box3 own = reach;
        reach.inflate(std::sqrt(best));
        tree.visit_overlaps(reach, [&](int k) {
            if (squared_gap(own, boxes[static_cast<std::size_t>(k)]) < best)
                best = std::min(best, squared_distance(s, corners(b, of_b[static_cast<std::size_t>(k)])));
        });
        if (best == 0) break;
    }
    return std::sqrt(best);
}

}  // namespace tenon::geometry

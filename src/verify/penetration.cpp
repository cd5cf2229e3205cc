#include "verify/penetration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "verify/sweep.hpp"

namespace tenon::verify {
namespace {

constexpr int samples_per_edge = 8;

double squared_distance(const Box3& box, const Vec3& point) {
    return (box.lo - point).cwiseMax(point - box.hi).cwiseMax(0.0).squaredNorm();
}

bool is_inside(const Placed& body, const Vec3& point) {
    return body.surface->closed && contains(body, point);
}

// Depth of `point` below the surface of `body`, 0 outside.
double depth_of(const Placed& body, const Box3& box, const Vec3& point) {
    if (!box.contains(point) || !is_inside(body, point)) return 0.0;
    return distance_to(body, point);
}

double deepest_vertex(const Placed& of, const Placed& in) {
    const Box3 box = in.box();
    double deepest = 0;
    for (std::size_t i = 0; i < of.surface->vertices.size(); ++i)
        deepest = std::max(deepest, depth_of(in, box, of.vertex(static_cast<int>(i))));
    return deepest;
}

// Cells of the two that intersect, as pairs.
std::vector<std::array<int, 2>> crossing_cells(const Placed& a, const Placed& b) {
    std::vector<std::array<int, 2>> pairs;
    visit_leaves(a.surface->tree, b.surface->tree, NodeBoxes(a), NodeBoxes(b),
                 [&](const Node& na, const Node& nb) {
                     for (int i = 0; i < na.count; ++i)
                         for (int j = 0; j < nb.count; ++j) {
                             const int ca = a.surface->tree.order()[na.first + i],
                                       cb = b.surface->tree.order()[nb.first + j];
                             if (cells_intersect(a.corners(ca), b.corners(cb))) pairs.push_back({ca, cb});
                         }
                     return false;
                 });
    return pairs;
}

// Edges that enter and leave again have both ends outside: their middle is the deep part.
double deepest_on_edges(const Corners& cell, const Placed& in) {
    const Box3 box = in.box();
    double deepest = 0;
    for (int k = 0; k < 3; ++k)
        for (int s = 1; s < samples_per_edge; ++s) {
            const double t = static_cast<double>(s) / samples_per_edge;
            deepest = std::max(deepest, depth_of(in, box, (1 - t) * cell[k] + t * cell[(k + 1) % 3]));
        }
    return deepest;
}

// Without an inside: the nearer end of an edge that crosses a cell says how far it reached through.
double reach_through(const Corners& cell, const Corners& other) {
    double reach = 0;
    for (int k = 0; k < 3; ++k) {
        const Vec3 &p = cell[k], &q = cell[(k + 1) % 3];
        if (crossing(p, q, other) == Crossing::none) continue;
        const double nearer =
            std::min(closest({p, p, p}, other).distance, closest({q, q, q}, other).distance);
        reach = std::max(reach, nearer);
    }
    return reach;
}

}  // namespace

double distance_to(const Placed& placed, const Vec3& point) {
    const Tree& tree = placed.surface->tree;
    if (tree.empty()) return 0.0;
    const NodeBoxes boxes(placed);
    double best = std::numeric_limits<double>::max();
    std::vector<int> stack{0};
    while (!stack.empty()) {
        const int index = stack.back();
        stack.pop_back();
        if (squared_distance(boxes(index), point) >= best * best) continue;
        const Node& node = tree.nodes()[index];
        if (node.count == 0) {
            stack.push_back(node.first);
            stack.push_back(node.first + 1);
            continue;
        }
        for (int k = 0; k < node.count; ++k)
            best = std::min(
                best, closest({point, point, point}, placed.corners(tree.order()[node.first + k])).distance);
    }
    return best;
}

double penetration_depth(const Placed& a, const Placed& b) {
    double depth = std::max(deepest_vertex(a, b), deepest_vertex(b, a));
    double through_a = 0, through_b = 0;  // of edges of a through cells of b, and the other way round
    for (const auto& [ca, cb] : crossing_cells(a, b)) {
        const Corners cell_a = a.corners(ca), cell_b = b.corners(cb);
        depth = std::max({depth, deepest_on_edges(cell_a, b), deepest_on_edges(cell_b, a)});
        through_a = std::max(through_a, reach_through(cell_a, cell_b));
        through_b = std::max(through_b, reach_through(cell_b, cell_a));
    }
    if (a.surface->closed && b.surface->closed) return depth;
    // Edges of a ground that reach far to both sides of a body say nothing; those of the body do.
    if (a.surface->closed) return std::max(depth, through_a);
    if (b.surface->closed) return std::max(depth, through_b);
    if (through_a > 0 && through_b > 0) return std::max(depth, std::min(through_a, through_b));
    return std::max({depth, through_a, through_b});
}

}  // namespace tenon::verify

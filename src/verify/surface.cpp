#include "verify/surface.hpp"

#include <algorithm>
#include <numeric>

#include "math/parallel.hpp"

namespace tenon::verify {
namespace {

constexpr double rounding =
    1e-14;  // of a transformed coordinate, relative to the largest involved, with room

}  // namespace

Tree::Tree(const std::vector<Box3>& boxes) : order_(boxes.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    if (!boxes.empty()) build(boxes);
}

// Splits at the median of the box centres along the longest side.
void Tree::build(const std::vector<Box3>& boxes) {
    struct Task {
        int node, first, last;
    };
    nodes_.reserve(boxes.size());
    nodes_.emplace_back();
    std::vector<Task> stack{{0, 0, static_cast<int>(boxes.size())}};
    while (!stack.empty()) {
        const Task task = stack.back();
        stack.pop_back();
        Box3 box, centers;
        for (int i = task.first; i < task.last; ++i) {
            box.add(boxes[order_[i]]);
            centers.add(boxes[order_[i]].center());
        }
        nodes_[task.node].center = box.center();
        nodes_[task.node].half = 0.5 * box.size();
        if (task.last - task.first <= leaf_size) {
            nodes_[task.node].first = task.first;
            nodes_[task.node].count = task.last - task.first;
            continue;
        }
        int axis = 0;
        centers.size().maxCoeff(&axis);
        const int middle = (task.first + task.last) / 2;
        std::nth_element(order_.begin() + task.first, order_.begin() + middle, order_.begin() + task.last,
                         [&](int a, int b) {
                             const double ca = boxes[a].center()[axis], cb = boxes[b].center()[axis];
                             return ca < cb || (ca == cb && a < b);
                         });
        const int child = static_cast<int>(nodes_.size());
        nodes_[task.node].first = child;
        nodes_.emplace_back();
        nodes_.emplace_back();
        stack.push_back({child, task.first, middle});
        stack.push_back({child + 1, middle, task.last});
    }
}

std::vector<Box3> Tree::refit(const std::vector<Box3>& boxes) const {
    std::vector<Box3> out(nodes_.size());
    // Children come after their parents.
    for (int i = static_cast<int>(nodes_.size()) - 1; i >= 0; --i) {
        const Node& node = nodes_[i];
        if (node.count > 0) {
            for (int k = 0; k < node.count; ++k) out[i].add(boxes[order_[node.first + k]]);
        } else {
            out[i].add(out[node.first]);
            out[i].add(out[node.first + 1]);
        }
    }
    return out;
}

Surface make_surface(const std::vector<Vec3>& vertices, const Mesh& mesh, bool closed) {
    Surface surface;
    surface.vertices = vertices;
    surface.cells = mesh.triangles;
    surface.triangles = mesh.triangles.size();
    for (const Edge& edge : mesh.edges) surface.cells.push_back({edge[0], edge[1], edge[1]});
    for (const int index : mesh.points) surface.cells.push_back({index, index, index});
    surface.closed = closed && surface.triangles > 0;
    std::vector<Box3> boxes(surface.cells.size());
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (const int corner : surface.cells[i]) boxes[i].add(vertices[corner]);
    surface.tree = Tree(boxes);
    for (const Vec3& vertex : vertices) {
        surface.radius = std::max(surface.radius, vertex.norm());
        surface.extent = std::max(surface.extent, vertex.cwiseAbs().maxCoeff());
    }
    return surface;
}

Box3 Placed::box() const {
    return surface->tree.empty() ? Box3{} : NodeBoxes(*this)(0);
}

NodeBoxes::NodeBoxes(const Placed& placed) : placed_(placed), absolute_(placed.q.leftCols<3>().cwiseAbs()) {
    margin_.setConstant(rounding * (placed.surface->extent * absolute_.maxCoeff() * 3 +
                                    placed.q.col(3).cwiseAbs().maxCoeff()));
}

std::vector<Box3> elastic_node_boxes(const Surface& surface, const std::vector<Vec3>& x) {
    std::vector<Box3> boxes(surface.cells.size());
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (const int corner : surface.cells[i]) boxes[i].add(x[corner]);
    return surface.tree.refit(boxes);
}

std::vector<std::array<int, 2>> overlapping_pairs(const std::vector<Box3>& boxes) {
    std::vector<int> present;
    std::vector<Box3> solid;
    for (std::size_t i = 0; i < boxes.size(); ++i)
        if (!boxes[i].empty()) {
            present.push_back(static_cast<int>(i));
            solid.push_back(boxes[i]);
        }
    const Tree tree(solid);
    std::vector<std::vector<int>> partners(solid.size());
    parallel_for(solid.size(), 64, [&](std::size_t i) {
        std::vector<int> stack{0};
        while (!stack.empty()) {
            const Node& node = tree.nodes()[stack.back()];
            stack.pop_back();
            Box3 around;
            around.lo = node.center - node.half;
            around.hi = node.center + node.half;
            around.inflate(rounding * (node.center.cwiseAbs() + node.half).maxCoeff());
            if (!around.overlaps(solid[i])) continue;
            if (node.count == 0) {
                stack.push_back(node.first);
                stack.push_back(node.first + 1);
                continue;
            }
            for (int k = 0; k < node.count; ++k) {
                const int j = tree.order()[node.first + k];
                if (j > static_cast<int>(i) && solid[i].overlaps(solid[j])) partners[i].push_back(j);
            }
        }
        std::sort(partners[i].begin(), partners[i].end());
    });
    std::vector<std::array<int, 2>> pairs;
    for (std::size_t i = 0; i < partners.size(); ++i)
        for (const int j : partners[i]) pairs.push_back({present[i], present[j]});
    return pairs;
}

}  // namespace tenon::verify

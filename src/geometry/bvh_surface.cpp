#include "geometry/bvh_surface.hpp"

#include <algorithm>

#include "math/parallel.hpp"

namespace tenon::geometry {
namespace {

constexpr int small_surface = 48;  // vertices up to which looping over all of them is cheapest

// Edges of triangles by their lower vertex: finds the number of an edge in a few steps.
class EdgeTable {
  public:
    EdgeTable(std::span<const Edge> edges, std::size_t vertices)
        : start_(vertices + 1, 0), entry_(edges.size()) {
        for (const Edge& edge : edges) ++start_[std::min(edge[0], edge[1]) + 1];
        for (std::size_t i = 0; i < vertices; ++i) start_[i + 1] += start_[i];
        std::vector<int> next(start_.begin(), start_.end() - 1);
        for (std::size_t e = 0; e < edges.size(); ++e)
            entry_[next[std::min(edges[e][0], edges[e][1])]++] = {std::max(edges[e][0], edges[e][1]),
                                                                  static_cast<int>(e)};
    }
    int find(int a, int b) const {
        if (a > b) std::swap(a, b);
        for (int i = start_[a]; i < start_[a + 1]; ++i)
            if (entry_[i].high == b) return entry_[i].edge;
        return -1;
    }

  private:
    struct Entry {
        int high, edge;
    };
    std::vector<int> start_;
    std::vector<Entry> entry_;
};

}  // namespace

SurfaceTree::SurfaceTree(const Mesh& mesh, std::span<const Edge> edges)
    : vertices_(mesh.vertices), triangles_(mesh.triangles), edges_(edges) {
    const EdgeTable table(edges, mesh.vertices.size());
    std::vector<char> vertex_taken(mesh.vertices.size(), 0), edge_taken(edges.size(), 0);
    std::vector<Box3> boxes;
    auto take_vertex = [&](int v) {
        if (vertex_taken[v]) return;
        vertex_taken[v] = 1;
        owned_vertices_.push_back(v);
        box_.add(mesh.vertices[v]);
    };
    auto take_edge = [&](int e) {
        if (e < 0 || edge_taken[e]) return;
        edge_taken[e] = 1;
        owned_edges_.push_back(e);
    };
    auto close_element = [&](const Box3& box) {
        boxes.push_back(box);
        element_start_.push_back(
            {static_cast<int>(owned_vertices_.size()), static_cast<int>(owned_edges_.size())});
    };
    for (const Triangle& triangle : mesh.triangles) {
        Box3 box;
        for (int k = 0; k < 3; ++k) {
            take_vertex(triangle[k]);
            take_edge(table.find(triangle[k], triangle[(k + 1) % 3]));
            box.add(mesh.vertices[triangle[k]]);
        }
        close_element(box);
    }
    // What no triangle has taken is loose.
    for (std::size_t e = 0; e < edges.size(); ++e) {
        if (edge_taken[e]) continue;
        if (loose_edge_.empty()) loose_edge_.resize(edges.size(), 0);
        loose_edge_[e] = 1;
        take_edge(static_cast<int>(e));
        Box3 box;
        for (int v : edges[e]) {
            take_vertex(v);
            box.add(mesh.vertices[v]);
        }
        close_element(box);
    }
    for (int v : mesh.points) {
        if (vertex_taken[v]) continue;
        if (loose_point_.empty()) loose_point_.resize(mesh.vertices.size(), 0);
        loose_point_[v] = 1;
        take_vertex(v);
        Box3 box;
        box.add(mesh.vertices[v]);
        close_element(box);
    }
    tree_.build(boxes);
}

namespace {

// Largest direction . x over the surface's vertices: nodes in the order of their promise, pruned by what is known.
double support(const SurfaceTree& surface, const Vec3& direction) {
    const Bvh& tree = surface.tree();
    auto bound = [&](int i) {
        const Bvh::Node& node = tree.nodes()[i];
        double sum = 0.0;
        for (int k = 0; k < 3; ++k) sum += direction[k] * (direction[k] > 0 ? node.hi[k] : node.lo[k]);
        return sum;
    };
    double best = -1e300;  // relative to the tree's origin
    std::array<int, Bvh::max_depth + 2> stack;
    int top = 0;
    stack[top++] = 0;
    while (top > 0) {
        const int i = stack[--top];
        if (bound(i) <= best) continue;
        const Bvh::Node& node = tree.nodes()[i];
        if (!node.leaf()) {
            int near = i + 1, far = tree.right_child(i);
            if (bound(near) < bound(far)) std::swap(near, far);
            stack[top++] = far;
            stack[top++] = near;
            continue;
        }
        // All corners, not only the owned ones: the others were pruned with their owner's box.
        auto try_vertex = [&](int v) {
            best = std::max(best, direction.dot(surface.vertices()[v] - tree.origin()));
        };
        if (surface.is_triangle(node.item)) {
            for (int v : surface.triangles()[node.item]) try_vertex(v);
        } else {
            for (int e : surface.owned_edges(node.item)) {
                try_vertex(surface.edges()[e][0]);
                try_vertex(surface.edges()[e][1]);
            }
            for (int v : surface.owned_vertices(node.item)) try_vertex(v);
        }
    }
    return best + direction.dot(tree.origin());
}

}  // namespace

Box3 world_box(const SurfaceTree& surface, const Mat34& q) {
    Box3 box;
    if (surface.tree().empty()) return box;
    if (surface.vertices().size() <= small_surface) {
        for (int element = 0; element < surface.elements(); ++element)
            for (int v : surface.owned_vertices(element)) box.add(transform(q, surface.vertices()[v]));
        return box;
    }
    for (int k = 0; k < 3; ++k) {
        const Vec3 row = q.block<1, 3>(k, 0).transpose();
        box.hi[k] = q(k, 3) + support(surface, row);
        box.lo[k] = q(k, 3) - support(surface, -row);
    }
    // Vertices transformed elsewhere may round differently by a few units in the last place.
    box.inflate(1e-15 * (q.col(3).cwiseAbs().maxCoeff() + box.lo.cwiseAbs().maxCoeff() +
                         box.hi.cwiseAbs().maxCoeff()));
    return box;
}

}  // namespace tenon::geometry

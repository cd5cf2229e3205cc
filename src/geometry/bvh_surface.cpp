#include "geometry/bvh_surface.hpp"

#include <algorithm>

#include <Eigen/Eigenvalues>

#include "math/parallel.hpp"

namespace tenon::geometry {
namespace {

// Edges by their lower vertex: finds the number of an edge in a few steps.
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

// Of a flat part: its normal, and along its longest edge.
Mat3 along_longest_edge(const SurfaceTree& surface, const std::vector<int>& triangles, const Vec3& normal) {
    Vec3 longest = Vec3::Zero();
    for (const int t : triangles)
        for (int k = 0; k < 3; ++k) {
            const Triangle& corner = surface.triangles()[t];
            const Vec3 edge = surface.vertices()[corner[(k + 1) % 3]] - surface.vertices()[corner[k]];
            if (edge.squaredNorm() > longest.squaredNorm()) longest = edge;
        }
    Mat3 axes;
    axes.col(0) = (longest - longest.dot(normal) * normal).normalized();
    axes.col(1) = normal.cross(axes.col(0));
    axes.col(2) = normal;
    return axes;
}

// Principal directions of the normals: two surfaces side by side are apart along them. The body's own axes where
// there are no triangles, and for boxes along these axes.
Mat3 facing(const SurfaceTree& surface, const std::vector<int>& triangles) {
    Mat3 spread = Mat3::Zero();
    for (const int t : triangles) {
        const Triangle& corner = surface.triangles()[t];
        const Vec3 x = surface.vertices()[corner[0]];
        const Vec3 normal = (surface.vertices()[corner[1]] - x).cross(surface.vertices()[corner[2]] - x);
        const double twice_area = normal.norm();
        if (twice_area > 0.0) spread += normal * normal.transpose() / twice_area;
    }
    const Vec3 diagonal = spread.diagonal();
    if (!((spread - Mat3(diagonal.asDiagonal())).norm() > 1e-6 * diagonal.sum())) return Mat3::Identity();
    Eigen::SelfAdjointEigenSolver<Mat3> principal;
    principal.computeDirect(spread);
    const bool flat = principal.eigenvalues()[1] < 1e-9 * principal.eigenvalues()[2];
    const Mat3 axes = flat ? along_longest_edge(surface, triangles, principal.eigenvectors().col(2))
                           : principal.eigenvectors();
    const bool at_right_angles = (axes.transpose() * axes - Mat3::Identity()).norm() < 1e-6;  // false for NaN
    return at_right_angles ? axes : Mat3(Mat3::Identity());
}

// In the triangle's plane. The longest edge is along the first axis.
Vec3 beside_second_edge(const SurfaceTree& surface, int triangle, const Mat3& axes) {
    const Triangle& corner = surface.triangles()[triangle];
    Vec3 edges[3];
    for (int k = 0; k < 3; ++k)
        edges[k] = surface.vertices()[corner[(k + 1) % 3]] - surface.vertices()[corner[k]];
    std::sort(edges, edges + 3,
              [](const Vec3& e, const Vec3& f) { return e.squaredNorm() < f.squaredNorm(); });
    const Vec3 beside = axes.col(2).cross(edges[1]);
    return beside.norm() > 0.0 ? Vec3(beside.normalized()) : Vec3(axes.col(0));
}

// Rounded outward; its centre comes apart.
SurfaceTree::OrientedBox oriented_box_of(const SurfaceTree& surface, const std::vector<int>& triangles,
                                         const std::vector<int>& vertices, Vec3& center) {
    SurfaceTree::OrientedBox out;
    const Mat3 axes = facing(surface, triangles);
    Box3 box;
    for (const int v : vertices) box.add(axes.transpose() * surface.vertices()[v]);
    out.axes = axes.cast<float>();
    out.fourth = (triangles.size() == 1 ? beside_second_edge(surface, triangles[0], axes) : Vec3(axes.col(0)))
                     .cast<float>();
    center = axes * box.center();
    const double size = box.lo.cwiseAbs().cwiseMax(box.hi.cwiseAbs()).sum();
    out.half = (0.5 * box.size()).cast<float>().array() + static_cast<float>(4e-6 * size);
    return out;
}

}  // namespace

// Sorts elements into blocks and hands vertices and edges to the first block that uses them.
struct SurfaceTree::Builder {
    SurfaceTree& surface;
    EdgeTable table;
    std::vector<char> vertex_taken, edge_taken;
    std::vector<int> loose_edge_id, loose_point_id;
    std::vector<Box3> element_boxes, block_boxes;
    std::vector<Vec3> block_centers;  // of the oriented boxes

    Builder(SurfaceTree& target, const Mesh& mesh)
        : surface(target),
          table(target.edges_, mesh.vertices.size()),
          vertex_taken(mesh.vertices.size(), 0),
          edge_taken(target.edges_.size(), 0) {
        find_elements(mesh);
        surface.uses_all_vertices_ =
            std::find(vertex_taken.begin(), vertex_taken.end(), 0) == vertex_taken.end();
        std::fill(vertex_taken.begin(), vertex_taken.end(), 0);
        std::fill(edge_taken.begin(), edge_taken.end(), 0);
        Bvh order;
        order.build(element_boxes);
        for (int node = 0; node < static_cast<int>(order.nodes().size());) {
            const int end = order.nodes()[node].escape;
            if ((end - node + 1) / 2 > (surface.single_elements_ ? 1 : block_elements)) {
                ++node;
                continue;
            }
            add_block(order, node, end);
            node = end;
        }
        surface.tree_.build(block_boxes, Bvh::Split::area);
        surface.block_points_.reserve(surface.block_vertices_.size());
        for (const int v : surface.block_vertices_) {
            const Eigen::Vector3f point = (mesh.vertices[v] - surface.tree_.origin()).cast<float>();
            surface.block_points_.push_back({point[0], point[1], point[2]});
        }
        for (std::size_t b = 0; b < block_centers.size(); ++b)
            surface.oriented_boxes_[b].center = (block_centers[b] - surface.tree_.origin()).cast<float>();
    }

    // Triangles, then edges that no triangle has, then points that neither has.
    void find_elements(const Mesh& mesh) {
        auto box_of = [&](auto&& list) {
            Box3 box;
            for (int v : list) {
                vertex_taken[v] = 1;
                box.add(mesh.vertices[v]);
            }
            surface.box_.add(box);
            return box;
        };
        for (const Triangle& triangle : mesh.triangles) {
            element_boxes.push_back(box_of(triangle));
            for (int k = 0; k < 3; ++k) {
                const int e = table.find(triangle[k], triangle[(k + 1) % 3]);
                if (e >= 0) edge_taken[e] = 1;
            }
        }
        for (std::size_t e = 0; e < surface.edges_.size(); ++e) {
            if (edge_taken[e]) continue;
            if (surface.loose_edge_.empty()) surface.loose_edge_.resize(surface.edges_.size(), 0);
            surface.loose_edge_[e] = 1;
            loose_edge_id.push_back(static_cast<int>(e));
            element_boxes.push_back(box_of(surface.edges_[e]));
        }
        for (int v : mesh.points) {
            if (vertex_taken[v]) continue;
            if (surface.loose_point_.empty()) surface.loose_point_.resize(mesh.vertices.size(), 0);
            surface.loose_point_[v] = 1;
            loose_point_id.push_back(v);
            element_boxes.push_back(box_of(std::array<int, 1>{v}));
        }
    }

    void add_block(const Bvh& order, int begin, int end) {
        std::vector<int> owned, shared;
        auto use = [&](int v) {
            if (!vertex_taken[v]) {
                vertex_taken[v] = 1;
                owned.push_back(v);
            } else if (std::find(owned.begin(), owned.end(), v) == owned.end() &&
                       std::find(shared.begin(), shared.end(), v) == shared.end()) {
                shared.push_back(v);
            }
        };
        std::vector<int> triangle_ids, edge_ids;
        auto take_edge = [&](int e) {
            if (e < 0 || edge_taken[e]) return;
            edge_taken[e] = 1;
            edge_ids.push_back(e);
        };
        const int triangles = static_cast<int>(surface.triangles_.size());
        const int loose_edges = static_cast<int>(loose_edge_id.size());
        Box3 box;
        for (int node = begin; node < end; ++node) {
            const int item = order.nodes()[node].item;
            if (item < 0) continue;
            box.add(element_boxes[item]);
            if (item < triangles) {
                const Triangle& triangle = surface.triangles_[item];
                triangle_ids.push_back(item);
                for (int k = 0; k < 3; ++k) {
                    use(triangle[k]);
                    take_edge(table.find(triangle[k], triangle[(k + 1) % 3]));
                }
            } else if (item < triangles + loose_edges) {
                const int e = loose_edge_id[item - triangles];
                for (int v : surface.edges_[e]) use(v);
                take_edge(e);
            } else {
                use(loose_point_id[item - triangles - loose_edges]);
            }
        }
        close_block(owned, shared, triangle_ids, edge_ids);
        owned.insert(owned.end(), shared.begin(), shared.end());
        surface.oriented_boxes_.push_back(
            oriented_box_of(surface, triangle_ids, owned, block_centers.emplace_back()));
        block_boxes.push_back(box);
    }

    void close_block(const std::vector<int>& owned, const std::vector<int>& shared,
                     const std::vector<int>& triangle_ids, const std::vector<int>& edge_ids) {
        std::vector<int> list = owned;
        list.insert(list.end(), shared.begin(), shared.end());
        auto place = [&](int v) {
            return static_cast<std::uint8_t>(std::find(list.begin(), list.end(), v) - list.begin());
        };
        for (int t : triangle_ids) {
            const Triangle& triangle = surface.triangles_[t];
            surface.block_triangles_.push_back(
                {t, {place(triangle[0]), place(triangle[1]), place(triangle[2])}});
        }
        for (int e : edge_ids) {
            const Edge& edge = surface.edges_[e];
            surface.block_edges_.push_back({e, {place(edge[0]), place(edge[1])}});
        }
        surface.block_vertices_.insert(surface.block_vertices_.end(), list.begin(), list.end());
        surface.start_.back().owned = static_cast<int>(owned.size());
        surface.start_.push_back({static_cast<int>(surface.block_vertices_.size()),
                                  static_cast<int>(surface.block_triangles_.size()),
                                  static_cast<int>(surface.block_edges_.size()), 0});
    }
};

SurfaceTree::SurfaceTree(const Mesh& mesh, std::span<const Edge> edges, Blocks blocks)
    : vertices_(mesh.vertices),
      triangles_(mesh.triangles),
      edges_(edges),
      single_elements_(blocks == Blocks::single_elements) {
    Builder(*this, mesh);
}

namespace {

constexpr std::size_t scan_limit = 4096;  // vertices up to which looking at all of them is cheapest

// Largest direction . (x - origin of the tree) over the vertices: nodes in the order of their promise, pruned by
// what is known.
double support(const SurfaceTree& surface, const Vec3& direction) {
    const Bvh& tree = surface.tree();
    auto bound = [&](int i) {
        const Bvh::Node& node = tree.nodes()[i];
        double sum = 0.0;
        for (int k = 0; k < 3; ++k) sum += direction[k] * (direction[k] > 0 ? node.hi[k] : node.lo[k]);
        return sum;
    };
    struct Entry {
        int node;
        double bound;
    };
    double best = -1e300;
    std::array<Entry, Bvh::max_depth + 2> stack;
    int top = 0;
    stack[top++] = {0, 1e300};
    while (top > 0) {
        const Entry entry = stack[--top];
        if (entry.bound <= best) continue;
        const Bvh::Node& node = tree.nodes()[entry.node];
        if (node.leaf()) {
            for (int v : surface.block(node.item).vertices)
                best = std::max(best, direction.dot(surface.vertices()[v] - tree.origin()));
            continue;
        }
        Entry near{entry.node + 1, bound(entry.node + 1)};
        const int right = tree.right_child(entry.node);
        Entry far{right, bound(right)};
        if (near.bound < far.bound) std::swap(near, far);
        stack[top++] = far;
        stack[top++] = near;
    }
    return best;
}

}  // namespace

Box3 world_box(const SurfaceTree& surface, const Mat34& q) {
    Box3 box;
    if (surface.tree().empty()) return box;
    if (surface.vertices().size() <= scan_limit && surface.uses_all_vertices()) {
        for (const Vec3& x : surface.vertices()) box.add(transform(q, x));
        return box;
    }
    if (surface.vertices().size() <= scan_limit) {
        for (int b = 0; b < surface.blocks(); ++b) {
            const SurfaceTree::Block block = surface.block(b);
            for (int i = 0; i < block.owned; ++i)
                box.add(transform(q, surface.vertices()[block.vertices[i]]));
        }
        return box;
    }
    const Vec3 origin = transform(q, surface.tree().origin());
    for (int k = 0; k < 3; ++k) {
        const Vec3 row = q.block<1, 3>(k, 0).transpose();
        box.hi[k] = origin[k] + support(surface, row);
        box.lo[k] = origin[k] - support(surface, -row);
    }
    // Vertices transformed elsewhere may round differently.
    const double extent = std::max(box.lo.cwiseAbs().maxCoeff(), box.hi.cwiseAbs().maxCoeff());
    box.inflate(2e-15 * (q.col(3).cwiseAbs().maxCoeff() + extent));
    return box;
}

}  // namespace tenon::geometry

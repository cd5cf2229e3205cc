#include "geometry/overlap.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::geometry {
namespace {

constexpr int linear_elements = 32;    // surfaces this small are scanned, not searched
constexpr std::size_t crowded = 6000;  // box pairs above which a local tree pays

// Widened by the margin and by more than the rounding in comparing against it.
Box3 widened(Box3 box, double margin) {
    const double extent = std::max(box.lo.cwiseAbs().maxCoeff(), box.hi.cwiseAbs().maxCoeff());
    box.inflate(margin + 1e-15 * (extent + margin));
    return box;
}

bool overlap(const Box3& a, const Box3& b) {
    return a.lo[0] <= b.hi[0] && b.lo[0] <= a.hi[0] && a.lo[1] <= b.hi[1] && b.lo[1] <= a.hi[1] &&
           a.lo[2] <= b.hi[2] && b.lo[2] <= a.hi[2];
}

// World boxes of a body's primitives and tree nodes.
class Placement {
  public:
    explicit Placement(const Posed& body) : body_(body), vertices_(body.surface->vertices()) {
        for (int pose = 0; pose < (body.swept ? 2 : 1); ++pose) {
            const Mat34& q = pose == 0 ? body.q0 : body.q1;
            Frame& frame = frames_[pose];
            frame.linear = q.leftCols<3>();
            frame.absolute = frame.linear.cwiseAbs();
            frame.origin = transform(q, body.surface->tree().origin());
            const Box3& box = body.surface->box();
            const Vec3 reach = frame.absolute * box.lo.cwiseAbs().cwiseMax(box.hi.cwiseAbs());
            frame.slack = 1e-14 * (reach.maxCoeff() + q.col(3).cwiseAbs().maxCoeff());
        }
    }

    void add(Box3& box, int vertex) const {
        box.add(transform(body_.q0, vertices_[vertex]));
        if (body_.swept) box.add(transform(body_.q1, vertices_[vertex]));
    }
    Box3 vertex_box(int vertex) const {
        Box3 box;
        add(box, vertex);
        return box;
    }
    Box3 edge_box(int edge) const {
        Box3 box;
        for (int v : body_.surface->edges()[edge]) add(box, v);
        return box;
    }
    Box3 triangle_box(int triangle) const {
        Box3 box;
        for (int v : body_.surface->triangles()[triangle]) add(box, v);
        return box;
    }
    // Contains the boxes of everything below the node.
    Box3 node_box(const Bvh::Node& node) const {
        const Vec3 lo(node.lo[0], node.lo[1], node.lo[2]), hi(node.hi[0], node.hi[1], node.hi[2]);
        const Vec3 center = 0.5 * (lo + hi), half = 0.5 * (hi - lo);
        Box3 box;
        for (int pose = 0; pose < (body_.swept ? 2 : 1); ++pose) {
            const Frame& frame = frames_[pose];
            const Vec3 c = frame.linear * center + frame.origin, h = frame.absolute * half;
            Box3 one;
            one.lo = c - h;
            one.hi = c + h;
            one.inflate(frame.slack);
            box.add(one);
        }
        return box;
    }

  private:
    struct Frame {
        Mat3 linear, absolute;
        Vec3 origin;
        double slack = 0.0;
    };
    const Posed& body_;
    std::span<const Vec3> vertices_;
    std::array<Frame, 2> frames_;
};

void add_element(const SurfaceTree& surface, const Placement& place, int element, const Box3& region,
                 RegionPrimitives& out) {
    if (surface.is_triangle(element)) {
        const Box3 box = place.triangle_box(element);
        // Edges and vertices that the triangle owns lie in its box.
        if (!overlap(box, region)) return;
        out.triangles.add(element, box);
    }
    for (int e : surface.owned_edges(element)) {
        const Box3 box = place.edge_box(e);
        if (overlap(box, region)) out.edges.add(e, box);
    }
    for (int v : surface.owned_vertices(element)) {
        const Box3 box = place.vertex_box(v);
        if (overlap(box, region)) out.vertices.add(v, box);
    }
}

// The part of the region that the primitives reach into.
Box3 clipped_bounds(const RegionPrimitives& primitives, const Box3& region) {
    Box3 bounds;
    for (const Primitives* list : {&primitives.triangles, &primitives.edges, &primitives.vertices})
        for (const Box3& box : list->box) bounds.add(box);
    bounds.lo = bounds.lo.cwiseMax(region.lo);
    bounds.hi = bounds.hi.cwiseMin(region.hi);
    return bounds;
}

void keep_inside(Primitives& list, const Box3& region) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!overlap(list.box[i], region)) continue;
        list.id[kept] = list.id[i];
        list.box[kept++] = list.box[i];
    }
    list.id.resize(kept);
    list.box.resize(kept);
}

// Pairs of one list's boxes, widened by the margin, with the other's. Body a's boxes are the widened ones.
class PairFinder {
  public:
    PairFinder(double margin, OverlapMethod method, Bvh& tree, OverlapStats& stats)
        : margin_(margin), method_(method), tree_(tree), stats_(stats) {}

    template <class Accept>
    void find(const Primitives& a, const Primitives& b, std::vector<ItemPair>& out, const Accept& accept) {
        if (a.size() == 0 || b.size() == 0) return;
        if (method_ == OverlapMethod::region || a.size() * b.size() <= crowded)
            find_all(a, b, out, accept);
        else
            find_by_tree(a, b, out, accept);
    }

  private:
    template <class Accept>
    void find_all(const Primitives& a, const Primitives& b, std::vector<ItemPair>& out,
                  const Accept& accept) {
        stats_.box_tests += static_cast<long>(a.size() * b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            Box3 box = a.box[i];
            box.inflate(margin_);
            for (std::size_t j = 0; j < b.size(); ++j)
                if (overlap(box, b.box[j]) && accept(a.id[i], b.id[j])) out.push_back({a.id[i], b.id[j]});
        }
    }

    template <class Accept>
    void find_by_tree(const Primitives& a, const Primitives& b, std::vector<ItemPair>& out,
                      const Accept& accept) {
        const bool tree_of_b = b.size() >= a.size();
        const Primitives &in_tree = tree_of_b ? b : a, &queries = tree_of_b ? a : b;
        tree_.build(in_tree.box);
        for (std::size_t i = 0; i < queries.size(); ++i) {
            const FloatBox query = tree_.rounded(widened(queries.box[i], margin_));
            tree_.visit_where(
                [&](int node) {
                    ++stats_.node_tests;
                    return tree_.nodes()[node].overlaps(query);
                },
                [&](int j) {
                    const std::size_t ia = tree_of_b ? i : j, ib = tree_of_b ? j : i;
                    Box3 box = a.box[ia];
                    box.inflate(margin_);
                    ++stats_.box_tests;
                    if (overlap(box, b.box[ib]) && accept(a.id[ia], b.id[ib]))
                        out.push_back({a.id[ia], b.id[ib]});
                });
        }
    }

    double margin_;
    OverlapMethod method_;
    Bvh& tree_;
    OverlapStats& stats_;
};

// Both surfaces' trees at once; what full-body trees cost, beside the overlap regions.
class FullTrees {
  public:
    FullTrees(const Posed& a, const Posed& b, double margin, Candidates& out, OverlapStats& stats)
        : a_(*a.surface),
          b_(*b.surface),
          place_a_(a),
          place_b_(b),
          margin_(margin),
          out_(out),
          stats_(stats) {}

    void run() {
        if (a_.tree().empty() || b_.tree().empty()) return;
        struct Entry {
            int i, j;
        };
        std::array<Entry, 2 * Bvh::max_depth + 2> stack;
        int top = 0;
        stack[top++] = {0, 0};
        while (top > 0) {
            const auto [i, j] = stack[--top];
            const Bvh::Node &na = a_.tree().nodes()[i], &nb = b_.tree().nodes()[j];
            ++stats_.node_tests;
            if (!overlap(widened(place_a_.node_box(na), margin_), place_b_.node_box(nb))) continue;
            if (na.leaf() && nb.leaf()) {
                pair_elements(na.item, nb.item);
            } else if (!na.leaf() && (nb.leaf() || na.escape - i >= nb.escape - j)) {
                stack[top++] = {a_.tree().right_child(i), j};
                stack[top++] = {i + 1, j};
            } else {
                stack[top++] = {i, b_.tree().right_child(j)};
                stack[top++] = {i, j + 1};
            }
        }
    }

  private:
    void test(Box3 box_a, const Box3& box_b, int a, int b, std::vector<ItemPair>& list) {
        ++stats_.box_tests;
        box_a.inflate(margin_);
        if (overlap(box_a, box_b)) list.push_back({a, b});
    }

    void pair_elements(int ea, int eb) {
        if (b_.is_triangle(eb))
            for (int v : a_.owned_vertices(ea))
                test(place_a_.vertex_box(v), place_b_.triangle_box(eb), v, eb, out_.vertex_triangle);
        if (a_.is_triangle(ea))
            for (int v : b_.owned_vertices(eb))
                test(place_a_.triangle_box(ea), place_b_.vertex_box(v), ea, v, out_.triangle_vertex);
        for (int e : a_.owned_edges(ea))
            for (int f : b_.owned_edges(eb))
                test(place_a_.edge_box(e), place_b_.edge_box(f), e, f, out_.edge_edge);
        for (int v : a_.owned_vertices(ea)) {
            if (!a_.loose_point(v)) continue;
            for (int f : b_.owned_edges(eb))
                if (b_.loose_edge(f))
                    test(place_a_.vertex_box(v), place_b_.edge_box(f), v, f, out_.point_edge);
            for (int w : b_.owned_vertices(eb))
                if (b_.loose_point(w))
                    test(place_a_.vertex_box(v), place_b_.vertex_box(w), v, w, out_.point_point);
        }
        for (int w : b_.owned_vertices(eb)) {
            if (!b_.loose_point(w)) continue;
            for (int e : a_.owned_edges(ea))
                if (a_.loose_edge(e))
                    test(place_a_.edge_box(e), place_b_.vertex_box(w), e, w, out_.edge_point);
        }
    }

    const SurfaceTree &a_, &b_;
    Placement place_a_, place_b_;
    double margin_;
    Candidates& out_;
    OverlapStats& stats_;
};

}  // namespace

Posed posed(const SurfaceTree& surface, const Mat34& q) {
    Posed body;
    body.surface = &surface;
    body.q0 = q;
    body.box = world_box(surface, q);
    return body;
}

Posed posed(const SurfaceTree& surface, const Mat34& q0, const Mat34& q1) {
    Posed body = posed(surface, q0);
    body.q1 = q1;
    body.swept = true;
    body.box.add(world_box(surface, q1));
    return body;
}

void Candidates::clear() {
    for (auto* list :
         {&vertex_triangle, &triangle_vertex, &edge_edge, &point_edge, &edge_point, &point_point})
        list->clear();
}

std::size_t Candidates::size() const {
    return vertex_triangle.size() + triangle_vertex.size() + edge_edge.size() + point_edge.size() +
           edge_point.size() + point_point.size();
}

void Primitives::clear() {
    id.clear();
    box.clear();
}

void Primitives::add(int primitive, const Box3& primitive_box) {
    id.push_back(primitive);
    box.push_back(primitive_box);
}

void RegionPrimitives::clear() {
    triangles.clear();
    edges.clear();
    vertices.clear();
}

void primitives_in_region(const Posed& body, const Box3& region, RegionPrimitives& out, OverlapStats* stats) {
    out.clear();
    OverlapStats unused;
    OverlapStats& count = stats ? *stats : unused;
    const SurfaceTree& surface = *body.surface;
    const Placement place(body);
    if (surface.elements() <= linear_elements) {
        count.box_tests += surface.elements();
        for (int element = 0; element < surface.elements(); ++element)
            add_element(surface, place, element, region, out);
        return;
    }
    const auto nodes = surface.tree().nodes();
    surface.tree().visit_where(
        [&](int node) {
            ++count.node_tests;
            return overlap(place.node_box(nodes[node]), region);
        },
        [&](int element) {
            ++count.box_tests;
            add_element(surface, place, element, region, out);
        });
}

void find_candidates(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                     OverlapMethod method, OverlapStats* stats) {
    out.clear();
    OverlapStats unused;
    OverlapStats& count = stats ? *stats : unused;
    if (!overlap(widened(a.box, margin), b.box)) return;
    if (method == OverlapMethod::full_trees) {
        FullTrees(a, b, margin, out, count).run();
        return;
    }

    // The region is tightened from side to side: what of a reaches b's box, what of b reaches that, and back.
    const Box3 region_a = widened(b.box, margin);
    primitives_in_region(a, region_a, scratch.a, &count);
    if (scratch.a.empty()) return;
    const Box3 region_b = widened(clipped_bounds(scratch.a, region_a), margin);
    primitives_in_region(b, region_b, scratch.b, &count);
    if (scratch.b.empty()) return;
    const Box3 tight = widened(clipped_bounds(scratch.b, region_b), margin);
    for (Primitives* list : {&scratch.a.triangles, &scratch.a.edges, &scratch.a.vertices})
        keep_inside(*list, tight);

    const SurfaceTree &sa = *a.surface, &sb = *b.surface;
    auto all = [](int, int) { return true; };
    PairFinder finder(margin, method, scratch.tree, count);
    finder.find(scratch.a.vertices, scratch.b.triangles, out.vertex_triangle, all);
    finder.find(scratch.a.triangles, scratch.b.vertices, out.triangle_vertex, all);
    finder.find(scratch.a.edges, scratch.b.edges, out.edge_edge, all);
    if (sa.has_loose_points() && sb.has_loose_edges())
        finder.find(scratch.a.vertices, scratch.b.edges, out.point_edge,
                    [&](int v, int e) { return sa.loose_point(v) && sb.loose_edge(e); });
    if (sa.has_loose_edges() && sb.has_loose_points())
        finder.find(scratch.a.edges, scratch.b.vertices, out.edge_point,
                    [&](int e, int v) { return sa.loose_edge(e) && sb.loose_point(v); });
    if (sa.has_loose_points() && sb.has_loose_points())
        finder.find(scratch.a.vertices, scratch.b.vertices, out.point_point,
                    [&](int v, int w) { return sa.loose_point(v) && sb.loose_point(w); });
}

}  // namespace tenon::geometry

// The affine paper's culling (i-AABB, its section 4.2): one level, and with a local tree.
#include "geometry/overlap_placement.hpp"

namespace tenon::geometry {
namespace {

constexpr std::size_t crowded = 6000;  // box pairs above which a local tree pays

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

// Pairs of one list's boxes with the other's. Body a's boxes are the ones widened by the margin.
class PairFinder {
  public:
    PairFinder(double margin, bool use_tree, Bvh& tree, OverlapStats& stats)
        : margin_(margin), use_tree_(use_tree), tree_(tree), stats_(stats) {}

    template <class Accept>
    void find(const Primitives& a, const Primitives& b, std::vector<ItemPair>& out, const Accept& accept) {
        if (a.size() == 0 || b.size() == 0) return;
        if (use_tree_ && a.size() * b.size() > crowded)
            find_by_tree(a, b, out, accept);
        else
            find_all(a, b, out, accept);
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
    bool use_tree_;
    Bvh& tree_;
    OverlapStats& stats_;
};

}  // namespace

void find_in_region(const Posed& a, const Posed& b, double margin, bool tree_when_crowded,
                    OverlapScratch& scratch, Candidates& out, OverlapStats& stats) {
    // The region is tightened from side to side: what of a reaches b's box, what of b reaches that, and back.
    const Box3 region_a = widened(b.box, margin);
    primitives_in_region(a, region_a, scratch.a, &stats);
    if (scratch.a.empty()) return;
    const Box3 region_b = widened(clipped_bounds(scratch.a, region_a), margin);
    primitives_in_region(b, region_b, scratch.b, &stats);
    if (scratch.b.empty()) return;
    const Box3 tight = widened(clipped_bounds(scratch.b, region_b), margin);
    for (Primitives* list : {&scratch.a.triangles, &scratch.a.edges, &scratch.a.vertices})
        keep_inside(*list, tight);

    const SurfaceTree &sa = *a.surface, &sb = *b.surface;
    auto all = [](int, int) { return true; };
    PairFinder finder(margin, tree_when_crowded, scratch.tree, stats);
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

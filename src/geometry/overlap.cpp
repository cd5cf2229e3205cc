#include "geometry/overlap.hpp"

#include "geometry/overlap_placement.hpp"

namespace tenon::geometry {
namespace {

// The body frame's box, moved: a few operations, where the exact world_box looks at vertices.
Box3 moved_box(const SurfaceTree& surface, const Mat34& q) {
    Box3 box;
    if (surface.tree().empty()) return box;
    const Vec3 center = transform(q, surface.box().center());
    const Vec3 half = q.leftCols<3>().cwiseAbs() * (0.5 * surface.box().size());
    box.lo = center - half;
    box.hi = center + half;
    box.inflate(4e-15 * (q.col(3).cwiseAbs().maxCoeff() + center.cwiseAbs().maxCoeff() + half.maxCoeff()));
    return box;
}

}  // namespace

Posed posed(const SurfaceTree& surface, const Mat34& q) {
    Posed body;
    body.surface = &surface;
    body.q0 = q;
    body.box = moved_box(surface, q);
    return body;
}

Posed posed(const SurfaceTree& surface, const Mat34& q0, const Mat34& q1) {
    Posed body = posed(surface, q0);
    body.q1 = q1;
    body.swept = true;
    body.box.add(moved_box(surface, q1));
    return body;
}

void Candidates::clear() {
    for (auto* list :
         {&vertex_triangle, &triangle_vertex, &edge_edge, &point_edge, &edge_point, &point_point})
        list->clear();
    vertices_a.clear();
    vertices_b.clear();
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
    const auto nodes = surface.tree().nodes();
    surface.tree().visit_where(
        [&](int node) {
            ++count.node_tests;
            return overlap(place.node_box(nodes[node]), region);
        },
        [&](int b) {
            const SurfaceTree::Block block = surface.block(b);
            const BlockBoxes boxes(place, block);
            count.box_tests += static_cast<long>(block.triangles.size() + block.edges.size()) + block.owned;
            for (const auto& triangle : block.triangles) {
                const RawBox box = boxes.triangle(triangle);
                if (overlap(box, region)) out.triangles.add(triangle.id, box.box());
            }
            for (const auto& edge : block.edges) {
                const RawBox box = boxes.edge(edge);
                if (overlap(box, region)) out.edges.add(edge.id, box.box());
            }
            for (int i = 0; i < block.owned; ++i)
                if (overlap(boxes.vertex[i], region))
                    out.vertices.add(block.vertices[i], boxes.vertex[i].box());
        });
}

void find_candidates(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                     OverlapMethod method, OverlapStats* stats) {
    out.clear();
    OverlapStats unused;
    OverlapStats& count = stats ? *stats : unused;
    if (a.surface->tree().empty() || b.surface->tree().empty()) return;
    if (!overlap(widened(a.box, margin), b.box)) return;
    if (method == OverlapMethod::blocks)
        find_by_blocks(a, b, margin, scratch, out, nullptr, count);
    else
        find_in_region(a, b, margin, method == OverlapMethod::region_tree, scratch, out, count);
}

void find_candidates(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                     EdgeTriangles& crossings) {
    out.clear();
    crossings.edge_triangle.clear();
    crossings.triangle_edge.clear();
    if (a.surface->tree().empty() || b.surface->tree().empty()) return;
    if (!overlap(widened(a.box, margin), b.box)) return;
    OverlapStats unused;
    find_by_blocks(a, b, margin, scratch, out, &crossings, unused);
}

}  // namespace tenon::geometry

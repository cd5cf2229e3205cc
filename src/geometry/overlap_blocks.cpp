// Both surfaces' block trees are descended together; within a pair of blocks, the overlap of their boxes
// decides which primitives meet.
#include "geometry/overlap_placement.hpp"

namespace tenon::geometry {
namespace {

class BlockCache {
  public:
    BlockCache(const Placement& place, PosedBlocks& store) : place_(place), store_(store) {
        store.slots.clear();
        store.triangle_boxes.clear();
        store.edge_boxes.clear();
        store.vertex_boxes.clear();
        const std::size_t blocks = place.surface().blocks();
        if (store.stamp.size() < blocks) {
            store.stamp.resize(blocks, 0);
            store.slot_of_block.resize(blocks, 0);
        }
        if (++store.search == 0) {  // wrapped around: no old stamp may look new
            std::fill(store.stamp.begin(), store.stamp.end(), 0);
            store.search = 1;
        }
    }

    int slot(int b) {
        if (store_.stamp[b] == store_.search) return store_.slot_of_block[b];
        store_.stamp[b] = store_.search;
        store_.slot_of_block[b] = static_cast<int>(store_.slots.size());
        PosedBlocks::Slot slot;
        slot.block = b;
        slot.bounds = RawBox::nothing();
        slot.triangle = store_.triangle_boxes.size();
        slot.edge = store_.edge_boxes.size();
        slot.vertex = store_.vertex_boxes.size();
        const SurfaceTree::Block block = place_.surface().block(b);
        const BlockBoxes boxes(place_, block);
        for (std::size_t i = 0; i < block.vertices.size(); ++i) slot.bounds.add(boxes.vertex[i]);
        for (const auto& triangle : block.triangles)
            store_.triangle_boxes.push_back(boxes.triangle(triangle));
        for (const auto& edge : block.edges) store_.edge_boxes.push_back(boxes.edge(edge));
        for (int i = 0; i < block.owned; ++i) store_.vertex_boxes.push_back(boxes.vertex[i]);
        store_.slots.push_back(slot);
        return store_.slot_of_block[b];
    }

  private:
    const Placement& place_;
    PosedBlocks& store_;
};

// Primitives of one block that reach into a region: places in the block's lists and their boxes.
template <int Capacity>
struct Picked {
    int id[Capacity];
    RawBox box[Capacity];
    int count = 0;

    void add(int primitive, const RawBox& primitive_box) {
        id[count] = primitive;
        box[count++] = primitive_box;
    }
};
struct PickedBlock {
    Picked<SurfaceTree::block_elements> triangles;
    Picked<SurfaceTree::block_vertices> edges, vertices;
    RawBox bounds;  // of what was picked

    void pick(const SurfaceTree& surface, const PosedBlocks& store, const PosedBlocks::Slot& slot,
              const RawBox& region) {
        const SurfaceTree::Block block = surface.block(slot.block);
        triangles.count = edges.count = vertices.count = 0;
        bounds = RawBox::nothing();
        auto consider = [&](auto& list, int id, const RawBox& box) {
            if (!overlap(box, region)) return;
            list.add(id, box);
            bounds.add(box);
        };
        for (std::size_t i = 0; i < block.triangles.size(); ++i)
            consider(triangles, block.triangles[i].id, store.triangle_boxes[slot.triangle + i]);
        for (std::size_t i = 0; i < block.edges.size(); ++i)
            consider(edges, block.edges[i].id, store.edge_boxes[slot.edge + i]);
        for (int i = 0; i < block.owned; ++i)
            consider(vertices, block.vertices[i], store.vertex_boxes[slot.vertex + i]);
    }
    int size() const { return triangles.count + edges.count + vertices.count; }
};

template <class ListA, class ListB, class Accept>
void meet(const ListA& a, const ListB& b, double margin, std::vector<ItemPair>& out, const Accept& accept) {
    for (int i = 0; i < a.count; ++i) {
        RawBox box = a.box[i];
        box.inflate(margin);
        for (int j = 0; j < b.count; ++j)
            if (overlap(box, b.box[j]) && accept(a.id[i], b.id[j])) out.push_back({a.id[i], b.id[j]});
    }
}

class BlockSearch {
  public:
    BlockSearch(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                EdgeTriangles* crossings, OverlapStats& stats)
        : sa_(*a.surface),
          sb_(*b.surface),
          place_a_(a, margin),
          place_b_(b),
          cache_a_(place_a_, scratch.blocks_a),
          cache_b_(place_b_, scratch.blocks_b),
          store_a_(scratch.blocks_a),
          store_b_(scratch.blocks_b),
          margin_(margin),
          out_(out),
          crossings_(crossings),
          stats_(stats),
          loose_(sa_.has_loose_points() || sb_.has_loose_points()) {}

    // Candidates below a pair of nodes.
    void run(const NodePair& start) {
        struct Entry {
            int i, j;
            RawBox box_i, box_j;
        };
        const Bvh &ta = sa_.tree(), &tb = sb_.tree();
        Entry stack[2 * Bvh::max_depth + 2];
        int top = 0;
        // Only overlapping pairs are pushed, each with its boxes, so that a node's box is computed once per descent.
        auto push = [&](int i, int j, const RawBox& box_i, const RawBox& box_j) {
            ++stats_.node_tests;
            if (overlap(box_i, box_j)) stack[top++] = {i, j, box_i, box_j};
        };
        push(start.a, start.b, place_a_.node_box(ta.nodes()[start.a]),
             place_b_.node_box(tb.nodes()[start.b]));
        while (top > 0) {
            const Entry entry = stack[--top];
            const Bvh::Node &na = ta.nodes()[entry.i], &nb = tb.nodes()[entry.j];
            if (na.leaf() && nb.leaf()) {
                meet_blocks(na.item, nb.item);
            } else if (!na.leaf() && (nb.leaf() || na.escape - entry.i >= nb.escape - entry.j)) {
                const int left = entry.i + 1, right = ta.right_child(entry.i);
                push(right, entry.j, place_a_.node_box(ta.nodes()[right]), entry.box_j);
                push(left, entry.j, place_a_.node_box(ta.nodes()[left]), entry.box_j);
            } else {
                const int left = entry.j + 1, right = tb.right_child(entry.j);
                push(entry.i, right, entry.box_i, place_b_.node_box(tb.nodes()[right]));
                push(entry.i, left, entry.box_i, place_b_.node_box(tb.nodes()[left]));
            }
        }
    }

  private:
    void meet_blocks(int block_a, int block_b) {
        const PosedBlocks::Slot &a = store_a_.slots[cache_a_.slot(block_a)],
                                &b = store_b_.slots[cache_b_.slot(block_b)];
        const RawBox region_a = widened(b.bounds, margin_);
        ++stats_.box_tests;
        if (!overlap(a.bounds, region_a)) return;
        picked_a_.pick(sa_, store_a_, a, region_a);
        stats_.box_tests += SurfaceTree::block_elements;
        if (picked_a_.size() == 0) return;
        picked_b_.pick(sb_, store_b_, b, widened(picked_a_.bounds, margin_));
        if (picked_b_.size() == 0) return;
        const auto &pa = picked_a_, &pb = picked_b_;
        stats_.box_tests += SurfaceTree::block_elements + pa.vertices.count * pb.triangles.count +
                            pa.triangles.count * pb.vertices.count + pa.edges.count * pb.edges.count;
        auto all = [](int, int) { return true; };
        meet(pa.vertices, pb.triangles, margin_, out_.vertex_triangle, all);
        meet(pa.triangles, pb.vertices, margin_, out_.triangle_vertex, all);
        meet(pa.edges, pb.edges, margin_, out_.edge_edge, all);
        if (crossings_) {
            meet(pa.edges, pb.triangles, margin_, crossings_->edge_triangle, all);
            meet(pa.triangles, pb.edges, margin_, crossings_->triangle_edge, all);
        }
        if (!loose_) return;
        meet(pa.vertices, pb.edges, margin_, out_.point_edge,
             [&](int v, int e) { return sa_.loose_point(v) && sb_.loose_edge(e); });
        meet(pa.edges, pb.vertices, margin_, out_.edge_point,
             [&](int e, int v) { return sa_.loose_edge(e) && sb_.loose_point(v); });
        meet(pa.vertices, pb.vertices, margin_, out_.point_point,
             [&](int v, int w) { return sa_.loose_point(v) && sb_.loose_point(w); });
    }

    const SurfaceTree &sa_, &sb_;
    Placement place_a_, place_b_;
    BlockCache cache_a_, cache_b_;
    PosedBlocks &store_a_, &store_b_;
    PickedBlock picked_a_, picked_b_;
    double margin_;
    Candidates& out_;
    EdgeTriangles* crossings_;
    OverlapStats& stats_;
    bool loose_;
};

}  // namespace

void find_by_blocks(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                    EdgeTriangles* crossings, OverlapStats& stats) {
    BlockSearch(a, b, margin, scratch, out, crossings, stats).run({});
}

void split_search(const Posed& a, const Posed& b, double margin, int parts, std::vector<NodePair>& out) {
    out.clear();
    const Bvh &ta = a.surface->tree(), &tb = b.surface->tree();
    if (ta.empty() || tb.empty()) return;
    const Placement place_a(a, margin), place_b(b);
    auto meets = [&](const NodePair& pair) {
        return overlap(place_a.node_box(ta.nodes()[pair.a]), place_b.node_box(tb.nodes()[pair.b]));
    };
    std::vector<NodePair> next;
    if (meets({0, 0})) out.push_back({0, 0});
    for (bool grows = true; grows && static_cast<int>(out.size()) < parts;) {
        grows = false;
        next.clear();
        for (const NodePair& pair : out) {
            const Bvh::Node &na = ta.nodes()[pair.a], &nb = tb.nodes()[pair.b];
            if (na.leaf() && nb.leaf()) {
                next.push_back(pair);
                continue;
            }
            grows = true;
            const bool into_a = !na.leaf() && (nb.leaf() || na.escape - pair.a >= nb.escape - pair.b);
            const NodePair left = into_a ? NodePair{pair.a + 1, pair.b} : NodePair{pair.a, pair.b + 1};
            const NodePair right =
                into_a ? NodePair{ta.right_child(pair.a), pair.b} : NodePair{pair.a, tb.right_child(pair.b)};
            if (meets(left)) next.push_back(left);
            if (meets(right)) next.push_back(right);
        }
        out.swap(next);
    }
}

void find_candidates(const Posed& a, const Posed& b, double margin, const NodePair& start,
                     OverlapScratch& scratch, Candidates& out) {
    out.clear();
    OverlapStats unused;
    BlockSearch(a, b, margin, scratch, out, nullptr, unused).run(start);
}

}  // namespace tenon::geometry

// Both surfaces' block trees are descended together. Two blocks that may meet are compared along the directions that
// they face: which corners lie beyond which sides of the other block decides which primitives meet.
#include <bit>
#include <span>

#include "geometry/overlap_placement.hpp"
#include "geometry/overlap_posed.hpp"

namespace tenon::geometry {

OverlapScratch::OverlapScratch() : blocks(std::make_unique<BlockStore>()) {}
OverlapScratch::~OverlapScratch() = default;

namespace {

// Primitives of one block that reach into a region, with their boxes.
template <int Size, int Capacity>
struct Picked {
    using Corners = std::array<std::uint8_t, Size>;

    int id[Capacity];
    Corners corners[Capacity];
    LaneBox box[Capacity];
    int count = 0;

    // Those that are wanted, without branches: they are hard to foresee.
    template <class Primitives, class Wanted>
    void choose(const Primitives& primitives, const Wanted& wanted) {
        int chosen = 0;
        for (const auto& [primitive, of_primitive] : primitives) {
            id[chosen] = primitive;
            corners[chosen] = of_primitive;
            chosen += wanted(of_primitive);
        }
        count = chosen;
    }
    // Of these, the ones that count.
    void keep(std::span<const char> counts) {
        int kept = 0;
        for (int k = 0; k < count; ++k) {
            id[kept] = id[k];
            corners[kept] = corners[k];
            kept += counts[id[k]] != 0;
        }
        count = kept;
    }
    // Adds them to `bounds`.
    void find_boxes(const LaneBox* corner, float margin, LaneBox& bounds) {
        LaneBox all = bounds;
        for (int k = 0; k < count; ++k) {
            LaneBox one = box_of(corner, corners[k]);
            one.inflate(margin);
            box[k] = one;
            all.add(one);
        }
        bounds = all;
    }
};

struct PickedBlock {
    Picked<3, SurfaceTree::block_elements> triangles;
    Picked<2, SurfaceTree::block_vertices> edges;
    Picked<1, SurfaceTree::block_vertices> vertices;
    LaneBox bounds;  // of what was picked

    // Boxes are widened by `margin`.
    void pick(const Posed& body, const SurfaceTree::Block& block, const LaneBox* corner,
              const LaneBox& region, float margin) {
        triangles.count = edges.count = vertices.count = 0;
        bounds = LaneBox::nothing();
        std::uint8_t beyond[SurfaceTree::block_vertices], common = 0xff;
        for (std::size_t i = 0; i < block.vertices.size(); ++i)
            common &= beyond[i] = sides_beyond(corner[i], region);
        if (common != 0) return;
        triangles.choose(block.triangles,
                         [&](const auto& c) { return !(beyond[c[0]] & beyond[c[1]] & beyond[c[2]]); });
        edges.choose(block.edges, [&](const auto& c) { return !(beyond[c[0]] & beyond[c[1]]); });
        int inside = 0;
        for (int i = 0; i < block.owned; ++i) {
            vertices.id[inside] = block.vertices[i];
            vertices.corners[inside] = {static_cast<std::uint8_t>(i)};
            inside += !beyond[i];
        }
        vertices.count = inside;
        if (!body.edge_counts.empty()) edges.keep(body.edge_counts);
        if (!body.vertex_counts.empty()) vertices.keep(body.vertex_counts);
        triangles.find_boxes(corner, margin, bounds);
        edges.find_boxes(corner, margin, bounds);
        vertices.find_boxes(corner, margin, bounds);
    }
    int size() const { return triangles.count + edges.count + vertices.count; }
};

long elements(const SurfaceTree::Block& block) {
    return static_cast<long>(block.triangles.size() + block.edges.size()) + block.owned;
}

// The middle of where the bodies' boxes overlap: numbers are small there.
Vec3 middle_of_overlap(const Posed& a, const Posed& b) {
    return 0.5 * (a.box.lo.cwiseMax(b.box.lo) + a.box.hi.cwiseMin(b.box.hi));
}

// What a search goes to from a pair of nodes, in its order.
struct NodePairs {
    NodePair pairs[4];
    int count = 0;
};
// Below both nodes, or below the one that has much more below; of single elements always first.
NodePairs pairs_below(const SurfaceTree& a, const SurfaceTree& b, const NodePair& pair) {
    const Bvh &ta = a.tree(), &tb = b.tree();
    const Bvh::Node &na = ta.nodes()[pair.a], &nb = tb.nodes()[pair.b];
    const int size_a = na.escape - pair.a, size_b = nb.escape - pair.b;
    const bool few_a = a.of_single_elements() && !na.leaf(), few_b = b.of_single_elements() && !nb.leaf();
    const bool split_a = !na.leaf() && (few_a || nb.leaf() || (!few_b && 2 * size_a >= size_b)),
               split_b = !nb.leaf() && (na.leaf() || (!few_a && (few_b || 2 * size_b >= size_a)));
    const int in_a[2] = {split_a ? pair.a + 1 : pair.a, split_a ? ta.right_child(pair.a) : -1},
              in_b[2] = {split_b ? pair.b + 1 : pair.b, split_b ? tb.right_child(pair.b) : -1};
    NodePairs below;
    for (const int i : in_a)
        for (const int j : in_b)
            if (i >= 0 && j >= 0) below.pairs[below.count++] = {i, j};
    return below;
}

class BlockSearch {
  public:
    BlockSearch(const Posed& a, const Posed& b, double margin, OverlapScratch& scratch, Candidates& out,
                EdgeTriangles* crossings, OverlapStats& stats)
        : sa_(*a.surface),
          sb_(*b.surface),
          place_a_(a, middle_of_overlap(a, b), margin),
          place_b_(b, middle_of_overlap(a, b), 0.0),
          blocks_a_(place_a_, scratch.blocks->a),
          blocks_b_(place_b_, scratch.blocks->b),
          margin_(static_cast<float>(margin * (1.0 + lane_rounding) +
                                     1e-14 * middle_of_overlap(a, b).cwiseAbs().maxCoeff())),
          out_(out),
          crossings_(crossings),
          stats_(stats),
          loose_(sa_.has_loose_points() || sb_.has_loose_points()) {}

    // Candidates below a pair of nodes.
    void run(const NodePair& start) {
        find(start);
        blocks_a_.list_used(out_.vertices_a);
        blocks_b_.list_used(out_.vertices_b);
    }

  private:
    void find(const NodePair& start) {
        if (sa_.of_single_elements())
            run_each(blocks_a_, place_b_.nodes(), margin_, sa_.tree(), start.a, sb_.tree(), start.b,
                     [&](int few, int many) { meet_blocks(few, many); });
        else if (sb_.of_single_elements())
            run_each(blocks_b_, place_a_.nodes(), 0.0f, sb_.tree(), start.b, sa_.tree(), start.a,
                     [&](int few, int many) { meet_blocks(many, few); });
        else
            run_both(start);
    }

    // Each of a few large elements by itself, along its own directions: these tell more than the world's.
    template <class Meet>
    void run_each(PosedBlocks& few, const LaneNodes& many, float margin, const Bvh& few_tree, int few_start,
                  const Bvh& many_tree, int many_start, const Meet& meet_them) {
        const auto few_nodes = few_tree.nodes(), many_nodes = many_tree.nodes();
        many_start = narrowed(NodeTest(many, few.node_box(few_start)), many_tree, many_start);
        if (many_start < 0) return;
        const int few_end = few_nodes[few_start].escape, many_end = many_nodes[many_start].escape;
        const LaneBox all_of_many = many.box(many_nodes[many_start]);
        for (int i = few_start; i < few_end;) {
            const int at = i;
            const bool beyond = apart(few.node_box(at), all_of_many);
            i = beyond ? few_nodes[at].escape : at + 1;
            if (beyond || !few_nodes[at].leaf()) continue;
            const LaneOrientedBox& element = few[few.slot(few_nodes[at].item)].box;
            LaneBox region = element.own;
            region.inflate(margin + element.rounding);
            const NodeTest test(many.along(element.axes), region);
            for (int j = many_start; j < many_end;) {
                ++stats_.node_tests;
                const Bvh::Node& node = many_nodes[j];
                if (test.beyond(node)) {
                    j = node.escape;
                    continue;
                }
                if (node.leaf()) meet_them(few_nodes[at].item, node.item);
                ++j;
            }
        }
    }

    // The lowest node from `start` on with all leaves below it that the test's region may reach; -1 where it reaches none.
    int narrowed(const NodeTest& test, const Bvh& tree, int start) {
        const auto nodes = tree.nodes();
        const auto some_leaf = [&](int node) {
            for (int j = node; j < nodes[node].escape;) {
                ++stats_.node_tests;
                const bool beyond = test.beyond(nodes[j]);
                if (!beyond && nodes[j].leaf()) return true;
                j = beyond ? nodes[j].escape : j + 1;
            }
            return false;
        };
        for (int node = start;;) {
            if (nodes[node].leaf()) return some_leaf(node) ? node : -1;
            const bool left = some_leaf(node + 1), right = some_leaf(tree.right_child(node));
            if (!left && !right) return -1;
            if (left && right) return node;
            node = left ? node + 1 : tree.right_child(node);
        }
    }

    // Both trees are descended together.
    void run_both(const NodePair& start) {
        const auto nodes_a = sa_.tree().nodes(), nodes_b = sb_.tree().nodes();
        NodePair stack[3 * Bvh::max_depth + 4];
        int top = 0;
        const auto push = [&](const NodePair& pair) {
            ++stats_.node_tests;
            stack[top] = pair;
            top += !apart(blocks_a_.node_box(pair.a), blocks_b_.node_box(pair.b));
        };
        push(start);
        while (top > 0) {
            const NodePair pair = stack[--top];
            const Bvh::Node &na = nodes_a[pair.a], &nb = nodes_b[pair.b];
            if (na.leaf() && nb.leaf()) {
                meet_blocks(na.item, nb.item);
                continue;
            }
            const NodePairs below = pairs_below(sa_, sb_, pair);
            for (int k = below.count; k-- > 0;) push(below.pairs[k]);
        }
    }

    void meet_blocks(int block_a, int block_b) {
        const int slot_a = blocks_a_.slot(block_a), slot_b = blocks_b_.slot(block_b);
        const BlockStore::Slot &a = blocks_a_[slot_a], &b = blocks_b_[slot_b];
        const float margin = margin_ + a.box.rounding + b.box.rounding;
        stats_.box_tests += 2;
        if (apart_along_own(a.box, b.box, margin) || apart_along_own(b.box, a.box, margin)) return;
        LaneBox region = b.box.own;
        region.inflate(margin);
        LaneBox corners[SurfaceTree::block_vertices];
        const LanePoint* world = blocks_a_.world(slot_a);
        for (std::size_t i = 0; i < a.block.vertices.size(); ++i)
            corners[i] = LaneBox::of(b.box.axes.along(world[i]));
        picked_a_.pick(place_a_.body(), a.block, corners, region, margin);
        stats_.box_tests += elements(a.block);
        if (picked_a_.size() == 0) return;
        stats_.box_tests += elements(b.block);
        // Of b what reaches into a's box along a's axes, and into what was picked of a along its own.
        LaneBox region_a = a.box.own;
        region_a.inflate(margin);
        std::uint8_t beyond[SurfaceTree::block_vertices], common = 0xff;
        const LanePoint* world_b = blocks_b_.world(slot_b);
        for (std::size_t i = 0; i < b.block.vertices.size(); ++i)
            common &= beyond[i] = sides_beyond(LaneBox::of(a.box.axes.along(world_b[i])), region_a);
        if (common != 0) return;
        const SpreadBox reached(picked_a_.bounds);
        const TrianglesOf triangles{b.block};
        const EdgesOf edges{b.block};
        const VerticesOf vertices{b.block};
        const auto& pa = picked_a_;
        const bool all = crossings_ || loose_;  // otherwise only some kinds meet
        bool some = false;
        if (all || pa.vertices.count > 0) some |= pick_rows(slot_b, triangles, beyond, reached);
        if (all || pa.edges.count > 0) some |= pick_rows(slot_b, edges, beyond, reached);
        if (all || pa.triangles.count > 0) some |= pick_rows(slot_b, vertices, beyond, reached);
        if (!some) return;
        meeting_.world_a = world;
        meeting_.margin = margin;
        meeting_.slot_b = slot_b;
        meeting_.used_a = meeting_.used_b = 0;
        meet_primitives(triangles, edges, vertices);
        blocks_a_.use(slot_a, meeting_.used_a);
        blocks_b_.use(slot_b, meeting_.used_b);
    }

    // A bit for each primitive of b's block that is not beyond one of the sides and whose box reaches into `reached`, in
    // rows of four; false when none does.
    template <class Primitives>
    bool pick_rows(int slot, const Primitives& primitives, const std::uint8_t* beyond,
                   const SpreadBox& reached) {
        std::uint8_t* picked = meeting_.picked_b[Primitives::kind];
        const int count = primitives.count(), rows = rows_of(count);
        std::uint8_t any = 0;
        for (int row = 0; row < rows; ++row) {
            unsigned bits = 0;
            const int first = 4 * row, last = std::min(first + 4, count);
            for (int n = first; n < last; ++n) {
                std::uint8_t outside = 0xff;
                for (const std::uint8_t corner : primitives.corners(n)) outside &= beyond[corner];
                bits |= static_cast<unsigned>(outside == 0) << (n - first);
            }
            any |= picked[row] = static_cast<std::uint8_t>(bits);
        }
        if (any == 0) return false;
        blocks_b_.make_rows(slot, primitives);
        const BoxRow* boxes = blocks_b_.template rows<Primitives>(slot);
        any = 0;
        for (int row = 0; row < rows; ++row)
            any |= picked[row] &= static_cast<std::uint8_t>(~apart(reached, boxes[row].own) & 0xf);
        return any != 0;
    }

    void meet_primitives(const TrianglesOf& triangles, const EdgesOf& edges, const VerticesOf& vertices) {
        const auto& pa = picked_a_;
        auto all = [](int, int) { return true; };
        meet(pa.vertices, triangles, out_.vertex_triangle, all);
        meet(pa.triangles, vertices, out_.triangle_vertex, all);
        meet(pa.edges, edges, out_.edge_edge, all);
        if (crossings_) {
            meet(pa.edges, triangles, crossings_->edge_triangle, all);
            meet(pa.triangles, edges, crossings_->triangle_edge, all);
        }
        if (!loose_) return;
        meet(pa.vertices, edges, out_.point_edge,
             [&](int v, int e) { return sa_.loose_point(v) && sb_.loose_edge(e); });
        meet(pa.edges, vertices, out_.edge_point,
             [&](int e, int v) { return sa_.loose_edge(e) && sb_.loose_point(v); });
        meet(pa.vertices, vertices, out_.point_point,
             [&](int v, int w) { return sa_.loose_point(v) && sb_.loose_point(w); });
    }

    // Pairs of picked primitives that neither the world's axes nor those of b's block keep apart.
    template <class ListA, class PrimitivesB, class Accept>
    void meet(const ListA& a, const PrimitivesB& b, std::vector<ItemPair>& out, const Accept& accept) {
        if (a.count == 0) return;
        const std::uint8_t* picked = meeting_.picked_b[PrimitivesB::kind];
        int list[most_rows], count = 0, there = 0;  // rows with something that was picked
        for (int row = 0; row < rows_of(b.count()); ++row) {
            list[count] = row;
            count += picked[row] != 0;
            there += bits_of_four[picked[row]];
        }
        if (count == 0) return;
        stats_.box_tests += a.count * there;
        const BoxRow* rows = blocks_b_.template rows<PrimitivesB>(meeting_.slot_b);
        std::uint64_t used_a = 0, used_b = 0;
        for (int i = 0; i < a.count; ++i) {
            LaneBox world = box_of(meeting_.world_a, a.corners[i]);
            world.inflate(meeting_.margin);
            const SpreadBox first(a.box[i]), second(world);
            for (int k = 0; k < count; ++k) {
                const int row = list[k];
                int left = ~(apart(first, rows[row].own) | apart(second, rows[row].world)) & picked[row];
                for (; left != 0; left &= left - 1) {
                    const int j = 4 * row + std::countr_zero(static_cast<unsigned>(left));
                    if (!accept(a.id[i], b.id(j))) continue;
                    out.push_back({a.id[i], b.id(j)});
                    used_a |= bits_of(a.corners[i]);
                    used_b |= bits_of(b.corners(j));
                }
            }
        }
        meeting_.used_a |= used_a;
        meeting_.used_b |= used_b;
    }

    static constexpr int most_rows =
        std::max(rows_of(SurfaceTree::block_elements), rows_of(SurfaceTree::block_vertices));
    struct Meeting {
        const LanePoint* world_a = nullptr;
        float margin = 0.0f;
        int slot_b = 0;
        std::uint8_t picked_b[3][most_rows];   // by kind: a bit for each primitive of a row
        std::uint64_t used_a = 0, used_b = 0;  // corners that candidates have
    };

    const SurfaceTree &sa_, &sb_;
    LanePlacement place_a_, place_b_;
    PosedBlocks blocks_a_, blocks_b_;
    PickedBlock picked_a_;
    Meeting meeting_;  // of the present two blocks
    float margin_;
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
    const Vec3 middle = middle_of_overlap(a, b);
    const LanePlacement place_a(a, middle, margin), place_b(b, middle, 0.0);
    // Elements by themselves are searched one after the other: only they may be shared.
    const bool few = a.surface->of_single_elements() || b.surface->of_single_elements();
    auto meets = [&](const NodePair& pair) {
        return !apart(place_a.node_box(ta.nodes()[pair.a]), place_b.node_box(tb.nodes()[pair.b]));
    };
    auto is_last = [&](const NodePair& pair) {
        const bool leaf_a = ta.nodes()[pair.a].leaf(), leaf_b = tb.nodes()[pair.b].leaf();
        return (leaf_a && leaf_b) || (few && (a.surface->of_single_elements() ? leaf_a : leaf_b));
    };
    std::vector<NodePair> next;
    if (meets({0, 0})) out.push_back({0, 0});
    for (bool grows = true; grows && static_cast<int>(out.size()) < parts;) {
        grows = false;
        next.clear();
        for (const NodePair& pair : out) {
            if (is_last(pair)) {
                next.push_back(pair);
                continue;
            }
            grows = true;
            const NodePairs below = pairs_below(*a.surface, *b.surface, pair);
            for (int k = 0; k < below.count; ++k)
                if (meets(below.pairs[k])) next.push_back(below.pairs[k]);
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

// Both surfaces' block trees are descended together. Two blocks that may meet are compared along the directions that
// they face: which corners lie beyond which sides of the other block decides which primitives meet.
#include <bit>
#include <span>

#include "geometry/overlap_lanes.hpp"
#include "geometry/overlap_placement.hpp"

namespace tenon::geometry {
namespace {

// Which of a surface's blocks have been posed in this search, and where they are kept.
class SlotTable {
  public:
    void start(std::size_t blocks) {
        if (stamp_.size() < blocks) {
            stamp_.resize(blocks, 0);
            slot_.resize(blocks, 0);
        }
        if (++search_ == 0) {  // wrapped around: no old stamp may look new
            std::fill(stamp_.begin(), stamp_.end(), 0);
            search_ = 1;
        }
    }
    // The block's slot; `next` for one that is new.
    int find(int block, std::size_t next) {
        if (stamp_[block] != search_) {
            stamp_[block] = search_;
            slot_[block] = static_cast<int>(next);
        }
        return slot_[block];
    }

  private:
    std::vector<std::uint32_t> stamp_;  // per block: the search that filled its slot
    std::vector<int> slot_;
    std::uint32_t search_ = 0;
};

}  // namespace

// Blocks with their corners, in the world and along the block's own axes.
struct BlockStore {
    struct Slot {
        SurfaceTree::Block block;
        LaneTurnedBox box;
        int world = -1, own = -1;  // where the first corner is in the lists; -1: not yet there
    };
    struct Side {
        SlotTable table;
        std::vector<Slot> slots;
        std::vector<LanePoint> world;
        std::vector<LaneBox> own;  // ways
        SlotTable node_table;
        std::vector<LaneBox> node_boxes;
    };
    Side a, b;
};

OverlapScratch::OverlapScratch() : blocks(std::make_unique<BlockStore>()) {}
OverlapScratch::~OverlapScratch() = default;

namespace {

// A posed surface's tree nodes and blocks, each posed when first asked for.
class PosedBlocks {
  public:
    PosedBlocks(const LanePlacement& place, BlockStore::Side& store) : place_(place), store_(store) {
        store.slots.clear();
        store.world.clear();
        store.own.clear();
        store.node_boxes.clear();
        store.table.start(place.surface().blocks());
        store.node_table.start(place.surface().tree().nodes().size());
    }

    LaneBox node_box(int node) {
        const std::size_t next = store_.node_boxes.size();
        const int found = store_.node_table.find(node, next);
        if (found == static_cast<int>(next))
            store_.node_boxes.push_back(place_.node_box(place_.surface().tree().nodes()[node]));
        return store_.node_boxes[found];
    }

    int slot(int block) {
        const std::size_t next = store_.slots.size();
        const int found = store_.table.find(block, next);
        if (found == static_cast<int>(next)) {
            BlockStore::Slot& slot = store_.slots.emplace_back();
            slot.block = place_.surface().block(block);
            slot.box = place_.turned_box(place_.surface().turned_box(block));
        }
        return found;
    }
    const BlockStore::Slot& operator[](int slot) const { return store_.slots[slot]; }
    // Corners, valid until those of the next block are asked for.
    const LanePoint* world(int slot) {
        BlockStore::Slot& it = store_.slots[slot];
        if (it.world < 0) {
            it.world = static_cast<int>(store_.world.size());
            for (const int vertex : it.block.vertices)
                store_.world.push_back(place_.point(place_.surface().vertices()[vertex]));
        }
        return store_.world.data() + it.world;
    }
    const LaneBox* own(int slot) {
        BlockStore::Slot& it = store_.slots[slot];
        if (it.own < 0) {
            const LanePoint* from = world(slot);
            it.own = static_cast<int>(store_.own.size());
            for (std::size_t i = 0; i < it.block.vertices.size(); ++i)
                store_.own.push_back(LaneBox::of(it.box.axes.along(from[i])));
        }
        return store_.own.data() + it.own;
    }

  private:
    const LanePlacement& place_;
    BlockStore::Side& store_;
};

template <std::size_t Size>
LaneBox box_of(const LanePoint* corner, const std::array<std::uint8_t, Size>& corners) {
    LaneBox box = LaneBox::of(corner[corners[0]]);
    for (std::size_t k = 1; k < Size; ++k) box.add(corner[corners[k]]);
    return box;
}
template <std::size_t Size>
LaneBox box_of(const LaneBox* corner, const std::array<std::uint8_t, Size>& corners) {
    LaneBox box = corner[corners[0]];
    for (std::size_t k = 1; k < Size; ++k) box.add(corner[corners[k]]);
    return box;
}

// Primitives of one block that reach into a region, with their boxes.
template <int Size, int Capacity>
struct Picked {
    static constexpr int capacity = Capacity;
    using Corners = std::array<std::uint8_t, Size>;

    int id[Capacity];
    Corners corners[Capacity];
    LaneBox box[(Capacity + 3) / 4 * 4];  // those that are left over are around nothing
    int count = 0;

    void add_if(bool wanted, int primitive, const Corners& of_primitive) {
        id[count] = primitive;
        corners[count] = of_primitive;
        count += wanted;
    }
    // Of these, the ones that count.
    void keep(std::span<const char> counts) {
        const int all = count;
        count = 0;
        for (int k = 0; k < all; ++k) add_if(counts[id[k]], id[k], corners[k]);
    }
    // Adds them to `bounds`.
    void find_boxes(const LaneBox* corner, float margin, LaneBox& bounds) {
        for (int k = 0; k < count; ++k) {
            box[k] = box_of(corner, corners[k]);
            box[k].inflate(margin);
            bounds.add(box[k]);
        }
        for (int k = count; k % 4 != 0; ++k) box[k] = LaneBox::nothing();
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
        // Which ones first, without branches: they are hard to foresee.
        triangles.count = edges.count = vertices.count = 0;
        for (const auto& [id, c] : block.triangles)
            triangles.add_if(!(beyond[c[0]] & beyond[c[1]] & beyond[c[2]]), id, c);
        for (const auto& [id, c] : block.edges) edges.add_if(!(beyond[c[0]] & beyond[c[1]]), id, c);
        for (int i = 0; i < block.owned; ++i)
            vertices.add_if(!beyond[i], block.vertices[i], {static_cast<std::uint8_t>(i)});
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
        struct Entry {
            int i, j;
            LaneBox box_i, box_j;
        };
        const Bvh &ta = sa_.tree(), &tb = sb_.tree();
        Entry stack[2 * Bvh::max_depth + 2];
        int top = 0;
        // Only pairs that may meet are pushed, each with its boxes, so that a node's box is computed once per descent.
        auto push = [&](int i, int j, const LaneBox& box_i, const LaneBox& box_j) {
            ++stats_.node_tests;
            if (!apart(box_i, box_j)) stack[top++] = {i, j, box_i, box_j};
        };
        push(start.a, start.b, blocks_a_.node_box(start.a), blocks_b_.node_box(start.b));
        while (top > 0) {
            const Entry entry = stack[--top];
            const Bvh::Node &na = ta.nodes()[entry.i], &nb = tb.nodes()[entry.j];
            if (na.leaf() && nb.leaf()) {
                meet_blocks(na.item, nb.item);
            } else if (!na.leaf() && (nb.leaf() || na.escape - entry.i >= nb.escape - entry.j)) {
                const int left = entry.i + 1, right = ta.right_child(entry.i);
                push(right, entry.j, blocks_a_.node_box(right), entry.box_j);
                push(left, entry.j, blocks_a_.node_box(left), entry.box_j);
            } else {
                const int left = entry.j + 1, right = tb.right_child(entry.j);
                push(entry.i, right, entry.box_i, blocks_b_.node_box(right));
                push(entry.i, left, entry.box_i, blocks_b_.node_box(left));
            }
        }
    }

  private:
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
        picked_b_.pick(place_b_.body(), b.block, blocks_b_.own(slot_b), picked_a_.bounds, 0.0f);
        stats_.box_tests += elements(b.block);
        if (picked_b_.size() == 0) return;
        meeting_ = {&a.box.axes, blocks_a_.own(slot_a), world, blocks_b_.world(slot_b), margin};
        const auto &pa = picked_a_, &pb = picked_b_;
        auto all = [](int, int) { return true; };
        meet(pa.vertices, pb.triangles, out_.vertex_triangle, all);
        meet(pa.triangles, pb.vertices, out_.triangle_vertex, all);
        meet(pa.edges, pb.edges, out_.edge_edge, all);
        if (crossings_) {
            meet(pa.edges, pb.triangles, crossings_->edge_triangle, all);
            meet(pa.triangles, pb.edges, crossings_->triangle_edge, all);
        }
        if (!loose_) return;
        meet(pa.vertices, pb.edges, out_.point_edge,
             [&](int v, int e) { return sa_.loose_point(v) && sb_.loose_edge(e); });
        meet(pa.edges, pb.vertices, out_.edge_point,
             [&](int e, int v) { return sa_.loose_edge(e) && sb_.loose_point(v); });
        meet(pa.vertices, pb.vertices, out_.point_point,
             [&](int v, int w) { return sa_.loose_point(v) && sb_.loose_point(w); });
    }

    // Pairs of picked primitives that neither the world's axes nor those of the blocks keep apart.
    template <class ListA, class ListB, class Accept>
    void meet(const ListA& a, const ListB& b, std::vector<ItemPair>& out, const Accept& accept) {
        if (a.count == 0 || b.count == 0) return;
        stats_.box_tests += a.count * b.count;
        constexpr int most_rows = (ListB::capacity + 3) / 4;
        FourBoxes along_b[most_rows], along_world[most_rows];
        const int rows = (b.count + 3) / 4;
        for (int row = 0; row < rows; ++row) {
            LaneBox world[4];
            for (int k = 0; k < 4; ++k)
                world[k] = 4 * row + k < b.count ? box_of(meeting_.world_b, b.corners[4 * row + k])
                                                 : LaneBox::nothing();
            along_world[row] = FourBoxes::of(world);
            along_b[row] = FourBoxes::of(b.box + 4 * row);
        }
        LaneBox along_a[ListB::capacity];  // of b's primitives, where asked for
        bool known[ListB::capacity] = {};
        for (int i = 0; i < a.count; ++i) {
            LaneBox world = box_of(meeting_.world_a, a.corners[i]);
            world.inflate(meeting_.margin);
            const SpreadBox first(a.box[i]), second(world);
            bool begun = false;
            LaneBox own{};
            for (int row = 0; row < rows; ++row) {
                int left = ~(apart(first, along_b[row]) | apart(second, along_world[row])) & 0xf;
                for (; left != 0; left &= left - 1) {
                    const int j = 4 * row + std::countr_zero(static_cast<unsigned>(left));
                    if (!accept(a.id[i], b.id[j])) continue;
                    if (!begun) {
                        own = box_of(meeting_.own_a, a.corners[i]);
                        own.inflate(meeting_.margin);
                        begun = true;
                    }
                    if (!known[j]) {
                        along_a[j] = turned_box_of(b.corners[j]);
                        known[j] = true;
                    }
                    if (!apart(own, along_a[j])) out.push_back({a.id[i], b.id[j]});
                }
            }
        }
    }

    // Around a primitive of b, along the axes of a's block.
    template <std::size_t Size>
    LaneBox turned_box_of(const std::array<std::uint8_t, Size>& corners) const {
        LaneBox box = LaneBox::of(meeting_.axes_a->along(meeting_.world_b[corners[0]]));
        for (std::size_t k = 1; k < Size; ++k) box.add(meeting_.axes_a->along(meeting_.world_b[corners[k]]));
        return box;
    }

    struct Meeting {
        const LaneAxes* axes_a = nullptr;
        const LaneBox* own_a = nullptr;
        const LanePoint *world_a = nullptr, *world_b = nullptr;
        float margin = 0.0f;
    };

    const SurfaceTree &sa_, &sb_;
    LanePlacement place_a_, place_b_;
    PosedBlocks blocks_a_, blocks_b_;
    PickedBlock picked_a_, picked_b_;
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
    auto meets = [&](const NodePair& pair) {
        return !apart(place_a.node_box(ta.nodes()[pair.a]), place_b.node_box(tb.nodes()[pair.b]));
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

// A surface's tree nodes and blocks on their way through one search, each posed when first asked for and kept until the
// next search.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/overlap_lanes.hpp"

namespace tenon::geometry {

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

// Memory for things that are made and forgotten together. Pointers are valid until more is taken.
template <class T>
class Pool {
  public:
    void clear() { count_ = 0; }
    std::size_t size() const { return count_; }
    T* take(std::size_t more) {  // their contents are anything
        const std::size_t first = count_;
        count_ += more;
        if (all_.size() < count_) all_.resize(2 * count_);
        return all_.data() + first;
    }
    T& operator[](std::size_t k) { return all_[k]; }
    const T& operator[](std::size_t k) const { return all_[k]; }

  private:
    std::vector<T> all_;
    std::size_t count_ = 0;
};

// Four primitives of a block: along its own axes, and along the world's.
struct BoxRow {
    FourBoxes own, world;
};

// Blocks with their corners, in the world and along the block's own axes.
struct BlockStore {
    struct Slot {
        SurfaceTree::Block block;
        LaneOrientedBox box;
        int world = -1, own = -1;    // where the first corner is in the lists; -1: not yet there
        int rows[3] = {-1, -1, -1};  // the same for its triangles, edges and vertices
        std::uint64_t used = 0;      // bits of the corners that candidates have
    };
    struct Side {
        SlotTable table;
        Pool<Slot> slots;
        Pool<LanePoint> world;
        Pool<LaneBox> own;  // ways
        Pool<BoxRow> rows;
        SlotTable node_table;
        Pool<LaneBox> node_boxes;
    };
    Side a, b;
};

static_assert(SurfaceTree::block_vertices <= 64);  // a bit for each
template <std::size_t Size>
std::uint64_t bits_of(const std::array<std::uint8_t, Size>& corners) {
    std::uint64_t bits = 0;
    for (const std::uint8_t corner : corners) bits |= std::uint64_t{1} << corner;
    return bits;
}
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

// The primitives of a block, by their number in it.
struct TrianglesOf {
    static constexpr int kind = 0;
    const SurfaceTree::Block& block;
    int count() const { return static_cast<int>(block.triangles.size()); }
    int id(int n) const { return block.triangles[n].id; }
    std::array<std::uint8_t, 3> corners(int n) const { return block.triangles[n].corner; }
};
struct EdgesOf {
    static constexpr int kind = 1;
    const SurfaceTree::Block& block;
    int count() const { return static_cast<int>(block.edges.size()); }
    int id(int n) const { return block.edges[n].id; }
    std::array<std::uint8_t, 2> corners(int n) const { return block.edges[n].corner; }
};
struct VerticesOf {
    static constexpr int kind = 2;
    const SurfaceTree::Block& block;
    int count() const { return block.owned; }
    int id(int n) const { return block.vertices[n]; }
    std::array<std::uint8_t, 1> corners(int n) const { return {static_cast<std::uint8_t>(n)}; }
};

constexpr int bits_of_four[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

constexpr int rows_of(int primitives) {
    return (primitives + 3) / 4;
}

// A posed surface's tree nodes and blocks, each posed when first asked for.
class PosedBlocks {
  public:
    PosedBlocks(const LanePlacement& place, BlockStore::Side& store) : place_(place), store_(store) {
        store.slots.clear();
        store.world.clear();
        store.own.clear();
        store.rows.clear();
        store.node_boxes.clear();
        store.table.start(place.surface().blocks());
        store.node_table.start(place.surface().tree().nodes().size());
    }

    const LaneBox& node_box(int node) {
        const std::size_t next = store_.node_boxes.size();
        const int found = store_.node_table.find(node, next);
        if (found == static_cast<int>(next))
            *store_.node_boxes.take(1) = place_.node_box(place_.surface().tree().nodes()[node]);
        return store_.node_boxes[found];
    }

    int slot(int block) {
        const std::size_t next = store_.slots.size();
        const int found = store_.table.find(block, next);
        if (found == static_cast<int>(next)) {
            BlockStore::Slot& slot = *store_.slots.take(1);
            slot.block = place_.surface().block(block);
            slot.box = place_.oriented_box(place_.surface().oriented_box(block));
            slot.world = slot.own = -1;
            for (int& rows : slot.rows) rows = -1;
            slot.used = 0;
            if (place_.surface().of_single_elements()) fit(found);
        }
        return found;
    }
    const BlockStore::Slot& operator[](int slot) const { return store_.slots[slot]; }
    void use(int slot, std::uint64_t corners) { store_.slots[slot].used |= corners; }
    void list_used(std::vector<int>& vertices) const {
        for (std::size_t k = 0; k < store_.slots.size(); ++k) {
            const BlockStore::Slot& slot = store_.slots[k];
            for (std::uint64_t left = slot.used; left != 0; left &= left - 1)
                vertices.push_back(slot.block.vertices[std::countr_zero(left)]);
        }
    }
    // Corners, valid until those of the next block are asked for.
    const LanePoint* world(int slot) {
        BlockStore::Slot& it = store_.slots[slot];
        if (it.world < 0) {
            it.world = static_cast<int>(store_.world.size());
            const std::size_t count = it.block.vertices.size();
            LanePoint* out = store_.world.take(count);
            for (std::size_t i = 0; i < count; ++i) out[i] = place_.point(it.block.points[i]);
        }
        return &store_.world[it.world];
    }
    const LaneBox* own(int slot) {
        BlockStore::Slot& it = store_.slots[slot];
        if (it.own < 0) {
            const LanePoint* from = world(slot);
            const std::size_t count = it.block.vertices.size();
            it.own = static_cast<int>(store_.own.size());
            LaneBox* out = store_.own.take(count);
            for (std::size_t i = 0; i < count; ++i) out[i] = LaneBox::of(it.box.axes.along(from[i]));
        }
        return &store_.own[it.own];
    }
    // Rows of its triangles, edges or vertices. What does not count is nowhere.
    void make_rows(int slot, const TrianglesOf& all) { make_rows(slot, all, {}); }
    void make_rows(int slot, const EdgesOf& all) { make_rows(slot, all, place_.body().edge_counts); }
    void make_rows(int slot, const VerticesOf& all) { make_rows(slot, all, place_.body().vertex_counts); }
    // Those that were made; valid until others are.
    template <class Primitives>
    const BoxRow* rows(int slot) const {
        return &store_.rows[store_.slots[slot].rows[Primitives::kind]];
    }

  private:
    // A triangle is narrower than a box of its length and width, as its fourth direction tells.
    void fit(int slot) {
        const LaneBox* corners = own(slot);
        LaneBox& box = store_.slots[slot].box.own;
        box = corners[0];
        for (std::size_t i = 1; i < store_.slots[slot].block.vertices.size(); ++i) box.add(corners[i]);
    }

    template <class Primitives>
    void make_rows(int slot, const Primitives& all, std::span<const char> counts) {
        int& first_row = store_.slots[slot].rows[Primitives::kind];
        if (first_row >= 0) return;
        first_row = static_cast<int>(store_.rows.size());
        const LaneBox* along = own(slot);
        const LanePoint* corners = world(slot);
        BoxRow* out = store_.rows.take(rows_of(all.count()));
        for (int first = 0; first < all.count(); first += 4, ++out) {
            LaneBox along_own[4], along_world[4];
            for (int k = 0; k < 4; ++k) {
                const int n = first + k;
                const bool there = n < all.count() && (counts.empty() || counts[all.id(n)]);
                along_own[k] = there ? box_of(along, all.corners(n)) : LaneBox::nothing();
                along_world[k] = there ? box_of(corners, all.corners(n)) : LaneBox::nothing();
            }
            *out = {FourBoxes::of(along_own), FourBoxes::of(along_world)};
        }
    }

    const LanePlacement& place_;
    BlockStore::Side& store_;
};

}  // namespace tenon::geometry

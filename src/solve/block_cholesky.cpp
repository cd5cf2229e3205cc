#include "solve/block_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <Eigen/Core>

#include "math/parallel.hpp"
#include "math/timer.hpp"
#include "solve/block_symbolic.hpp"
#include "solve/tile_kernels.hpp"

namespace tenon::solve {
namespace {

constexpr int kTileSize = kTile * kTile;
constexpr int kColumnGroup = 4;         // tiles factored together before the rest of the front is updated
constexpr double kParallelFlops = 2e5;  // fronts above this share their work between threads
constexpr int kMostPieces = 8;          // that a thread's part of the tree is cut into
constexpr double kWorthKeeping = 1.3;   // more work than this times that of the last order asks for a new one
constexpr double kShareFlops = 5e4;     // matrices below this are not worth waking another thread for
constexpr double kLeftOut = 1e300;  // pivot of an unknown that is left out: what it does to others is nothing

// Where a supernode's factor lives, and its size in tiles. Row panel p begins at offset + p * row_stride.
struct Front {
    std::size_t offset = 0;
    int own = 0, below = 0;  // tiles down its own columns, and below them
    std::size_t row_stride() const { return static_cast<std::size_t>(own) * kTileSize; }
    std::size_t size() const { return (own + below) * row_stride(); }
    std::size_t update_size() const { return static_cast<std::size_t>(below) * (below + 1) / 2 * kTileSize; }
    double flops() const {
        const double s = own, u = below, tile = 2.0 * kTile * kTileSize;
        return tile * (s * s * s / 6 + s * s * u / 2 + s * u * u / 2);
    }
};

std::size_t tile_index(int row, int column) {
    return static_cast<std::size_t>(row) * (row + 1) / 2 + column;
}

template <class Body>
void loop(bool parallel, int begin, int end, const Body& body) {
    if (!parallel) {
        for (int i = begin; i < end; ++i) body(i);
    } else {
        parallel_for(end - begin, 1, [&](std::size_t i) { body(begin + static_cast<int>(i)); });
    }
}

// What to do about pivots that are not above the least one.
struct Pivots {
    double least = 0.0;
    bool leave_out = false;
};

// Factors a tile on the diagonal; returns the failing column or -1. Adds what it leaves out to `left_out`.
int factor_tile(double* tile, const TileKernels& kernels, const Pivots& pivots, int& left_out) {
    for (;;) {
        const int failed = kernels.factor(tile, pivots.least);
        if (failed < 0) return -1;
        double& pivot = tile[failed * kTile + failed];
        if (!pivots.leave_out || !(std::abs(pivot) < kLeftOut)) return failed;  // or it is not finite
        pivot = kLeftOut;
        ++left_out;
    }
}

// The first `own` tile columns of the front are factored; returns the failing column or -1.
int factor_columns(double* panels, const Front& front, const TileKernels& kernels, const Pivots& pivots,
                   int& left_out, bool parallel) {
    const std::size_t stride = front.row_stride();
    const int rows = front.own + front.below;
    const auto panel = [&](int row) { return panels + row * stride; };
    const auto finish = [&](int row, int from, int to) {
        for (int k = from; k < to; ++k) {
            double* tile = panel(row) + static_cast<std::size_t>(k) * kTileSize;
            kernels.update(tile, panel(row) + static_cast<std::size_t>(from) * kTileSize,
                           panel(k) + static_cast<std::size_t>(from) * kTileSize, kTile * (k - from));
            kernels.solve(tile, panel(k) + static_cast<std::size_t>(k) * kTileSize);
        }
    };
    for (int from = 0; from < front.own; from += kColumnGroup) {
        const int to = std::min(front.own, from + kColumnGroup);
        // what all earlier columns take away from this group of columns, then the group's own triangle
        const auto update_row = [&](int row) {
            for (int k = from; k < std::min(to, row + 1); ++k)
                kernels.update(panel(row) + static_cast<std::size_t>(k) * kTileSize, panel(row), panel(k),
                               kTile * from);
        };
        for (int row = from; row < to; ++row) {
            update_row(row);
            finish(row, from, row);
            double* diagonal = panel(row) + static_cast<std::size_t>(row) * kTileSize;
            const double* left = panel(row) + static_cast<std::size_t>(from) * kTileSize;
            kernels.update(diagonal, left, left, kTile * (row - from));
            const int failed = factor_tile(diagonal, kernels, pivots, left_out);
            if (failed >= 0) return row * kTile + failed;
        }
        loop(parallel, to, rows, [&](int row) {
            update_row(row);
            finish(row, from, to);
        });
    }
    return -1;
}

// update(I, J) -= L_I L_J^T over the rows below the front's own `columns`, those that pad its tiles left out.
void subtract_outer_product(double* update, const double* panels, const Front& front, int columns,
                            const TileKernels& kernels, bool parallel) {
    const std::size_t stride = front.row_stride();
    const double* below = panels + front.own * stride;
    constexpr int group = 4;  // rows that reuse a column's panel while it is in cache
    loop(parallel, 0, (front.below + group - 1) / group, [&](int block) {
        const int from = block * group, to = std::min(front.below, from + group);
        for (int column = 0; column < to; ++column)
            for (int row = std::max(from, column); row < to; ++row)
                kernels.update(update + tile_index(row, column) * kTileSize, below + row * stride,
                               below + column * stride, columns);
    });
}

// Memory that a thread keeps from one solve to the next: new pages would cost as much as the solve's arithmetic. A solve inside
// another one of the same thread gets memory of its own.
class BorrowedMemory {
  public:
    explicit BorrowedMemory(std::size_t size) {
        values_.swap(kept());
        if (values_.size() < size) values_.resize(size);
    }
    ~BorrowedMemory() { values_.swap(kept()); }
    BorrowedMemory(const BorrowedMemory&) = delete;
    BorrowedMemory& operator=(const BorrowedMemory&) = delete;
    double* data() const { return values_.data(); }

  private:
    static std::vector<double>& kept() {
        thread_local std::vector<double> memory;
        return memory;
    }
    mutable std::vector<double> values_;
};

}  // namespace

struct BlockCholesky::Impl {
    int dof = 0;
    BlockPattern pattern;
    BlockSymbolic symbolic;
    std::vector<Front> fronts;
    std::vector<double> factor;
    struct Target {
        std::size_t offset;
        bool transposed;
    };
    std::vector<Target> targets;            // of each pattern entry in `factor`
    std::vector<int> entry_start, entries;  // pattern entries by supernode
    std::vector<std::vector<int>> children;
    std::vector<int> subtree_roots, top;    // independent subtrees, and what remains above them
    std::vector<int> level_start;           // of `top`: those of a level need only what is below it
    std::vector<int> subtree_first;         // first supernode of the subtree below each root
    std::vector<double> updates;            // of supernodes, until their parents have taken them
    std::vector<std::size_t> update_place;  // of each supernode's in there
    std::vector<std::size_t> pass_place;    // of what each supernode passes on to its parent in a solve
    std::size_t passed_size = 0;
    CholeskyStats stats;
    int failed = -1;
    Pivots pivots;
    std::vector<int> left_out;                   // unknowns of each supernode
    bool keeps_order = false, own_order = true;  // the order was found for this very pattern
    double found_flops = 0.0;                    // with the last order that was searched for

    void analyse_with(const BlockSymbolic& new_symbolic);
    std::size_t place(const Front& front, int row, int column) const;
    void lay_out();
    void split_tree();
    void place_updates();
    double* update_of(int s) { return updates.data() + update_place[s]; }
    void assemble(int s, const BlockMatrix& matrix);
    template <int Dof>
    void add_child(int s, int child);
    void add_children(int s);
    bool eliminate(int s, const BlockMatrix& matrix, bool parallel);
    void solve_lower(int s, double* y, double* passed, std::vector<double>& local) const;
    void solve_upper(int s, double* y, std::vector<double>& local) const;
};

// Offset in `factor` of the dof x dof block at local node row and column of a front.
std::size_t BlockCholesky::Impl::place(const Front& front, int row, int column) const {
    const int r = row * dof;
    return front.offset + (r / kTile) * front.row_stride() + static_cast<std::size_t>(column) * dof * kTile +
           r % kTile;
}

// Local rows skip the padding that rounds a supernode's columns up to whole tiles.
static int padded_row(const Supernode& supernode, const Front& front, int local, int dof) {
    return local < supernode.count ? local : front.own * kTile / dof + (local - supernode.count);
}

void BlockCholesky::Impl::lay_out() {
    const auto& supernodes = symbolic.supernodes;
    const auto tiles = [&](std::size_t nodes) { return static_cast<int>((nodes * dof + kTile - 1) / kTile); };
    fronts.assign(supernodes.size(), {});
    children.assign(supernodes.size(), {});
    left_out.assign(supernodes.size(), 0);
    std::size_t offset = 0;
    stats = {};
    pass_place.resize(supernodes.size());
    passed_size = 0;
    for (std::size_t s = 0; s < supernodes.size(); ++s) {
        pass_place[s] = passed_size;
        passed_size += supernodes[s].rows.size() * dof;
        Front& front = fronts[s];
        front = {offset, tiles(supernodes[s].count), tiles(supernodes[s].rows.size())};
        offset += front.size();
        stats.factor_flops += front.flops();
        if (supernodes[s].parent >= 0) children[supernodes[s].parent].push_back(static_cast<int>(s));
    }
    stats.supernodes = static_cast<int>(supernodes.size());
    stats.factor_entries = static_cast<long>(offset);
    factor.resize(offset);

    std::vector<int> owner(pattern.nodes);
    for (std::size_t s = 0; s < supernodes.size(); ++s)
        for (int c = 0; c < supernodes[s].count; ++c) owner[supernodes[s].first + c] = static_cast<int>(s);
    targets.resize(pattern.columns.size());
    entry_start.assign(supernodes.size() + 1, 0);
    std::vector<int> entry_owner(pattern.columns.size());
    for (int i = 0; i < pattern.nodes; ++i)
        for (int e = pattern.start[i]; e < pattern.start[i + 1]; ++e) {
            const int pi = symbolic.position[i], pj = symbolic.position[pattern.columns[e]];
            const int column = std::min(pi, pj), row = std::max(pi, pj), s = owner[column];
            const Supernode& supernode = supernodes[s];
            int local = row - supernode.first;
            if (local >= supernode.count)
                local = supernode.count +
                        static_cast<int>(std::lower_bound(supernode.rows.begin(), supernode.rows.end(), row) -
                                         supernode.rows.begin());
            targets[e] = {
                place(fronts[s], padded_row(supernode, fronts[s], local, dof), column - supernode.first),
                pi < pj};
            entry_owner[e] = s;
            ++entry_start[s + 1];
        }
    std::partial_sum(entry_start.begin(), entry_start.end(), entry_start.begin());
    entries.resize(pattern.columns.size());
    std::vector<int> next(entry_start.begin(), entry_start.end() - 1);
    for (std::size_t e = 0; e < entries.size(); ++e) entries[next[entry_owner[e]]++] = static_cast<int>(e);
}

// How long threads take over pieces of work that are dealt out as they come, to whoever is free.
static double time_of(const std::vector<double>& pieces, int threads) {
    std::vector<double> busy(threads, 0.0);
    for (const double piece : pieces) *std::min_element(busy.begin(), busy.end()) += piece;
    return *std::max_element(busy.begin(), busy.end());
}

// Subtrees run side by side, the fronts above them one after the other, or on all threads where they are large. From the
// whole tree on, the largest subtree is cut into its root and what is below, for as long as that promises to help.
void BlockCholesky::Impl::split_tree() {
    const auto& supernodes = symbolic.supernodes;
    const int count = static_cast<int>(supernodes.size()), threads = thread_count();
    std::vector<double> work(count);
    std::vector<int> first(count);
    subtree_roots.clear();
    for (int s = 0; s < count; ++s) {
        work[s] = fronts[s].flops();
        first[s] = s;
        for (int child : children[s]) {
            work[s] += work[child];
            first[s] = std::min(first[s], first[child]);
        }
        if (supernodes[s].parent < 0) subtree_roots.push_back(s);
    }
    const auto larger = [&](int a, int b) { return work[a] > work[b] || (work[a] == work[b] && a < b); };
    std::sort(subtree_roots.begin(), subtree_roots.end(), larger);
    top.clear();
    std::vector<int> roots = subtree_roots, above;
    std::vector<double> pieces;
    double least = 1e300, time_above = 0.0;
    const double small = stats.factor_flops / kMostPieces / threads;
    while (threads > 1 && !roots.empty() && work[roots[0]] > small && time_above < least) {
        pieces.clear();
        for (const int root : roots) pieces.push_back(work[root]);
        if (const double time = time_of(pieces, threads) + time_above; time < least) {
            least = time;
            subtree_roots = roots;
            top = above;
        }
        const int cut = roots[0];
        roots.erase(roots.begin());
        for (const int child : children[cut])
            roots.insert(std::lower_bound(roots.begin(), roots.end(), child, larger), child);
        above.push_back(cut);
        const double flops = fronts[cut].flops();
        time_above += flops > kParallelFlops ? std::max(1.0 / threads, 0.6) * flops : flops;
    }
    std::sort(top.begin(), top.end());  // children first
    std::vector<char> below(count, 1);
    for (const int s : top) below[s] = 0;
    subtree_first.clear();
    for (const int root : subtree_roots) subtree_first.push_back(first[root]);
    std::vector<int> level(count, 0);
    for (const int s : top)
        for (const int child : children[s])
            level[s] = std::max(level[s], below[child] ? 0 : level[child] + 1);
    std::stable_sort(top.begin(), top.end(), [&](int a, int b) { return level[a] < level[b]; });
    level_start = {0};
    for (std::size_t i = 1; i <= top.size(); ++i)
        if (i == top.size() || level[top[i]] != level[top[i - 1]]) level_start.push_back(static_cast<int>(i));
}

// A subtree's update matrices lie on two stacks that take turns from one level of the tree to the next: a supernode goes
// onto one of them while its children are on top of the other. What reaches the fronts above has places of its own.
void BlockCholesky::Impl::place_updates() {
    const auto& supernodes = symbolic.supernodes;
    std::vector<char> side(supernodes.size(), 0);
    for (std::size_t s = supernodes.size(); s-- > 0;)
        if (supernodes[s].parent >= 0) side[s] = !side[supernodes[s].parent];
    update_place.assign(supernodes.size(), 0);
    std::size_t end = 0;
    for (std::size_t t = 0; t < subtree_roots.size(); ++t) {
        std::size_t height[2] = {0, 0}, most[2] = {0, 0};
        for (int s = subtree_first[t]; s < subtree_roots[t]; ++s) {
            std::size_t& own = height[static_cast<int>(side[s])];
            std::size_t& other = height[1 - side[s]];
            for (const int child : children[s]) other -= fronts[child].update_size();
            update_place[s] = own;
            own += fronts[s].update_size();
            most[static_cast<int>(side[s])] = std::max(most[static_cast<int>(side[s])], own);
        }
        for (int s = subtree_first[t]; s < subtree_roots[t]; ++s)
            update_place[s] += end + (side[s] ? most[0] : 0);
        end += most[0] + most[1];
    }
    for (const std::vector<int>* list : {&subtree_roots, &top})
        for (const int s : *list) {
            update_place[s] = end;
            end += fronts[s].update_size();
        }
    if (updates.size() < end) updates.resize(end);
}

void BlockCholesky::Impl::assemble(int s, const BlockMatrix& matrix) {
    const Supernode& supernode = symbolic.supernodes[s];
    const Front& front = fronts[s];
    std::memset(factor.data() + front.offset, 0, front.size() * sizeof(double));
    const std::size_t block = static_cast<std::size_t>(dof) * dof;
    for (int c = 0; c < supernode.count; ++c) {
        const double* source = matrix.diagonal.data() + symbolic.order[supernode.first + c] * block;
        double* target = factor.data() + place(front, c, c);
        for (int j = 0; j < dof; ++j)
            for (int i = 0; i < dof; ++i) target[j * kTile + i] = source[j * dof + i];
    }
    for (int pad = supernode.count * dof; pad < front.own * kTile; ++pad)
        factor[front.offset + (pad / kTile) * front.row_stride() + static_cast<std::size_t>(pad) * kTile +
               pad % kTile] = 1.0;
    for (int e = entry_start[s]; e < entry_start[s + 1]; ++e) {
        const Target& target = targets[entries[e]];
        const double* source = matrix.lower.data() + entries[e] * block;
        double* at = factor.data() + target.offset;
        for (int j = 0; j < dof; ++j)
            for (int i = 0; i < dof; ++i)
                at[j * kTile + i] = target.transposed ? source[i * dof + j] : source[j * dof + i];
    }
}

// Adds a child's update matrix into the parent's front: columns to its factor, the rest to its own update. `Dof` is the size
// of blocks, or 0: then it is asked for.
template <int Dof>
void BlockCholesky::Impl::add_child(int s, int child) {
    const int n = Dof > 0 ? Dof : dof;
    const Supernode &parent = symbolic.supernodes[s], &from = symbolic.supernodes[child];
    const Front& front = fronts[s];
    const int rows = static_cast<int>(from.rows.size());
    const double* source = update_of(child);
    double *own = factor.data() + front.offset, *below = front.below > 0 ? update_of(s) : nullptr;
    for (int b = 0; b < rows; ++b) {
        const int column = from.place[b];
        const bool inside = column < parent.count;
        const int bc = b * n, cc = (column - parent.count) * n;
        for (int a = b; a < rows; ++a) {
            const int ar = a * n;
            const double* block =
                source + tile_index(ar / kTile, bc / kTile) * kTileSize + (bc % kTile) * kTile + ar % kTile;
            double* target;
            if (inside) {
                const int row = padded_row(parent, front, from.place[a], n) * n;
                target = own + (row / kTile) * front.row_stride() +
                         static_cast<std::size_t>(column) * n * kTile + row % kTile;
            } else {
                const int rr = (from.place[a] - parent.count) * n;
                target = below + tile_index(rr / kTile, cc / kTile) * kTileSize + (cc % kTile) * kTile +
                         rr % kTile;
            }
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i) target[j * kTile + i] += block[j * kTile + i];
        }
    }
}

void BlockCholesky::Impl::add_children(int s) {
    for (const int child : children[s]) switch (dof) {
            case 3:
                add_child<3>(s, child);
                break;
            case 12:
                add_child<12>(s, child);
                break;
            default:
                add_child<0>(s, child);
        }
}

bool BlockCholesky::Impl::eliminate(int s, const BlockMatrix& matrix, bool parallel) {
    const Front& front = fronts[s];
    const TileKernels& kernels = tile_kernels();
    parallel = parallel && front.flops() > kParallelFlops;
    assemble(s, matrix);
    if (front.below > 0) std::memset(update_of(s), 0, front.update_size() * sizeof(double));
    add_children(s);
    left_out[s] = 0;
    const int column =
        factor_columns(factor.data() + front.offset, front, kernels, pivots, left_out[s], parallel);
    if (column >= 0) {
        failed = symbolic.order[symbolic.supernodes[s].first +
                                std::min(column / dof, symbolic.supernodes[s].count - 1)];
        return false;
    }
    if (front.below > 0)
        subtract_outer_product(update_of(s), factor.data() + front.offset, front,
                               symbolic.supernodes[s].count * dof, kernels, parallel);
    return true;
}

BlockCholesky::BlockCholesky() : impl_(std::make_unique<Impl>()) {}
BlockCholesky::~BlockCholesky() = default;
BlockCholesky::BlockCholesky(BlockCholesky&&) noexcept = default;
BlockCholesky& BlockCholesky::operator=(BlockCholesky&&) noexcept = default;

const std::vector<int>& BlockCholesky::order() const {
    return impl_->symbolic.order;
}

void BlockCholesky::leave_out_below(double least_pivot) {
    impl_->pivots = {least_pivot, true};
}

int BlockCholesky::left_out() const {
    return std::accumulate(impl_->left_out.begin(), impl_->left_out.end(), 0);
}

int BlockCholesky::failed_node() const {
    return impl_->failed;
}
const CholeskyStats& BlockCholesky::stats() const {
    return impl_->stats;
}

void BlockCholesky::Impl::analyse_with(const BlockSymbolic& new_symbolic) {
    symbolic = new_symbolic;
    lay_out();
    split_tree();
    place_updates();
}

bool BlockCholesky::has_analysed(const BlockPattern& pattern, int dof) const {
    return impl_->dof == dof && impl_->pattern == pattern && (impl_->keeps_order || impl_->own_order);
}

void BlockCholesky::analyse(const BlockPattern& pattern, int dof, bool in_order) {
    if (dof < 1 || kTile % dof != 0) throw std::invalid_argument("the block size must divide 12");
    Impl& m = *impl_;
    if (has_analysed(pattern, dof)) return;
    const auto start = StageTimer::Clock::now();
    const bool kept = m.keeps_order && !in_order && m.dof == dof && m.pattern.nodes == pattern.nodes;
    m.dof = dof;
    m.pattern = pattern;
    m.own_order = !kept;
    if (kept) m.analyse_with(analyse_pattern(pattern, dof, m.symbolic.order));
    if (kept && m.stats.factor_flops > kWorthKeeping * m.found_flops) m.own_order = true;
    if (m.own_order) {
        m.analyse_with(analyse_pattern(pattern, dof, in_order));
        m.found_flops = m.stats.factor_flops;
    }
    m.stats.analyse_ms = StageTimer::elapsed_ms(start);
}

void BlockCholesky::keep_order(bool keep) {
    impl_->keeps_order = keep;
}

bool BlockCholesky::factor(const BlockMatrix& matrix) {
    analyse(matrix.pattern, matrix.dof);
    Impl& m = *impl_;
    const auto start = StageTimer::Clock::now();
    m.failed = -1;
    std::vector<char> done(m.subtree_roots.size(), 0);
    const std::size_t grain = m.stats.factor_flops < kShareFlops ? ~std::size_t{0} : 1;
    parallel_for(m.subtree_roots.size(), grain, [&](std::size_t t) {
        bool good = true;
        for (int s = m.subtree_first[t]; good && s <= m.subtree_roots[t]; ++s)
            good = m.eliminate(s, matrix, false);
        done[t] = good;
    });
    bool good = std::all_of(done.begin(), done.end(), [](char d) { return d; });
    for (std::size_t l = 0; good && l + 1 < m.level_start.size(); ++l) {
        const std::size_t begin = m.level_start[l], count = m.level_start[l + 1] - begin;
        if (count == 1) {  // a single front shares its own work
            good = m.eliminate(m.top[begin], matrix, true);
            continue;
        }
        done.assign(count, 0);
        parallel_for(count, grain,
                     [&](std::size_t i) { done[i] = m.eliminate(m.top[begin + i], matrix, false); });
        good = std::all_of(done.begin(), done.end(), [](char d) { return d; });
    }
    m.stats.factor_ms = StageTimer::elapsed_ms(start);
    return good;
}

// L z = b within a supernode: its own rows of y become those of z. What the rows after it get, from here and from below,
// goes to its place in `passed`, for its parent to take.
void BlockCholesky::Impl::solve_lower(int s, double* y, double* passed, std::vector<double>& local) const {
    const Supernode& supernode = symbolic.supernodes[s];
    const Front& front = fronts[s];
    const TileKernels& kernels = tile_kernels();
    local.assign(static_cast<std::size_t>(front.own + front.below) * kTile, 0.0);
    std::copy_n(y + supernode.first * dof, supernode.count * dof, local.data());
    for (const int child : children[s]) {
        const double* from = passed + pass_place[child];
        for (const int row : symbolic.supernodes[child].place) {
            double* target = local.data() + padded_row(supernode, front, row, dof) * dof;
            for (int i = 0; i < dof; ++i) target[i] += *from++;
        }
    }
    for (int k = 0; k < front.own; ++k) {
        const double* panel = factor.data() + front.offset + k * front.row_stride();
        double* z = local.data() + k * kTile;
        kernels.multiply(z, panel, local.data(), k * kTile);
        kernels.solve_lower(z, panel + static_cast<std::size_t>(k) * kTileSize);
    }
    for (int k = 0; k < front.below; ++k)
        kernels.multiply(local.data() + (front.own + k) * kTile,
                         factor.data() + front.offset + (front.own + k) * front.row_stride(), local.data(),
                         front.own * kTile);
    std::copy_n(local.data(), supernode.count * dof, y + supernode.first * dof);
    std::copy_n(local.data() + front.own * kTile, supernode.rows.size() * dof, passed + pass_place[s]);
}

// L^T x = z within a supernode, after all that come later.
void BlockCholesky::Impl::solve_upper(int s, double* y, std::vector<double>& local) const {
    const Supernode& supernode = symbolic.supernodes[s];
    const Front& front = fronts[s];
    const TileKernels& kernels = tile_kernels();
    local.assign(static_cast<std::size_t>(front.own + front.below) * kTile, 0.0);
    std::copy_n(y + supernode.first * dof, supernode.count * dof, local.data());
    for (std::size_t r = 0; r < supernode.rows.size(); ++r)
        std::copy_n(y + supernode.rows[r] * dof, dof, local.data() + front.own * kTile + r * dof);
    for (int k = front.own + front.below - 1; k >= 0; --k) {
        const double* panel = factor.data() + front.offset + k * front.row_stride();
        double* z = local.data() + k * kTile;
        if (k < front.own) kernels.solve_upper(z, panel + static_cast<std::size_t>(k) * kTileSize);
        kernels.multiply_transposed(local.data(), panel, z, std::min(k, front.own) * kTile);
    }
    std::copy_n(local.data(), supernode.count * dof, y + supernode.first * dof);
}

// Subtrees side by side, then what is above them; and back.
void BlockCholesky::solve(const double* right_hand_side, double* x) const {
    const Impl& m = *impl_;
    const int dof = m.dof;
    const BorrowedMemory memory(static_cast<std::size_t>(m.pattern.nodes) * dof + m.passed_size);
    double *const y = memory.data(), *const passed = y + static_cast<std::size_t>(m.pattern.nodes) * dof;
    std::vector<double> local;
    for (int p = 0; p < m.pattern.nodes; ++p)
        std::copy_n(right_hand_side + m.symbolic.order[p] * dof, dof, y + p * dof);
    const std::size_t subtrees = m.subtree_roots.size();
    const std::size_t grain = m.stats.factor_flops < kShareFlops ? ~std::size_t{0} : 1;
    parallel_for(subtrees, grain, [&](std::size_t t) {
        std::vector<double> scratch;
        for (int s = m.subtree_first[t]; s <= m.subtree_roots[t]; ++s) m.solve_lower(s, y, passed, scratch);
    });
    for (const int s : m.top) m.solve_lower(s, y, passed, local);  // children come first
    for (std::size_t i = m.top.size(); i-- > 0;) m.solve_upper(m.top[i], y, local);
    parallel_for(subtrees, grain, [&](std::size_t t) {
        std::vector<double> scratch;
        for (int s = m.subtree_roots[t]; s >= m.subtree_first[t]; --s) m.solve_upper(s, y, scratch);
    });
    for (int p = 0; p < m.pattern.nodes; ++p) std::copy_n(y + p * dof, dof, x + m.symbolic.order[p] * dof);
}

// With A = L L^T and E the nodes' columns of the unit matrix, E^T A^-1 E = Y^T Y, Y = L^-1 E. Column blocks of Y travel
// up the elimination tree, each only along the ancestors of its node.
void BlockCholesky::inverse_on(const std::vector<int>& nodes, std::vector<double>& inverse) const {
    using Dense = Eigen::MatrixXd;
    const Impl& m = *impl_;
    const int dof = m.dof, size = static_cast<int>(nodes.size()) * dof;
    inverse.assign(static_cast<std::size_t>(size) * size, 0.0);
    Eigen::Map<Dense> result(inverse.data(), size, size);

    const auto& supernodes = m.symbolic.supernodes;
    std::vector<std::vector<int>> starts(supernodes.size());  // entries of `nodes` that begin in a supernode
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        const int position = m.symbolic.position[nodes[k]];
        const auto owner = std::upper_bound(supernodes.begin(), supernodes.end(), position,
                                            [](int p, const Supernode& s) { return p < s.first; }) -
                           supernodes.begin() - 1;
        starts[owner].push_back(static_cast<int>(k));
    }
    struct Travelling {
        std::vector<int> columns;  // entries of `nodes`, dof columns each
        Dense values;              // over the supernode's rows
    };
    std::vector<Travelling> travelling(supernodes.size());
    Dense local, product;
    for (std::size_t s = 0; s < supernodes.size(); ++s) {
        const Supernode& supernode = supernodes[s];
        const Front& front = m.fronts[s];
        std::vector<int> columns;
        for (int child : m.children[s])
            columns.insert(columns.end(), travelling[child].columns.begin(), travelling[child].columns.end());
        const std::size_t arrived = columns.size();
        columns.insert(columns.end(), starts[s].begin(), starts[s].end());
        if (columns.empty()) continue;
        const int own = front.own * kTile, width = static_cast<int>(columns.size()) * dof;
        local.setZero(own + front.below * kTile, width);
        int at = 0;
        for (int child : m.children[s]) {
            Travelling& from = travelling[child];
            if (from.columns.empty()) continue;
            const int count = static_cast<int>(from.columns.size()) * dof;
            for (std::size_t r = 0; r < supernodes[child].rows.size(); ++r)
                local.block(padded_row(supernode, front, supernodes[child].place[r], dof) * dof, at, dof,
                            count) += from.values.middleRows(r * dof, dof);
            at += count;
            from = {};
        }
        for (std::size_t c = arrived; c < columns.size(); ++c)
            local.block((m.symbolic.position[nodes[columns[c]]] - supernode.first) * dof, c * dof, dof, dof)
                .setIdentity();
        for (int k = 0; k < front.own + front.below; ++k) {
            const double* panel = m.factor.data() + front.offset + k * front.row_stride();
            const int before = std::min(k, front.own) * kTile;
            const Eigen::Map<const Eigen::Matrix<double, kTile, Eigen::Dynamic>> left(panel, kTile, before);
            if (before > 0) local.middleRows<kTile>(k * kTile).noalias() -= left * local.topRows(before);
            if (k < front.own)
                Eigen::Map<const Eigen::Matrix<double, kTile, kTile>>(panel +
                                                                      static_cast<std::size_t>(k) * kTileSize)
                    .triangularView<Eigen::Lower>()
                    .solveInPlace(local.middleRows<kTile>(k * kTile));
        }
        product.noalias() = local.topRows(own).transpose() * local.topRows(own);
        for (std::size_t a = 0; a < columns.size(); ++a)
            for (std::size_t b = 0; b < columns.size(); ++b)
                result.block(columns[a] * dof, columns[b] * dof, dof, dof) +=
                    product.block(a * dof, b * dof, dof, dof);
        travelling[s].columns = std::move(columns);
        travelling[s].values = local.middleRows(own, supernode.rows.size() * dof);
    }
}

}  // namespace tenon::solve

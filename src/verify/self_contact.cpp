#include "verify/self_contact.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenon::verify {
namespace {

constexpr double margin_of_edge = 0.25;  // of the mean edge: more makes longer lists, less more of them
constexpr double margin_of_reach = 2.5;  // of the piece at hand; 2 would just do
constexpr double stale = 0.05;  // part of the listed pairs that had to be swept: then they are measured again

Corners corners_of(const std::vector<Vec3>& x, const Triangle& corners) {
    return {x[corners[0]], x[corners[1]], x[corners[2]]};
}

struct Shared {
    int count = 0;
    std::array<bool, 3> a{}, b{};
};

Shared shared_corners(const Triangle& a, const Triangle& b) {
    Shared shared;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (a[i] == b[j]) {
                shared.a[i] = shared.b[j] = true;
                ++shared.count;
            }
    return shared;
}

// The corners that are not shared: an edge or a point.
Triangle rest_of(const Triangle& cell, const std::array<bool, 3>& shared) {
    std::array<int, 3> rest{};
    int count = 0;
    for (int k = 0; k < 3; ++k)
        if (!shared[k]) rest[count++] = cell[k];
    return count == 2 ? Triangle{rest[0], rest[1], rest[1]} : Triangle{rest[0], rest[0], rest[0]};
}

double mean_edge(const Surface& surface) {
    double sum = 0.0;
    for (const Triangle& cell : surface.cells)
        for (int k = 0; k < 3; ++k)
            sum += (surface.vertices[cell[k]] - surface.vertices[cell[(k + 1) % 3]]).norm();
    return surface.cells.empty() ? 0.0 : sum / (3.0 * static_cast<double>(surface.cells.size()));
}

std::vector<int> used_vertices(const Surface& surface) {
    std::vector<int> used;
    for (const Triangle& cell : surface.cells) used.insert(used.end(), cell.begin(), cell.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return used;
}

// Calls visit(cell_a, cell_b) once for every two cells whose boxes are less than `margin` apart, until it returns true.
template <class Visit>
void visit_near_cells(const Placed& placed, double margin, const Visit& visit) {
    const Tree& tree = placed.surface->tree;
    const NodeBoxes boxes(placed);
    const auto wide = [&](int node) {
        Box3 box = boxes(node);
        box.inflate(0.5 * margin);
        return box;
    };
    const auto box_of = [&](int cell) {
        Box3 box;
        for (const Vec3& corner : placed.corners(cell)) box.add(corner);
        box.inflate(0.5 * margin);
        return box;
    };
    visit_leaves(tree, tree, wide, wide, [&](const Node& na, const Node& nb) {
        if (na.first > nb.first) return false;  // comes in the other order too
        for (int i = na.first; i < na.first + na.count; ++i)
            for (int j = std::max(i + 1, nb.first); j < nb.first + nb.count; ++j) {
                const int a = tree.order()[i], b = tree.order()[j];
                if (box_of(a).overlaps(box_of(b)) && visit(a, b)) return true;
            }
        return false;
    });
}

// How much two cells can have come nearer to each other, by what their corners moved beside the first of them.
double approach_of(const SelfPair& pair, const std::vector<Vec3>& x, const std::vector<Vec3>& reference) {
    const int base = pair.a[0];
    const Vec3 common = x[base] - reference[base];
    const auto largest = [&](const Triangle& cell) {
        double squared = 0.0;
        for (const int v : cell) squared = std::max(squared, (x[v] - reference[v] - common).squaredNorm());
        return std::sqrt(squared);
    };
    return largest(pair.a) + largest(pair.b);
}

}  // namespace

void add_self_pairs(const Surface& surface, int cell_a, int cell_b, std::vector<SelfPair>& pairs) {
    const Triangle &a = surface.cells[cell_a], &b = surface.cells[cell_b];
    const Shared shared = shared_corners(a, b);
    if (shared.count >= 3) return;
    if (shared.count == 0) {
        pairs.push_back({a, b, cell_a, cell_b});
        return;
    }
    pairs.push_back({rest_of(a, shared.a), b, cell_a, cell_b});
    pairs.push_back({a, rest_of(b, shared.b), cell_a, cell_b});
}

std::optional<SelfPair> self_intersection(const Placed& placed) {
    std::optional<SelfPair> found;
    if (placed.surface->tree.empty()) return found;
    std::vector<SelfPair> pairs;
    visit_near_cells(placed, 0.0, [&](int a, int b) {
        pairs.clear();
        add_self_pairs(*placed.surface, a, b, pairs);
        for (const SelfPair& pair : pairs)
            if (cells_intersect(corners_of(*placed.x, pair.a), corners_of(*placed.x, pair.b))) {
                found = pair;
                return true;
            }
        return false;
    });
    return found;
}

// The largest displacement of a vertex since the reference, beside what all have in common.
double SelfSweep::reach(const std::vector<Vec3>& x) const {
    Vec3 lo = Vec3::Constant(1e300), hi = Vec3::Constant(-1e300);
    for (const int v : vertices_) {
        const Vec3 moved = x[v] - reference_[v];
        lo = lo.cwiseMin(moved);
        hi = hi.cwiseMax(moved);
    }
    return 0.5 * (hi - lo).norm();
}

void SelfSweep::measure(const Placed& placed, double margin) {
    margin_ = margin;
    pairs_.clear();
    visit_near_cells(placed, margin, [&](int a, int b) {
        add_self_pairs(*placed.surface, a, b, pairs_);
        return false;
    });
    double largest = 0.0;
    for (const int v : vertices_) largest = std::max(largest, reference_[v].cwiseAbs().maxCoeff());
    gap_.resize(pairs_.size());
    for (std::size_t k = 0; k < pairs_.size(); ++k)
        gap_[k] = closest(corners_of(reference_, pairs_[k].a), corners_of(reference_, pairs_[k].b)).distance -
                  path_rounding * largest;
    measured_ = true;
}

// Displacements are linear in time within a piece, so that bounds at its two ends hold all the way.
SweepHit SelfSweep::advance(const Placed& from, const Placed& to) {
    SweepHit result;
    if (from.surface->tree.empty()) return result;
    if (vertices_.empty()) {
        vertices_ = used_vertices(*from.surface);
        edge_ = mean_edge(*from.surface);
    }
    if (!measured_ || 2.0 * std::max(reach(*from.x), reach(*to.x)) >= margin_) {
        reference_ = *from.x;
        measure(from, std::max(margin_of_edge * edge_, margin_of_reach * reach(*to.x)));
    }
    long swept = 0;
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const SelfPair& pair = pairs_[k];
        if (approach_of(pair, *from.x, reference_) < gap_[k] &&
            approach_of(pair, *to.x, reference_) < gap_[k])
            continue;
        ++swept;
        result = sweep_cells(corners_of(*from.x, pair.a), corners_of(*to.x, pair.a),
                             corners_of(*from.x, pair.b), corners_of(*to.x, pair.b));
        if (!result.hit) continue;
        result.cell_a = pair.cell_a;
        result.cell_b = pair.cell_b;
        break;
    }
    swept_ += swept;
    skipped_ += static_cast<long>(pairs_.size()) - swept;
    if (static_cast<double>(swept) > stale * static_cast<double>(pairs_.size())) measured_ = false;
    return result;
}

}  // namespace tenon::verify

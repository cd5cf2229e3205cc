// Iterations cost what still moves: bodies at rest stay, the active set goes on by itself.
#include <algorithm>

#include "math/union_find.hpp"
#include "methods/affine/island_newton.hpp"

namespace tenon::affine {
namespace {

constexpr double rest_motion = 0.01;  // of the tolerance: bodies that a Newton step moves by less may stay
constexpr double active_motion =
    0.3;  // of the tolerance: bodies that a Newton step moves by more go on by themselves
constexpr std::size_t least_split = 16;  // bodies of the smallest island that is worth it

}  // namespace

// Where only a few bodies still move, the others stay until these are done: iterations cost what moves. All of them
// are looked at again before the island counts as converged.
void IslandNewton::solve_active_set() {
    if (poses_.size() < least_split || !island_.rows.empty() || !may_split_) return;
    const std::vector<Island> parts = active_sets();
    if (parts.empty()) return;
    std::vector<IslandResult> results(parts.size());
    for_islands(parts, [&](std::size_t k) {
        IslandNewton part(parts[k], context_);
        part.depth_ = depth_ + 1;
        results[k] = part.run(false);
    });
    for (std::size_t n = 0; n < poses_.size(); ++n) context_.node[island_.bodies[n]] = static_cast<int>(n);
    IslandResult later;
    later.converged = true;
    later.path = path_of(parts, results);
    stay_where_converged(parts, results);
    for (IslandResult& result : results) later.go_beside(std::move(result));
    may_split_ = later.converged;
    result_.go_on(std::move(later));
    double moved = 0.0;
    for (std::size_t n = 0; n < poses_.size(); ++n) {
        const Mat34& q = context_.q[island_.bodies[n]];
        moved = std::max(moved, displacement_bound(q - poses_[n], shape(n)));
        poses_[n] = q;
    }
    // Whoever split this island off looks at it again. No need to where only friction was in doubt, which is
    // settled, or where the parts ended so near that the rest, which had settled, cannot feel it.
    result_.converged = may_split_ && (depth_ > 0 || was_small_ || moved <= context_.tolerance);
    start();
}

// The bodies that still move, as islands of their own; none when they are too many.
std::vector<Island> IslandNewton::active_sets() {
    std::vector<char> moves(poses_.size(), 0);
    for (std::size_t n = 0; n < poses_.size(); ++n)
        moves[n] = motion_[n] > active_motion * context_.tolerance;
    for (std::size_t k = 0; k < island_.pairs.size(); ++k) {
        const CandidatePair& pair = context_.field.pair(island_.pairs[k]);
        if (stale_[k])
            for (const int body : {pair.a, pair.b})
                if (context_.node[body] >= 0) moves[context_.node[body]] = 1;
    }
    const auto count = static_cast<std::size_t>(std::count(moves.begin(), moves.end(), 1));
    if (10 * count > 7 * poses_.size()) return {};
    // To the parts, the others stand still.
    parallel_for(poses_.size(), grain_of(island_, 16), [&](std::size_t n) {
        if (!moves[n]) context_.field.set_trial(island_.bodies[n], poses_[n], poses_[n]);
    });
    const auto moving_node = [&](int body) {
        const int n = context_.node[body];
        return n >= 0 && moves[n] ? n : -1;
    };
    UnionFind sets(poses_.size());
    for (const int k : island_.pairs) {
        const CandidatePair& pair = context_.field.pair(k);
        const int a = moving_node(pair.a), b = moving_node(pair.b);
        if (a >= 0 && b >= 0) sets.join(a, b);
    }
    std::vector<Island> parts;
    std::vector<int> part_of(poses_.size(), -1);
    for (const int n : solver().order()) {
        if (!moves[n]) continue;
        int& part = part_of[sets.root(n)];
        if (part < 0) {
            part = static_cast<int>(parts.size());
            parts.emplace_back().in_order = true;
        }
        parts[part].bodies.push_back(island_.bodies[n]);
        parts[part].held = parts[part].held || context_.bodies.body[island_.bodies[n]].hold >= 0;
    }
    for (const int k : island_.pairs) {
        const CandidatePair& pair = context_.field.pair(k);
        const int a = moving_node(pair.a), n = a >= 0 ? a : moving_node(pair.b);
        if (n >= 0) parts[part_of[sets.root(n)]].pairs.push_back(k);
    }
    for (const int m : island_.motors) {  // without joint rows they are motors of one body
        const Motor& motor = context_.motors[m];
        const int n = moving_node(motor.a >= 0 ? motor.a : motor.b);
        if (n >= 0) parts[part_of[sets.root(n)]].motors.push_back(m);
    }
    for (const int body : island_.bodies) context_.node[body] = -1;
    return parts;
}

// Parts do not meet: their pieces can be told together, as those of islands are.
std::vector<std::vector<Mat34>> IslandNewton::path_of(const std::vector<Island>& parts,
                                                      std::vector<IslandResult>& results) const {
    std::size_t longest = 0;
    for (const IslandResult& result : results) longest = std::max(longest, result.path.size());
    std::vector<std::vector<Mat34>> path(longest, poses_);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        for (std::size_t piece = 0; piece < longest && !results[k].path.empty(); ++piece) {
            const auto& poses = results[k].path[std::min(piece, results[k].path.size() - 1)];
            for (std::size_t m = 0; m < poses.size(); ++m)
                path[piece][context_.node[parts[k].bodies[m]]] = poses[m];
        }
        results[k].path.clear();
    }
    return path;
}

// When some part left its margin, all bodies but that part's are to stay near where they are.
void IslandNewton::stay_where_converged(const std::vector<Island>& parts,
                                        const std::vector<IslandResult>& results) {
    if (std::none_of(results.begin(), results.end(), [](const IslandResult& r) { return r.out_of_margin; }))
        return;
    std::vector<char> goes_on(poses_.size(), 0);
    for (std::size_t k = 0; k < parts.size(); ++k)
        if (results[k].out_of_margin)
            for (const int body : parts[k].bodies) goes_on[context_.node[body]] = 1;
    for (std::size_t n = 0; n < poses_.size(); ++n) {
        if (goes_on[n]) continue;
        context_.heading[island_.bodies[n]] = context_.q[island_.bodies[n]];
        context_.outside[island_.bodies[n]] = 0;
    }
}

// Bodies that this step hardly moves stay where they are: their contacts with each other need no new distances.
// Never in the first iteration, where even the smallest acceleration counts, and never when the descent is theirs:
// without it the others' part of the direction may lead uphill.
void IslandNewton::rest_bodies() {
    if (result_.iterations < 2 || !island_.rows.empty()) return;
    double slope = direction_.slope;
    resting_.clear();
    for (std::size_t n = 0; n < poses_.size(); ++n) {
        if (motion_[n] > rest_motion * context_.tolerance) continue;
        slope -= direction_.slope_of[n];
        resting_.push_back(n);
    }
    if (slope > 0.5 * direction_.slope) return;
    direction_.slope = slope;
    for (const std::size_t n : resting_) {
        motion_[n] = 0.0;
        direction_.slope_of[n] = 0.0;
        direction_.step[n].setZero();
        direction_.turn[n].setZero();
        direction_.stretch[n].setZero();
    }
}

}  // namespace tenon::affine

#include "methods/affine/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/distance.hpp"
#include "math/parallel.hpp"
#include "methods/affine/contact_corners.hpp"

namespace tenon::affine {
namespace {

// Around a body's core at q: its box, or the ball around it where that is smaller.
Box3 moved_box(const Mat34& q, const ContactShape& shape) {
    const Box3& local = shape.core_box;
    const Mat3 A = q.leftCols<3>();
    const Vec3 center = transform(q, local.center());
    // Gershgorin's bound on how much A stretches anything.
    const double stretch = std::sqrt((A.transpose() * A).cwiseAbs().rowwise().sum().maxCoeff());
    const Vec3 half = (A.cwiseAbs() * (0.5 * local.size())).cwiseMin(stretch * shape.core_radius);
    Box3 box;
    box.lo = center - half;
    box.hi = center + half;
    return box;
}

// For a search against the other shape.
geometry::Posed posed_motion(const ContactShape& shape, const ContactShape& other, const Motion& reference) {
    const geometry::SurfaceTree& tree = shape.tree_against(other);
    geometry::Posed body = reference.q0 == reference.q1 ? geometry::posed(tree, reference.q0)
                                                        : geometry::posed(tree, reference.q0, reference.q1);
    body.vertex_counts = shape.vertex_touches;
    body.edge_counts = shape.edge_touches;
    return body;
}

constexpr std::size_t kind_count = 6;

const std::vector<geometry::ItemPair>& list_of(const geometry::Candidates& found, std::size_t kind) {
    const std::vector<geometry::ItemPair>* lists[kind_count] = {
        &found.vertex_triangle, &found.triangle_vertex, &found.edge_edge,
        &found.point_edge,      &found.edge_point,      &found.point_point};
    return *lists[kind];
}

// Those of one kind, with their corners.
template <PairKind kind>
void add_all(const geometry::Candidates& found, const ContactShape& a, const ContactShape& b,
             const std::array<int, kind_count>& place, CandidateSet& set) {
    int at = place[static_cast<std::size_t>(kind)];
    for (const auto& [i, j] : list_of(found, static_cast<std::size_t>(kind))) {
        const Candidate candidate{i, j, kind, kind == PairKind::edge_edge ? -1.0f : 1.0f};
        const Corners c = corners_of(candidate, a, b);
        set.candidates[at] = candidate;
        set.corners[at++] = {c.vertex[0], c.vertex[1], c.vertex[2], c.vertex[3]};
    }
}

// Pairs of surfaces with more blocks than this are shared between threads.
constexpr int large_search = 256;
constexpr int parts_of_search = 16;

}  // namespace

float edge_weight(const ContactShape& a, const ContactShape& b, const Mat34& qa, const Mat34& qb, int i,
                  int j) {
    const auto& va = a.shape->mesh.vertices;
    const auto& vb = b.shape->mesh.vertices;
    const Edge &ea = a.edge(i), &eb = b.edge(j);
    const auto along = [](const Mat34& q, const Vec3& from, const Vec3& to) {
        const double x = to[0] - from[0], y = to[1] - from[1], z = to[2] - from[2];
        return Vec3(q(0, 0) * x + q(0, 1) * y + q(0, 2) * z, q(1, 0) * x + q(1, 1) * y + q(1, 2) * z,
                    q(2, 0) * x + q(2, 1) * y + q(2, 2) * z);
    };
    const double value = geometry::mollifier_value(
        along(qa, va[ea[0]], va[ea[1]]), along(qb, vb[eb[0]], vb[eb[1]]),
        geometry::mollifier_threshold(a.edge_length_squared[i], b.edge_length_squared[j]));
    return static_cast<float>(std::max(value, 0.01));
}

double deviation_from(const Motion& reference, const Mat34& q, const ContactShape& shape) {
    const Mat34 along = reference.q1 - reference.q0;
    const double length = along.squaredNorm();
    const Mat34 offset = q - reference.q0;
    if (length == 0.0) return core_displacement_bound(offset, shape);
    const double s = std::clamp(along.cwiseProduct(offset).sum() / length, 0.0, 1.0);
    return core_displacement_bound(offset - s * along, shape);
}

void CandidateBuilder::build(const Model& model, const std::vector<const ContactShape*>& shapes,
                             const std::vector<Motion>& motions, double dhat, CandidateSet& out) {
    find_body_pairs(model, shapes, motions, dhat);
    out.resize(0);
    search(shapes, motions, out);
    std::swap(out.pairs, fresh_);
    slots_ = 0;
    free_slots_.clear();
    for (CandidatePair& pair : out.pairs) pair.slot = slots_++;
}

void CandidateBuilder::rebuild(const Model& model, const std::vector<const ContactShape*>& shapes,
                               const std::vector<Motion>& motions, double dhat,
                               const std::vector<char>& changed, CandidateSet& set, std::vector<int>& added) {
    find_body_pairs(model, shapes, motions, dhat);
    std::erase_if(body_pairs_, [&](const geometry::ItemPair& p) { return !changed[p.a] && !changed[p.b]; });
    search(shapes, motions, set);
    for (const CandidatePair& old : set.pairs)
        if (changed[old.a] || changed[old.b]) free_slots_.push_back(old.slot);
    // Both lists are sorted by bodies, and so is what comes of them.
    merged_.clear();
    added.clear();
    auto fresh = fresh_.begin();
    const auto add_fresh = [&] {
        added.push_back(static_cast<int>(merged_.size()));
        CandidatePair& pair = merged_.emplace_back(*fresh++);
        if (free_slots_.empty()) free_slots_.push_back(slots_++);
        pair.slot = free_slots_.back();
        free_slots_.pop_back();
    };
    for (const CandidatePair& old : set.pairs) {
        if (changed[old.a] || changed[old.b]) continue;
        while (fresh != fresh_.end() && std::pair(fresh->a, fresh->b) < std::pair(old.a, old.b)) add_fresh();
        merged_.push_back(old);
    }
    while (fresh != fresh_.end()) add_fresh();
    std::swap(set.pairs, merged_);
}

void CandidateBuilder::find_body_pairs(const Model& model, const std::vector<const ContactShape*>& shapes,
                                       const std::vector<Motion>& motions, double dhat) {
    const std::size_t count = motions.size();
    boxes_.resize(count);
    moves_.resize(count);
    reach_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        reach_[i] = motions[i].margin + 0.5 * dhat + model.bodies.min_separation[i] + shapes[i]->rounding;
        boxes_[i] = moved_box(motions[i].q0, *shapes[i]);
        if (motions[i].moves) boxes_[i].add(moved_box(motions[i].q1, *shapes[i]));
        boxes_[i].inflate(reach_[i]);
        moves_[i] = motions[i].moves;
    }
    broad_phase_.find_pairs(boxes_, body_pairs_, moves_);
    std::erase_if(body_pairs_, [&](const geometry::ItemPair& p) { return !model.may_collide(p.a, p.b); });
}

void CandidateBuilder::search(const std::vector<const ContactShape*>& shapes,
                              const std::vector<Motion>& motions, CandidateSet& set) {
    split_large_pairs(shapes, motions);
    if (found_.size() < searches_.size()) found_.resize(searches_.size());
    const std::size_t grain = searches_.size() == body_pairs_.size() ? 4 : 1;
    parallel_for(searches_.size(), grain, [&](std::size_t k) {
        thread_local geometry::OverlapScratch scratch;
        const Search& search = searches_[k];
        const auto [a, b] = body_pairs_[search.pair];
        const geometry::Posed in_a = posed_motion(*shapes[a], *shapes[b], motions[a]),
                              in_b = posed_motion(*shapes[b], *shapes[a], motions[b]);
        if (search.part)
            geometry::find_candidates(in_a, in_b, reach_[a] + reach_[b], search.start, scratch, found_[k]);
        else
            geometry::find_candidates(in_a, in_b, reach_[a] + reach_[b], scratch, found_[k]);
    });
    join(shapes, set);
}

// One search for each pair of bodies; for large surfaces several, which together find the same in the same order.
void CandidateBuilder::split_large_pairs(const std::vector<const ContactShape*>& shapes,
                                         const std::vector<Motion>& motions) {
    searches_.clear();
    for (std::size_t k = 0; k < body_pairs_.size(); ++k) {
        const auto [a, b] = body_pairs_[k];
        if (thread_count() == 1 || shapes[a]->tree.blocks() + shapes[b]->tree.blocks() < large_search) {
            searches_.push_back({k, {}, false});
            continue;
        }
        geometry::split_search(posed_motion(*shapes[a], *shapes[b], motions[a]),
                               posed_motion(*shapes[b], *shapes[a], motions[b]), reach_[a] + reach_[b],
                               parts_of_search, parts_);
        for (const geometry::NodePair& start : parts_) searches_.push_back({k, start, true});
    }
}

// All that was found, sorted by pair, then by kind.
void CandidateBuilder::join(const std::vector<const ContactShape*>& shapes, CandidateSet& set) {
    fresh_.clear();
    place_.resize(searches_.size());
    int count = static_cast<int>(set.count);
    for (std::size_t first = 0, last; first < searches_.size(); first = last) {
        const auto [a, b] = body_pairs_[searches_[first].pair];
        for (last = first + 1; last < searches_.size() && searches_[last].pair == searches_[first].pair;)
            ++last;
        const int begin = count;
        for (std::size_t kind = 0; kind < kind_count; ++kind)
            for (std::size_t k = first; k < last; ++k) {
                place_[k][kind] = count;
                count += static_cast<int>(list_of(found_[k], kind).size());
            }
        const auto& start = place_[first];
        if (count > begin) fresh_.push_back({a, b, begin, count, start[1], start[2], start[3], 0});
    }
    set.resize(count);
    parallel_for(searches_.size(), 4, [&](std::size_t k) {
        const auto [a, b] = body_pairs_[searches_[k].pair];
        add_all<PairKind::vertex_triangle>(found_[k], *shapes[a], *shapes[b], place_[k], set);
        add_all<PairKind::triangle_vertex>(found_[k], *shapes[a], *shapes[b], place_[k], set);
        add_all<PairKind::edge_edge>(found_[k], *shapes[a], *shapes[b], place_[k], set);
        add_all<PairKind::vertex_edge>(found_[k], *shapes[a], *shapes[b], place_[k], set);
        add_all<PairKind::edge_vertex>(found_[k], *shapes[a], *shapes[b], place_[k], set);
        add_all<PairKind::vertex_vertex>(found_[k], *shapes[a], *shapes[b], place_[k], set);
    });
}

}  // namespace tenon::affine

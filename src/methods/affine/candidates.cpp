#include "methods/affine/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/distance.hpp"
#include "geometry/overlap.hpp"
#include "math/parallel.hpp"

namespace tenon::affine {
namespace {

Box3 moved_box(const Mat34& q, const Box3& local) {
    const Vec3 center = transform(q, local.center());
    const Vec3 half = q.leftCols<3>().cwiseAbs() * (0.5 * local.size());
    Box3 box;
    box.lo = center - half;
    box.hi = center + half;
    return box;
}

// Edges less than a few degrees from parallel have closest points that jump: they count less, at the step's start
// pose, but never nothing, so that CCD and barrier always speak of the same pairs.
float edge_weight(const ContactShape& a, const ContactShape& b, const Mat34& qa, const Mat34& qb, int i,
                  int j) {
    const auto& va = a.shape->mesh.vertices;
    const auto& vb = b.shape->mesh.vertices;
    const Edge &ea = a.edge(i), &eb = b.edge(j);
    const double value = geometry::mollifier_value(
        transform(qa, va[ea[0]]), transform(qa, va[ea[1]]), transform(qb, vb[eb[0]]),
        transform(qb, vb[eb[1]]),
        geometry::mollifier_threshold(a.edge_length_squared[i], b.edge_length_squared[j]));
    return static_cast<float>(std::max(value, 0.01));
}

geometry::Posed posed_sweep(const ContactShape& shape, const Sweep& sweep) {
    return sweep.q0 == sweep.q1 ? geometry::posed(shape.tree, sweep.q0)
                                : geometry::posed(shape.tree, sweep.q0, sweep.q1);
}

// Keeps the pairs that can touch first.
void collect(const ContactShape& a, const ContactShape& b, const Mat34& qa, const Mat34& qb,
             const geometry::Candidates& all, std::vector<Candidate>& out) {
    out.clear();
    for (const auto& [i, j] : all.vertex_triangle)
        if (a.vertex_touches[i]) out.push_back({i, j, PairKind::vertex_triangle, 1.0f});
    for (const auto& [i, j] : all.triangle_vertex)
        if (b.vertex_touches[j]) out.push_back({i, j, PairKind::triangle_vertex, 1.0f});
    for (const auto& [i, j] : all.edge_edge)
        if (a.edge_touches[i] && b.edge_touches[j])
            out.push_back({i, j, PairKind::edge_edge, edge_weight(a, b, qa, qb, i, j)});
    for (const auto& [i, j] : all.point_edge) out.push_back({i, j, PairKind::vertex_edge, 1.0f});
    for (const auto& [i, j] : all.edge_point) out.push_back({i, j, PairKind::edge_vertex, 1.0f});
    for (const auto& [i, j] : all.point_point) out.push_back({i, j, PairKind::vertex_vertex, 1.0f});
}

}  // namespace

double displacement_bound(const Mat34& D, const Box3& box) {
    const Vec3 half = 0.5 * box.size();
    double bound = transform(D, box.center()).norm();
    for (int k = 0; k < 3; ++k) bound += half[k] * D.col(k).norm();
    return bound;
}

double deviation_from(const Sweep& sweep, const Mat34& q, const Box3& box) {
    const Mat34 along = sweep.q1 - sweep.q0;
    const double length = along.squaredNorm();
    const Mat34 offset = q - sweep.q0;
    if (length == 0.0) return displacement_bound(offset, box);
    const double s = std::clamp(along.cwiseProduct(offset).sum() / length, 0.0, 1.0);
    return displacement_bound(offset - s * along, box);
}

void CandidateBuilder::build(const World& world, const std::vector<const ContactShape*>& shapes,
                             const std::vector<Sweep>& sweeps, double dhat, CandidateSet& out) {
    const std::size_t count = sweeps.size();
    boxes_.resize(count);
    moves_.resize(count);
    reach_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        reach_[i] = sweeps[i].slack + 0.5 * dhat + world.bodies.min_separation[i];
        boxes_[i] = moved_box(sweeps[i].q0, shapes[i]->shape->box);
        boxes_[i].add(moved_box(sweeps[i].q1, shapes[i]->shape->box));
        boxes_[i].inflate(reach_[i]);
        moves_[i] = sweeps[i].moves;
    }
    broad_phase_.find_pairs(boxes_, body_pairs_, moves_);
    std::erase_if(body_pairs_, [&](const geometry::ItemPair& p) { return !world.may_collide(p.a, p.b); });

    found_.resize(std::max(found_.size(), body_pairs_.size()));
    parallel_for(body_pairs_.size(), 4, [&](std::size_t k) {
        thread_local geometry::OverlapScratch scratch;
        thread_local geometry::Candidates all;
        const int a = body_pairs_[k].a, b = body_pairs_[k].b;
        geometry::find_candidates(posed_sweep(*shapes[a], sweeps[a]), posed_sweep(*shapes[b], sweeps[b]),
                                  reach_[a] + reach_[b], scratch, all);
        collect(*shapes[a], *shapes[b], sweeps[a].q0, sweeps[b].q0, all, found_[k]);
    });
    out.pairs.clear();
    out.candidates.clear();
    for (std::size_t k = 0; k < body_pairs_.size(); ++k) {
        if (found_[k].empty()) continue;
        const int begin = static_cast<int>(out.candidates.size());
        out.candidates.insert(out.candidates.end(), found_[k].begin(), found_[k].end());
        out.pairs.push_back(
            {body_pairs_[k].a, body_pairs_[k].b, begin, static_cast<int>(out.candidates.size())});
    }
}

}  // namespace tenon::affine

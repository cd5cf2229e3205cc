#include "methods/affine/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/distance.hpp"
#include "math/parallel.hpp"

namespace tenon::affine {
namespace {

// A primitive of one body inside the overlap of two bodies, with the box it sweeps.
struct Swept {
    Vec3 lo, hi;
    int index;
};

bool overlap(const Swept& a, const Swept& b) {
    return a.lo.x() <= b.hi.x() && b.lo.x() <= a.hi.x() && a.lo.y() <= b.hi.y() && b.lo.y() <= a.hi.y() &&
           a.lo.z() <= b.hi.z() && b.lo.z() <= a.hi.z();
}

Box3 moved_box(const Mat34& q, const Box3& local) {
    const Vec3 center = transform(q, local.center());
    const Vec3 half = q.leftCols<3>().cwiseAbs() * (0.5 * local.size());
    Box3 box;
    box.lo = center - half;
    box.hi = center + half;
    return box;
}

// The primitives of one body that reach into a region.
class Gatherer {
  public:
    void gather(const ContactShape& shape, const Sweep& sweep, double reach, const Box3& region) {
        const Mesh& mesh = shape.shape->mesh;
        corners_.resize(mesh.vertices.size());
        const bool still = sweep.q0 == sweep.q1;
        for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
            Swept& corner = corners_[i];
            corner.lo = corner.hi = transform(sweep.q0, mesh.vertices[i]);
            if (!still) {
                const Vec3 end = transform(sweep.q1, mesh.vertices[i]);
                corner.lo = corner.lo.cwiseMin(end);
                corner.hi = corner.hi.cwiseMax(end);
            }
            corner.lo.array() -= reach;
            corner.hi.array() += reach;
        }
        vertices.clear();
        edges.clear();
        triangles.clear();
        loose_edges.clear();
        points.clear();
        for (const int i : shape.vertices) add(vertices, region, i, {i});
        for (std::size_t k = 0; k < shape.edges.size(); ++k)
            add(edges, region, static_cast<int>(k), {shape.edges[k][0], shape.edges[k][1]});
        for (std::size_t k = 0; k < mesh.triangles.size(); ++k)
            add(triangles, region, static_cast<int>(k),
                {mesh.triangles[k][0], mesh.triangles[k][1], mesh.triangles[k][2]});
        for (std::size_t k = 0; k < shape.loose_edges.size(); ++k)
            add(loose_edges, region, static_cast<int>(k), {shape.loose_edges[k][0], shape.loose_edges[k][1]});
        for (const int i : shape.points) add(points, region, i, {i});
    }

    std::vector<Swept> vertices, edges, triangles, loose_edges, points;

  private:
    void add(std::vector<Swept>& list, const Box3& region, int index,
             std::initializer_list<int> corners) const {
        Swept swept{Vec3::Constant(1e300), Vec3::Constant(-1e300), index};
        for (const int corner : corners) {
            swept.lo = swept.lo.cwiseMin(corners_[corner].lo);
            swept.hi = swept.hi.cwiseMax(corners_[corner].hi);
        }
        if ((swept.lo.array() <= region.hi.array()).all() && (region.lo.array() <= swept.hi.array()).all())
            list.push_back(swept);
    }

    std::vector<Swept> corners_;
};

// Overlapping pairs of two lists, by sweeping along x when both are long.
template <class Found>
void cross(std::vector<Swept>& a, std::vector<Swept>& b, const Found& found) {
    if (a.size() * b.size() <= 4096) {
        for (const Swept& x : a)
            for (const Swept& y : b)
                if (overlap(x, y)) found(x.index, y.index);
        return;
    }
    const auto by_lo = [](const Swept& x, const Swept& y) { return x.lo.x() < y.lo.x(); };
    std::sort(a.begin(), a.end(), by_lo);
    std::sort(b.begin(), b.end(), by_lo);
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (a[i].lo.x() <= b[j].lo.x()) {
            for (std::size_t k = j; k < b.size() && b[k].lo.x() <= a[i].hi.x(); ++k)
                if (overlap(a[i], b[k])) found(a[i].index, b[k].index);
            ++i;
        } else {
            for (std::size_t k = i; k < a.size() && a[k].lo.x() <= b[j].hi.x(); ++k)
                if (overlap(a[k], b[j])) found(a[k].index, b[j].index);
            ++j;
        }
    }
}

// Edges less than a few degrees from parallel have closest points that jump: they count less, at the step's start
// pose, but never nothing, so that CCD and barrier always speak of the same pairs.
float edge_weight(const ContactShape& a, const ContactShape& b, const Mat34& qa, const Mat34& qb, int i,
                  int j) {
    const auto& va = a.shape->mesh.vertices;
    const auto& vb = b.shape->mesh.vertices;
    const Edge &ea = a.edges[i], &eb = b.edges[j];
    const double value = geometry::mollifier_value(
        transform(qa, va[ea[0]]), transform(qa, va[ea[1]]), transform(qb, vb[eb[0]]),
        transform(qb, vb[eb[1]]),
        geometry::mollifier_threshold(a.edge_length_squared[i], b.edge_length_squared[j]));
    return static_cast<float>(std::max(value, 0.01));
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
        thread_local Gatherer first, second;
        const int a = body_pairs_[k].a, b = body_pairs_[k].b;
        Box3 region;
        region.lo = boxes_[a].lo.cwiseMax(boxes_[b].lo);
        region.hi = boxes_[a].hi.cwiseMin(boxes_[b].hi);
        first.gather(*shapes[a], sweeps[a], reach_[a], region);
        second.gather(*shapes[b], sweeps[b], reach_[b], region);
        std::vector<Candidate>& list = found_[k];
        list.clear();
        const auto keep = [&](PairKind kind) {
            return [&list, kind](int i, int j) { list.push_back({i, j, kind, 1.0f}); };
        };
        cross(first.vertices, second.triangles, keep(PairKind::vertex_triangle));
        cross(first.triangles, second.vertices, keep(PairKind::triangle_vertex));
        cross(first.edges, second.edges, [&](int i, int j) {
            list.push_back({i, j, PairKind::edge_edge,
                            edge_weight(*shapes[a], *shapes[b], sweeps[a].q0, sweeps[b].q0, i, j)});
        });
        cross(first.points, second.loose_edges, keep(PairKind::vertex_edge));
        cross(first.loose_edges, second.points, keep(PairKind::edge_vertex));
        cross(first.points, second.points, keep(PairKind::vertex_vertex));
        std::sort(list.begin(), list.end(), [](const Candidate& x, const Candidate& y) {
            return std::tie(x.kind, x.i, x.j) < std::tie(y.kind, y.i, y.j);
        });
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

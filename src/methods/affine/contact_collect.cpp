// From candidates to contacts: distances of those that may be in range, four at once, and what is in range merged by the
// features that meet.
#include <algorithm>
#include <cmath>

#include "geometry/closest_point_lanes.hpp"
#include "math/parallel.hpp"
#include "methods/affine/contact_corners.hpp"
#include "methods/affine/contact_field.hpp"

namespace tenon::affine {
namespace {

// A candidate in range and where its closest points are: in a batch's results, or on their own.
struct Hit {
    int candidate;
    int active;
    const geometry::ClosestFour* four;
    int lane;  // or index among those on their own
};

// In single precision, and never more than the number.
float at_most(double number) {
    return static_cast<float>(number * (1.0 - 1.5e-7));
}

// The vertices that hold one side's closest point, as one number; a lone one counts twice.
inline std::uint64_t features_of(const int* vertices, int active, int count) {
    constexpr int lowest[8] = {0, 0, 1, 0, 2, 0, 1, 0}, highest[8] = {0, 0, 1, 1, 2, 2, 2, 2};
    if (count == 1) active = 1;
    const auto one = static_cast<std::uint32_t>(vertices[lowest[active]]),
               other = static_cast<std::uint32_t>(vertices[highest[active]]);
    return static_cast<std::uint64_t>(std::max(one, other)) << 32 | std::min(one, other);
}

// Which contact of the present pair rests on given features. Forgets some when there are many.
class FeatureTable {
  public:
    void clear() { ++now_; }
    // Its number, or `next` when there is none yet, which is noted then.
    int find(const Corners& c, int active, int next) {
        if (active == 0b1111) return next;  // inside both, which no other pair of primitives shares
        std::uint64_t first = features_of(c.vertex, active & ((1 << c.split) - 1), c.split);
        std::uint64_t second = features_of(c.vertex + c.split, active >> c.split, c.count - c.split);
        if (!c.a_first) std::swap(first, second);
        const std::uint64_t mixed = first * 0x9E3779B97F4A7C15u + second * 0xC2B2AE3D27D4EB4Fu;
        Slot& slot = slots_[mixed >> 57];
        if (slot.when == now_ && slot.first == first && slot.second == second) return slot.contact;
        slot = {first, second, now_, next};
        return next;
    }

  private:
    struct Slot {
        std::uint64_t first = 0, second = 0, when = 0;
        int contact = 0;
    };
    std::array<Slot, 128> slots_;
    std::uint64_t now_ = 0;
};

// Pairs of primitives of one kind on their path through a kernel.
struct Batch {
    int count = 0;
    std::vector<int> candidate;
    std::vector<geometry::PairCorners> corners;
    std::vector<geometry::ClosestFour> found;

    void start(std::size_t most) {
        count = 0;
        if (candidate.size() >= most) return;
        candidate.resize(most);
        corners.resize(most + geometry::four);
        found.resize(most / geometry::four + 1);
    }
    void run(void (*kernel)(const geometry::PairCorners*, int, geometry::ClosestFour*)) {
        if (count == 0) return;
        const int groups = (count + geometry::four - 1) / geometry::four;
        for (int n = count; n < geometry::four * groups; ++n) corners[n] = corners[0];  // lanes left over
        kernel(corners.data(), groups, found.data());
    }
};

geometry::Closest closest_of_lane(const geometry::ClosestFour& all, int lane, bool edges) {
    geometry::Closest c;
    c.squared = all.squared[lane];
    c.difference = Vec3(all.difference[0][lane], all.difference[1][lane], all.difference[2][lane]);
    const double s = all.s[lane], t = all.t[lane];
    if (edges)
        c.weight = {1.0 - s, s, -(1.0 - t), -t};
    else
        c.weight = {1.0, -(1.0 - s - t), -s, -t};
    return c;
}

[[gnu::always_inline]] inline void place(const Corners& c, const geometry::Closest& closest, const Mesh& a,
                                         const Mesh& b, ContactPoint& point) {
    Vec3 first = Vec3::Zero(), second = Vec3::Zero();
    const Mesh& first_mesh = c.a_first ? a : b;
    const Mesh& second_mesh = c.a_first ? b : a;
    for (int k = 0; k < c.split; ++k) first += closest.weight[k] * first_mesh.vertices[c.vertex[k]];
    for (int k = c.split; k < c.count; ++k) second -= closest.weight[k] * second_mesh.vertices[c.vertex[k]];
    point.distance = std::sqrt(closest.squared);
    point.normal = closest.difference / (c.a_first ? point.distance : -point.distance);
    point.local_a = c.a_first ? first : second;
    point.local_b = c.a_first ? second : first;
}

}  // namespace

// What was found among a pair's candidates, or a piece of them.
struct ContactLook {
    std::vector<Hit> hits;  // the first `count`, in the candidates' order
    std::size_t count = 0;
    std::vector<geometry::Closest> alone;
    float nearest = 1e30f;  // of all that were looked at, as the field's list says
    bool closed = false;    // one is not further apart than the separation

    void start(std::size_t most) {
        if (hits.size() < most) hits.resize(most);
        count = 0;
        alone.clear();
        nearest = 1e30f;
        closed = false;
    }
    // Adds what another found, with closest points of its own. Edges begin at `edge_edge`.
    void take(const ContactLook& other, int edge_edge) {
        for (std::size_t n = 0; n < other.count; ++n) {
            const Hit& hit = other.hits[n];
            hits.push_back({hit.candidate, hit.active, nullptr, static_cast<int>(alone.size())});
            alone.push_back(hit.four ? closest_of_lane(*hit.four, hit.lane, hit.candidate >= edge_edge)
                                     : other.alone[hit.lane]);
        }
        count = hits.size();
        nearest = std::min(nearest, other.nearest);
        closed = closed || other.closed;
    }
};

namespace {

// The nearest hit of each vertex on each flat part.
class PartTable {
  public:
    void clear(std::size_t most) {
        std::size_t size = 64;
        while (size < 2 * most) size *= 2;
        if (slots_.size() < size) slots_.assign(size, {});
        ++now_;
    }
    // The hit noted for this key; it is `hit` when there was none.
    int& find(std::uint64_t key, int hit) {
        std::size_t at = (key * 0x9E3779B97F4A7C15u) >> 20 & (slots_.size() - 1);
        for (; slots_[at].when == now_; at = (at + 1) & (slots_.size() - 1))
            if (slots_[at].key == key) return slots_[at].hit;
        slots_[at] = {key, now_, hit};
        return slots_[at].hit;
    }

  private:
    struct Slot {
        std::uint64_t key = 0, when = 0;
        int hit = 0;
    };
    std::vector<Slot> slots_;
    std::uint64_t now_ = 0;
};

// Reused from pair to pair; one per thread.
struct Scratch {
    Batch faces, edges;
    ContactLook look;
    FeatureTable features;
    PartTable parts;
    std::vector<char> repeats;  // per hit: of what another one says already
};
thread_local Scratch scratch;

double squared_of(const ContactLook& look, const Hit& hit) {
    return hit.four ? hit.four->squared[hit.lane] : look.alone[hit.lane].squared;
}

}  // namespace

// Threads look at the pieces of a large pair, whose few candidates in range are then taken together in order.
void ContactField::collect(const CandidatePair& bodies, PairContacts& pair) {
    const int pieces = pieces_of(bodies);
    if (pieces == 1) {
        look_at(bodies, pair.range, scratch.look);
        return merge(bodies, scratch.look, pair);
    }
    std::vector<ContactLook> parts(pieces);
    parallel_for(pieces, 1, [&](std::size_t n) {
        look_at(piece_of(bodies, static_cast<int>(n)), pair.range, scratch.look);
        parts[n].take(scratch.look, bodies.edge_edge);
    });
    ContactLook all;
    for (const ContactLook& part : parts) all.take(part, bodies.edge_edge);
    merge(bodies, all, pair);
}

void ContactField::look_at(const CandidatePair& bodies, const ContactRange& range, ContactLook& look) {
    const BodyPoints &pa = points_[bodies.a], &pb = points_[bodies.b];
    const double reach = range.reach_squared(), closed = range.separation_squared();
    const double odometer = pa.odometer + pb.odometer;
    const double far = (std::sqrt(reach) + odometer) * (1.0 + 1e-12);
    const float* const clear = known_.clear.data();
    look.start(bodies.end - bodies.begin);
    float nearest = 1e30f;

    const auto gather = [&](Batch& batch, int begin, int end, const BodyPoints& first,
                            const BodyPoints& second, int split) {
        const Vec3 *x = first.x.data(), *y = second.x.data();
        int* const candidate = batch.candidate.data();
        geometry::PairCorners* const corners = batch.corners.data();
        int count = batch.count;
        for (int i = begin; i < end; ++i) {
            if (clear[i] > far) {  // cannot have come into range since
                nearest = std::min(nearest, clear[i]);
                continue;
            }
            const auto& v = set_.corners[i];
            candidate[count] = i;
            corners[count++] = {x[v[0]].data(), (split == 2 ? x : y)[v[1]].data(), y[v[2]].data(),
                                y[v[3]].data()};
        }
        batch.count = count;
    };
    Batch &faces = scratch.faces, &edges = scratch.edges;
    faces.start(bodies.edge_edge - bodies.begin);
    edges.start(bodies.others - bodies.edge_edge);
    gather(faces, bodies.begin, bodies.triangle_vertex, pa, pb, 1);
    gather(faces, bodies.triangle_vertex, bodies.edge_edge, pb, pa, 1);
    gather(edges, bodies.edge_edge, bodies.others, pa, pb, 2);
    faces.run(geometry::closest_point_kernels().point_triangle);
    edges.run(geometry::closest_point_kernels().edge_edge);

    Hit* const hits = look.hits.data();
    std::size_t count = 0;
    const auto note = [&](int i, double squared, int active, const geometry::ClosestFour* four, int lane) {
        known_.clear[i] = at_most(std::sqrt(squared) + odometer);
        nearest = std::min(nearest, known_.clear[i]);
        if (squared >= reach) return;
        if (squared <= closed)
            look.closed = true;
        else
            hits[count++] = {i, active, four, lane};
    };
    const bool many = bodies.end - bodies.begin >= many_candidates;
    for (const Batch* batch : {&faces, &edges})
        for (int n = 0; n < batch->count; ++n) {
            const geometry::ClosestFour& found = batch->found[n / geometry::four];
            const int lane = n % geometry::four;
            if (many)
                known_.toward[batch->candidate[n]] = {static_cast<float>(found.difference[0][lane]),
                                                      static_cast<float>(found.difference[1][lane]),
                                                      static_cast<float>(found.difference[2][lane])};
            note(batch->candidate[n], found.squared[lane], static_cast<int>(found.active[lane]), &found,
                 lane);
        }
    for (int i = bodies.others; i < bodies.end; ++i) {
        if (clear[i] > far) {
            nearest = std::min(nearest, clear[i]);
            continue;
        }
        const Candidate& candidate = set_.candidates[i];
        const Corners c = corners_of(candidate, *pa.shape, *pb.shape);
        const Vec3* x[4];
        for (int n = 0; n < c.count; ++n) x[n] = &((n < c.split) == c.a_first ? pa : pb).x[c.vertex[n]];
        look.alone.push_back(closest_of(candidate, x));
        note(i, look.alone.back().squared, look.alone.back().active, nullptr,
             static_cast<int>(look.alone.size()) - 1);
    }
    look.count = count;
    look.nearest = nearest;
}

// The triangles of a convex flat part are one surface: a vertex has one nearest point on it. More of them would pull it towards
// the lines between them, and those are nowhere on the body.
void ContactField::find_repeats(const CandidatePair& bodies, const ContactLook& look) const {
    scratch.repeats.assign(look.count, 0);
    scratch.parts.clear(look.count);
    for (std::size_t n = 0; n < look.count; ++n) {
        const Candidate& candidate = set_.candidates[look.hits[n].candidate];
        const bool of_a = candidate.kind == PairKind::triangle_vertex;
        if (!of_a && candidate.kind != PairKind::vertex_triangle) continue;
        const int part =
            body_shapes_[of_a ? bodies.a : bodies.b]->flat_part[of_a ? candidate.i : candidate.j];
        if (part < 0) continue;
        const auto vertex = static_cast<std::uint32_t>(of_a ? candidate.j : candidate.i);
        const std::uint64_t key = static_cast<std::uint64_t>(vertex) << 32 |
                                  static_cast<std::uint64_t>(static_cast<std::uint32_t>(part)) << 1 | of_a;
        int& nearest = scratch.parts.find(key, static_cast<int>(n));
        if (nearest == static_cast<int>(n)) continue;
        const bool nearer = squared_of(look, look.hits[n]) < squared_of(look, look.hits[nearest]);
        scratch.repeats[nearer ? nearest : n] = 1;
        if (nearer) nearest = static_cast<int>(n);
    }
}

// Many pairs of primitives share their closest points: where two corners face each other, all triangles and edges of
// both. They are one contact with their summed weight.
void ContactField::merge(const CandidatePair& bodies, const ContactLook& look, PairContacts& pair) {
    const BodyPoints &pa = points_[bodies.a], &pb = points_[bodies.b];
    const Hit* const hits = look.hits.data();
    const std::size_t count = look.count;
    pair.nearest = look.nearest;
    if (look.closed) pair.energy = 1e300;  // no barrier beyond the separation: such a pose is never accepted
    // Between two looks the same features mostly meet.
    find_repeats(bodies, look);
    bool as_before = count == pair.merged.size();
    for (std::size_t n = 0; n < count && as_before; ++n)
        as_before = pair.merged[n].candidate == hits[n].candidate - bodies.begin &&
                    pair.merged[n].active == hits[n].active &&
                    (pair.merged[n].contact < 0) == (scratch.repeats[n] != 0);
    if (!as_before) {
        scratch.features.clear();
        pair.merged.clear();
        pair.points.clear();
        for (std::size_t n = 0; n < count; ++n) {
            Candidate& candidate = set_.candidates[hits[n].candidate];
            const Corners c = corners_of(candidate, *pa.shape, *pb.shape);
            const int next = static_cast<int>(pair.points.size());
            if (scratch.repeats[n]) {
                pair.merged.push_back({hits[n].candidate - bodies.begin, hits[n].active, -1});
                continue;
            }
            const int contact = scratch.features.find(c, hits[n].active, next);
            pair.merged.push_back({hits[n].candidate - bodies.begin, hits[n].active, contact});
            if (contact == next) {
                ContactPoint& point = pair.points.emplace_back();
                point.weight = 0.0;
                point.candidate = hits[n].candidate - bodies.begin;
            }
            pair.points[contact].weight += weight_of(bodies, candidate);
        }
    }
    const Mesh &a = pa.shape->shape->mesh, &b = pb.shape->shape->mesh;
    int next = 0;
    for (std::size_t n = 0; n < count; ++n) {
        if (pair.merged[n].contact < next) continue;
        const Hit& hit = hits[n];
        ContactPoint& point = pair.points[next++];
        if (hit.four) {
            const auto& v = set_.corners[hit.candidate];
            const bool of_edges = hit.candidate >= bodies.edge_edge;
            const Corners c{{v[0], v[1], v[2], v[3]},
                            4,
                            of_edges ? 2 : 1,
                            of_edges || hit.candidate < bodies.triangle_vertex};
            place(c, closest_of_lane(*hit.four, hit.lane, of_edges), a, b, point);
        } else {
            place(corners_of(set_.candidates[hit.candidate], *pa.shape, *pb.shape), look.alone[hit.lane], a,
                  b, point);
        }
    }
}

}  // namespace tenon::affine

#include "methods/affine/contact_field.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/ccd.hpp"
#include "math/parallel.hpp"
#include "methods/affine/barrier_scale.hpp"
#include "methods/affine/contact_corners.hpp"
#include "methods/affine/round_shape.hpp"

namespace tenon::affine {
namespace {

double ccd_of(const Candidate& c, const std::array<Vec3, 4>& s, const std::array<Vec3, 4>& e,
              const geometry::CcdOptions& options) {
    switch (c.kind) {
        case PairKind::vertex_triangle:
        case PairKind::triangle_vertex:
            return geometry::ccd_point_triangle(s, e, options);
        case PairKind::edge_edge:
            return geometry::ccd_edge_edge(s, e, options);
        case PairKind::vertex_edge:
        case PairKind::edge_vertex:
            return geometry::ccd_point_edge({s[0], s[1], s[2]}, {e[0], e[1], e[2]}, options);
        default:
            return geometry::ccd_point_point({s[0], s[1]}, {e[0], e[1]}, options);
    }
}

// Of a body with so few vertices, or when this part of them is used, all are moved.
constexpr std::size_t few_vertices = 64;
constexpr double most_used = 0.8;
constexpr std::size_t many_vertices = 1024;  // threads share more

// An affine map, two rows at once.
class Mover {
  public:
    explicit Mover(const Mat34& q) {
        for (int k = 0; k < 4; ++k) {
            upper_[k] = Two{q(0, k), q(1, k)};
            lower_[k] = q(2, k);
        }
    }
    void operator()(const Vec3& from, Vec3& to) const {
        const double x = from[0], y = from[1], z = from[2];
        *reinterpret_cast<AnyTwo*>(to.data()) = upper_[0] * x + upper_[1] * y + upper_[2] * z + upper_[3];
        to[2] = lower_[0] * x + lower_[1] * y + lower_[2] * z + lower_[3];
    }

  private:
    typedef double Two __attribute__((vector_size(16)));
    typedef double AnyTwo __attribute__((vector_size(16), aligned(8), may_alias));  // anywhere in memory
    Two upper_[4];
    double lower_[4];
};

// Bound on how much longer than at rest q makes anything, of its length: Gershgorin's on A^T A. Of all poses on a straight
// path those at its ends are the longest.
double largest_stretch(const Mat34& q) {
    const Mat3 A = q.leftCols<3>();
    return std::max(0.0, std::sqrt((A.transpose() * A).cwiseAbs().rowwise().sum().maxCoeff()) - 1.0 + 1e-15);
}

// Where q takes the vertices that count, but for the first `known` of them.
void place(const BodyPoints& points, const Mat34& q, std::size_t known, std::vector<Vec3>& out) {
    const auto& rest = points.shape->shape->mesh.vertices;
    out.resize(rest.size() + 1, Vec3::Zero());
    parallel_ranges(points.count() - known, many_vertices, [&](std::size_t begin, std::size_t end) {
        const Mover move(q);
        if (points.uses_all)
            for (std::size_t i = known + begin; i < known + end; ++i) move(rest[i], out[i]);
        else
            for (std::size_t k = known + begin; k < known + end; ++k)
                move(rest[points.used[k]], out[points.used[k]]);
    });
}

}  // namespace

// Of bodies that meet others in a few places only, the rest of the vertices need not be moved.
void BodyPoints::use_none() {
    const std::size_t vertices = shape->shape->mesh.vertices.size();
    for (const int v : used) is_used[v] = 0;
    used.clear();
    uses_all = vertices <= few_vertices;
    if (!uses_all) is_used.resize(vertices, 0);
    up_to_date = 0;
}

void BodyPoints::use(const std::vector<int>& more) {
    if (uses_all) return;
    for (const int v : more) {
        if (is_used[v]) continue;
        is_used[v] = 1;
        used.push_back(v);
    }
    if (used.size() <= most_used * is_used.size()) return;
    uses_all = true;
    up_to_date = 0;
}

ContactField::ContactField(const Model& model, const State& state) {
    for (const auto& shape : model.shapes) shape_table_.push_back(contact_shape(*shape));
    const std::size_t count = state.q.size();
    points_.resize(count);
    body_shapes_.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        points_[i].shape = body_shapes_[i] = shape_table_[model.bodies.shape[i]].get();
}

void ContactField::make_round(const Model& model, const std::vector<char>& bodies, double dhat) {
    round_table_.resize(model.shapes.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const std::size_t shape = model.bodies.shape[i];
        body_shapes_[i] = shape_table_[shape].get();
        if (bodies[i] && !round_table_[shape])
            round_table_[shape] = round_contact_shape(*model.shapes[shape], dhat);
        if (bodies[i] && round_table_[shape]) body_shapes_[i] = round_table_[shape].get();
        points_[i].shape = body_shapes_[i];
    }
}

void ContactField::rebuild(const Model& model, const std::vector<Motion>& motions, const ContactScale& scale,
                           const ContactLoads& loads) {
    builder_.build(model, body_shapes_, motions, scale.dhat, set_);
    note_starts(motions);
    known_.grow(set_.count);
    for (BodyPoints& points : points_) {
        points.odometer = 0.0;
        points.use_none();
    }
    if (contacts_.size() < set_.pairs.size()) contacts_.resize(set_.pairs.size());
    parallel_for(set_.pairs.size(), 16, [&](std::size_t k) { start_pair(static_cast<int>(k)); });
    builder_.visit_vertices([&](int body, const std::vector<int>& more) { points_[body].use(more); });
    start_step(model, scale, loads);
}

void ContactField::rebuild(const Model& model, const std::vector<Motion>& motions,
                           const std::vector<char>& changed, const ContactScale& scale,
                           const ContactLoads& loads) {
    compact();
    builder_.rebuild(model, body_shapes_, motions, scale.dhat, changed, set_, added_);
    note_starts(motions);
    known_.grow(set_.count);
    contacts_.resize(std::max(contacts_.size(), static_cast<std::size_t>(builder_.slots())));
    parallel_for(added_.size(), 16, [&](std::size_t k) { start_pair(added_[k]); });
    builder_.visit_vertices([&](int body, const std::vector<int>& more) { points_[body].use(more); });
    start_step(model, scale, loads);
}

// Partial rebuilds leave what they replace behind: takes it out when it is more than what is in use.
void ContactField::compact() {
    const std::size_t used = candidate_count();
    if (set_.count <= 2 * used) return;
    std::vector<CandidatePair*> in_order;
    for (CandidatePair& pair : set_.pairs) in_order.push_back(&pair);
    std::sort(in_order.begin(), in_order.end(),
              [](const CandidatePair* p, const CandidatePair* q) { return p->begin < q->begin; });
    int next = 0;
    for (CandidatePair* pair : in_order) {
        const int shift = next - pair->begin;
        const auto move_down = [&](auto& list) {
            std::move(list.begin() + pair->begin, list.begin() + pair->end, list.begin() + next);
        };
        move_down(set_.candidates);
        move_down(set_.corners);
        move_down(known_.clear);
        move_down(known_.toward);
        for (int* at : {&pair->begin, &pair->end, &pair->triangle_vertex, &pair->edge_edge, &pair->others})
            *at += shift;
        next = pair->end;
    }
    set_.resize(used);
}

void ContactField::note_starts(const std::vector<Motion>& motions) {
    start_.resize(motions.size());
    for (std::size_t i = 0; i < motions.size(); ++i) start_[i] = motions[i].start;
}

// Few candidates ever come into range.
float ContactField::weight_of(const CandidatePair& bodies, Candidate& candidate) const {
    if (candidate.weight < 0.0f)
        candidate.weight = edge_weight(*body_shapes_[bodies.a], *body_shapes_[bodies.b], start_[bodies.a],
                                       start_[bodies.b], candidate.i, candidate.j);
    return candidate.weight;
}

// A pair of which nothing is known but its candidates.
void ContactField::start_pair(int k) {
    const CandidatePair& pair = set_.pairs[k];
    PairContacts& known = contacts(k);
    known.seen_a = known.seen_b = -1;
    known.points.clear();
    known.energy = 0.0;
    known.merged.clear();
    known.nearest = 0.0f;
    parallel_for(pieces_of(pair), 1, [&](std::size_t n) {
        const CandidatePair piece = piece_of(pair, static_cast<int>(n));
        std::fill(known_.clear.begin() + piece.begin, known_.clear.begin() + piece.end, 0.0f);
        std::fill(known_.toward.begin() + piece.begin, known_.toward.begin() + piece.end,
                  geometry::LooseDirection{});
    });
}

void ContactField::start_step(const Model& model, const ContactScale& scale, const ContactLoads& loads) {
    parallel_for(set_.pairs.size(), 64, [&](std::size_t k) {
        const int a = set_.pairs[k].a, b = set_.pairs[k].b;
        PairContacts& pair = contacts(static_cast<int>(k));
        pair.friction.clear();
        pair.range.separation = model.bodies.min_separation[a] + model.bodies.min_separation[b] +
                                body_shapes_[a]->rounding + body_shapes_[b]->rounding;
        pair.mu = model.pair_friction(a, b);
        const PairRecord* known = memory_.find(a, b);
        set_barrier(pair, set_.pairs[k], scale, loads, known ? known->dhat : scale.dhat,
                    known ? known->stiffening : 1.0);
        pair.linked = false;
        ++pair.duals;
    });
}

void ContactField::set_pose(int body, const Mat34& q) {
    BodyPoints& points = points_[body];
    if (points.q != q) {
        if (points.q(0, 0) < 1e299) points.odometer += core_displacement_bound(q - points.q, *points.shape);
        points.q = q;
        points.up_to_date = 0;
        ++points.version;
    }
    if (points.up_to_date == points.count()) return;
    place(points, q, points.up_to_date, points.x);
    points.up_to_date = points.count();
}

void ContactField::set_trial(int body, const Mat34& q_from, const Mat34& q_to) {
    plan_trial(body, q_from, q_to);
    place_trial(body);
}

void ContactField::plan_trial(int body, const Mat34& q_from, const Mat34& q_to) {
    set_pose(body, q_from);
    BodyPoints& points = points_[body];
    points.displacement = q_to - q_from;
    points.step_bound = core_displacement_bound(points.displacement, *points.shape);
    points.swelling = points.shape->rounding > 0.0
                          ? points.shape->rounding * std::max(largest_stretch(q_from), largest_stretch(q_to))
                          : 0.0;
}

void ContactField::place_trial(int body) {
    place(points_[body], points_[body].displacement, 0, points_[body].step);
}

// Below this, plus what the bodies have moved since, a candidate's distance is not enough for the trial step.
double ContactField::least_clear(const CandidatePair& bodies, const PairContacts& pair, double t_max,
                                 double keep) const {
    const BodyPoints &pa = points_[bodies.a], &pb = points_[bodies.b];
    // Room grows with the gap, so one limit serves all.
    const double motion = (pa.step_bound + pb.step_bound) * t_max, most_kept = keep * pair.range.dhat;
    const double of_gap = motion > pair.range.dhat - most_kept ? motion + most_kept : motion / (1.0 - keep);
    const double gap = std::max(of_gap, motion + least_gap(bodies));
    return (gap + pair.range.separation + pa.swelling + pb.swelling + pa.odometer + pb.odometer) *
           (1.0 + 1e-12);
}

// What positions of this size tell apart with certainty, by whatever order of operations they were computed.
double ContactField::least_gap(const CandidatePair& bodies) const {
    const auto size = [](const BodyPoints& points) {
        return points.q.col(3).cwiseAbs().maxCoeff() + points.shape->shape->radius;
    };
    return certain_gap * (size(points_[bodies.a]) + size(points_[bodies.b]));
}

bool ContactField::may_close(int k, double t_max, double keep) const {
    return !(contacts(k).nearest > least_clear(set_.pairs[k], contacts(k), t_max, keep));
}

void ContactField::evaluate(int k) {
    const CandidatePair& bodies = set_.pairs[k];
    PairContacts& pair = contacts(k);
    const BodyPoints &pa = points_[bodies.a], &pb = points_[bodies.b];
    if (pair.seen_a == pa.version && pair.seen_b == pb.version) return;
    pair.seen_a = pa.version;
    pair.seen_b = pb.version;
    pair.energy = 0.0;
    pair.closest = 1e300;
    const double far = (std::sqrt(pair.range.reach_squared()) + pa.odometer + pb.odometer) * (1.0 + 1e-12);
    if (pair.nearest > far) {  // no candidate can have come into range
        pair.points.clear();
        pair.merged.clear();
        return;
    }
    collect(bodies, pair);
    find_touching_points(bodies, pair);
    for (ContactPoint& point : pair.points) {
        pair.closest = std::min(pair.closest, point.distance);
        const RadialBarrier radial =
            radial_barrier(point.distance * point.distance, pair.range, pair.strength);
        point.force = point.weight * radial.force;
        point.stiffness = point.weight * radial.stiffness;
        pair.energy += point.weight * radial.energy;
    }
}

void ContactField::find_touching_points(const CandidatePair& bodies, PairContacts& pair) const {
    const auto on_surface = [](const BodyPoints& points, const Vec3& core, const Vec3& outwards) {
        const double rounding = points.shape->rounding;
        return rounding > 0.0 ? Vec3(core + rounding * points.q.leftCols<3>().inverse() * outwards) : core;
    };
    const BodyPoints &pa = points_[bodies.a], &pb = points_[bodies.b];
    for (ContactPoint& point : pair.points) {
        point.touch_a = on_surface(pa, point.local_a, -point.normal);
        point.touch_b = on_surface(pb, point.local_b, point.normal);
    }
}

bool ContactField::stiffen_if_close(int k) {
    PairContacts& pair = contacts(k);
    if (pair.points.empty() || pair.closest - pair.range.separation > unusually_close * pair.range.dhat ||
        pair.stiffening >= most_stiffening)
        return false;
    pair.strength *= stiffening_factor;
    pair.stiffening *= stiffening_factor;
    pair.seen_a = pair.seen_b = -1;
    return true;
}

// Contacts at one place of both bodies slide alike: friction takes them as one, where their forces have their centre.
void ContactField::lag_friction(int k) {
    PairContacts& pair = contacts(k);
    auto& all = pair.friction;
    all.clear();
    ++pair.duals;
    if (pair.mu <= 0.0) return;
    constexpr std::size_t window = 24;  // repeats come close together
    const double near = std::pow(0.05 * pair.range.dhat, 2);
    for (const ContactPoint& p : pair.points) {
        const double limit = pair.mu * p.force;
        FrictionPoint* same = nullptr;
        const std::size_t first = all.size() > window ? all.size() - window : 0;
        for (std::size_t i = all.size(); i-- > first && !same;)
            if (all[i].normal.dot(p.normal) > 0.999 && (all[i].local_a - p.touch_a).squaredNorm() < near &&
                (all[i].local_b - p.touch_b).squaredNorm() < near)
                same = &all[i];
        if (!same) {
            all.push_back({p.touch_a, p.touch_b, p.normal, limit});
            continue;
        }
        same->limit += limit;
        const double part = limit > 0.0 ? limit / same->limit : 0.0;
        same->local_a += part * (p.touch_a - same->local_a);
        same->local_b += part * (p.touch_b - same->local_b);
        same->normal = (same->normal + part * (p.normal - same->normal)).normalized();
    }
}

double ContactField::safe_step(int k, double t_max, double keep) const {
    const CandidatePair& bodies = set_.pairs[k];
    const int pieces = pieces_of(bodies);
    if (pieces == 1) return safe_step(bodies, k, t_max, keep);
    std::vector<double> safe(pieces, t_max);
    parallel_for(pieces, 1, [&](std::size_t n) {
        safe[n] = safe_step(piece_of(bodies, static_cast<int>(n)), k, t_max, keep);
    });
    return *std::min_element(safe.begin(), safe.end());
}

// A step may close a gap down to a part of the contact range, and a gap in that range by a part of itself: bodies that
// come closer than the barrier wants leave the following steps no room to turn.
double ContactField::safe_step(const CandidatePair& bodies, int k, double t_max, double keep) const {
    const BodyPoints &pa = points_[bodies.a], &pb = points_[bodies.b];
    geometry::CcdOptions options;
    options.min_separation = contacts(k).range.separation + pa.swelling + pb.swelling;
    options.t_max = t_max;
    options.keep = keep;
    options.keep_at_most = keep * contacts(k).range.dhat;
    options.keep_at_least = least_gap(bodies);
    const double odometer = (pa.odometer + pb.odometer) * (1.0 + 1e-12);
    const double pair_motion = pa.step_bound + pb.step_bound, dhat = contacts(k).range.dhat;
    const double kept = options.min_separation + keep * dhat;  // the most that any gap must keep
    if (pair_motion == 0.0) return t_max;
    thread_local std::vector<int> near;
    find_near(bodies, contacts(k), t_max, keep, near);
    for (const int i : near) {
        if (!(options.t_max > 0.0)) break;
        const double gap = known_.clear[i] - odometer - options.min_separation;
        const double spare =
            std::min(gap > dhat ? gap - keep * dhat : (1.0 - keep) * gap, gap - options.keep_at_least);
        if (spare > pair_motion * options.t_max) continue;
        const Candidate& candidate = set_.candidates[i];
        const Corners c = corners_of(candidate, *pa.shape, *pb.shape);
        std::array<Vec3, 4> start, step;
        for (int n = 0; n < c.count; ++n) {
            const BodyPoints& side = (n < c.split) == c.a_first ? pa : pb;
            start[n] = side.x[c.vertex[n]];
            step[n] = side.step[c.vertex[n]];
        }
        // The gap cannot close faster than the fastest pair of vertices approaches.
        double fastest = 0.0;
        for (int n = 0; n < c.split; ++n)
            for (int m = c.split; m < c.count; ++m)
                fastest = std::max(fastest, (step[n] - step[m]).squaredNorm());
        if (spare > 0.0 && fastest * options.t_max * options.t_max < spare * spare) continue;
        for (int n = 0; n < c.count; ++n) step[n] += start[n];
        if (geometry::apart_along_axes(start, step, c.split, c.count, kept)) continue;
        options.t_max = std::min(options.t_max, ccd_of(candidate, start, step, options));
    }
    return options.t_max;
}

// The candidates whose gap the trial step might close too far, as far as bounds on the bodies' paths and the directions that
// candidates had when last looked at can tell.
void ContactField::find_near(const CandidatePair& bodies, const PairContacts& pair, double t_max, double keep,
                             std::vector<int>& near) const {
    const ContactRange& range = pair.range;
    const BodyPoints &pa = points_[bodies.a], &pb = points_[bodies.b];
    const double limit = least_clear(bodies, pair, t_max, keep), most_kept = keep * range.dhat;
    near.clear();
    if (pair.nearest > limit) return;
    near.resize(bodies.end - bodies.begin);
    int count = 0;
    for (int i = bodies.begin; i < bodies.end; ++i) {
        near[count] = i;
        count += !(known_.clear[i] > limit);
    }
    if (bodies.end - bodies.begin < many_candidates) {
        near.resize(count);
        return;
    }
    const double reach = std::max(core_displacement_bound(pa.q, *pa.shape) + pa.step_bound,
                                  core_displacement_bound(pb.q, *pb.shape) + pb.step_bound);
    const auto sides = [&](const BodyPoints& one, const BodyPoints& other) {
        return geometry::MovingSides{
            {one.x[0].data(), other.x[0].data()}, {one.step[0].data(), other.step[0].data()}, reach};
    };
    // More than CCD looks at before it stops, which then would let all of these pass: the answer does not depend on
    // which direction a candidate had.
    const double sure = range.separation + pa.swelling + pb.swelling + 1.06 * most_kept;
    int left = 0;
    for (int first = 0, last; first < count; first = last) {
        const PairKind kind = set_.candidates[near[first]].kind;
        for (last = first + 1; last < count && set_.candidates[near[last]].kind == kind;) ++last;
        int* run = near.data() + first;
        int kept = last - first;
        const auto take_out = [&](geometry::SeparatingAxisKernels::Kernel kernel,
                                  const geometry::MovingSides& of) {
            kept = kernel(of, set_.corners.data(), known_.toward.data(), t_max, sure, run, kept);
        };
        if (kind == PairKind::vertex_triangle)
            take_out(geometry::separating_axis_kernels().point_triangle, sides(pa, pb));
        else if (kind == PairKind::triangle_vertex)
            take_out(geometry::separating_axis_kernels().point_triangle, sides(pb, pa));
        else if (kind == PairKind::edge_edge)
            take_out(geometry::separating_axis_kernels().edge_edge, sides(pa, pb));
        std::copy(run, run + kept, near.begin() + left);
        left += kept;
    }
    near.resize(left);
}

}  // namespace tenon::affine

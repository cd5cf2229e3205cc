#include "methods/affine/open_start.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "methods/affine/barrier_scale.hpp"
#include "methods/affine/contact_corners.hpp"
#include "methods/affine/contact_field.hpp"
#include "model/initial_check.hpp"

namespace tenon::affine {
namespace {

using model::InitialProblem;

constexpr double touch_part = 1e-9;  // of a body's size: a distance that counts as touching
constexpr double same_side =
    1e-6;  // of an edge's length: how far it may dip below a face that its end touches
constexpr int most_passes = 5000;  // of Gauss-Seidel over all contacts; a stack of n bodies needs about n^2

// `up` is to be moved along the normal, `down` against it.
struct Touch {
    int up, down;
    Vec3 normal;
    double gap;  // m, wanted
};

// Neighbours of every vertex of a shape.
class Neighbours {
  public:
    const std::vector<std::vector<int>>& of(const Shape& shape) {
        auto& lists = known_[&shape];
        if (!lists.empty()) return lists;
        lists.resize(shape.mesh.vertices.size());
        for (const Edge& edge : shape.all_edges) {
            lists[edge[0]].push_back(edge[1]);
            lists[edge[1]].push_back(edge[0]);
        }
        return lists;
    }

  private:
    std::map<const Shape*, std::vector<std::vector<int>>> known_;
};

// A vertex on a face of another body, with its body on the outer side of that face.
void add_touch(const Model& model, const State& state, Neighbours& neighbours, int up, int vertex, int down,
               int triangle, std::vector<Touch>& touches) {
    const Mesh &mesh = model.shape_of(up).mesh, &other = model.shape_of(down).mesh;
    const auto at = [&](int body, const Vec3& local) { return Vec3(transform(state.q[body], local)); };
    const Triangle& t = other.triangles[triangle];
    const Vec3 x = at(up, mesh.vertices[vertex]), p0 = at(down, other.vertices[t[0]]),
               p1 = at(down, other.vertices[t[1]]), p2 = at(down, other.vertices[t[2]]);
    const double size = std::min(model.shape_of(up).radius, model.shape_of(down).radius);
    if (geometry::closest_point_triangle(x, p0, p1, p2).squared > std::pow(touch_part * size, 2)) return;
    Vec3 normal = (p1 - p0).cross(p2 - p0).normalized();
    if (!model.shape_of(down).closed && normal.dot(state.q[up].col(3) - p0) < 0.0) normal = -normal;
    for (const int n : neighbours.of(model.shape_of(up))[vertex]) {
        const Vec3 edge = at(up, mesh.vertices[n]) - x;
        if (normal.dot(edge) < -same_side * edge.norm()) return;
    }
    touches.push_back({up, down, normal, 2.0 * smallest_gap_part * size});
}

std::vector<Touch> find_touches(const Model& model, const State& state,
                                const std::vector<InitialProblem>& problems) {
    const std::size_t count = state.q.size();
    std::vector<Motion> at_rest(count);
    double size = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        size = std::max(size, model.shape_of(static_cast<int>(i)).radius);
        at_rest[i] = {state.q[i], state.q[i], 0.0, state.type[i] != BodyType::static_body};
    }
    ContactScale scale;
    scale.dhat = 2.0 * touch_part * size;
    ContactField field(model, state);
    field.rebuild(model, at_rest, scale, {std::vector<double>(count, 1.0)});
    Neighbours neighbours;
    std::vector<Touch> touches;
    for (int k = 0; k < field.pair_count(); ++k) {
        const CandidatePair& pair = field.pair(k);
        if (std::none_of(problems.begin(), problems.end(),
                         [&](const InitialProblem& p) { return p.a == pair.a && p.b == pair.b; }))
            continue;
        for (int c = pair.begin; c < pair.end; ++c) {
            const Candidate& candidate = field.candidates().candidates[c];
            if (candidate.kind == PairKind::vertex_triangle)
                add_touch(model, state, neighbours, pair.a, candidate.i, pair.b, candidate.j, touches);
            else if (candidate.kind == PairKind::triangle_vertex)
                add_touch(model, state, neighbours, pair.b, candidate.j, pair.a, candidate.i, touches);
        }
    }
    return touches;
}

// Balls and capsules that just touch, or nearly, as what they are; their drawn facets may be farther away.
std::vector<Touch> find_round_touches(const Model& model, const State& state) {
    const std::size_t count = state.q.size();
    std::vector<char> round(count, 0);
    std::vector<Motion> at_rest(count);
    double size = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        const Shape& shape = model.shape_of(static_cast<int>(i));
        const auto kind = shape.primitive.kind;
        round[i] = state.dynamic(static_cast<int>(i)) && model.bodies.collides[i] &&
                   (kind == Primitive::Kind::sphere || kind == Primitive::Kind::capsule);
        size = std::max(size, shape.radius);
        at_rest[i] = {state.q[i], state.q[i], 0.0, state.type[i] != BodyType::static_body};
    }
    std::vector<Touch> touches;
    if (std::none_of(round.begin(), round.end(), [](char r) { return r != 0; })) return touches;
    ContactScale scale;
    scale.dhat = 2.0 * smallest_gap_part * size;
    ContactField field(model, state);
    field.make_round(model, round, scale.dhat);
    field.rebuild(model, at_rest, scale, {std::vector<double>(count, 1.0)});
    for (int k = 0; k < field.pair_count(); ++k) {
        const CandidatePair& pair = field.pair(k);
        const ContactShape &a = field.shape(pair.a), &b = field.shape(pair.b);
        if (a.rounding + b.rounding == 0.0) continue;
        const double least =
            smallest_gap_part * std::min(model.shape_of(pair.a).radius, model.shape_of(pair.b).radius);
        for (int c = pair.begin; c < pair.end; ++c) {
            const Candidate& candidate = field.candidates().candidates[c];
            const Corners corners = corners_of(candidate, a, b);
            std::array<Vec3, 4> at;
            const Vec3* x[4] = {};
            for (int n = 0; n < corners.count; ++n) {
                const bool on_a = (n < corners.split) == corners.a_first;
                at[n] = transform(state.q[on_a ? pair.a : pair.b],
                                  (on_a ? a : b).shape->mesh.vertices[corners.vertex[n]]);
                x[n] = &at[n];
            }
            const geometry::Closest closest = closest_of(candidate, x);
            const double distance = std::sqrt(closest.squared),
                         gap = distance - field.contacts(k).range.separation;
            if (std::abs(gap) > least) continue;
            touches.push_back({pair.a, pair.b, closest.difference / (corners.a_first ? distance : -distance),
                               2.0 * least - gap});
        }
    }
    return touches;
}

// Displacements that open all touches, the smallest that Gauss-Seidel finds.
std::vector<Vec3> opening_moves(const Model& model, const State& state, const std::vector<Touch>& touches) {
    std::vector<char> free(state.q.size(), 0);
    for (std::size_t i = 0; i < free.size(); ++i) free[i] = state.dynamic(static_cast<int>(i));
    for (const Joint& joint : model.joints)
        for (const int body : joint.bodies)
            if (body >= 0) free[body] = 0;
    std::vector<Vec3> move(free.size(), Vec3::Zero());
    for (int pass = 0; pass < most_passes; ++pass) {
        bool open = true;
        for (const Touch& touch : touches) {
            const int sides = free[touch.up] + free[touch.down];
            const double missing = touch.gap - touch.normal.dot(move[touch.up] - move[touch.down]);
            if (sides == 0 || missing <= 0.01 * touch.gap) continue;
            open = false;
            if (free[touch.up]) move[touch.up] += missing / sides * touch.normal;
            if (free[touch.down]) move[touch.down] -= missing / sides * touch.normal;
        }
        if (open) break;
    }
    return move;
}

std::vector<InitialProblem> touching_pairs(const Model& model, const State& state) {
    std::vector<InitialProblem> problems = model::check_initial_state(model, state).problems;
    std::erase_if(problems, [](const InitialProblem& p) { return p.kind != InitialProblem::Kind::touching; });
    return problems;
}

}  // namespace

std::vector<std::string> open_touching_bodies(const Model& model, State& state) {
    const std::vector<InitialProblem> problems = touching_pairs(model, state);
    std::vector<Touch> touches = find_round_touches(model, state);
    std::set<std::pair<int, int>> pairs;
    for (const Touch& touch : touches) pairs.emplace(touch.up, touch.down);
    if (!problems.empty()) {
        const std::vector<Touch> of_meshes = find_touches(model, state, problems);
        touches.insert(touches.end(), of_meshes.begin(), of_meshes.end());
        for (const InitialProblem& problem : problems) pairs.emplace(problem.a, problem.b);
    }
    if (pairs.empty()) return {};
    const std::vector<Vec3> moves = opening_moves(model, state, touches);
    const std::vector<Mat34> before = state.q;
    for (std::size_t i = 0; i < moves.size(); ++i) state.q[i].col(3) += moves[i];
    if (!touching_pairs(model, state).empty()) {
        state.q = before;
        return {};
    }
    std::vector<std::string> told;
    for (const auto& [a, b] : pairs)
        told.push_back(fmt::format("'{}' and '{}' touch at the start: moved apart by {:.2g} m",
                                   model.bodies.name[a], model.bodies.name[b], (moves[a] - moves[b]).norm()));
    return told;
}

}  // namespace tenon::affine

#include "model/initial_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "geometry/broad_phase.hpp"
#include "geometry/closest.hpp"
#include "geometry/crossing.hpp"
#include "geometry/distance.hpp"
#include "geometry/mesh_check.hpp"
#include "geometry/overlap.hpp"
#include "math/parallel.hpp"

namespace tenon::model {
namespace {

using namespace geometry;

// Every body's surface, with one tree for each shape.
class Surfaces {
  public:
    explicit Surfaces(const Model& model, const State& state) : model_(model), state_(state) {
        const int bodies = model.bodies.size();
        shape_trees_.resize(model.shapes.size());
        std::vector<char> used(model.shapes.size(), 0);
        for (int i = 0; i < bodies; ++i)
            if (model.bodies.collides[i]) used[model.bodies.shape[i]] = 1;
        parallel_for(model.shapes.size(), 1, [&](std::size_t s) {
            const Shape& shape = *model.shapes[s];
            if (used[s]) shape_trees_[s] = std::make_unique<SurfaceTree>(shape.mesh, shape.all_edges);
        });
        elastic_.resize(model.elastic.size());
        parallel_for(elastic_.size(), 1, [&](std::size_t e) {
            Elastic& body = elastic_[e];
            body.mesh.vertices = state.elastic[e].x;
            body.mesh.triangles = model.elastic[e].surface;
            body.edges = all_edges(body.mesh);
            body.tree = std::make_unique<SurfaceTree>(body.mesh, body.edges);
        });
    }

    int size() const { return model_.bodies.size() + static_cast<int>(elastic_.size()); }
    bool rigid(int body) const { return body < model_.bodies.size(); }
    const SurfaceTree* tree(int body) const {
        return rigid(body) ? shape_trees_[model_.bodies.shape[body]].get()
                           : elastic_[body - model_.bodies.size()].tree.get();
    }
    Mat34 map(int body) const { return rigid(body) ? state_.q[body] : Mat34(Mat34::Identity()); }
    bool takes_part(int body) const { return !rigid(body) || model_.bodies.collides[body]; }

  private:
    struct Elastic {
        Mesh mesh;
        std::vector<Edge> edges;
        std::unique_ptr<SurfaceTree> tree;
    };
    const Model& model_;
    const State& state_;
    std::vector<std::unique_ptr<SurfaceTree>> shape_trees_;
    std::vector<Elastic> elastic_;
};

// Vertices of one body in the world.
struct Side {
    const SurfaceTree& surface;
    const Mat34& q;

    Vec3 vertex(int v) const { return transform(q, surface.vertices()[v]); }
    std::array<Vec3, 2> edge(int e) const {
        const Edge& edge = surface.edges()[e];
        return {vertex(edge[0]), vertex(edge[1])};
    }
    std::array<Vec3, 3> triangle(int t) const {
        const Triangle& triangle = surface.triangles()[t];
        return {vertex(triangle[0]), vertex(triangle[1]), vertex(triangle[2])};
    }
    // The lowest-numbered triangle with this edge, so that an edge is reported as the triangle users know.
    PrimitiveRef named_edge(int e) const {
        PrimitiveRef ref;
        ref.edge = e;
        if (surface.loose_edge(e)) return ref;
        const Edge& edge = surface.edges()[e];
        for (std::size_t t = 0; t < surface.triangles().size(); ++t) {
            const Triangle& triangle = surface.triangles()[t];
            auto has = [&](int v) {
                return std::find(triangle.begin(), triangle.end(), v) != triangle.end();
            };
            if (!has(edge[0]) || !has(edge[1])) continue;
            ref.triangle = static_cast<int>(t);
            break;
        }
        return ref;
    }
};

PrimitiveRef triangle_ref(int t) {
    return {t, -1, -1};
}
PrimitiveRef edge_ref(int e) {
    return {-1, e, -1};
}
PrimitiveRef vertex_ref(int v) {
    return {-1, -1, v};
}

// Where the segment meets the triangle's plane.
Vec3 crossing_point(const std::array<Vec3, 2>& s, const std::array<Vec3, 3>& t) {
    const Vec3 n = (t[1] - t[0]).cross(t[2] - t[0]);
    const double h0 = n.dot(s[0] - t[0]), h1 = n.dot(s[1] - t[0]);
    return s[0] + h0 / (h0 - h1) * (s[1] - s[0]);
}

// Looks into one pair of bodies; buffers live as long as the thread's share of the work.
class PairCheck {
  public:
    // False when nothing is wrong.
    bool run(const Posed& a, const Posed& b, double required, InitialProblem& problem) {
        const double extent = std::max({a.box.lo.cwiseAbs().maxCoeff(), a.box.hi.cwiseAbs().maxCoeff(),
                                        b.box.lo.cwiseAbs().maxCoeff(), b.box.hi.cwiseAbs().maxCoeff()});
        const double zero = 4e-15 * extent;  // what rounding makes of a distance of zero
        find_candidates(a, b, std::max(required, zero), scratch_, candidates_, crossings_);
        const Side side_a{*a.surface, a.q0}, side_b{*b.surface, b.q0};
        problem.required = required;
        if (find_crossing(side_a, side_b, problem)) return true;
        return find_close(side_a, side_b, zero, problem);
    }

  private:
    bool find_crossing(const Side& a, const Side& b, InitialProblem& problem) {
        problem.kind = InitialProblem::Kind::intersection;
        problem.count = 0;
        for (const ItemPair& pair : crossings_.edge_triangle) {
            const auto e = a.edge(pair.a);
            const auto t = b.triangle(pair.b);
            if (!crosses(e[0], e[1], t[0], t[1], t[2]) || problem.count++ > 0) continue;
            problem.on_a = a.named_edge(pair.a);
            problem.on_b = triangle_ref(pair.b);
            problem.point = crossing_point(e, t);
        }
        for (const ItemPair& pair : crossings_.triangle_edge) {
            const auto t = a.triangle(pair.a);
            const auto e = b.edge(pair.b);
            if (!crosses(e[0], e[1], t[0], t[1], t[2]) || problem.count++ > 0) continue;
            problem.on_a = triangle_ref(pair.a);
            problem.on_b = b.named_edge(pair.b);
            problem.point = crossing_point(e, t);
        }
        return problem.count > 0;
    }

    bool find_close(const Side& a, const Side& b, double zero, InitialProblem& problem) {
        const double limit = std::max(problem.required * (1.0 - 1e-12), zero);
        double best = limit * limit;
        problem.count = 0;
        auto consider = [&](const Closest& c, const PrimitiveRef& on_a, const PrimitiveRef& on_b,
                            const Vec3& foot) {
            if (c.squared > limit * limit) return;
            if (problem.count++ > 0 && c.squared >= best) return;
            best = c.squared;
            problem.on_a = on_a;
            problem.on_b = on_b;
            problem.point = foot;
        };
        for (const ItemPair& pair : candidates_.vertex_triangle) {
            const Vec3 p = a.vertex(pair.a);
            const auto t = b.triangle(pair.b);
            consider(closest_point_triangle(p, t[0], t[1], t[2]), vertex_ref(pair.a), triangle_ref(pair.b),
                     p);
        }
        for (const ItemPair& pair : candidates_.triangle_vertex) {
            const Vec3 p = b.vertex(pair.b);
            const auto t = a.triangle(pair.a);
            consider(closest_point_triangle(p, t[0], t[1], t[2]), triangle_ref(pair.a), vertex_ref(pair.b),
                     p);
        }
        for (const ItemPair& pair : candidates_.edge_edge) {
            const auto e = a.edge(pair.a), f = b.edge(pair.b);
            const Closest c = closest_edge_edge(e[0], e[1], f[0], f[1]);
            if (c.squared > limit * limit) continue;
            consider(c, edge_ref(pair.a), edge_ref(pair.b), c.weight[0] * e[0] + c.weight[1] * e[1]);
        }
        for (const ItemPair& pair : candidates_.point_edge) {
            const Vec3 p = a.vertex(pair.a);
            const auto f = b.edge(pair.b);
            consider(closest_point_edge(p, f[0], f[1]), vertex_ref(pair.a), edge_ref(pair.b), p);
        }
        for (const ItemPair& pair : candidates_.edge_point) {
            const Vec3 p = b.vertex(pair.b);
            const auto e = a.edge(pair.a);
            consider(closest_point_edge(p, e[0], e[1]), edge_ref(pair.a), vertex_ref(pair.b), p);
        }
        for (const ItemPair& pair : candidates_.point_point) {
            const Vec3 p = a.vertex(pair.a);
            consider(closest_point_point(p, b.vertex(pair.b)), vertex_ref(pair.a), vertex_ref(pair.b), p);
        }
        if (problem.count == 0) return false;
        problem.distance = std::sqrt(best);
        problem.kind =
            problem.distance <= zero ? InitialProblem::Kind::touching : InitialProblem::Kind::too_close;
        return true;
    }

    OverlapScratch scratch_;
    Candidates candidates_;
    EdgeTriangles crossings_;
};

bool contains(const Box3& outer, const Box3& inner) {
    return (outer.lo.array() <= inner.lo.array()).all() && (inner.hi.array() <= outer.hi.array()).all();
}

// Pairs without contact in which one body's box holds the other's: is the inner body inside the outer's surface?
class EnclosureCheck {
  public:
    EnclosureCheck(const Model& model, const State& state, const Surfaces& surfaces)
        : model_(model), state_(state), surfaces_(surfaces) {
        winding_.resize(model.shapes.size());
    }

    bool possible(int outer, const Box3& outer_box, const Box3& inner_box) const {
        return surfaces_.rigid(outer) && model_.shape_of(outer).closed && contains(outer_box, inner_box);
    }
    void prepare(int outer) {
        const int shape = model_.bodies.shape[outer];
        if (!winding_[shape]) winding_[shape] = std::make_unique<WindingNumber>(*surfaces_.tree(outer));
    }
    bool inside(int outer, int inner, Vec3& point) const {
        const SurfaceTree& surface = *surfaces_.tree(inner);
        point = transform(surfaces_.map(inner), surface.vertices()[surface.block(0).vertices[0]]);
        const Mat34 q = surfaces_.map(outer);
        const Vec3 local = q.leftCols<3>().inverse() * (point - q.col(3));
        return winding_[model_.bodies.shape[outer]]->inside(local);
    }

  private:
    const Model& model_;
    const State& state_;
    const Surfaces& surfaces_;
    std::vector<std::unique_ptr<WindingNumber>> winding_;
};

// An elastic body grows out of the bodies it is pinned to.
bool pinned_together(const Model& model, int a, int b) {
    const int bodies = model.bodies.size();
    if (a >= bodies || b < bodies) return false;
    const auto& pins = model.elastic[b - bodies].pins;
    return std::any_of(pins.begin(), pins.end(), [&](const ElasticBody::Pin& pin) { return pin.body == a; });
}

std::vector<ItemPair> pairs_to_check(const Model& model, const Surfaces& surfaces,
                                     const std::vector<Box3>& boxes) {
    std::vector<Box3> wide = boxes;
    for (int i = 0; i < surfaces.size(); ++i) {
        if (wide[i].empty()) continue;
        const double extent = std::max(wide[i].lo.cwiseAbs().maxCoeff(), wide[i].hi.cwiseAbs().maxCoeff());
        wide[i].inflate((surfaces.rigid(i) ? model.bodies.min_separation[i] : 0.0) + 1e-14 * extent);
    }
    std::vector<ItemPair> pairs;
    BroadPhase().find_pairs(wide, pairs);
    std::erase_if(pairs, [&](const ItemPair& pair) {
        return !model.may_collide(pair.a, pair.b) || pinned_together(model, pair.a, pair.b);
    });
    return pairs;
}

std::string name_of(const Model& model, int body) {
    const int bodies = model.bodies.size();
    if (body < bodies)
        return model.bodies.name[body].empty() ? fmt::format("bodies[{}]", body) : model.bodies.name[body];
    const std::string& name = model.elastic[body - bodies].name;
    return name.empty() ? fmt::format("elastic[{}]", body - bodies) : name;
}

std::string name_of(const PrimitiveRef& ref) {
    if (ref.triangle >= 0) return fmt::format("triangle {}", ref.triangle);
    if (ref.edge >= 0) return fmt::format("edge {}", ref.edge);
    return fmt::format("vertex {}", ref.vertex);
}

}  // namespace

double required_separation(const Model& model, int a, int b) {
    const int bodies = model.bodies.size();
    auto of = [&](int body) { return body < bodies ? model.bodies.min_separation[body] : 0.0; };
    return of(a) + of(b);
}

InitialCheck check_initial_state(const Model& model, const State& state) {
    const Surfaces surfaces(model, state);
    std::vector<Box3> boxes(surfaces.size());
    parallel_for(boxes.size(), 16, [&](std::size_t i) {
        const int body = static_cast<int>(i);
        if (surfaces.takes_part(body)) boxes[i] = world_box(*surfaces.tree(body), surfaces.map(body));
    });
    const std::vector<ItemPair> pairs = pairs_to_check(model, surfaces, boxes);

    EnclosureCheck enclosure(model, state, surfaces);
    for (const ItemPair& pair : pairs) {
        if (enclosure.possible(pair.a, boxes[pair.a], boxes[pair.b])) enclosure.prepare(pair.a);
        if (enclosure.possible(pair.b, boxes[pair.b], boxes[pair.a])) enclosure.prepare(pair.b);
    }

    auto place = [&](int body) {
        Posed out;
        out.surface = surfaces.tree(body);
        out.q0 = surfaces.map(body);
        out.box = boxes[body];
        return out;
    };
    auto enclosed = [&](int inner, int outer, InitialProblem& problem) {
        if (!enclosure.possible(outer, boxes[outer], boxes[inner])) return false;
        if (!enclosure.inside(outer, inner, problem.point)) return false;
        problem.kind = InitialProblem::Kind::enclosed;
        problem.a = inner;
        problem.b = outer;
        problem.count = 1;
        return true;
    };

    constexpr std::size_t chunk = 64;
    const std::size_t chunks = (pairs.size() + chunk - 1) / chunk;
    std::vector<std::vector<InitialProblem>> found(chunks);
    parallel_for(chunks, 1, [&](std::size_t c) {
        PairCheck check;
        for (std::size_t i = c * chunk; i < std::min(pairs.size(), (c + 1) * chunk); ++i) {
            const auto [a, b] = pairs[i];
            InitialProblem problem;
            problem.a = a;
            problem.b = b;
            const bool contact = check.run(place(a), place(b), required_separation(model, a, b), problem);
            if (contact || enclosed(a, b, problem) || enclosed(b, a, problem)) found[c].push_back(problem);
        }
    });

    InitialCheck result;
    result.pairs = static_cast<long>(pairs.size());
    for (const auto& part : found) result.problems.insert(result.problems.end(), part.begin(), part.end());
    return result;
}

std::string describe(const Model& model, const InitialProblem& problem) {
    const std::string a = name_of(model, problem.a), b = name_of(model, problem.b);
    const std::string where =
        fmt::format("({:.6g}, {:.6g}, {:.6g})", problem.point.x(), problem.point.y(), problem.point.z());
    const std::string which =
        fmt::format("{} of '{}' and {} of '{}'", name_of(problem.on_a), a, name_of(problem.on_b), b);
    const std::string more = problem.count > 1 ? fmt::format(" and {} more pairs", problem.count - 1) : "";
    switch (problem.kind) {
        case InitialProblem::Kind::intersection:
            return fmt::format("'{}' and '{}' intersect at {}: {}{}", a, b, where, which, more);
        case InitialProblem::Kind::touching:
            return fmt::format("'{}' and '{}' touch at {}: {}{}", a, b, where, which, more);
        case InitialProblem::Kind::too_close:
            return fmt::format(
                "'{}' and '{}' are {:.4g} m apart at {}, less than their minimum separation {:.4g} m: {}{}",
                a, b, problem.distance, where, problem.required, which, more);
        case InitialProblem::Kind::enclosed:
            break;
    }
    return fmt::format("'{}' lies inside '{}', at {}", a, b, where);
}

}  // namespace tenon::model

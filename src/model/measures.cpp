// What can be measured of a world: energies, momenta, bounds; and the pair rules of contact.
#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

constexpr std::size_t kGrain = 4096;

const PairSpec* pair_rule(const Model& model, int a, int b) {
    if (model.material_pairs.empty()) return nullptr;
    const int bodies = model.bodies.size();
    const auto material = [&](int i) {
        if (i < bodies) return model.bodies.material[i];
        const ElasticBody& elastic = model.elastic[i - bodies];
        return elastic.tet_material.empty() ? 0 : elastic.tet_material[0];
    };
    const auto found = model.material_pairs.find(pair_key(material(a), material(b)));
    return found == model.material_pairs.end() ? nullptr : &found->second;
}

double friction_of(const Model& model, int i) {
    return i < model.bodies.size() ? model.bodies.friction[i]
                                   : model.elastic[i - model.bodies.size()].friction;
}

double restitution_of(const Model& model, int i) {
    return i < model.bodies.size() ? model.bodies.restitution[i]
                                   : model.elastic[i - model.bodies.size()].restitution;
}

Box3 body_box(const Model& model, const State& state, int body) {
    const Box3& local = model.shape_of(body).box;
    const Mat34& q = state.q[body];
    const Vec3 center = transform(q, local.center());
    const Vec3 half = q.leftCols<3>().cwiseAbs() * (0.5 * local.size());
    Box3 box;
    box.add(Vec3(center - half));
    box.add(Vec3(center + half));
    return box;
}

}  // namespace

// A rule for the two materials wins; otherwise the geometric mean of the two coefficients.
double Model::pair_friction(int a, int b) const {
    if (const PairSpec* rule = pair_rule(*this, a, b); rule && rule->friction) return *rule->friction;
    return std::sqrt(friction_of(*this, a) * friction_of(*this, b));
}

// A rule for the two materials wins; otherwise the larger of the two.
double Model::pair_restitution(int a, int b) const {
    if (const PairSpec* rule = pair_rule(*this, a, b); rule && rule->restitution) return *rule->restitution;
    return std::max(restitution_of(*this, a), restitution_of(*this, b));
}

bool Model::may_collide(int a, int b) const {
    const int count = bodies.size();
    if (a >= count || b >= count) {
        const int body = std::min(a, b);
        return body >= count || bodies.collides[body];
    }
    if (bodies.start_type[a] == BodyType::static_body && bodies.start_type[b] == BodyType::static_body)
        return false;
    if (!bodies.collides[a] || !bodies.collides[b]) return false;
    if (!bodies.group[a].empty() && bodies.group[a] == bodies.group[b]) return false;
    return ignored_pairs.empty() || ignored_pairs.count(pair_key(a, b)) == 0;
}

Box3 bounds(const Model& model, const State& state) {
    Box3 box;
    for (int i = 0; i < model.bodies.size(); ++i) box.add(body_box(model, state, i));
    for (const ElasticState& body : state.elastic)
        for (const Vec3& x : body.x) box.add(x);
    return box;
}

// Fixed scenery may be far larger than what moves on it: it counts only when nothing moves.
double scene_length(const Model& model, const State& state) {
    Box3 box;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] != BodyType::static_body) box.add(body_box(model, state, i));
    for (const ElasticState& body : state.elastic)
        for (const Vec3& x : body.x) box.add(x);
    if (box.empty()) box = bounds(model, state);
    return box.empty() ? 1.0 : box.diagonal();
}

Energies energies(const Model& model, const State& state) {
    const Bodies& b = model.bodies;
    Energies energy;
    energy.kinetic = parallel_sum(state.q.size(), kGrain, 0.0, [&](std::size_t i) {
        if (!state.dynamic(static_cast<int>(i))) return 0.0;
        double twice = b.mass[i] * state.rate[i].col(3).squaredNorm();
        for (int k = 0; k < 3; ++k) twice += b.second_moments[i][k] * state.rate[i].col(k).squaredNorm();
        return 0.5 * twice;
    });
    energy.gravity = parallel_sum(state.q.size(), kGrain, 0.0, [&](std::size_t i) {
        return state.dynamic(static_cast<int>(i)) ? -b.mass[i] * state.gravity.dot(state.q[i].col(3)) : 0.0;
    });
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const std::vector<double>& mass = model.elastic[e].vertex_mass;
        const ElasticState& body = state.elastic[e];
        for (std::size_t i = 0; i < body.x.size(); ++i) {
            energy.kinetic += 0.5 * mass[i] * body.v[i].squaredNorm();
            energy.gravity -= mass[i] * state.gravity.dot(body.x[i]);
        }
    }
    return energy;
}

Vec3 linear_momentum(const Model& model, const State& state) {
    const Bodies& b = model.bodies;
    Vec3 sum = parallel_sum(state.q.size(), kGrain, Vec3(Vec3::Zero()), [&](std::size_t i) -> Vec3 {
        if (!state.dynamic(static_cast<int>(i))) return Vec3::Zero();
        return b.mass[i] * state.rate[i].col(3);
    });
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        for (std::size_t i = 0; i < state.elastic[e].v.size(); ++i)
            sum += model.elastic[e].vertex_mass[i] * state.elastic[e].v[i];
    return sum;
}

Vec3 angular_momentum(const Model& model, const State& state) {
    const Bodies& b = model.bodies;
    Vec3 sum = parallel_sum(state.q.size(), kGrain, Vec3(Vec3::Zero()), [&](std::size_t i) -> Vec3 {
        if (!state.dynamic(static_cast<int>(i))) return Vec3::Zero();
        const Mat34 &q = state.q[i], &rate = state.rate[i];
        Vec3 momentum = b.mass[i] * q.col(3).cross(rate.col(3));
        for (int k = 0; k < 3; ++k) momentum += b.second_moments[i][k] * q.col(k).cross(rate.col(k));
        return momentum;
    });
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const ElasticState& body = state.elastic[e];
        for (std::size_t i = 0; i < body.v.size(); ++i)
            sum += model.elastic[e].vertex_mass[i] * body.x[i].cross(body.v[i]);
    }
    return sum;
}

bool all_finite(const State& state) {
    for (std::size_t i = 0; i < state.q.size(); ++i)
        if (!state.q[i].allFinite() || !state.rate[i].allFinite()) return false;
    for (const ElasticState& body : state.elastic)
        for (std::size_t i = 0; i < body.x.size(); ++i)
            if (!body.x[i].allFinite() || !body.v[i].allFinite()) return false;
    return true;
}

}  // namespace tenon

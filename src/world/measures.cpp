// What can be measured of a world: energies, momenta, bounds; and the pair rules of contact.
#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"
#include "tenon/world.hpp"

namespace tenon {
namespace {

constexpr std::size_t kGrain = 4096;

const PairSpec* pair_rule(const World& world, int a, int b) {
    if (world.material_pairs.empty()) return nullptr;
    const int bodies = world.bodies.size();
    const auto material = [&](int i) {
        if (i < bodies) return world.bodies.material[i];
        const ElasticBody& elastic = world.elastic[i - bodies];
        return elastic.tet_material.empty() ? 0 : elastic.tet_material[0];
    };
    const auto found = world.material_pairs.find(pair_key(material(a), material(b)));
    return found == world.material_pairs.end() ? nullptr : &found->second;
}

double friction_of(const World& world, int i) {
    return i < world.bodies.size() ? world.bodies.friction[i]
                                   : world.elastic[i - world.bodies.size()].friction;
}

double restitution_of(const World& world, int i) {
    return i < world.bodies.size() ? world.bodies.restitution[i]
                                   : world.elastic[i - world.bodies.size()].restitution;
}

Box3 body_box(const World& world, int body) {
    const Box3& local = world.shape_of(body).box;
    const Mat34& q = world.bodies.q[body];
    const Vec3 center = transform(q, local.center());
    const Vec3 half = q.leftCols<3>().cwiseAbs() * (0.5 * local.size());
    Box3 box;
    box.add(Vec3(center - half));
    box.add(Vec3(center + half));
    return box;
}

}  // namespace

// A rule for the two materials wins; otherwise the geometric mean of the two coefficients.
double World::pair_friction(int a, int b) const {
    if (const PairSpec* rule = pair_rule(*this, a, b); rule && rule->friction) return *rule->friction;
    return std::sqrt(friction_of(*this, a) * friction_of(*this, b));
}

// A rule for the two materials wins; otherwise the larger of the two.
double World::pair_restitution(int a, int b) const {
    if (const PairSpec* rule = pair_rule(*this, a, b); rule && rule->restitution) return *rule->restitution;
    return std::max(restitution_of(*this, a), restitution_of(*this, b));
}

bool World::may_collide(int a, int b) const {
    const int count = bodies.size();
    if (a >= count || b >= count) {
        const int body = std::min(a, b);
        return body >= count || bodies.collides[body];
    }
    if (bodies.type[a] == BodyType::static_body && bodies.type[b] == BodyType::static_body) return false;
    if (!bodies.collides[a] || !bodies.collides[b]) return false;
    if (!bodies.group[a].empty() && bodies.group[a] == bodies.group[b]) return false;
    return ignored_pairs.empty() || ignored_pairs.count(pair_key(a, b)) == 0;
}

Box3 World::bounds() const {
    Box3 box;
    for (int i = 0; i < bodies.size(); ++i) box.add(body_box(*this, i));
    for (const ElasticBody& body : elastic)
        for (const Vec3& x : body.x) box.add(x);
    return box;
}

// Fixed scenery may be far larger than what moves on it: it counts only when nothing moves.
double World::scene_length() const {
    Box3 box;
    for (int i = 0; i < bodies.size(); ++i)
        if (bodies.type[i] != BodyType::static_body) box.add(body_box(*this, i));
    for (const ElasticBody& body : elastic)
        for (const Vec3& x : body.x) box.add(x);
    if (box.empty()) box = bounds();
    return box.empty() ? 1.0 : box.diagonal();
}

Energies energies(const World& world) {
    const Bodies& b = world.bodies;
    Energies energy;
    energy.kinetic = parallel_sum(b.q.size(), kGrain, 0.0, [&](std::size_t i) {
        if (b.type[i] != BodyType::dynamic_body) return 0.0;
        double twice = b.mass[i] * b.rate[i].col(3).squaredNorm();
        for (int k = 0; k < 3; ++k) twice += b.second_moments[i][k] * b.rate[i].col(k).squaredNorm();
        return 0.5 * twice;
    });
    energy.gravity = parallel_sum(b.q.size(), kGrain, 0.0, [&](std::size_t i) {
        return b.type[i] == BodyType::dynamic_body ? -b.mass[i] * world.gravity.dot(b.q[i].col(3)) : 0.0;
    });
    for (const ElasticBody& body : world.elastic)
        for (std::size_t i = 0; i < body.x.size(); ++i) {
            energy.kinetic += 0.5 * body.vertex_mass[i] * body.v[i].squaredNorm();
            energy.gravity -= body.vertex_mass[i] * world.gravity.dot(body.x[i]);
        }
    return energy;
}

Vec3 linear_momentum(const World& world) {
    const Bodies& b = world.bodies;
    Vec3 sum = parallel_sum(b.q.size(), kGrain, Vec3(Vec3::Zero()), [&](std::size_t i) -> Vec3 {
        if (b.type[i] != BodyType::dynamic_body) return Vec3::Zero();
        return b.mass[i] * b.rate[i].col(3);
    });
    for (const ElasticBody& body : world.elastic)
        for (std::size_t i = 0; i < body.v.size(); ++i) sum += body.vertex_mass[i] * body.v[i];
    return sum;
}

Vec3 angular_momentum(const World& world) {
    const Bodies& b = world.bodies;
    Vec3 sum = parallel_sum(b.q.size(), kGrain, Vec3(Vec3::Zero()), [&](std::size_t i) -> Vec3 {
        if (b.type[i] != BodyType::dynamic_body) return Vec3::Zero();
        const Mat34 &q = b.q[i], &rate = b.rate[i];
        Vec3 momentum = b.mass[i] * q.col(3).cross(rate.col(3));
        for (int k = 0; k < 3; ++k) momentum += b.second_moments[i][k] * q.col(k).cross(rate.col(k));
        return momentum;
    });
    for (const ElasticBody& body : world.elastic)
        for (std::size_t i = 0; i < body.v.size(); ++i)
            sum += body.vertex_mass[i] * body.x[i].cross(body.v[i]);
    return sum;
}

bool all_finite(const World& world) {
    const Bodies& b = world.bodies;
    for (int i = 0; i < b.size(); ++i)
        if (!b.q[i].allFinite() || !b.rate[i].allFinite()) return false;
    for (const ElasticBody& body : world.elastic)
        for (std::size_t i = 0; i < body.x.size(); ++i)
            if (!body.x[i].allFinite() || !body.v[i].allFinite()) return false;
    return true;
}

}  // namespace tenon

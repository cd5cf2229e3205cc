#include "methods/volume/motion.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "math/parallel.hpp"
#include "model/keyframes.hpp"
#include "tenon/error.hpp"

namespace tenon::volume {

namespace {

// Pinned vertices behave as if they were this much heavier.
constexpr double kPinnedMass = 1e8;

Vec3 pin_target(const State& state, const ElasticBody& body, const ElasticBody::Pin& pin, double time) {
    if (pin.body >= 0) return transform(state.q[pin.body], pin.local);
    const Mat34 q = keyframe_pose(body.scripts[pin.script], time);
    return transform(q, pin.local);
}

}  // namespace

ElasticSystem::ElasticSystem(const ElasticBody& body, const std::vector<MaterialSpec>& materials,
                             std::vector<Bond> bonds)
    : elements_(make_elements(body, materials)), bonds_(std::move(bonds)), node_(body.rest.size()) {
    const MaterialSpec& material = materials[body.tet_material.front()];
    rayleigh_mass_ = material.rayleigh_mass;
    rayleigh_stiffness_ = material.rayleigh_stiffness;
    join(0.0);
}

// Vertices on the two sides of a cut are one unknown until the cut reaches them.
void ElasticSystem::join(double time) {
    int held = 0;
    for (const Bond& bond : bonds_) held += bond.until > time + 1e-12;
    if (held == bonds_held_) return;  // bonds only ever break
    bonds_held_ = held;
    std::vector<int> lowest(node_.size());
    std::iota(lowest.begin(), lowest.end(), 0);
    const auto find = [&](int v) {
        while (lowest[v] != v) v = lowest[v] = lowest[lowest[v]];
        return v;
    };
    for (const Bond& bond : bonds_) {
        if (!(bond.until > time + 1e-12)) continue;
        const int a = find(bond.a), b = find(bond.b);
        lowest[std::max(a, b)] = std::min(a, b);
    }
    node_.assign(lowest.size(), -1);
    vertex_of_.clear();
    for (int v = 0; v < static_cast<int>(lowest.size()); ++v) {
        if (find(v) == v) {
            node_[v] = static_cast<int>(vertex_of_.size());
            vertex_of_.push_back(v);
        } else {
            node_[v] = node_[find(v)];
        }
    }
    assembly_ = make_assembly(elements_, node_, static_cast<int>(vertex_of_.size()));
}

void ElasticSystem::apply_inverse(const std::vector<double>& x, std::vector<double>& y) const {
    if (vertex_of_.size() == node_.size()) {
        cholesky_.solve(x.data(), y.data());
        return;
    }
    std::vector<double> right(3 * vertex_of_.size(), 0.0), out(right.size());
    for (std::size_t v = 0; v < node_.size(); ++v)
        for (int k = 0; k < 3; ++k) right[3 * node_[v] + k] += x[3 * v + k];
    cholesky_.solve(right.data(), out.data());
    for (std::size_t v = 0; v < node_.size(); ++v)
        for (int k = 0; k < 3; ++k) y[3 * v + k] = out[3 * node_[v] + k];
}

void ElasticSystem::inverse_on(const std::vector<int>& vertices, std::vector<double>& inverse) const {
    std::vector<int> nodes;
    for (int v : vertices) nodes.push_back(node_[v]);
    cholesky_.inverse_on(nodes, inverse);
}

void ElasticSystem::pin(const State& state, const ElasticBody& body, const std::vector<Vec3>& x, double dt,
                        std::vector<Vec3>& velocity) const {
    for (const ElasticBody::Pin& pin : body.pins)
        velocity[pin.vertex] = (pin_target(state, body, pin, state.time + dt) - x[pin.vertex]) / dt;
}

// A dv = b with A = (1 + h alpha) M + S, b = h f - h alpha M v - S v, S = (h^2 + h beta) K.   (Eq. 2)
void ElasticSystem::predict(const State& state, const ElasticBody& body, const std::vector<Vec3>& x,
                            double dt, std::vector<Vec3>& velocity) {
    join(state.time);
    pin(state, body, x, dt, velocity);
    const std::size_t nodes = vertex_of_.size();
    stiffness_.resize(assembly_.pattern, 3);
    add_stiffness(elements_, assembly_, x, dt * dt + dt * rayleigh_stiffness_, true, stiffness_);
    std::vector<Vec3> force(x.size(), Vec3::Zero());
    add_elastic_forces(elements_, x, force);
    std::vector<double> v(3 * nodes), b(3 * nodes), change(3 * nodes);
    for (std::size_t i = 0; i < nodes; ++i) Eigen::Map<Vec3>(v.data() + 3 * i) = velocity[vertex_of_[i]];
    stiffness_.multiply(v.data(), b.data());
    for (double& entry : b) entry = -entry;
    matrix_ = stiffness_;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double mass = body.vertex_mass[i];
        Eigen::Map<Vec3>(b.data() + 3 * node_[i]) +=
            dt * (force[i] + mass * state.gravity - rayleigh_mass_ * mass * velocity[i]);
        for (int k = 0; k < 3; ++k)
            matrix_.diagonal_block(node_[i])[4 * k] += mass * (1 + dt * rayleigh_mass_);
    }
    for (const ElasticBody::Pin& pin : body.pins) {
        const int node = node_[pin.vertex];
        Eigen::Map<Vec3>(b.data() + 3 * node).setZero();
        for (int k = 0; k < 3; ++k)
            matrix_.diagonal_block(node)[4 * k] += kPinnedMass * body.vertex_mass[pin.vertex];
    }
    if (!cholesky_.factor(matrix_))
        throw StepFailure("the elastic body '" + body.name + "' has no solvable step");
    cholesky_.solve(b.data(), change.data());
    for (std::size_t i = 0; i < velocity.size(); ++i)
        velocity[i] += Eigen::Map<const Vec3>(change.data() + 3 * node_[i]);
}

Motion::Motion(const Model& model, const State& state, const std::optional<CutSpec>& cut) {
    set_start(model, state);
    int offset = 6 * model.bodies.size();
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const ElasticBody& body = model.elastic[e];
        elastic_offset_.push_back(offset);
        offset += 3 * static_cast<int>(body.rest.size());
        vertices.push_back(state.elastic[e].x);
        const bool is_cut = cut && cut->body == body.name;
        systems_.push_back(std::make_unique<ElasticSystem>(
            body, model.materials, is_cut ? bonds_of(body, *cut) : std::vector<Bond>{}));
    }
    velocity.assign(offset, 0.0);
}

void Motion::set_start(const Model& model, const State& state) {
    rigid.resize(model.bodies.size());
    start_.resize(model.bodies.size());
    for (int i = 0; i < model.bodies.size(); ++i) {
        rigid[i] = model::rigid_state(state, i);
        start_[i] = {rigid[i], state.q[i]};
    }
}

// Where it has not moved, exactly as the world has it: the way there and back through a quaternion rounds.
Mat34 Motion::pose(int body) const {
    const model::RigidState &now = rigid[body], &then = start_[body].state;
    const bool moved = now.position != then.position || now.rotation.coeffs() != then.rotation.coeffs();
    return moved ? model::to_q(now) : start_[body].q;
}

void Motion::predict(const Model& model, const State& state, double dt) {
    external_wrenches(model, state, state.time, wrenches_);
    set_start(model, state);
    for (int i = 0; i < model.bodies.size(); ++i) {
        const model::RigidState& now = rigid[i];
        Eigen::Map<Vec6> v(velocity.data() + rigid_offset(i));
        if (state.type[i] == BodyType::kinematic_body) {
            v = model::scripted_twist(model, state, i, dt);
        } else if (state.dynamic(i)) {
            Vec6 impulse;
            impulse << dt * wrenches_[i].force, dt * wrenches_[i].torque;
            v << now.velocity + dt * state.gravity, now.spin;
            for (int k = 0; k < 6; ++k)
                if (model.bodies.fixed[i][k]) v[k] = 0;
            v += rigid_response(model, state, i, impulse);
        } else {
            v.setZero();
        }
    }
    parallel_for(model.elastic.size(), 1, [&](std::size_t e) {
        std::vector<Vec3> v = state.elastic[e].v;
        vertices[e] = state.elastic[e].x;
        systems_[e]->predict(state, model.elastic[e], vertices[e], dt, v);
        for (std::size_t k = 0; k < v.size(); ++k)
            Eigen::Map<Vec3>(velocity.data() + elastic_offset_[e] + 3 * k) = v[k];
    });
}

Vec6 Motion::rigid_response(const Model& model, const State& state, int body, const Vec6& impulse) const {
    if (!state.dynamic(body)) return Vec6::Zero();
    Vec6 masked = impulse;
    const auto& fixed = model.bodies.fixed[body];
    for (int k = 0; k < 6; ++k)
        if (fixed[k]) masked[k] = 0;
    Vec6 change;
    change.head<3>() = masked.head<3>() / model.bodies.mass[body];
    change.tail<3>() =
        model::world_inverse_inertia(rigid[body].rotation, model.bodies.moments_of_inertia(body)) *
        masked.tail<3>();
    for (int k = 0; k < 6; ++k)
        if (fixed[k]) change[k] = 0;
    return change;
}

void Motion::advance(const Model& model, const State& state, double dt) {
    for (int i = 0; i < model.bodies.size(); ++i) {
        const Eigen::Map<const Vec6> v(velocity.data() + rigid_offset(i));
        rigid[i].velocity = v.head<3>();
        rigid[i].spin = v.tail<3>();
        if (state.type[i] == BodyType::static_body) continue;
        const auto& fixed = model.bodies.fixed[i];
        const bool turns_freely = state.dynamic(i) && !fixed[3] && !fixed[4] && !fixed[5];
        if (turns_freely) {
            model::advance(rigid[i], model.bodies.moments_of_inertia(i), dt);
        } else {
            rigid[i].position += dt * rigid[i].velocity;
            rigid[i].rotation = (exponential_map(dt * rigid[i].spin) * rigid[i].rotation).normalized();
        }
    }
    for (std::size_t e = 0; e < vertices.size(); ++e)
        for (std::size_t k = 0; k < vertices[e].size(); ++k)
            vertices[e][k] += dt * Eigen::Map<const Vec3>(velocity.data() + elastic_offset_[e] + 3 * k);
}

void Motion::shift(const Model& model, const State& state, const std::vector<double>& step) {
    for (int i = 0; i < model.bodies.size(); ++i) {
        if (!state.dynamic(i)) continue;
        const Eigen::Map<const Vec6> d(step.data() + rigid_offset(i));
        rigid[i].position += d.head<3>();
        rigid[i].rotation = (exponential_map(d.tail<3>()) * rigid[i].rotation).normalized();
    }
    for (std::size_t e = 0; e < vertices.size(); ++e)
        for (std::size_t k = 0; k < vertices[e].size(); ++k)
            vertices[e][k] += Eigen::Map<const Vec3>(step.data() + elastic_offset_[e] + 3 * k);
}

double Motion::elastic_energy() const {
    double sum = 0;
    for (std::size_t e = 0; e < systems_.size(); ++e) sum += systems_[e]->energy(vertices[e]);
    return sum;
}

void Motion::store(const Model& model, State& state) const {
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] != BodyType::static_body) model::store(rigid[i], state, i);
    for (std::size_t e = 0; e < vertices.size(); ++e) {
        state.elastic[e].x = vertices[e];
        for (std::size_t k = 0; k < vertices[e].size(); ++k)
            state.elastic[e].v[k] = Eigen::Map<const Vec3>(velocity.data() + elastic_offset_[e] + 3 * k);
    }
}

}  // namespace tenon::volume

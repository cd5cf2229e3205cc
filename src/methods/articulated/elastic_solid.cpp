#include "methods/articulated/elastic_solid.hpp"

#include <algorithm>
#include <cmath>

#include "math/parallel.hpp"
#include "math/rotation.hpp"
#include "model/keyframes.hpp"

namespace tenon::articulated {
namespace {

constexpr double rounding = 64 * 2.2e-16;
constexpr double least_share = 0.02;  // of a solid's weight: forces that matter on one vertex
constexpr Edge corner_pairs[6] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};  // as in ElementPlaces

// Adds an element's matrix where the places say.
void add_element(const Mat12& element, const ElementPlaces& places, solve::BlockMatrix& matrix) {
    for (int c = 0; c < 4; ++c)
        if (places.node[c] >= 0)
            Eigen::Map<Mat3>(matrix.diagonal_block(places.node[c])) += element.block<3, 3>(3 * c, 3 * c);
    for (int q = 0; q < 6; ++q) {
        if (places.entry[q] < 0) continue;
        const Mat3 block = element.block<3, 3>(3 * corner_pairs[q][0], 3 * corner_pairs[q][1]);
        Eigen::Map<Mat3> target(matrix.lower_block(places.entry[q]));
        if (places.transposed[q])
            target += block.transpose();
        else
            target += block;
    }
}

}  // namespace

ElasticSolid::ElasticSolid(const Model& model, const State& state, int number) : index(number) {
    const ElasticBody& body = model.elastic[number];
    name = body.name;
    elements_ = make_elements(body, model.materials);
    loads_ = elastic_loads(model, number);
    scripts_ = body.scripts;
    vertex_mass_ = body.vertex_mass;
    surface = body.surface;
    const std::size_t vertices = body.rest.size();
    std::vector<char> pinned(vertices, 0), held(vertices, 0), outer(vertices, 0);
    for (const ElasticBody::Pin& pin : body.pins) {
        const bool free = pin.body >= 0 && state.dynamic(pin.body);
        pinned[pin.vertex] = 1;
        if (!free) held[pin.vertex] = 1;
    }
    // a vertex that two pins hold follows what does not move freely, or the last of them
    std::vector<char> taken(vertices, 0);
    for (auto pin = body.pins.rbegin(); pin != body.pins.rend(); ++pin) {
        const bool free = pin->body >= 0 && state.dynamic(pin->body);
        if (taken[pin->vertex] || (free && held[pin->vertex])) continue;
        taken[pin->vertex] = 1;
        (free ? attached : held_).push_back(*pin);
    }
    std::reverse(attached.begin(), attached.end());
    node_.assign(vertices, -1);
    for (std::size_t v = 0; v < vertices; ++v)
        if (!held[v]) {
            node_[v] = static_cast<int>(vertex_of_.size());
            vertex_of_.push_back(static_cast<int>(v));
        }
    assembly_ = make_assembly(elements_, node_, static_cast<int>(vertex_of_.size()));
    double edges = 0.0;
    for (const Triangle& t : surface)
        for (int k = 0; k < 3; ++k) {
            outer[t[k]] = 1;
            edges += (body.rest[t[k]] - body.rest[t[(k + 1) % 3]]).norm();
        }
    mean_edge = edges / std::max<std::size_t>(1, 3 * surface.size());
    Box3 box;
    for (std::size_t v = 0; v < vertices; ++v) {
        box.add(body.rest[v]);
        mass += vertex_mass_[v];
        if (outer[v] && !pinned[v]) surface_vertices.push_back(static_cast<int>(v));
    }
    size = 0.5 * box.diagonal();
    mass_damping_.assign(vertices, 0.0);
    for (int i = 0; i < elements_.size(); ++i) {
        const MaterialSpec& material = model.materials[body.tet_material[i]];
        young = std::max(young, material.young);
        stiffness_damping_.push_back(material.rayleigh_stiffness);
        viscous_ = viscous_ || material.rayleigh_stiffness > 0.0;
        for (int v : elements_.tets[i])
            mass_damping_[v] +=
                material.rayleigh_mass * material.density * elements_.volume[i] / elements_.corners;
    }
    for (int i = 0; viscous_ && i < elements_.size(); ++i)
        viscosity_.push_back(stiffness_damping_[i] * element_stiffness(elements_, i, body.rest, false));
    x = state.elastic[number].x;
    dx.assign(vertices, Vec3::Zero());
    unbalanced = target_ = dx;
}

double ElasticSolid::mass_at(const SolidPoint& point) const {
    double out = 0.0;
    for (int k = 0; k < point.count; ++k) out += point.weight[k] * vertex_mass_[point.vertex[k]];
    return out;
}

void ElasticSolid::begin_step(const Model& model, const State& state, double h, double end_time,
                              const ElasticState* before, const std::vector<Mat34>& poses) {
    start_ = state.elastic[index].x;
    start_v_ = state.elastic[index].v;
    eta = before ? 2.0 * h / 3.0 : h;
    std::vector<Vec3> force(start_.size(), Vec3::Zero());
    add_loads(model, loads_, end_time, force);
    base_ = start_;
    for (std::size_t v = 0; v < start_.size(); ++v) {
        if (before) {
            base_[v] = (4.0 * start_[v] - before->x[v]) / 3.0;
            target_[v] = base_[v] + (eta / 3.0) * (4.0 * start_v_[v] - before->v[v]);
        } else {
            target_[v] = start_[v] + h * start_v_[v];
        }
        target_[v] += eta * eta * (state.gravity + force[v] / vertex_mass_[v]);
    }
    for (const ElasticBody::Pin& pin : held_)
        target_[pin.vertex] = pin.body >= 0
                                  ? transform(poses[pin.body], pin.local)
                                  : transform(keyframe_pose(scripts_[pin.script], end_time), pin.local);
    project_ = false;
    if (viscous_) start_viscosity(before);
    x = start_;
}

void ElasticSolid::start_viscosity(const ElasticState* before) {
    base_stretch_.resize(elements_.tets.size());
    element_turn_.resize(elements_.tets.size());
    parallel_for(base_stretch_.size(), 64, [&](std::size_t i) {
        if (stiffness_damping_[i] <= 0.0) return;
        const int element = static_cast<int>(i);
        const Polar now = safe_polar(elements_.deformation(element, start_));
        element_turn_[i] = now.rotation;
        base_stretch_[i] = now.stretch;
        if (before)
            base_stretch_[i] =
                (4.0 * now.stretch - safe_polar(elements_.deformation(element, before->x)).stretch) / 3.0;
    });
}

void ElasticSolid::add_viscous_forces() {
    std::vector<Mat3> stress(elements_.tets.size());
    parallel_for(stress.size(), 64, [&](std::size_t i) {
        if (stiffness_damping_[i] <= 0.0) return;
        const Polar polar = safe_polar(elements_.deformation(static_cast<int>(i), x));
        const Mat3 rate = (polar.stretch - base_stretch_[i]) / eta;
        const Lame& hooke = elements_.material[i];
        element_turn_[i] = polar.rotation;
        stress[i] = stiffness_damping_[i] * elements_.volume[i] * polar.rotation *
                    (2.0 * hooke.mu * rate + hooke.lambda * rate.trace() * Mat3::Identity());
    });
    for (int i = 0; i < elements_.size(); ++i)
        for (int c = 0; stiffness_damping_[i] > 0.0 && c < elements_.corners; ++c)
            unbalanced[elements_.tets[i][c]] -= stress[i] * elements_.shape_gradient[i].row(c).transpose();
}

// Turned as a whole by its spin: what the shape is strained by stays. Where something holds it, it starts from where it is.
void ElasticSolid::predict() {
    x = start_;
    if (held_.empty()) {
        Vec3 center = Vec3::Zero(), ahead = Vec3::Zero(), velocity = Vec3::Zero(), spun = Vec3::Zero();
        Mat3 inertia = Mat3::Zero();
        for (std::size_t v = 0; v < x.size(); ++v) {
            center += vertex_mass_[v] / mass * x[v];
            ahead += vertex_mass_[v] / mass * target_[v];
            velocity += vertex_mass_[v] / mass * start_v_[v];
        }
        for (std::size_t v = 0; v < x.size(); ++v) {
            const Vec3 arm = x[v] - center;
            spun += vertex_mass_[v] * arm.cross(start_v_[v] - velocity);
            inertia += vertex_mass_[v] * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
        }
        const Vec3 spin = inertia.ldlt().solve(spun);
        const double h = eta * (base_ == start_ ? 1.0 : 1.5);
        const Mat3 turned = spin.allFinite() ? rotation_matrix(h * spin) : Mat3(Mat3::Identity());
        for (Vec3& at : x) at = ahead + turned * (at - center);
    }
    for (const ElasticBody::Pin& pin : held_) x[pin.vertex] = target_[pin.vertex];
}

void ElasticSolid::move(double length) {
    for (std::size_t v = 0; v < x.size(); ++v) x[v] += length * dx[v];
}

void ElasticSolid::set_forces() {
    std::fill(unbalanced.begin(), unbalanced.end(), Vec3::Zero());
    add_elastic_forces(elements_, x, unbalanced);
    if (viscous_) add_viscous_forces();
    for (std::size_t v = 0; v < x.size(); ++v) {
        if (node_[v] < 0) {
            unbalanced[v].setZero();
            continue;
        }
        unbalanced[v] -= vertex_mass_[v] / (eta * eta) * (x[v] - target_[v]);
        if (mass_damping_[v] > 0.0) unbalanced[v] -= mass_damping_[v] * velocity(static_cast<int>(v));
    }
}

void ElasticSolid::push(const SolidPoint& point, const Vec3& force) {
    for (int k = 0; k < point.count; ++k)
        if (node_[point.vertex[k]] >= 0) unbalanced[point.vertex[k]] += point.weight[k] * force;
}

void ElasticSolid::judge(double gravity, double at_work, Balance& balance) const {
    double reach = 0.0, left = 0.0;
    double scale = std::max(at_work, least_share * mass * gravity);
    for (int v : vertex_of_) {
        reach = std::max(reach, x[v].cwiseAbs().maxCoeff());
        scale = std::max(scale, vertex_mass_[v] * (x[v] - target_[v]).norm() / (eta * eta));
    }
    for (int v : vertex_of_) {
        const double noise = rounding * reach * (vertex_mass_[v] / (eta * eta) + young * mean_edge);
        left = std::max(left, unbalanced[v].norm() - noise);
        if (!unbalanced[v].allFinite()) balance.give_up();  // a comparison would pass it over
    }
    // what is tolerated is a share of the largest force of all
    balance.scale = std::max(balance.scale, scale);
    balance.force = std::max(balance.force, left * balance.scale / (scale + 1e-300));
}

void ElasticSolid::linearise() {
    matrix_.resize(assembly_.pattern, 3);
    add_stiffness(elements_, assembly_, x, 1.0, project_, matrix_);
    for (int i = 0; viscous_ && i < elements_.size(); ++i)
        if (stiffness_damping_[i] > 0.0) {
            Mat12 turned;
            for (int p = 0; p < 4; ++p)
                for (int q = 0; q < 4; ++q)
                    turned.block<3, 3>(3 * p, 3 * q) = element_turn_[i] *
                                                       viscosity_[i].block<3, 3>(3 * p, 3 * q) *
                                                       element_turn_[i].transpose() / eta;
            add_element(turned, assembly_.places[i], matrix_);
        }
    for (std::size_t n = 0; n < vertex_of_.size(); ++n) {
        const int v = vertex_of_[n];
        const double inertia = vertex_mass_[v] / (eta * eta) + mass_damping_[v] / eta;
        for (int k = 0; k < 3; ++k) matrix_.diagonal_block(static_cast<int>(n))[4 * k] += inertia;
    }
}

bool ElasticSolid::factor(const std::vector<SolidTerm>& terms) {
    for (;;) {
        solve::BlockMatrix with = matrix_;
        for (const SolidTerm& term : terms)
            for (int i = 0; i < term.point.count; ++i)
                for (int j = 0; j <= i; ++j) {
                    const int a = node_[term.point.vertex[i]], b = node_[term.point.vertex[j]];
                    if (a < 0 || b < 0) continue;
                    const Mat3 block = term.point.weight[i] * term.point.weight[j] * term.stiffness;
                    if (a == b)
                        Eigen::Map<Mat3>(with.diagonal_block(a)) += block;
                    else
                        Eigen::Map<Mat3>(with.lower_block(with.find(std::max(a, b), std::min(a, b)))) +=
                            block;
                }
        if (vertex_of_.empty() || cholesky_.factor(with)) return true;
        if (project_) return false;
        project_ = true;  // the exact stiffness is not positive definite here
        linearise();
    }
}

void ElasticSolid::solve(const std::vector<Vec3>& force) {
    std::vector<double> right(3 * vertex_of_.size()), out(right.size());
    for (std::size_t n = 0; n < vertex_of_.size(); ++n)
        Eigen::Map<Vec3>(right.data() + 3 * n) = force[vertex_of_[n]];
    if (!vertex_of_.empty()) cholesky_.solve(right.data(), out.data());
    std::fill(dx.begin(), dx.end(), Vec3::Zero());
    for (std::size_t n = 0; n < vertex_of_.size(); ++n)
        dx[vertex_of_[n]] = Eigen::Map<const Vec3>(out.data() + 3 * n);
}

void ElasticSolid::inverse_on(const std::vector<int>& vertices, std::vector<double>& inverse) const {
    std::vector<int> nodes;
    for (int v : vertices) nodes.push_back(node_[v]);
    cholesky_.inverse_on(nodes, inverse);
}

}  // namespace tenon::articulated

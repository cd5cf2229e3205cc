#include "run/energy_books.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "math/binary_io.hpp"
#include "math/rotation.hpp"
#include "model/joint_rows.hpp"
#include "model/loads_ahead.hpp"

namespace tenon::run {
namespace {

struct ShareName {
    const char* name;
    double EnergyShares::*share;
};

constexpr ShareName share_names[] = {
    {"energy.change", &EnergyShares::change},         {"energy.forces", &EnergyShares::forces},
    {"energy.motors", &EnergyShares::motors},         {"energy.scripts", &EnergyShares::scripts},
    {"energy.friction", &EnergyShares::friction},     {"energy.impact", &EnergyShares::impact},
    {"energy.damping", &EnergyShares::damping},       {"energy.correction", &EnergyShares::correction},
    {"energy.integrator", &EnergyShares::integrator}, {"energy.unexplained", &EnergyShares::unexplained},
    {"energy.turnover", &EnergyShares::turnover},
};

Vec6 join(const Vec3& force, const Vec3& torque) {
    Vec6 wrench;
    wrench << force, torque;
    return wrench;
}

double kinetic_energy(const Bodies& bodies, int body, const Mat34& rate) {
    double twice = bodies.mass[body] * rate.col(3).squaredNorm();
    for (int k = 0; k < 3; ++k) twice += bodies.second_moments[body][k] * rate.col(k).squaredNorm();
    return 0.5 * twice;
}

// The rotation vector of the turn from one linear part to another, both rotations but for a little strain.
Vec3 turn_between(const Mat34& from, const Mat34& to) {
    const Mat3 q = to.leftCols<3>() * from.leftCols<3>().transpose();
    const Vec3 sine = axial(q);
    const double size = sine.norm();
    return size < 1e-300 ? Vec3(Vec3::Zero()) : Vec3(sine * (std::atan2(size, 0.5 * (q.trace() - 1)) / size));
}

// Torque about the centre of mass of a rate of change of the affine momentum, diag(s) dA, at A.
Vec3 torque_of(const Mat34& q, const Mat34& change, const Vec3& second_moments) {
    Vec3 sum = Vec3::Zero();
    for (int k = 0; k < 3; ++k) sum += second_moments[k] * q.col(k).cross(change.col(k));
    return sum;
}

// Of a co-rotated affine body with stretches s_k: V (mu sum (s_k - 1)^2 + lambda/2 (sum (s_k - 1))^2).
double strain_energy(const Model& model, int body, const Mat34& q) {
    const MaterialSpec& material = model.materials[model.bodies.material[body]];
    const double poisson = std::min(material.poisson, 0.49);
    const double mu = material.young / (2 * (1 + poisson)), lambda = 2 * mu * poisson / (1 - 2 * poisson);
    const Mat3 square = q.leftCols<3>().transpose() * q.leftCols<3>();
    const Vec3 squares = Eigen::SelfAdjointEigenSolver<Mat3>(square, Eigen::EigenvaluesOnly).eigenvalues();
    const Vec3 strain = squares.cwiseMax(0.0).cwiseSqrt().array() - 1.0;
    return model.bodies.volume[body] *
           (mu * strain.squaredNorm() + 0.5 * lambda * strain.sum() * strain.sum());
}

double metric(const StepReport& report, const char* name, double fallback) {
    for (const auto& [key, value] : report.metrics)
        if (key == name) return value;
    return fallback;
}

}  // namespace

void EnergyShares::add(const EnergyShares& other) {
    for (const ShareName& each : share_names) this->*each.share += other.*each.share;
}

std::vector<std::pair<std::string, double>> by_name(const EnergyShares& shares) {
    std::vector<std::pair<std::string, double>> list;
    for (const ShareName& each : share_names) list.emplace_back(each.name, shares.*each.share);
    return list;
}

EnergyShares shares_of(const std::vector<std::pair<std::string, double>>& metrics) {
    EnergyShares shares;
    for (const auto& [name, value] : metrics)
        for (const ShareName& each : share_names)
            if (name == each.name) shares.*each.share = value;
    return shares;
}

bool is_energy_share(const std::string& metric) {
    return metric.starts_with("energy.");
}

EnergyBooks::EnergyBooks(const Scene& scene, const Model& model, const State& state)
    : kept_(model.bodies.size() <= most_bodies), drives_(model, state) {
    const MethodInfo& info = find_method(scene.method, {scene.file, "method"});
    const Params params = resolve_params(info.parameters, scene.method_params, {scene.file, "method"});
    if (params.has("integrator")) {
        if (params.text("integrator") == "bdf2") usual_ = Scheme::bdf2;
        if (params.text("integrator") == "newmark") usual_ = Scheme::midpoint;
    }
    contacts_at_start_ = scene.method == "impulse" || scene.method == "volume";
    told_at_end_ = scene.method == "articulated";
    levers_at_end_ = scene.method == "articulated" || scene.method == "affine";
    for (const Joint& joint : model.joints)
        for (const DriveSpec& drive : joint.spec.drives) motors_ |= drive.motor.type != MotorSpec::Type::none;
    angular_rule_ = scene.method != "affine" && scene.method != "articulated";
    loads_at_end_ = scene.method == "articulated" || scene.method == "impulse";
    if (!kept_) return;
    past_.resize(state.q.size());
    for (std::size_t i = 0; i < past_.size(); ++i) {
        past_[i].q = state.q[i];
        past_[i].rate = state.rate[i];
    }
    elastic_ = state.elastic;
    gravity_ = state.gravity;
    type_ = state.type;
}

void EnergyBooks::before_step(const Model& model, const State& state, double dt) {
    if (!kept_) return;
    outside_.clear();
    if (has_external_wrenches(model, state))
        wrenches_ahead(model, state, state.time + (loads_at_end_ ? dt : 0.0), levers_at_end_ ? dt : 0.0,
                       outside_);
}

// The velocity of a body at a point of contact, which need not be the same material point before and after.
Vec3 EnergyBooks::velocity_at(const Model& model, const State& state, int body, const Vec3& point, double dt,
                              bool before) const {
    const int bodies = model.bodies.size();
    if (body >= bodies) {
        const ElasticState& now = state.elastic[body - bodies];
        std::size_t nearest = 0;
        double least = 1e300;
        for (const Triangle& triangle : model.elastic[body - bodies].surface)
            for (const int vertex : triangle)
                if (const double d = (now.x[vertex] - point).squaredNorm(); d < least)
                    least = d, nearest = static_cast<std::size_t>(vertex);
        return before ? elastic_[body - bodies].v[nearest] : now.v[nearest];
    }
    if (type_[body] != BodyType::dynamic_body)  // as its script moves it
        return (displacement_[body].head<3>() +
                displacement_[body].tail<3>().cross(point - state.q[body].col(3))) /
               dt;
    const Mat34 &q = before ? past_[body].q : state.q[body],
                &rate = before ? past_[body].rate : state.rate[body];
    return rate.col(3) + spin_of(q, rate).cross(point - place_of(body, state));
}

Vec3 EnergyBooks::place_of(int body, const State& state) const {
    return contacts_at_start_ ? Vec3(past_[body].q.col(3)) : Vec3(state.q[body].col(3));
}

// Kelvin's theorem: an impulse P does the work P . v, with v the mean of the velocities before and after it.
void EnergyBooks::add_contacts(const Model& model, const State& state, const Outputs& outputs, double dt,
                               EnergyShares& shares) {
    const int bodies = model.bodies.size();
    for (const Contact& contact : outputs.contacts) {
        const Vec3 impulse = dt * contact.force;
        if (impulse.isZero(0.0)) continue;
        Vec3 relative = Vec3::Zero();
        for (const int side : {0, 1}) {
            const int body = side == 0 ? contact.a : contact.b;
            const double sign = side == 0 ? -1.0 : 1.0;
            const Vec3 mean = 0.5 * (velocity_at(model, state, body, contact.point, dt, true) +
                                     velocity_at(model, state, body, contact.point, dt, false));
            relative += sign * mean;
            if (body >= bodies) continue;
            if (type_[body] != BodyType::dynamic_body) {
                shares.scripts -= sign * impulse.dot(mean);
                continue;
            }
            const Vec3 arm = contact.point - place_of(body, state);
            load_[body].contacts += sign * join(impulse, arm.cross(impulse)) / dt;
            load_[body].touched = 1;
            // over the displacement the scheme's momentum change counts it in full: the difference is the contact's
            shares.integrator -=
                sign *
                (impulse.dot(displacement_[body].head<3>() + displacement_[body].tail<3>().cross(arm)) / dt -
                 impulse.dot(mean));
        }
        const Vec3 normal =
            contact.normal.squaredNorm() > 0 ? contact.normal : Vec3(contact.force.normalized());
        const double along = impulse.dot(normal) * relative.dot(normal);
        shares.impact -= along;
        shares.friction -= impulse.dot(relative) - along;
    }
}

void EnergyBooks::add_joint_loads(const Model& model, const State& state, const Outputs& outputs) {
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const Joint& joint = model.joints[j];
        if (joint.spec.type == JointType::coupling) continue;
        const JointOutput& output = outputs.joints[j];
        for (int side = 0; side < 2; ++side) {
            const int body = joint.bodies[side];
            if (body < 0) continue;
            const double sign = side == 0 ? -1.0 : 1.0;
            // the wrench is told at the second body's anchor; a slide's anchors are apart
            const int anchor_side = 1;
            const Vec3 anchor = transform(side_map(state, joint, anchor_side), joint.point[anchor_side]);
            const Vec3 arm = anchor - state.q[body].col(3);
            load_[body].joints += sign * join(output.force, output.torque + arm.cross(output.force));
        }
    }
}

EnergyBooks::Scheme EnergyBooks::scheme_of(const Past& past, const State& state, int body, double dt) const {
    // An impact law gives velocities of its own, and the step after it knows nothing of those before.
    if (usual_ == Scheme::euler || (impacts_ && load_[body].touched)) return Scheme::euler;
    const Vec3 x1 = state.q[body].col(3), v1 = state.rate[body].col(3), x0 = past.q.col(3);
    const double size = 1e-6 * dt * (v1.norm() + past.rate.col(3).norm()) + 1e-13 * (1 + x1.norm());
    const double euler = (x1 - x0 - dt * v1).norm();
    if (usual_ == Scheme::midpoint)
        return (x1 - x0 - 0.5 * dt * (v1 + past.rate.col(3))).norm() < std::max(size, euler)
                   ? Scheme::midpoint
                   : Scheme::euler;
    if (!past.history) return Scheme::euler;
    const double bdf2 = (0.5 * (3 * x1 - 4 * x0 + past.x_before) - dt * v1).norm();
    return bdf2 < std::max(size, euler) ? Scheme::bdf2 : Scheme::euler;
}

// One body's share of the books. Returns its change of kinetic and potential energy.
double EnergyBooks::add_body(const Model& model, const State& state, int body, double dt,
                             EnergyShares& shares) {
    Past& past = past_[body];
    const Mat34 &q = state.q[body], &rate = state.rate[body];
    const double mass = model.bodies.mass[body];
    const Vec6& moved = displacement_[body];
    const Scheme scheme = scheme_of(past, state, body, dt);
    const Mat34 change = scheme == Scheme::bdf2 ? Mat34(0.5 * (3 * rate - 4 * past.rate + past.rate_before))
                                                : Mat34(rate - past.rate);
    Vec3 torque = torque_of(q, change, model.bodies.second_moments[body]);
    if (angular_rule_)
        torque = torque_of(q, rate, model.bodies.second_moments[body]) -
                 torque_of(past.q, past.rate, model.bodies.second_moments[body]);
    const Vec6 momentum_rate = join(mass * change.col(3), torque) / dt;
    const Vec6 outside =
        outside_.empty() ? Vec6(Vec6::Zero()) : join(outside_[body].force, outside_[body].torque);
    const Load& load = load_[body];
    const bool smooth = past.known && !past.contacts && !load.touched;
    const auto over = [&](const Vec6& now, const Vec6& then, bool mean) {
        return (mean && smooth ? Vec6(0.5 * (now + then)) : now).dot(moved);
    };
    const bool second_order = scheme != Scheme::euler;
    const double kinetic =
        kinetic_energy(model.bodies, body, rate) - kinetic_energy(model.bodies, body, past.rate);
    const double by_momentum = over(momentum_rate, past.momentum_rate, scheme == Scheme::bdf2);
    shares.integrator += by_momentum - kinetic;
    shares.integrator -= over(load.joints, past.joints, second_order);
    shares.forces += over(outside, past.outside, second_order);
    const double potential = -mass * state.gravity.dot(q.col(3) - past.q.col(3));
    // what joints and contacts do beyond the motion as a whole strains the body; the rest of that is the scheme's
    const bool strains = told_at_end_ && model.materials[model.bodies.material[body]].young_given;
    const double strain = strains ? strain_energy(model, body, q) - strain_energy(model, body, past.q) : 0.0;
    shares.integrator -= strain;
    shares.unexplained += by_momentum + potential - over(outside, past.outside, second_order) -
                          over(load.joints, past.joints, second_order) - load.contacts.dot(moved);
    shares.turnover += std::abs(kinetic) + std::abs(potential) + std::abs(strain);

    past.x_before = past.q.col(3);
    past.rate_before = past.rate;
    past.q = q;
    past.rate = rate;
    past.joints = load.joints;
    past.outside = outside;
    past.momentum_rate = momentum_rate;
    past.contacts = load.touched;
    past.known = 1;
    past.history = !(impacts_ && load.touched);
    return kinetic + potential + strain;
}

EnergyShares EnergyBooks::after_step(const Model& model, const State& state, const Outputs& outputs,
                                     const StepReport& report, double dt) {
    EnergyShares shares;
    if (!kept_) return shares;
    const int bodies = model.bodies.size();
    if (metric(report, "bdf2", 0.0) > 0.0) usual_ = Scheme::bdf2;  // the method's own choice
    impacts_ = !angular_rule_ && metric(report, "impacts", 0.0) > 0.0;
    load_.assign(past_.size(), Load{});
    displacement_.resize(past_.size());
    for (int i = 0; i < bodies; ++i)
        displacement_[i] = join(state.q[i].col(3) - past_[i].q.col(3), turn_between(past_[i].q, state.q[i]));
    add_contacts(model, state, outputs, dt, shares);
    add_joint_loads(model, state, outputs);
    const DriveWork drives = drives_.step(model, state, outputs, dt, usual_ == Scheme::bdf2);
    shares.integrator += drives.whole + drives.integrator;
    for (int i = 0; i < bodies; ++i) {
        if (type_[i] != BodyType::dynamic_body) {
            // joints that a script moves: what they take from it they give to the others
            shares.scripts -= load_[i].joints.dot(displacement_[i]);
            shares.integrator -= load_[i].joints.dot(displacement_[i]);
            past_[i].q = state.q[i];
            past_[i].rate = state.rate[i];
            if (state.dynamic(i)) past_[i].known = past_[i].history = 0;
            continue;
        }
        shares.change += add_body(model, state, i, dt, shares);
    }
    shares.change += drives.stored;
    shares.motors += drives.motors;
    shares.friction += drives.friction;
    shares.impact += drives.impact;
    shares.damping += drives.damping;
    const double lifted = metric(report, "correction_energy", 0.0);
    shares.correction -= lifted;
    shares.integrator += lifted;
    if (!model.elastic.empty()) add_elastic(model, state, outputs, report, dt, shares);
    close(model, report, shares);
    shares.turnover = 0.5 * (shares.turnover + std::abs(shares.forces) + std::abs(shares.motors) +
                             std::abs(shares.scripts) + std::abs(shares.friction) + std::abs(shares.impact) +
                             std::abs(shares.damping));
    type_ = state.type;
    return shares;
}

// What is left is unexplained, but for two cases that have no formula: the scheme of elastic solids, whose stiffness matrix
// is the method's own, and steps that the method makes of smaller ones and tells the forces of the last of them. What
// those before it did counts as the motors' where there are some, as the integrator's otherwise.
void EnergyBooks::close(const Model& model, const StepReport& report, EnergyShares& shares) {
    const double left = shares.change - shares.forces - shares.motors - shares.scripts + shares.friction +
                        shares.impact + shares.damping + shares.correction + shares.integrator;
    const bool in_parts = told_at_end_ && metric(report, "substeps", 1.0) > 1.0;
    if (in_parts) {
        (motors_ ? shares.motors : shares.integrator) += motors_ ? left : -left;
        shares.unexplained = 0.0;
        for (Past& past : past_) past.known = 0;
        drives_.forget_forces();
    } else if (!model.elastic.empty()) {
        shares.integrator -= left - shares.unexplained;
    } else {
        shares.unexplained = left;
    }
}

// The stiffness matrix is the method's own: its scheme's share is what remains, and what is asked here is whether the
// recorded forces account for the momentum of each solid as a whole.
void EnergyBooks::add_elastic(const Model& model, const State& state, const Outputs& outputs,
                              const StepReport& report, double dt, EnergyShares& shares) {
    for (std::size_t e = 0; e < model.elastic.size(); ++e) {
        const ElasticBody& body = model.elastic[e];
        const ElasticState &now = state.elastic[e], &then = elastic_[e];
        Vec3 impulse = Vec3::Zero(), moved = Vec3::Zero();
        double mass = 0;
        for (std::size_t i = 0; i < now.x.size(); ++i) {
            const double m = body.vertex_mass[i];
            shares.change += 0.5 * m * (now.v[i].squaredNorm() - then.v[i].squaredNorm());
            shares.change -= m * state.gravity.dot(now.x[i] - then.x[i]);
            impulse += m * (now.v[i] - then.v[i] - dt * state.gravity);
            moved += m * (now.x[i] - then.x[i]);
            mass += m;
            const double rate =
                body.tet_material.empty() ? 0.0 : model.materials[body.tet_material[0]].rayleigh_mass;
            shares.damping += dt * rate * m * now.v[i].squaredNorm();
            impulse += dt * rate * m * now.v[i];
        }
        const int index = model.bodies.size() + static_cast<int>(e);
        for (const Contact& contact : outputs.contacts)
            impulse -= dt * ((contact.b == index) - (contact.a == index)) * contact.force;
        bool pushed = !body.pins.empty();
        for (const ForceSpec& force : model.forces) pushed |= force.body == index;
        if (!pushed && mass > 0) shares.unexplained += impulse.dot(moved / mass) / dt;
    }
    const double energy = metric(report, "elastic_energy", 0.0);
    if (elastic_known_) shares.change += energy - elastic_energy_;
    elastic_energy_ = energy;
    elastic_known_ = true;
    elastic_ = state.elastic;
}

void EnergyBooks::save(std::ostream& out) const {
    if (!kept_) return;
    write_values(out, past_);
    drives_.save(out);
    write_value(out, elastic_energy_);
    write_value(out, elastic_known_);
}

// Checkpoints of older programs end before this: the books then begin with the step that follows.
void EnergyBooks::load(const State& state, std::istream& in) {
    if (!kept_) return;
    elastic_ = state.elastic;
    type_ = state.type;
    std::vector<Past> past;
    if (in.peek() == std::istream::traits_type::eof()) {
        for (std::size_t i = 0; i < past_.size(); ++i) {
            past_[i] = {};
            past_[i].q = state.q[i];
            past_[i].rate = state.rate[i];
        }
        return;
    }
    read_values(in, past);
    if (past.size() != past_.size()) throw std::runtime_error("was made for another number of bodies");
    past_ = std::move(past);
    drives_.load(in);
    read_value(in, elastic_energy_);
    read_value(in, elastic_known_);
}

}  // namespace tenon::run

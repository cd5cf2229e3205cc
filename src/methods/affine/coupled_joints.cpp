#include "methods/affine/coupled_joints.hpp"

#include <algorithm>
#include <cmath>

#include "methods/affine/bodies.hpp"
#include "model/joint_rows.hpp"

namespace tenon::affine {
namespace {

using Kind = DriveRow::Kind;

// Over the inertia that a coordinate feels within a step: limits give by a millionth of what their load would move.
constexpr double limit_over_inertia = 1e6, servo_over_inertia = 1e5;
constexpr double settling_time = 0.1;  // s: bounded motors that hold a position are damped by it

const DriveSpec* spec_of(const DriveRow& row, const Joint& joint) {
    const auto k = static_cast<std::size_t>(row.coordinate);
    return k < joint.spec.drives.size() ? &joint.spec.drives[k] : nullptr;
}

const SpringSpec* spring_of(const DriveRow& row, const Joint& joint) {
    if (row.kind == Kind::bend) return &*joint.spec.bend;
    if (const DriveSpec* spec = spec_of(row, joint); spec && spec->spring) return &*spec->spring;
    return joint.spec.type == JointType::ball && row.coordinate == 1 && joint.spec.twist ? &*joint.spec.twist
                                                                                         : nullptr;
}

double armature_of(const DriveRow& row, const Joint& joint) {
    const DriveSpec* spec = spec_of(row, joint);
    return row.kind == Kind::smooth && spec ? spec->armature : 0.0;
}

bool is_exact(const DriveRow& row) {
    return row.kind == Kind::servo && row.bound >= 1e299 && !row.has_gains;
}

// The rate of a coordinate at the end of a step as the integrator has it: slope (coordinate - zero).
struct EndRate {
    double slope, zero;
};

EndRate end_rate(const StepTimes& times, double coordinate, double rate, const BodyHistory& history) {
    if (times.integrator == Integrator::newmark) return {2.0 / times.h, coordinate + 0.5 * times.h * rate};
    if (times.integrator == Integrator::bdf2 && !times.fresh)
        return {1.5 / times.h, (4.0 * coordinate - history.older_q(0, 0)) / 3.0};
    return {1.0 / times.h, coordinate};
}

Mat34 single(double value) {
    Mat34 out = Mat34::Zero();
    out(0, 0) = value;
    return out;
}

}  // namespace

std::vector<DriveRow> make_drive_rows(const Joint& joint, int joint_index) {
    std::vector<DriveRow> rows;
    const auto add = [&](Kind kind, int coordinate, int component = 0) -> DriveRow& {
        DriveRow& row = rows.emplace_back();
        row.kind = kind;
        row.joint = joint_index;
        row.coordinate = coordinate;
        row.component = component;
        return row;
    };
    const std::vector<DriveSpec>& drives = joint.spec.drives;
    const int count = std::min(joint_coordinate_count(joint.spec.type), static_cast<int>(drives.size()));
    for (int k = 0; k < count; ++k) {
        const MotorSpec& motor = drives[k].motor;
        if (drives[k].limits) add(Kind::limit, k);
        if (drives[k].spring || drives[k].armature > 0) add(Kind::smooth, k);
        if (motor.type == MotorSpec::Type::force) add(Kind::force, k);
        if (motor.type == MotorSpec::Type::velocity || motor.type == MotorSpec::Type::position)
            add(Kind::servo, k).has_gains = motor.stiffness > 0 || motor.damping > 0;
        if (drives[k].friction > 0) add(Kind::friction, k);
    }
    if (joint.spec.type != JointType::ball) return rows;
    if (joint.spec.twist && !(drives.size() > 1 && drives[1].spring)) add(Kind::smooth, 1);
    if (joint.spec.bend)
        for (const int component : {0, 1}) add(Kind::bend, 0, component);
    return rows;
}

double drive_energy(const DriveRow& row, double c) {
    if (row.kind == Kind::force) return -row.target * c;
    if (row.kind == Kind::limit) {
        const double beyond = std::max(0.0, c - row.high) + std::min(0.0, c - row.low);
        return 0.5 * row.stiffness * beyond * beyond;
    }
    if (row.stiffness <= 0.0) return 0.0;
    const double x = std::abs(c - row.target), corner = row.bound / row.stiffness;
    return x <= corner ? 0.5 * row.stiffness * x * x : row.bound * (x - 0.5 * corner);
}

double drive_slope(const DriveRow& row, double c) {
    if (row.kind == Kind::force) return -row.target;
    if (row.kind == Kind::limit)
        return row.stiffness * (std::max(0.0, c - row.high) + std::min(0.0, c - row.low));
    return std::clamp(row.stiffness * (c - row.target), -row.bound, row.bound);
}

double drive_curvature(const DriveRow& row, double c) {
    if (row.kind == Kind::force) return 0.0;
    if (row.kind == Kind::limit) return c > row.high || c < row.low ? row.stiffness : 0.0;
    return row.stiffness * std::abs(c - row.target) <= row.bound ? row.stiffness : 0.0;
}

int drive_branch(const DriveRow& row, double c) {
    if (row.kind == Kind::force) return 0;
    if (row.kind == Kind::limit) return c > row.high ? 1 : c < row.low ? -1 : 0;
    const double force = row.stiffness * (c - row.target);
    return force > row.bound ? 1 : force < -row.bound ? -1 : 0;
}

CoupledJoints::CoupledJoints(const Model& model, const State& state, const CoupledNodes& nodes)
    : model_(&model), nodes_(nodes), still_(state.q), joints_(model.joints) {
    const auto moves = [&](int body) { return body >= 0 && nodes.of_body[body] >= 0; };
    for (std::size_t j = 0; j < joints_.size(); ++j) {
        Joint& joint = joints_[j];
        if (joint.spec.type == JointType::coupling) {
            couplings_.push_back(static_cast<int>(j));
            continue;
        }
        if (!moves(joint.bodies[0]) && !moves(joint.bodies[1])) continue;
        joint.spec.linear = false;  // bodies do not stretch: the sixth row of a linear hinge says nothing new
        closed_.push_back(static_cast<int>(j));
        for (const DriveRow& row : make_drive_rows(joint, static_cast<int>(j)))
            all_drives_.emplace_back().row = row;
    }
    for (CoupledDrive& drive : all_drives_) {
        drive.history.older_q = drive.history.older_rate = drive.history.acceleration = Mat34::Zero();
    }
}

const Mat34& CoupledJoints::map_of(int body, const std::vector<Mat34>& q) const {
    if (body < 0) return world_map();
    return nodes_.of_body[body] < 0 ? still_[body] : q[nodes_.of_body[body]];
}

void CoupledJoints::add_sides(const Joint& joint, const std::array<Mat34, 2>& gradient, double factor,
                              CoupledRow& row) const {
    for (int side = 0; side < 2; ++side) {
        const int node = joint.bodies[side] < 0 ? -1 : nodes_.of_body[joint.bodies[side]];
        if (node < 0) continue;
        int place = 0;
        while (place < row.count && row.node[place] != node) ++place;
        if (place == row.count) {
            row.node[row.count] = node;
            row.gradient[row.count++].setZero();
        }
        row.gradient[place] += factor * gradient[side];
    }
}

double CoupledJoints::coordinate(const CoupledDrive& drive, const std::vector<Mat34>& q,
                                 CoupledRow* row) const {
    const Joint& joint = joints_[drive.row.joint];
    const Mat34 &qa = map_of(joint.bodies[0], q), &qb = map_of(joint.bodies[1], q);
    const int k = drive.row.coordinate;
    const bool bends = drive.row.kind == Kind::bend;
    const auto counted = [&](double value) {  // with its turns
        return !bends && coordinate_is_angle(joint.spec.type, k) ? unwrapped(value, drive.row.reference)
                                                                 : value;
    };
    if (!row)
        return counted(bends ? bend_component_value(joint, drive.row.component, qa, qb)
                             : joint_coordinate_value(joint, k, qa, qb));
    const JointCoordinate c =
        bends ? bend_component(joint, drive.row.component, qa, qb) : joint_coordinate(joint, k, qa, qb);
    row->joint = drive.row.joint;
    row->count = 0;
    row->on_second = c.gradient[1];
    add_sides(joint, c.gradient, 1.0, *row);
    return counted(c.value);
}

double CoupledJoints::drives_energy(const std::vector<Mat34>& q) const {
    double sum = 0.0;
    for (const CoupledDrive& drive : drives_) sum += drive_energy(drive.row, coordinate(drive, q));
    return sum;
}

std::vector<BodyHistory> CoupledJoints::histories() const {
    std::vector<BodyHistory> all;
    for (const CoupledDrive& drive : all_drives_) all.push_back(drive.history);
    return all;
}

bool CoupledJoints::set_histories(const std::vector<BodyHistory>& histories) {
    if (histories.size() != all_drives_.size()) return false;
    for (std::size_t k = 0; k < histories.size(); ++k) all_drives_[k].history = histories[k];
    return true;
}

// 1 / (inertia along the coordinate), from turns and shifts of the bodies.
double CoupledJoints::ease(const CoupledRow& row, const State& state) const {
    double sum = 0.0;
    for (int k = 0; k < row.count; ++k) {
        const CoupledNode& node = nodes_.node[row.node[k]];
        if (node.body < 0 || !state.dynamic(node.body)) continue;
        const Mat34 &q = state.q[node.body], &g = row.gradient[k];
        Vec3 turn = Vec3::Zero();
        for (int c = 0; c < 3; ++c) turn += q.col(c).cross(g.col(c));
        const Vec3 local = q.leftCols<3>().transpose() * turn;
        sum += local.cwiseAbs2().dot(model_->bodies.moments_of_inertia(node.body).cwiseInverse()) +
               g.col(3).squaredNorm() / model_->bodies.mass[node.body];
    }
    return sum;
}

void CoupledJoints::begin(CoupledDrive& drive, const State& state, const StepTimes& times) {
    DriveRow& row = drive.row;
    const Joint& joint = joints_[row.joint];
    std::vector<Mat34> q(nodes_.node.size());
    for (std::size_t n = 0; n < q.size(); ++n)
        if (nodes_.node[n].body >= 0) q[n] = state.q[nodes_.node[n].body];
    row.reference = state.joint_coordinate[row.joint][std::min(row.coordinate, 2)];
    CoupledRow gradient;
    row.reference = coordinate(drive, q, &gradient);
    const double inertia = 1.0 / std::max(ease(gradient, state), 1e-300);
    const DriveSpec* spec = spec_of(row, joint);
    const double time = times.start + times.h;
    double rate = 0.0;
    for (int k = 0; k < gradient.count; ++k)
        rate += gradient.gradient[k].cwiseProduct(state.rate[nodes_.node[gradient.node[k]].body]).sum();
    drive.start_rate = rate;
    switch (row.kind) {
        case Kind::smooth:
        case Kind::bend: {
            const SpringSpec* spring = spring_of(row, joint);
            const EndRate end = end_rate(times, row.reference, rate, drive.history);
            const double stiffness = spring ? spring->stiffness : 0.0,
                         damping = spring ? spring->damping * end.slope : 0.0,
                         armature = armature_of(row, joint) / times.potential_scale;
            const double rest = spring && row.kind == Kind::smooth ? spring->rest : 0.0;
            drive.armature_target =
                inertial_target(times.integrator, times.h, times.fresh, single(row.reference), single(rate),
                                drive.history, Mat34::Zero())(0, 0);
            row.stiffness = stiffness + damping + armature;
            row.bound = 1e300;
            if (row.stiffness > 0.0)
                row.target = (stiffness * rest + damping * end.zero + armature * drive.armature_target) /
                             row.stiffness;
            break;
        }
        case Kind::limit:
            row.low = (*spec->limits)[0];
            row.high = (*spec->limits)[1];
            row.stiffness = limit_over_inertia * inertia / times.potential_scale;
            break;
        case Kind::servo: {
            const MotorSpec& motor = spec->motor;
            const double wanted = motor_target(motor, state, time), h = times.h;
            row.bound = motor.max;
            row.stiffness = servo_over_inertia * inertia / times.potential_scale;
            if (row.has_gains) {
                const EndRate end = end_rate(times, row.reference, rate, drive.history);
                const double kp = motor.type == MotorSpec::Type::position ? motor.stiffness : 0.0,
                             kd = motor.damping * end.slope;
                row.stiffness = kp + kd;
                const double ahead = motor.type == MotorSpec::Type::velocity ? wanted / end.slope : 0.0;
                row.target = (kp * wanted + kd * (end.zero + ahead)) / row.stiffness;
            } else if (motor.type == MotorSpec::Type::velocity) {
                row.target = row.reference + h * wanted;
            } else if (row.bound < 1e299) {  // theta - w + tau ((theta - start)/h - dw/dt) = 0
                const double wanted_rate = (wanted - motor_target(motor, state, time - h)) / h,
                             share = settling_time / h;
                row.target = (wanted + share * row.reference + settling_time * wanted_rate) / (1.0 + share);
            } else {
                row.target = wanted;
            }
            break;
        }
        case Kind::friction:
            row.target = row.reference;
            row.bound = spec->friction;
            row.stiffness = servo_over_inertia * inertia / times.potential_scale;
            break;
        case Kind::force:
            row.target =
                std::clamp(motor_target(spec->motor, state, time), -spec->motor.max, spec->motor.max);
            break;
    }
}

void CoupledJoints::start_step(const Model& model, const State& state, const StepTimes& times) {
    model_ = &model;
    still_ = state.q;
    drives_.clear();
    servos_.clear();
    for (CoupledDrive& drive : all_drives_) {
        if (state.broken[drive.row.joint]) continue;
        begin(drive, state, times);
        (is_exact(drive.row) ? servos_ : drives_).push_back(drive);
    }
    rows_.clear();
    active_.clear();
    active_couplings_.clear();
    for (const int j : closed_) {
        if (state.broken[j]) continue;
        active_.push_back(j);
        for (int r = joint_row_count(joints_[j].spec); r > 0; --r) rows_.emplace_back().joint = j;
    }
    for (const CoupledDrive& servo : servos_) rows_.emplace_back().joint = servo.row.joint;
    for (const int j : couplings_) {
        const JointSpec& spec = joints_[j].spec;
        if (state.broken[j] || state.broken[spec.joints[0]] || state.broken[spec.joints[1]]) continue;
        Coupling& coupling = active_couplings_.emplace_back();
        coupling.joint = j;
        for (int which = 0; which < 2; ++which)
            coupling.reference[which] = state.joint_coordinate[spec.joints[which]][spec.coordinates[which]];
        rows_.emplace_back().joint = j;
    }
}

void CoupledJoints::end_step(const Model&, const State& state, const StepTimes& times) {
    std::vector<Mat34> q(nodes_.node.size());
    for (std::size_t n = 0; n < q.size(); ++n)
        if (nodes_.node[n].body >= 0) q[n] = state.q[nodes_.node[n].body];
    for (CoupledDrive& drive : all_drives_) {
        if (state.broken[drive.row.joint]) continue;
        finish_rate(times.integrator, times.h, times.fresh, single(coordinate(drive, q)),
                    single(drive.row.reference), single(drive.start_rate), drive.history);
    }
}

// q2 - ratio q1 - offset.
double CoupledJoints::coupling_value(const Coupling& coupling, const std::vector<Mat34>& q,
                                     CoupledRow* row) const {
    const JointSpec& spec = joints_[coupling.joint].spec;
    const double factor[2] = {-spec.ratio, 1.0};
    double value = -spec.offset;
    for (int which = 0; which < 2; ++which) {
        const Joint& joint = joints_[spec.joints[which]];
        const int k = spec.coordinates[which];
        const JointCoordinate c =
            joint_coordinate(joint, k, map_of(joint.bodies[0], q), map_of(joint.bodies[1], q));
        const bool turns = coordinate_is_angle(joint.spec.type, k);
        value += factor[which] * (turns ? unwrapped(c.value, coupling.reference[which]) : c.value);
        if (row) add_sides(joint, c.gradient, factor[which], *row);
    }
    return value;
}

void CoupledJoints::linearise(const std::vector<Mat34>& q) {
    auto row = rows_.begin();
    JointRows values;
    for (const int j : active_) {
        const Joint& joint = joints_[j];
        joint_rows(joint, map_of(joint.bodies[0], q), map_of(joint.bodies[1], q), values);
        for (int k = 0; k < values.count; ++k, ++row) {
            row->count = 0;
            row->value = values.value[k];
            row->on_second = values.gradient[1][k];
            add_sides(joint, {values.gradient[0][k], values.gradient[1][k]}, 1.0, *row);
        }
    }
    for (const CoupledDrive& servo : servos_) {
        row->value = coordinate(servo, q, &*row) - servo.row.target;
        ++row;
    }
    for (const Coupling& coupling : active_couplings_) {
        row->count = 0;
        row->on_second.setZero();
        row->value = coupling_value(coupling, q, &*row);
        ++row;
    }
}

void CoupledJoints::values(const std::vector<Mat34>& q, std::vector<double>& out) const {
    out.resize(rows_.size());
    double* value = out.data();
    for (const int j : active_) {
        const Joint& joint = joints_[j];
        joint_row_values(joint, map_of(joint.bodies[0], q), map_of(joint.bodies[1], q), value);
        value += joint_row_count(joint.spec);
    }
    for (const CoupledDrive& servo : servos_) *value++ = coordinate(servo, q) - servo.row.target;
    for (const Coupling& coupling : active_couplings_) *value++ = coupling_value(coupling, q, nullptr);
}

}  // namespace tenon::affine

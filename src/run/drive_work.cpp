#include "run/drive_work.hpp"

#include <cmath>

#include "math/binary_io.hpp"
#include "model/joint_rows.hpp"

namespace tenon::run {
namespace {

bool has_drives(const Joint& joint) {
    if (joint.spec.twist || joint.spec.bend) return true;
    for (const DriveSpec& drive : joint.spec.drives)
        if (!drive.empty()) return true;
    return false;
}

const DriveSpec* drive_of(const Joint& joint, int coordinate) {
    const auto& drives = joint.spec.drives;
    return coordinate < static_cast<int>(drives.size()) ? &drives[coordinate] : nullptr;
}

// Ball joints have their springs apart from their drives: bend, then twist.
const SpringSpec* spring_of(const Joint& joint, int coordinate) {
    if (joint.spec.type == JointType::ball) {
        const auto& spring = coordinate == 0 ? joint.spec.bend : joint.spec.twist;
        if (spring) return &*spring;
    }
    const DriveSpec* drive = drive_of(joint, coordinate);
    return drive && drive->spring ? &*drive->spring : nullptr;
}

int coordinates_of(const Joint& joint) {
    return joint.spec.type == JointType::distance ? 1 : joint_coordinate_count(joint.spec.type);
}

// Force along a slide, torque about an axis: the share of a joint's wrench on its second body that does work.
double force_along(const Joint& joint, int coordinate, const State& state, const JointOutput& output) {
    const Mat34 &qa = side_map(state, joint, 0), &qb = side_map(state, joint, 1);
    const auto axis_a = [&](int column) {
        return Vec3(linear_part_times(qa, joint.frame[0].col(column)).normalized());
    };
    switch (joint.spec.type) {
        case JointType::hinge:
            return output.torque.dot(axis_a(0));
        case JointType::prismatic:
            return output.force.dot(axis_a(0));
        case JointType::cylindrical:
            return coordinate == 0 ? output.torque.dot(axis_a(0)) : output.force.dot(axis_a(0));
        case JointType::universal:
            return coordinate == 0
                       ? output.torque.dot(axis_a(0))
                       : output.torque.dot(linear_part_times(qb, joint.frame[1].col(1)).normalized());
        case JointType::planar:
            return coordinate == 2 ? output.torque.dot(axis_a(0)) : output.force.dot(axis_a(1 + coordinate));
        case JointType::distance: {
            const Vec3 gap = transform(qb, joint.point[1]) - transform(qa, joint.point[0]);
            return gap.norm() > 0 ? output.force.dot(gap.normalized()) : 0.0;
        }
        default:
            return 0.0;
    }
}

double potential(const SpringSpec& spring, double coordinate) {
    const double stretch = coordinate - spring.rest;
    return 0.5 * spring.stiffness * stretch * stretch;
}

double stored_energy(const Joint& joint, const std::array<double, 3>& coordinate,
                     const std::array<double, 3>& rate) {
    double sum = 0;
    for (int k = 0; k < coordinates_of(joint); ++k) {
        if (const SpringSpec* spring = spring_of(joint, k)) sum += potential(*spring, coordinate[k]);
        if (const DriveSpec* drive = drive_of(joint, k)) sum += 0.5 * drive->armature * rate[k] * rate[k];
    }
    return sum;
}

std::array<double, 3> rates_of(const Joint& joint, const State& state) {
    std::array<double, 3> rate{};
    for (int k = 0; k < coordinates_of(joint); ++k) {
        const JointCoordinate c =
            joint_coordinate(joint, k, side_map(state, joint, 0), side_map(state, joint, 1));
        for (int side = 0; side < 2; ++side)
            if (joint.bodies[side] >= 0)
                rate[k] += c.gradient[side].cwiseProduct(state.rate[joint.bodies[side]]).sum();
    }
    return rate;
}

// Found from the bodies' poses, as not every method keeps them; angles count their turns.
std::array<double, 3> coordinates(const Joint& joint, const State& state,
                                  const std::array<double, 3>& before) {
    std::array<double, 3> value{};
    for (int k = 0; k < coordinates_of(joint); ++k) {
        value[k] = joint_coordinate_value(joint, k, side_map(state, joint, 0), side_map(state, joint, 1));
        const bool size = joint.spec.type == JointType::ball && k == 0;  // of an angle: it has no turns
        if (coordinate_is_angle(joint.spec.type, k) && !size) value[k] = unwrapped(value[k], before[k]);
    }
    return value;
}

// A BDF2 step has (3 v1 - 4 v0 + v_before)/2 where implicit Euler has v1 - v0.
struct CoordinateMotion {
    double value, rate, acceleration;
};
DriveForces forces_along(const Joint& joint, int k, const State& state, const JointOutput& output,
                         const CoordinateMotion& motion) {
    DriveForces force;
    force.motor = output.motor_force[k];
    force.limit = output.limit_force[k];
    if (const SpringSpec* spring = spring_of(joint, k)) {
        force.spring = -spring->stiffness * (motion.value - spring->rest);
        force.damper = -spring->damping * motion.rate;
    }
    if (const DriveSpec* drive = drive_of(joint, k)) force.armature = -drive->armature * motion.acceleration;
    const double told = force.spring + force.damper + force.armature + force.motor + force.limit;
    force.whole = joint.spec.type == JointType::ball ? told : force_along(joint, k, state, output);
    force.rest = force.whole - told;
    return force;
}

}  // namespace

double joint_energy(const Model& model, const State& state) {
    double sum = 0;
    for (std::size_t j = 0; j < model.joints.size(); ++j)
        if (!state.broken[j] && has_drives(model.joints[j]))
            sum +=
                stored_energy(model.joints[j], coordinates(model.joints[j], state, state.joint_coordinate[j]),
                              rates_of(model.joints[j], state));
    return sum;
}

DriveBooks::DriveBooks(const Model& model, const State& state) {
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const Joint& joint = model.joints[j];
        if (joint.spec.type == JointType::coupling || !has_drives(joint)) continue;
        joints_.push_back(static_cast<int>(j));
        Past& past = past_.emplace_back();
        past.coordinate = state.joint_coordinate[j];
        past.rate = rates_of(joint, state);
        past.stored = stored_energy(joint, past.coordinate, past.rate);
    }
}

DriveWork DriveBooks::step(const Model& model, const State& state, const Outputs& outputs, double dt,
                           bool bdf2) {
    DriveWork work;
    for (std::size_t i = 0; i < joints_.size(); ++i) {
        const int j = joints_[i];
        add_joint(model.joints[j], state, outputs.joints[j], past_[i], dt, bdf2, work);
        const double stored =
            state.broken[j] ? 0.0 : stored_energy(model.joints[j], past_[i].coordinate, past_[i].rate);
        work.stored += stored - past_[i].stored;
        past_[i].stored = stored;
    }
    return work;
}

void DriveBooks::add_joint(const Joint& joint, const State& state, const JointOutput& output, Past& past,
                           double dt, bool bdf2, DriveWork& work) {
    const bool both = bdf2 && past.known;
    const std::array<double, 3> rate = rates_of(joint, state);
    const std::array<double, 3> coordinate = coordinates(joint, state, past.coordinate);
    for (int k = 0; k < coordinates_of(joint); ++k) {
        const double speed = rate[k], before = past.rate[k];
        const double change = both ? 0.5 * (3 * speed - 4 * before + past.rate_before[k]) : speed - before;
        const DriveForces now = forces_along(joint, k, state, output, {coordinate[k], speed, change / dt});
        const DriveForces& then = past.force[k];
        const double moved = coordinate[k] - past.coordinate[k];
        const auto done = [&](double DriveForces::*force) {
            return (both ? 0.5 * (then.*force + now.*force) : now.*force) * moved;
        };
        work.whole += done(&DriveForces::whole);
        work.damping -= done(&DriveForces::damper);
        work.impact -= done(&DriveForces::limit);
        work.motors += done(&DriveForces::motor);
        work.integrator -= done(&DriveForces::spring) + done(&DriveForces::armature);
        if (const SpringSpec* spring = spring_of(joint, k))
            work.integrator -= potential(*spring, coordinate[k]) - potential(*spring, past.coordinate[k]);
        if (const DriveSpec* drive = drive_of(joint, k)) {
            work.integrator -= 0.5 * drive->armature * (speed * speed - before * before);
            if (drive->motor.type != MotorSpec::Type::none && output.motor_force[k] == 0.0)
                work.motors += done(&DriveForces::rest);
            else if (drive->friction > 0)
                work.friction -= done(&DriveForces::rest);
        }
        past.force[k] = now;
    }
    past.rate_before = past.rate;
    past.rate = rate;
    past.coordinate = coordinate;
    past.known = 1;
}

void DriveBooks::forget_forces() {
    for (Past& past : past_) past.known = 0;
}

void DriveBooks::save(std::ostream& out) const {
    write_values(out, past_);
}

void DriveBooks::load(std::istream& in) {
    std::vector<Past> past;
    read_values(in, past);
    if (past.size() == past_.size()) past_ = std::move(past);
}

}  // namespace tenon::run

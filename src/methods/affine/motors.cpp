#include "methods/affine/motors.hpp"

namespace tenon::affine {
namespace {

// Over the inertia of both sides within a step: the speed is off by the load's share of a step over this.
constexpr double stiffer_than_inertia = 1e5;
constexpr double visible_turn = 10.0;   // times a converged step's: over which the torque reaches its bound
constexpr double farthest_ahead = 0.3;  // rad: the most that the wanted turn is ahead of the present motion

double spin_about(const Model& model, const State& state, int body, const Vec3& axis) {
    if (body < 0 || state.type[body] == BodyType::static_body) return 0.0;
    return angular_velocity(state.q[body], state.rate[body], inertia_of(model.bodies, body)).dot(axis);
}

// Inverse inertia about an axis through the centre of mass.
double turning_ease(const Model& model, const State& state, int body, const Vec3& axis) {
    if (body < 0 || !state.dynamic(body)) return 0.0;
    const Vec3 local = state.q[body].leftCols<3>().transpose() * axis;
    return 1.0 / local.cwiseAbs2().dot(model.bodies.moments_of_inertia(body));
}

const MotorSpec* motor_of(const Joint& joint, MotorSpec::Type type) {
    if (joint.spec.drives.empty() || joint.spec.drives[0].motor.type != type) return nullptr;
    return &joint.spec.drives[0].motor;
}

Vec3 axis_of(const State& state, const Joint& joint) {
    const Vec3 axis = joint.frame[0].col(0);
    return joint.bodies[0] >= 0 ? Vec3(state.q[joint.bodies[0]].leftCols<3>() * axis).normalized() : axis;
}

// v . (A u) as a row over q, with v across the axis and at a right angle to where u is after turning by `angle`.
Vec12 turn_row(const Mat34& q, const Vec3& u, const Vec3& axis, double angle) {
    const Vec3 turned = rotation_matrix(angle * axis) * (q.leftCols<3>() * u).normalized();
    const Vec3 v = axis.cross(turned);
    Vec12 row = Vec12::Zero();
    for (int k = 0; k < 3; ++k) row.segment<3>(3 * k) = u[k] * v;
    return row;
}

}  // namespace

std::vector<Motor> velocity_motors(const Model& model, const State& state, double time, double h,
                                   double motion) {
    std::vector<Motor> motors;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const Joint& joint = model.joints[j];
        const MotorSpec* spec = motor_of(joint, MotorSpec::Type::velocity);
        if (!spec) continue;
        const auto moves = [&](int body) { return body >= 0 && state.type[body] != BodyType::static_body; };
        const auto [a, b] = joint.bodies;
        Motor motor;
        motor.joint = static_cast<int>(j);
        motor.axis = axis_of(state, joint);
        const double ease =
            turning_ease(model, state, a, motor.axis) + turning_ease(model, state, b, motor.axis);
        if (!(ease > 0.0)) continue;
        motor.a = moves(a) ? a : -1;
        motor.b = moves(b) ? b : -1;
        motor.bound = spec->max;
        double radius = 1e300;
        for (const int body : {motor.a, motor.b})
            if (body >= 0) radius = std::min(radius, model.shape_of(body).radius);
        motor.stiffness =
            std::min(stiffer_than_inertia / (ease * h * h), motor.bound / (visible_turn * motion / radius));
        // What is wanted, no farther from the present motion than the torque can bring it.
        const double turn_a = h * spin_about(model, state, a, motor.axis),
                     turn_b = h * spin_about(model, state, b, motor.axis);
        const double reach = std::min(farthest_ahead, 10.0 * motor.bound * ease * h * h);
        const double wanted = std::clamp(h * motor_target(*spec, state, time), turn_b - turn_a - reach,
                                         turn_b - turn_a + reach);
        const double angle_a = motor.a < 0 ? 0.0 : motor.b < 0 ? -wanted : turn_a;
        if (motor.a >= 0) motor.ja = -turn_row(state.q[a], joint.frame[0].col(1), motor.axis, angle_a);
        if (motor.b >= 0)
            motor.jb = turn_row(state.q[b], joint.frame[1].col(1), motor.axis, angle_a + wanted);
        motors.push_back(motor);
    }
    return motors;
}

std::vector<GivenTorque> given_torques(const Model& model, const State& state, double time) {
    std::vector<GivenTorque> torques;
    for (std::size_t j = 0; j < model.joints.size(); ++j)
        if (const MotorSpec* motor = motor_of(model.joints[j], MotorSpec::Type::force))
            torques.push_back({static_cast<int>(j), axis_of(state, model.joints[j]),
                               std::clamp(motor_target(*motor, state, time), -motor->max, motor->max)});
    return torques;
}

void add_torques(const Model& model, const std::vector<GivenTorque>& torques, std::vector<Wrench>& wrenches) {
    for (const GivenTorque& given : torques) {
        const auto [a, b] = model.joints[given.joint].bodies;
        if (a >= 0) wrenches[a].torque -= given.torque * given.axis;
        if (b >= 0) wrenches[b].torque += given.torque * given.axis;
    }
}

}  // namespace tenon::affine

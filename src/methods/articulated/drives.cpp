#include "methods/articulated/drives.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::articulated {
namespace {

using Kind = DriveRow::Kind;
using Branch = DriveRow::Branch;

// A motor that holds a position with bounded force is damped: it pushes by theta - theta* + this time the same of the rate, or
// it would swing about its target for ever.
constexpr double settling_time = 0.1;  // s

double dot(const Mat34& a, const Mat34& b) {
    return a.cwiseProduct(b).sum();
}

const SpringSpec* spring_of(const DriveRow& drive, const Joint& joint) {
    if (drive.kind == Kind::bend) return &*joint.spec.bend;
    const auto k = static_cast<std::size_t>(drive.coordinate);
    if (k < joint.spec.drives.size() && joint.spec.drives[k].spring) return &*joint.spec.drives[k].spring;
    if (joint.spec.type == JointType::ball && drive.coordinate == 1 && joint.spec.twist)
        return &*joint.spec.twist;
    return nullptr;
}

// The coordinate in a given state, turns counted from `reference`.
double coordinate_at(const DriveRow& drive, const Joint& joint, const Mat34& qa, const Mat34& qb,
                     double reference) {
    if (drive.kind == Kind::bend) return bend_component_value(joint, drive.component, qa, qb);
    const double value = joint_coordinate_value(joint, drive.coordinate, qa, qb);
    return coordinate_is_angle(joint.spec.type, drive.coordinate) ? unwrapped(value, reference) : value;
}

double coordinate_rate(const DriveRow& drive, const Joint& joint, const Mat34& qa, const Mat34& qb,
                       const Mat34& va, const Mat34& vb) {
    const JointCoordinate c = joint_coordinate(joint, drive.coordinate, qa, qb);
    return dot(c.gradient[0], va) + dot(c.gradient[1], vb);
}

// With gains: f = kp (w - theta) + kd (w' - theta'), where w' is 0 for positions, as a spring about the target that balances both.
// Without: as stiff as the row can be, positions damped.
void begin_servo(DriveRow& drive, const MotorSpec& motor, const StepStart& start, double predicted,
                 double eta, bool euler) {
    const double wanted = motor_target(motor, start.state, start.time);
    drive.bound = motor.max;
    if (drive.has_gains) {
        const double kp = motor.type == MotorSpec::Type::position ? motor.stiffness : 0.0,
                     kd = motor.damping / eta;
        const double way = motor.type == MotorSpec::Type::velocity ? eta * wanted : 0.0;
        drive.stiffness = kp + kd;
        drive.target = (kp * wanted + kd * (predicted + way)) / drive.stiffness;
    } else if (motor.type == MotorSpec::Type::velocity) {
        drive.target = predicted + eta * wanted;
    } else if (drive.bound < 1e299) {  // theta - w + tau ((theta - predicted)/eta - dw/dt) = 0
        // the target's rate by the integrator's own rule: what follows its target stays on it
        const double h = euler ? eta : 1.5 * eta, last = motor_target(motor, start.state, start.time - h);
        const double before =
            euler ? last : (4.0 * last - motor_target(motor, start.state, start.time - 2.0 * h)) / 3.0;
        const double share = settling_time / eta;
        drive.target = (wanted + share * (predicted + wanted - before)) / (1.0 + share);
    } else {
        drive.target = wanted;
    }
}

}  // namespace

std::vector<DriveRow> make_drive_rows(const Joint& joint, int joint_index) {
    std::vector<DriveRow> rows;
    const auto add = [&](Kind kind, int coordinate, Branch branch = Branch::hold, int component = 0) {
        DriveRow row;
        row.kind = kind;
        row.joint = joint_index;
        row.coordinate = coordinate;
        row.component = component;
        row.branch = branch;
        rows.push_back(row);
    };
    const int coordinates = joint_coordinate_count(joint.spec.type);
    for (int k = 0; k < std::min<int>(coordinates, static_cast<int>(joint.spec.drives.size())); ++k) {
        const DriveSpec& drive = joint.spec.drives[k];
        if (drive.limits) add(Kind::limit, k, Branch::off);
        if (drive.spring || drive.armature > 0) add(Kind::smooth, k);
        if (drive.motor.type == MotorSpec::Type::force) add(Kind::force, k);
        if (drive.motor.type == MotorSpec::Type::velocity || drive.motor.type == MotorSpec::Type::position)
            add(Kind::servo, k), rows.back().has_gains = drive.motor.stiffness > 0 || drive.motor.damping > 0;
        if (drive.friction > 0) add(Kind::friction, k);
    }
    if (joint.spec.type == JointType::ball) {
        const bool twist_has_drive = joint.spec.drives.size() > 1 && joint.spec.drives[1].spring;
        if (joint.spec.twist && !twist_has_drive) add(Kind::smooth, 1);
        if (joint.spec.bend) add(Kind::bend, 0, Branch::hold, 0), add(Kind::bend, 0, Branch::hold, 1);
    }
    return rows;
}

void begin_step(DriveRow& drive, const Joint& joint, const std::array<double, 3>& coordinate,
                const BodyField& field, const StepStart& start) {
    static const Mat34 still = Mat34::Zero();
    const int a = joint.bodies[0], b = joint.bodies[1];
    const auto map = [](const std::vector<Mat34>& all, int body, const Mat34& world) -> const Mat34& {
        return body < 0 ? world : all[body];
    };
    const Mat34 &qa = map(start.state.q, a, world_map()), &qb = map(start.state.q, b, world_map());
    drive.started = drive.branch;
    drive.reference = coordinate_at(drive, joint, qa, qb, coordinate[std::min(drive.coordinate, 2)]);

    const auto k = static_cast<std::size_t>(drive.coordinate);
    const DriveSpec* spec = k < joint.spec.drives.size() ? &joint.spec.drives[k] : nullptr;
    const double armature = drive.kind == Kind::smooth && spec ? spec->armature : 0.0;

    // the coordinate's own implicit rule: rate = (theta - predicted) / eta; only armature asks for rates
    double predicted = drive.reference;
    double predicted_rate = armature > 0
                                ? coordinate_rate(drive, joint, qa, qb, map(start.state.rate, a, still),
                                                  map(start.state.rate, b, still))
                                : 0.0;
    const int any = a >= 0 && field.moving[a] ? a : b;
    const bool euler = field.euler[any] != 0;
    const double eta = field.eta(any);
    if (!euler && start.previous_q) {
        const Mat34 &pa = map(*start.previous_q, a, world_map()),
                    &pb = map(*start.previous_q, b, world_map());
        predicted = (4.0 * drive.reference - coordinate_at(drive, joint, pa, pb, drive.reference)) / 3.0;
        if (armature > 0)
            predicted_rate = (4.0 * predicted_rate - coordinate_rate(drive, joint, pa, pb,
                                                                     map(*start.previous_rate, a, still),
                                                                     map(*start.previous_rate, b, still))) /
                             3.0;
    }

    switch (drive.kind) {
        case Kind::smooth:
        case Kind::bend: {
            const SpringSpec* spring = spring_of(drive, joint);
            const double stiffness = spring ? spring->stiffness : 0.0;
            const double damping = spring ? spring->damping / eta : 0.0;
            const double inertia = armature / (eta * eta);
            const double rest = spring && drive.kind == Kind::smooth ? spring->rest : 0.0;
            drive.stiffness = stiffness + damping + inertia;
            drive.rate_share = 0.0;
            if (joint.spec.type != JointType::ball && damping + inertia > 0.0) {
                drive.rate_share = (damping + inertia) / drive.stiffness;
                drive.predicted = predicted;
                drive.hat = {qa, qb};
                if (!euler && start.previous_q)
                    for (int side = 0; side < 2; ++side)
                        drive.hat[side] =
                            (4.0 * drive.hat[side] - map(*start.previous_q, side == 0 ? a : b, world_map())) /
                            3.0;
            }
            if (drive.stiffness > 0)
                drive.target =
                    (stiffness * rest + damping * predicted + inertia * (predicted + eta * predicted_rate)) /
                    drive.stiffness;
            break;
        }
        case Kind::limit:
            drive.low = (*spec->limits)[0];
            drive.high = (*spec->limits)[1];
            break;
        case Kind::servo:
            begin_servo(drive, spec->motor, start, predicted, eta, euler || !start.previous_q);
            break;
        case Kind::friction:
            drive.target = predicted;
            drive.bound = spec->friction;
            break;
        case Kind::force:
            drive.target = std::clamp(motor_target(spec->motor, start.state, start.time), -spec->motor.max,
                                      spec->motor.max);
            break;
    }
}

DriveValue evaluate(const DriveRow& drive, const Joint& joint, const Mat34& qa, const Mat34& qb,
                    std::array<Mat34, 2>* gradient) {
    DriveValue out;
    if (gradient) {
        const JointCoordinate c = drive.kind == Kind::bend
                                      ? bend_component(joint, drive.component, qa, qb)
                                      : joint_coordinate(joint, drive.coordinate, qa, qb);
        *gradient = c.gradient;
        out.coordinate = drive.kind != Kind::bend && coordinate_is_angle(joint.spec.type, drive.coordinate)
                             ? unwrapped(c.value, drive.reference)
                             : c.value;
    } else {
        out.coordinate = coordinate_at(drive, joint, qa, qb, drive.reference);
    }
    switch (drive.kind) {
        case Kind::smooth:
        case Kind::bend:
            out.value = out.coordinate - drive.target;
            if (drive.rate_share > 0.0 && gradient)
                out.value += drive.rate_share * (drive.predicted + dot((*gradient)[0], qa - drive.hat[0]) +
                                                 dot((*gradient)[1], qb - drive.hat[1]) - out.coordinate);
            out.compliance = drive.stiffness > 0 ? 1.0 / drive.stiffness : 1e300;
            break;
        case Kind::limit:
            out.value = out.coordinate - (drive.branch == Branch::low ? drive.low : drive.high);
            out.compliance = 1.0 / drive.stiffness;
            break;
        case Kind::force:
            break;
        default:
            out.value = out.coordinate - drive.target;
            out.compliance = is_bounded(drive) || drive.has_gains ? 1.0 / drive.stiffness : 0.0;
    }
    return out;
}

double slope_at(const DriveRow& drive, double coordinate) {
    if (drive.kind == Kind::limit)
        return drive.stiffness *
               (std::max(0.0, coordinate - drive.high) + std::min(0.0, coordinate - drive.low));
    return std::clamp(drive.stiffness * (coordinate - drive.target), -drive.bound, drive.bound);
}

DriveRow::Branch branch_at(const DriveRow& drive, double coordinate) {
    if (drive.kind == Kind::limit)
        return coordinate > drive.high ? Branch::high : coordinate < drive.low ? Branch::low : Branch::off;
    const double push = drive.stiffness * (coordinate - drive.target);
    return push > drive.bound ? Branch::high : push < -drive.bound ? Branch::low : Branch::hold;
}

}  // namespace tenon::articulated

#include "methods/affine/reactions.hpp"

#include <Eigen/QR>

#include "methods/affine/friction.hpp"

namespace tenon::affine {
namespace {

void add_load(Mat34& load, const Vec3& local, const Vec3& force) {
    for (int k = 0; k < 3; ++k) load.col(k) += local[k] * force;
    load.col(3) += force;
}

Vec3 torque_about_center(const Mat34& q, const Mat34& load) {
    Vec3 torque = Vec3::Zero();
    for (int k = 0; k < 3; ++k) torque += q.col(k).cross(load.col(k));
    return torque;
}

double motor_slope(const SolvedStep& step, const Motor& motor) {
    return motor.slope(
        motor.off(motor.a >= 0 ? &step.q[motor.a] : nullptr, motor.b >= 0 ? &step.q[motor.b] : nullptr));
}

// Barrier, friction and motor forces on every body, as loads on q.
std::vector<Mat34> contact_loads(const SolvedStep& step) {
    std::vector<Mat34> loads(step.q.size(), Mat34::Zero());
    for (int k = 0; k < step.field.pair_count(); ++k) {
        const CandidatePair& pair = step.field.pair(k);
        const PairContacts& contacts = step.field.contacts(k);
        for (const ContactPoint& p : contacts.points) {
            add_load(loads[pair.a], p.local_a, p.force * p.normal);
            add_load(loads[pair.b], p.local_b, -p.force * p.normal);
        }
        for (const FrictionPoint& p : contacts.friction) {
            const Vec3 on_b =
                friction_force(p, step.q[pair.a] - step.bodies.body[pair.a].slide_from,
                               step.q[pair.b] - step.bodies.body[pair.b].slide_from, step.friction_eps);
            add_load(loads[pair.a], p.local_a, -on_b);
            add_load(loads[pair.b], p.local_b, on_b);
        }
    }
    for (const Motor& motor : step.motors) {
        const double slope = motor_slope(step, motor);
        if (motor.a >= 0) loads[motor.a] -= slope * Eigen::Map<const Mat34>(motor.ja.data());
        if (motor.b >= 0) loads[motor.b] -= slope * Eigen::Map<const Mat34>(motor.jb.data());
    }
    return loads;
}

// What has to hold a body for the step's equations to balance: inertia + stress - contacts - other joints.
Mat34 missing_load(const SolvedStep& step, int body, const Mat34& contact_load) {
    const BodyStep& b = step.bodies.body[body];
    const Mat34& q = step.q[body];
    Mat34 rest = q - b.target;
    for (int k = 0; k < 4; ++k) rest.col(k) *= b.inertia.of_column(k);
    rest.leftCols<3>() += b.rigidity * rigidity_gradient(step.rigidity, q.leftCols<3>());
    for (std::size_t r = 0; r < step.rows.size(); ++r) {
        const ConstraintRow& row = step.rows[r];
        if (row.a == body) rest += step.multipliers[r] * Eigen::Map<const Mat34>(row.ja.data());
        if (row.b == body) rest += step.multipliers[r] * Eigen::Map<const Mat34>(row.jb.data());
    }
    return rest / step.bodies.potential_scale - contact_load;
}

void set_reaction(const Joint& joint, int side, const Mat34& q, const Mat34& load, JointOutput& out) {
    const double sign = side == 1 ? 1.0 : -1.0;  // joints tell what acts on their second body
    out.force = sign * load.col(3);
    const Vec3 arm = q.leftCols<3>() * joint.point[side];
    out.torque = sign * (torque_about_center(q, load) - arm.cross(Vec3(load.col(3))));
}

// Shares the missing load among the rows of all joints that hold the body; least forces where they are redundant.
void world_reactions(const Model& model, const State& state, Outputs& outputs, const SolvedStep& step,
                     int body, const std::vector<int>& joints, const Mat34& contact_load) {
    std::vector<Vec12> rows;
    std::vector<std::size_t> first;
    for (const int j : joints) {
        first.push_back(rows.size());
        const Joint& joint = model.joints[j];
        for (const Vec12& row :
             world_constraint_rows(model, state, joint, world_joint_side(state, joint, body)))
            rows.push_back(row);
    }
    first.push_back(rows.size());
    for (int k = 0; k < 3; ++k)
        if (model.bodies.fixed[body][k]) rows.push_back(Vec12::Unit(9 + k));
    Eigen::MatrixXd C(12, static_cast<Eigen::Index>(rows.size()));
    for (std::size_t r = 0; r < rows.size(); ++r) C.col(static_cast<Eigen::Index>(r)) = rows[r];
    const Mat34 missing = missing_load(step, body, contact_load);
    const Eigen::VectorXd share =
        C.completeOrthogonalDecomposition().solve(Eigen::VectorXd(Eigen::Map<const Vec12>(missing.data())));
    for (std::size_t k = 0; k < joints.size(); ++k) {
        Vec12 load = Vec12::Zero();
        for (std::size_t r = first[k]; r < first[k + 1]; ++r)
            load += share[static_cast<Eigen::Index>(r)] * rows[r];
        const Joint& joint = model.joints[joints[k]];
        set_reaction(joint, world_joint_side(state, joint, body), step.q[body],
                     Eigen::Map<const Mat34>(load.data()), outputs.joints[joints[k]]);
    }
}

}  // namespace

void joint_reactions(const Model& model, const State& state, Outputs& outputs, const SolvedStep& step) {
    for (JointOutput& joint : outputs.joints) {
        joint.force.setZero();
        joint.torque.setZero();
        joint.motor_force = {};
    }
    // A row's multiplier pulls body a along ja and body b along jb = -(...): the force on b is its opposite.
    for (std::size_t r = 0; r < step.rows.size(); ++r) {
        const ConstraintRow& row = step.rows[r];
        const Vec3 force = step.multipliers[r] / step.bodies.potential_scale * row.direction;
        outputs.joints[row.joint].force += force;
        outputs.joints[row.joint].torque += linear_part_times(step.q[row.b], row.lever).cross(force);
    }
    const auto add_motor = [&](int joint, const Vec3& axis, double torque) {
        outputs.joints[joint].torque += torque * axis;
        outputs.joints[joint].motor_force[0] += torque;
    };
    const auto add_motors = [&] {
        for (const Motor& motor : step.motors) add_motor(motor.joint, motor.axis, -motor_slope(step, motor));
        for (const GivenTorque& given : step.given) add_motor(given.joint, given.axis, given.torque);
    };
    std::vector<std::vector<int>> joints_of(step.q.size());
    bool any = false;
    for (std::size_t j = 0; j < model.joints.size(); ++j)
        for (const int body : model.joints[j].bodies)
            if (body >= 0 && state.dynamic(body) && world_joint_side(state, model.joints[j], body) >= 0) {
                joints_of[body].push_back(static_cast<int>(j));
                any = true;
            }
    if (!any) return add_motors();
    const std::vector<Mat34> loads = contact_loads(step);
    for (std::size_t i = 0; i < joints_of.size(); ++i)
        if (!joints_of[i].empty())
            world_reactions(model, state, outputs, step, static_cast<int>(i), joints_of[i], loads[i]);
    add_motors();
}

}  // namespace tenon::affine

// The arrays over bodies that a step works on, indexed like the world's bodies, and what is done body by body.
#pragma once

#include <limits>
#include <vector>

#include "methods/articulated/corotated.hpp"
#include "solve/small_cholesky.hpp"
#include "tenon/state.hpp"

namespace tenon::articulated {

using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;

using Reduced = Eigen::Matrix<double, 12, 3>;

// A body with contact terms: its matrix is dense, in the body's turned frame, factored for the iteration. A rigid one has six
// unknowns, its turn and its translation.
struct DenseBody {
    Mat12 matrix;
    solve::FixedCholesky<12> factor;
    Mat6 rigid_matrix;
    solve::FixedCholesky<6> rigid_factor;
    Mat34 force = Mat34::Zero();  // of the contacts at the iterate, world frame
    bool rigid = false;

    Mat34 apply_inverse(const Mat3& rotation, const Mat34& load) const;  // increments as apply() gives them
    // L^-1 J^T of a material point: the products of two of them are compliances. Rigid bodies leave the last six rows zero.
    Reduced reduced(const Vec3& point) const;
};

// What joints and drives did to a rigid body beyond its inertia in the last step: they will do about the same in the next.
struct JointMove {
    Vec3 shift = Vec3::Zero();  // m
    Vec3 turn = Vec3::Zero();   // rotation vector in the body's frame
    double eta = 0.0;           // of that step; 0: not known
};

struct BodyField {
    // per body
    std::vector<Mat34> x;         // the iterate; static and scripted bodies hold their pose at the step's end
    std::vector<Mat34> target;    // q~: where inertia and given forces alone would take the body
    std::vector<Mat34> dq;        // increment: affine part F in the body's turned frame (dA = R F), then dt
    std::vector<Mat34> coupling;  // force of elastic solids on the body; empty without such
    std::vector<Mat34> unbalanced;  // force that is left at the iterate, joints and contacts included
    std::vector<Mat3> rotation;
    std::vector<Mat3>
        stress;  // V P: of the strain, or for rigid bodies of the forces at the last linearisation
    std::vector<Mat3> force_stress;     // rigid bodies: of the forces now, for the next linearisation
    std::vector<Mat3> load_turn;        // given torques' share of the targets; empty without such
    std::vector<JointMove> joint_move;  // of rigid bodies; empty without such
    std::vector<Mat3> predicted;        // rotation without it
    std::vector<int> kind;
    std::vector<char> moving;  // dynamic
    std::vector<char> euler;   // this step by implicit Euler, whatever the integrator
    std::vector<int> dense;    // index into dense_bodies, or -1

    std::vector<BodyKind> kinds;
    std::vector<KindMatrix> matrices[2];  // per kind: for the integrator's eta, and for implicit Euler's
    std::vector<DenseBody> dense_bodies;
    bool polar_free = false;  // the paper's normalisation instead of the polar decomposition
    double gravity = 0.0;     // m/s^2, size

    const KindMatrix& matrix(int body) const { return matrices[static_cast<int>(euler[body])][kind[body]]; }
    double eta(int body) const { return etas[static_cast<int>(euler[body])]; }
    double etas[2] = {0.0, 0.0};

    // Of inertia, given forces, elasticity and contacts with colliders; not of joints.
    Mat34 force(int body) const {
        Mat34 f = body_force(matrix(body), x[body], target[body], rotation[body], stress[body]);
        if (dense[body] >= 0) f += dense_bodies[dense[body]].force;
        if (!coupling.empty()) f += coupling[body];
        return f;
    }
    BodyInverse inverse(int body) const { return make_body_inverse(matrix(body), stress[body]); }
    // H^-1 force, where `inverse` is inverse(body).
    Mat34 apply_inverse(int body, const BodyInverse& inverse, const Mat34& force) const {
        if (dense[body] < 0) return apply(inverse, rotation[body], force);
        return dense_bodies[dense[body]].apply_inverse(rotation[body], force);
    }
    // How an increment moves a point of the body.
    Vec3 moved_point(int body, const Mat34& increment, const Vec3& point) const {
        return product(rotation[body], product(linear_part(increment), point)) + increment.col(3);
    }
};

// J(x) H^-1 J(y)^T of such a body, in the world frame.
Mat3 dense_compliance(const DenseBody& dense, const Mat3& rotation, const Vec3& x, const Vec3& y);
inline Mat3 compliance(const Reduced& x, const Reduced& y) {  // in the body's frame
    return x.transpose().lazyProduct(y);
}
inline Mat3 in_world(const Mat3& of_body, const Mat3& rotation) {
    return product_right_transposed(product(rotation, of_body), rotation);
}

// How far an iterate is from the step's solution.
struct Balance {
    double gap = 0.0;           // largest violation of joints, m or rad
    double relative_gap = 0.0;  // the same, metres over the size of the joint's bodies
    double force = 0.0;         // largest force out of balance, N (torques over the radius of gyration)
    double scale = 0.0;         // largest force at work
    double branch = 0.0;        // largest force by which a bounded constraint misses its law, N or N m
    bool consistent = true;     // bounded constraints are on the branches that forces and coordinates ask for

    // What is not finite is no iterate to go on from.
    void give_up() {
        force = std::numeric_limits<double>::infinity();
        consistent = false;
    }

    void add(const Balance& other) {
        gap = std::max(gap, other.gap);
        relative_gap = std::max(relative_gap, other.relative_gap);
        force = std::max(force, other.force);
        scale = std::max(scale, other.scale);
        branch = std::max(branch, other.branch);
        consistent = consistent && other.consistent;
    }
};

// Enters what is left of all forces on a body, `unbalanced`, into the balance; keeps the stress of rigid bodies' forces.
void judge(BodyField& field, int body, const Mat34& unbalanced, Balance& balance);
// Enters a joint's force on a body: it counts in the scale.
void judge_joint_force(const BodyField& field, int body, const Mat34& force, Balance& balance);

// An increment with its affine part turned into the world's frame: dA = R F.
inline Mat34 in_world(const Mat34& increment, const Mat3& rotation) {
    Mat34 out = increment;
    set_linear_part(out, product(rotation, linear_part(increment)));
    return out;
}

// What a pass over bodies found.
struct FieldReport {
    double strain = 0.0;  // largest entry of |S - I|
    double turn = 0.0;    // largest turn of an increment, rad
    int fallbacks = 0;    // polar decompositions by singular values
    bool finite = true;
};

// Rotation and stress of poses that did not come from increments.
FieldReport refresh(BodyField& field, const std::vector<int>& bodies);

// Moves the bodies by `length` times their increments, turning by rotations (see retract).
FieldReport move(BodyField& field, const std::vector<int>& bodies, double length = 1.0);

// The step begins from the rigidly extrapolated pose: turned, strain and all, to where inertia and given torques would take
// each body, and `with_joints` by what joints did to it in the last step. A solve from there only has to find what changed.
void predict(BodyField& field, const std::vector<int>& bodies, bool with_joints);

// Keeps what joints did, from the prediction to the iterate.
void remember_joint_moves(BodyField& field, const std::vector<int>& bodies);

// The stress of rigid bodies for the linearisation at hand.
void take_force_stress(BodyField& field, const std::vector<int>& bodies);

}  // namespace tenon::articulated

// Inverse kinematics by damped least squares.
#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "math/rotation.hpp"
#include "tenon/link_tree.hpp"

namespace tenon::kinematics {
namespace {

// Weighted residual, and the largest unweighted entry as its error.
struct Residual {
    VecX r;
    double error = 0.0;
};

Residual residual(const Frames& frames, const std::vector<Target>& targets, double length) {
    Residual out;
    int rows = 0;
    for (const Target& target : targets) rows += target.rotation ? 6 : 3;
    out.r.resize(rows);
    int row = 0;
    for (const Target& target : targets) {
        const Vec3 e = target.position - point_of(frames, target.link, target.point);
        out.error = std::max(out.error, e.norm());
        out.r.segment<3>(row) = target.weight * e;
        row += 3;
        if (!target.rotation) continue;
        const Vec3 turn = logarithm_map(
            *target.rotation * Quat(frames.rotation[static_cast<std::size_t>(target.link)]).conjugate());
        out.error = std::max(out.error, turn.norm());
        out.r.segment<3>(row) = target.weight * length * turn;
        row += 3;
    }
    return out;
}

MatX target_jacobian(const Tree& tree, const Frames& frames, const std::vector<Target>& targets,
                     double length, Eigen::Index rows) {
    MatX J(rows, tree.freedoms);
    int row = 0;
    for (const Target& target : targets) {
        const MatX own = jacobian(tree, frames, target.link, target.point);
        J.middleRows<3>(row) = target.weight * own.topRows<3>();
        row += 3;
        if (!target.rotation) continue;
        J.middleRows<3>(row) = target.weight * length * own.bottomRows<3>();
        row += 3;
    }
    return J;
}

void clamp_to_limits(const Tree& tree, VecX& q) {
    for (const Link& link : tree.links)
        if (link.limits && position_count(link.motion) == 1)
            q[link.q] = std::clamp(q[link.q], (*link.limits)[0], (*link.limits)[1]);
}

// Joints at a limit whose gradient pushes them on take no part in the step.
std::vector<char> held_joints(const Tree& tree, const VecX& q, const VecX& gradient) {
    std::vector<char> held(static_cast<std::size_t>(tree.freedoms), 0);
    for (const Link& link : tree.links) {
        if (!link.limits || position_count(link.motion) != 1) continue;
        const double g = gradient[link.v];
        held[static_cast<std::size_t>(link.v)] =
            (q[link.q] <= (*link.limits)[0] && g < 0) || (q[link.q] >= (*link.limits)[1] && g > 0);
    }
    return held;
}

// (J^T J + d s I)^-1 J^T r, s the largest entry of the diagonal of J^T J; where there are fewer rows than freedoms the same
// as J^T (J J^T + d s I)^-1 r.
VecX damped_step(const MatX& J, const VecX& r, double damping) {
    const double shift = damping * std::max(J.colwise().squaredNorm().maxCoeff(), 1e-300);
    if (J.rows() < J.cols()) {
        MatX G = J * J.transpose();
        G.diagonal().array() += shift;
        return J.transpose() * G.ldlt().solve(r);
    }
    MatX H = J.transpose() * J;
    H.diagonal().array() += shift;
    return H.ldlt().solve(J.transpose() * r);
}

}  // namespace

InverseResult inverse_kinematics(const Tree& tree, const std::vector<Target>& targets, const VecX& start,
                                 const InverseOptions& options) {
    InverseResult result;
    result.q = start;
    clamp_to_limits(tree, result.q);
    Frames frames = forward(tree, result.q);
    Residual now = residual(frames, targets, options.rotation_length);
    double damping = 1e-3;  // Levenberg-Marquardt: shrinks while steps succeed
    for (; result.iterations < options.iterations && now.error > options.tolerance; ++result.iterations) {
        MatX J = target_jacobian(tree, frames, targets, options.rotation_length, now.r.size());
        const std::vector<char> held = held_joints(tree, result.q, J.transpose() * now.r);
        for (int k = 0; k < tree.freedoms; ++k)
            if (held[static_cast<std::size_t>(k)]) J.col(k).setZero();
        const VecX gradient = J.transpose() * now.r;
        if (gradient.norm() < 1e-14 * (1 + now.r.norm())) break;
        VecX trial = integrate(tree, result.q, damped_step(J, now.r, damping), 1.0);
        clamp_to_limits(tree, trial);
        Frames moved = forward(tree, trial);
        Residual next = residual(moved, targets, options.rotation_length);
        if (next.r.squaredNorm() < now.r.squaredNorm()) {
            result.q = std::move(trial);
            frames = std::move(moved);
            now = std::move(next);
            damping = std::max(damping * 0.2, 1e-14);
        } else {
            damping *= 5;
            if (damping > 1e8) break;
        }
    }
    result.error = now.error;
    result.converged = now.error <= options.tolerance;
    return result;
}

}  // namespace tenon::kinematics

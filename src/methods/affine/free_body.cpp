#include "methods/affine/free_body.hpp"

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace tenon::affine {
namespace {

constexpr double step_tolerance = 1e-12;  // of the relative increment F

// In the body's own frame, dA = A F, the Hessian of the orthogonality potential at small strain decouples into
// three numbers (stretch) and three 2x2 blocks (F_ij, F_ji); only the off-diagonal part of the strain is left out.
// Determinants are expanded: subtracting squares of the stiffness would lose the inertia in round-off.
Mat3 decoupled_step(const Mat3& A, const Mat3& target, const Vec3& moments, double weight) {
    const Mat3 C = strain(A);
    const Mat3 gradient = A.transpose() * (A - target) * moments.asDiagonal() + 4.0 * weight * (C + C * C);
    const Vec3 a = moments + 4.0 * weight * C.diagonal();
    Mat3 F;
    for (int i = 0; i < 3; ++i) {
        F(i, i) = -gradient(i, i) / (a[i] + 8.0 * weight);
        const int j = (i + 1) % 3;
        const double k = 4.0 * weight;
        const double bi = -gradient(i, j), bj = -gradient(j, i);
        const double det = a[i] * a[j] + k * (a[i] + a[j]);
        F(i, j) = (k * (bi - bj) + a[i] * bi) / det;
        F(j, i) = (k * (bj - bi) + a[j] * bj) / det;
    }
    return F;
}

FreeSolve decoupled_solve(const Mat34& q, const Mat34& target, const Inertia& inertia, double weight) {
    FreeSolve out{q, 0, false};
    Mat3 A = q.leftCols<3>();
    for (; out.iterations < 25; ++out.iterations) {
        const Mat3 F = decoupled_step(A, target.leftCols<3>(), inertia.moments, weight);
        const double size = F.cwiseAbs().maxCoeff();
        if (!(size < 0.5)) break;
        A += A * F;
        if (size > step_tolerance) continue;
        out.q.leftCols<3>() = A;
        out.q.col(3) = target.col(3);
        out.converged = true;
        break;
    }
    return out;
}

double objective(const Mat34& q, const Mat34& target, const Inertia& inertia, double weight,
                 RigidityModel model) {
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) sum += 0.5 * inertia.of_column(k) * (q.col(k) - target.col(k)).squaredNorm();
    return sum + weight * rigidity_energy(model, q.leftCols<3>());
}

// Newton direction; increments are P y, and a unit part keeps the matrix definite where P vanishes.
Vec12 newton_direction(const Mat34& q, const Mat34& target, const Inertia& inertia, double weight,
                       RigidityModel model, const Mat12* projection) {
    const Mat3 A = q.leftCols<3>();
    Mat34 gradient = q - target;
    for (int k = 0; k < 4; ++k) gradient.col(k) *= inertia.of_column(k);
    gradient.leftCols<3>() += weight * rigidity_gradient(model, A);
    Mat12 H = Mat12::Zero();
    H.topLeftCorner<9, 9>() = weight * rigidity_hessian(model, A, true);
    for (int k = 0; k < 12; ++k) H(k, k) += inertia.of_column(k / 3);
    Vec12 g = Eigen::Map<const Vec12>(gradient.data());
    if (projection) {
        H = (*projection * H * *projection + inertia.mass * (Mat12::Identity() - *projection)).eval();
        g = (*projection * g).eval();
    }
    Vec12 d = -H.ldlt().solve(g);
    if (projection) d = (*projection * d).eval();
    return d;
}

// Projected Newton with backtracking: any energy, any spin.
FreeSolve newton(const Mat34& start, const Mat34& target, const Inertia& inertia, double weight,
                 RigidityModel model, const Mat12* projection) {
    FreeSolve out{start, 0, false};
    double value = objective(out.q, target, inertia, weight, model);
    // Round-off of the stiff gradient, seen through the soft inertia of rotations.
    const double tolerance = step_tolerance + 1e-15 * weight / inertia.moments.minCoeff();
    for (; out.iterations < 200 && !out.converged; ++out.iterations) {
        const Vec12 d = newton_direction(out.q, target, inertia, weight, model, projection);
        const Mat34 step = Eigen::Map<const Mat34>(d.data());
        out.converged = step.leftCols<3>().cwiseAbs().maxCoeff() < tolerance;
        const double noise = 1e-13 * (std::abs(value) + weight);
        double length = 1.0;
        for (; length > 1e-12; length *= 0.5) {
            Mat34 trial = retract(out.q, step, length);
            if (projection) {
                const Mat34 moved = trial - out.q;
                const Vec12 held = *projection * Eigen::Map<const Vec12>(moved.data());
                trial = out.q + Eigen::Map<const Mat34>(held.data());
            }
            if (trial.leftCols<3>().determinant() <= 0.0) continue;
            const double trial_value = objective(trial, target, inertia, weight, model);
            if (trial_value > value + noise) continue;
            value = trial_value;
            out.q = trial;
            break;
        }
        if (length <= 1e-12) break;
    }
    return out;
}

}  // namespace

FreeSolve solve_free_body(const Mat34& q, const Mat34& target, const Inertia& inertia, double weight,
                          RigidityModel model) {
    if (model == RigidityModel::orthogonality) {
        FreeSolve solve = decoupled_solve(q, target, inertia, weight);
        if (solve.converged) return solve;
        // Turned too far in one step: start from the minimiser of the rigid limit.
        Mat34 rigid = q;
        rigid.leftCols<3>() = nearest_rotation(target.leftCols<3>() * inertia.moments.asDiagonal());
        solve = decoupled_solve(rigid, target, inertia, weight);
        if (solve.converged) return solve;
    }
    return newton(q, target, inertia, weight, model, nullptr);
}

FreeSolve solve_held_body(const Mat34& q, const Mat34& target, const Inertia& inertia, double weight,
                          RigidityModel model, const Mat12& projection) {
    return newton(q, target, inertia, weight, model, &projection);
}

}  // namespace tenon::affine

#include "solve/cone_newton.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "math/interrupt.hpp"

namespace tenon::solve {
namespace {

using Vec2 = Eigen::Vector2d;
using Mat2 = Eigen::Matrix2d;

constexpr int kHalvings = 8, kSweeps = 50;
constexpr double kRegularisation =
    1e-11;  // of the diagonal: contacts between the same two bodies depend on each other

// One scale for both tangents, so that the disc stays a disc.
double tangent_scale(const ConeProblem& p, int k) {
    return std::max(p.matrix(3 * k + 1, 3 * k + 1), p.matrix(3 * k + 2, 3 * k + 2));
}

bool presses(const ConeProblem& p, int k, const VecX& x, const VecX& w) {
    const double d = p.matrix(3 * k, 3 * k);
    return d > 0 && x[3 * k] - w[3 * k] / d > 0;
}

Vec2 projected(const ConeProblem& p, const Vec2& aim, double limit) {
    if (p.pyramid) return aim.cwiseMin(limit).cwiseMax(-limit);
    return aim.norm() > limit ? Vec2(limit / aim.norm() * aim) : aim;
}

// Where the tangents of a contact would go with the others held.
Vec2 tangent_aim(const ConeProblem& p, int k, const VecX& x, const VecX& w) {
    return x.segment<2>(3 * k + 1) - w.segment<2>(3 * k + 1) / tangent_scale(p, k);
}

class Step {
  public:
    Step(const ConeProblem& problem, const VecX& x, const VecX& w) : p_(problem), x_(x), w_(w) {
        for (int k = 0; k < p_.contacts(); ++k)
            if (presses(p_, k, x, w)) active_.push_back(k);
    }

    // Towards the solution of the conditions linearised at x; contacts that do not press lose their impulse.
    VecX direction() {
        VecX rest = -x_;
        for (int k : active_) rest.segment<3>(3 * k).setZero();
        const VecX w = w_ + p_.matrix * rest;
        const int size = 3 * static_cast<int>(active_.size());
        MatX matrix(size, size);
        VecX right(size);
        for (int a = 0; a < size / 3; ++a) add_contact(a, w, matrix, right);
        VecX result = rest;
        if (size == 0) return result;
        const VecX found = matrix.partialPivLu().solve(right);
        for (int a = 0; a < size / 3; ++a) result.segment<3>(3 * active_[a]) = found.segment<3>(3 * a);
        return result;
    }

  private:
    void add_contact(int a, const VecX& w, MatX& matrix, VecX& right) const {
        const int k = active_[a], rows = static_cast<int>(active_.size());
        for (int b = 0; b < rows; ++b)
            matrix.block<3, 3>(3 * a, 3 * b) = p_.matrix.block<3, 3>(3 * k, 3 * active_[b]);
        right.segment<3>(3 * a) = -w.segment<3>(3 * k);
        for (int i = 3 * a; i < 3 * a + 3; ++i) matrix(i, i) *= 1 + kRegularisation;
        const double scale = tangent_scale(p_, k), limit = p_.friction[k] * std::max(0.0, x_[3 * k]);
        if (!(scale > 0)) return;
        const Vec2 aim = tangent_aim(p_, k, x_, w_), next = projected(p_, aim, limit);
        if (next == aim) return;  // sticks: no velocity along the tangents
        // slides, scale (x_t - mu x_n along) = 0; `turning` is how the projection follows the aim
        Vec2 along = aim / aim.norm();
        Mat2 turning = limit / aim.norm() * (Mat2::Identity() - along * along.transpose());
        if (p_.pyramid) {
            turning.setZero();
            for (int t = 0; t < 2; ++t) {
                turning(t, t) = next[t] == aim[t] ? 1 : 0;
                along[t] = next[t] == aim[t] ? 0 : std::copysign(1.0, aim[t]);
            }
        }
        auto tangents = matrix.block(3 * a + 1, 0, 2, 3 * static_cast<int>(active_.size()));
        tangents = (turning * tangents).eval();
        tangents.block<2, 2>(0, 3 * a + 1) += scale * (Mat2::Identity() - turning);
        tangents.col(3 * a) -= scale * p_.friction[k] * along;
        right.segment<2>(3 * a + 1) = -scale * (x_.segment<2>(3 * k + 1) - next) -
                                      turning * (w.segment<2>(3 * k + 1) - w_.segment<2>(3 * k + 1));
    }

    const ConeProblem& p_;
    const VecX& x_;
    const VecX& w_;
    std::vector<int> active_;
};

}  // namespace

// Projected Gauss-Seidel, contact by contact.
void sweep(const ConeProblem& p, VecX& x, VecX& w) {
    for (int k = 0; k < p.contacts(); ++k) {
        const double d = p.matrix(3 * k, 3 * k), scale = tangent_scale(p, k);
        if (d > 0) {
            const double change = std::max(0.0, x[3 * k] - w[3 * k] / d) - x[3 * k];
            x[3 * k] += change;
            w += change * p.matrix.col(3 * k);
        }
        if (!(scale > 0)) continue;
        const Vec2 change =
            projected(p, tangent_aim(p, k, x, w), p.friction[k] * x[3 * k]) - x.segment<2>(3 * k + 1);
        x.segment<2>(3 * k + 1) += change;
        w += p.matrix.middleCols<2>(3 * k + 1) * change;
    }
}

double cone_residual(const ConeProblem& p, const VecX& x, const VecX& w) {
    double worst = 0;
    for (int k = 0; k < p.contacts(); ++k) {
        const double d = p.matrix(3 * k, 3 * k), scale = tangent_scale(p, k);
        if (d > 0) worst = std::max(worst, d * std::abs(x[3 * k] - std::max(0.0, x[3 * k] - w[3 * k] / d)));
        if (!(scale > 0)) continue;
        const double limit = p.friction[k] * std::max(0.0, x[3 * k]);
        const Vec2 next = projected(p, tangent_aim(p, k, x, w), limit);
        worst = std::max(worst, scale * (x.segment<2>(3 * k + 1) - next).norm());
    }
    return worst;
}

ConeNewtonResult solve_cone_newton(const ConeProblem& problem, int max_iterations, double tolerance,
                                   VecX& x) {
    ConeNewtonResult result;
    VecX at = x, w = problem.matrix * x + problem.free;
    result.residual = cone_residual(problem, x, w);
    double here = result.residual;
    while (result.iterations < max_iterations && !(result.residual <= tolerance)) {
        check_interrupt();
        ++result.iterations;
        const VecX direction = Step(problem, at, w).direction();
        if (!direction.allFinite()) break;
        const VecX change = problem.matrix * direction;
        double length = 1;
        VecX trial = at + direction, trial_w = w + change;
        double there = cone_residual(problem, trial, trial_w);
        for (int halving = 0; halving < kHalvings && !(there < here); ++halving) {
            length *= 0.5;
            trial = at + length * direction;
            trial_w = w + length * change;
            there = cone_residual(problem, trial, trial_w);
        }
        if (!(there < here)) {  // at a kink: sweeps lead off it
            trial = at;
            trial_w = w;
            for (int k = 0; k < kSweeps; ++k) sweep(problem, trial, trial_w);
            there = cone_residual(problem, trial, trial_w);
        }
        at = trial;
        w = trial_w;
        here = there;
        if (there < result.residual) {
            result.residual = there;
            x = at;
        }
    }
    result.converged = result.residual <= tolerance;
    return result;
}

}  // namespace tenon::solve

#include "solve/cone_newton.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "math/interrupt.hpp"

namespace tenon::solve {
namespace {

using Vec2 = Eigen::Vector2d;
using Mat2 = Eigen::Matrix2d;

constexpr int kHalvings = 8, kSweeps = 50;
constexpr int kPanel = 48;  // rows of an LU's diagonal blocks
constexpr double kTrusted =
    1e-9;  // residual over right side of an LU that seeks pivots near the diagonal only
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

// Contacts so that those that act on each other are near each other (Cuthill and McKee 1969).
class NearOrder {
  public:
    explicit NearOrder(const ConeProblem& problem) : neighbours_(problem.contacts()) {
        const int contacts = problem.contacts();
        for (int b = 0; b < contacts; ++b)
            for (int a = 0; a < b; ++a)
                if (!problem.matrix.block<3, 3>(3 * a, 3 * b).isZero(0.0)) {
                    neighbours_[a].push_back(b);
                    neighbours_[b].push_back(a);
                }
        std::vector<char> reached(contacts, 0);
        for (int k = 0; k < contacts; ++k) {
            if (reached[k]) continue;
            std::vector<char> tried = reached;
            const int end = visit(k, tried);
            order_.resize(order_.size() - tried_);
            visit(end, reached);
        }
    }

    const std::vector<int>& order() const { return order_; }
    const std::vector<int>& neighbours(int contact) const { return neighbours_[contact]; }

  private:
    // Appends what hangs together with `first`, nearest first; returns the farthest.
    int visit(int first, std::vector<char>& reached) {
        const std::size_t begin = order_.size();
        order_.push_back(first);
        reached[first] = 1;
        std::vector<int> next;
        for (std::size_t head = begin; head < order_.size(); ++head) {
            next.clear();
            for (int n : neighbours_[order_[head]])
                if (!reached[n]) next.push_back(n);
            std::sort(next.begin(), next.end(), [&](int a, int b) {
                return std::pair(neighbours_[a].size(), a) < std::pair(neighbours_[b].size(), b);
            });
            for (int n : next) reached[n] = 1;
            order_.insert(order_.end(), next.begin(), next.end());
        }
        tried_ = order_.size() - begin;
        return order_.back();
    }

    std::vector<std::vector<int>> neighbours_;
    std::vector<int> order_;
    std::size_t tried_ = 0;  // contacts of the last visit
};

// LU without what lies outside the envelope: before `end[i]` are all columns and rows that i or those before it meet.
// Pivots are sought within diagonal blocks only; `matrix` is destroyed, `right` leaves as the solution.
void solve_envelope(const std::vector<int>& end, MatX& matrix, VecX& right) {
    const int size = static_cast<int>(right.size());
    for (int from = 0; from < size; from += kPanel) {
        const int count = std::min(kPanel, size - from), to = from + count, rest = end[to - 1] - to;
        auto pivot = matrix.block(from, from, count, count);
        const Eigen::PartialPivLU<MatX> lu(pivot);
        pivot = lu.matrixLU();
        const auto lower = pivot.triangularView<Eigen::UnitLower>();
        right.segment(from, count) = lu.permutationP() * right.segment(from, count).eval();
        lower.solveInPlace(right.segment(from, count));
        if (rest == 0) continue;
        auto across = matrix.block(from, to, count, rest);
        auto down = matrix.block(to, from, rest, count);
        across = lu.permutationP() * across.eval();
        lower.solveInPlace(across);
        pivot.triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(down);
        matrix.block(to, to, rest, rest).noalias() -= down * across;
        right.segment(to, rest).noalias() -= down * right.segment(from, count);
    }
    for (int from = (size - 1) / kPanel * kPanel; from >= 0; from -= kPanel) {
        const int count = std::min(kPanel, size - from), to = from + count, rest = end[to - 1] - to;
        if (rest > 0)
            right.segment(from, count).noalias() -=
                matrix.block(from, to, count, rest) * right.segment(to, rest);
        matrix.block(from, from, count, count)
            .triangularView<Eigen::Upper>()
            .solveInPlace(right.segment(from, count));
    }
}

class Step {
  public:
    Step(const ConeProblem& problem, const VecX& x, const VecX& w, const NearOrder* near)
        : p_(problem), x_(x), w_(w), near_(near) {
        for (int i = 0; i < p_.contacts(); ++i) {
            const int k = near ? near->order()[i] : i;
            if (presses(p_, k, x, w)) active_.push_back(k);
        }
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
        const VecX found = solved(matrix, right);
        for (int a = 0; a < size / 3; ++a) result.segment<3>(3 * active_[a]) = found.segment<3>(3 * a);
        return result;
    }

  private:
    VecX solved(const MatX& matrix, const VecX& right) const {
        if (near_) {
            MatX work = matrix;
            VecX found = right;
            solve_envelope(envelope(), work, found);
            const double scale = right.lpNorm<Eigen::Infinity>();
            if ((right - matrix * found).lpNorm<Eigen::Infinity>() <= kTrusted * scale) return found;
        }
        return matrix.partialPivLu().solve(right);
    }

    std::vector<int> envelope() const {
        const int rows = static_cast<int>(active_.size());
        std::vector<int> place(p_.contacts(), -1), end(3 * active_.size());
        for (int a = 0; a < rows; ++a) place[active_[a]] = a;
        for (int a = 0, last = 0; a < rows; ++a) {
            last = std::max(last, a);
            for (int n : near_->neighbours(active_[a])) last = std::max(last, place[n]);
            for (int i = 3 * a; i < 3 * a + 3; ++i) end[i] = 3 * last + 3;
        }
        return end;
    }

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
    const NearOrder* near_;
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
    std::optional<NearOrder> near;
    while (result.iterations < max_iterations && !(result.residual <= tolerance)) {
        check_interrupt();
        ++result.iterations;
        if (problem.scattered && !near) near.emplace(problem);
        const VecX direction = Step(problem, at, w, near ? &*near : nullptr).direction();
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

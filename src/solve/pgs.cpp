#include "solve/pgs.hpp"
#include "math/interrupt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tenon::solve {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double row_dot(const PgsProblem& p, int row, const std::vector<double>& v) {
    double sum = 0;
    for (int k = p.j_start[row]; k < p.j_start[row + 1]; ++k) sum += p.j_value[k] * v[p.j_index[k]];
    return sum;
}

// J_i B_i: entries of both patterns that share a column. `work`: as long as v.
double row_diagonal(const PgsProblem& p, int row, std::vector<double>& work) {
    double sum = p.compliance[row];
    for (int k = p.j_start[row]; k < p.j_start[row + 1]; ++k) work[p.j_index[k]] = 0;
    for (int l = p.b_start[row]; l < p.b_start[row + 1]; ++l) work[p.b_index[l]] = p.b_value[l];
    for (int k = p.j_start[row]; k < p.j_start[row + 1]; ++k) sum += p.j_value[k] * work[p.j_index[k]];
    return sum;
}

double slack(const PgsProblem& p, int row, const std::vector<double>& x, const std::vector<double>& v) {
    return row_dot(p, row, v) + p.compliance[row] * x[row] - p.target[row];
}

std::pair<double, double> bounds(const PgsProblem& p, int row, const std::vector<double>& x) {
    if (p.normal_row[row] < 0) return {p.lower[row], p.upper[row]};
    const double limit = p.friction[row] * std::max(0.0, x[p.normal_row[row]]);
    return {-limit, limit};
}

double residual_with(const PgsProblem& p, const std::vector<double>& diagonal, const std::vector<double>& x,
                     const std::vector<double>& v) {
    double worst = 0;
    for (int i = 0; i < p.rows(); ++i) {
        const double d = diagonal[i];
        if (!(d > 0) || p.cone[i] == 2) continue;
        if (p.cone[i] == 0) {
            const auto [lo, hi] = bounds(p, i, x);
            const double w = slack(p, i, x, v);
            worst = std::max(worst, d * std::abs(x[i] - std::clamp(x[i] - w / d, lo, hi)));
            continue;
        }
        const double limit = p.friction[i] * std::max(0.0, x[p.normal_row[i]]);
        const Vec2 now(x[i], x[i + 1]);
        Vec2 next = now - Vec2(slack(p, i, x, v), slack(p, i + 1, x, v)) / d;
        if (next.norm() > limit) next *= limit / next.norm();
        worst = std::max(worst, d * (now - next).norm());
    }
    return worst;
}

}  // namespace

void PgsProblem::clear() {
    j_start.assign(1, 0);
    b_start.assign(1, 0);
    for (auto* v : {&j_index, &b_index, &normal_row}) v->clear();
    for (auto* v : {&j_value, &b_value, &target, &compliance, &lower, &upper, &friction}) v->clear();
    cone.clear();
}

int PgsProblem::add_row(double row_target, double row_compliance, double row_lower, double row_upper) {
    target.push_back(row_target);
    compliance.push_back(row_compliance);
    lower.push_back(row_lower);
    upper.push_back(row_upper);
    normal_row.push_back(-1);
    friction.push_back(0.0);
    cone.push_back(0);
    return rows() - 1;
}

int PgsProblem::add_friction_row(double row_target, double row_compliance, int normal, double mu) {
    const int row = add_row(row_target, row_compliance, -infinity, infinity);
    normal_row[row] = normal;
    friction[row] = mu;
    return row;
}

int PgsProblem::add_cone(double target_1, double target_2, double row_compliance, int normal, double mu) {
    const int row = add_friction_row(target_1, row_compliance, normal, mu);
    add_friction_row(target_2, row_compliance, normal, mu);
    cone[row] = 1;
    cone[row + 1] = 2;
    return row;
}

void PgsProblem::fill_row(int row, const std::vector<int>& columns, const std::vector<double>& J,
                          const std::vector<int>& b_columns, const std::vector<double>& B) {
    if (row != static_cast<int>(j_start.size()) - 1) throw std::logic_error("rows must be filled in order");
    j_index.insert(j_index.end(), columns.begin(), columns.end());
    j_value.insert(j_value.end(), J.begin(), J.end());
    b_index.insert(b_index.end(), b_columns.begin(), b_columns.end());
    b_value.insert(b_value.end(), B.begin(), B.end());
    j_start.push_back(static_cast<int>(j_index.size()));
    b_start.push_back(static_cast<int>(b_index.size()));
}

void Pgs::prepare(const PgsProblem& problem, std::size_t unknowns) {
    if (static_cast<int>(problem.j_start.size()) != problem.rows() + 1)
        throw std::logic_error("every row of the complementarity problem must be filled");
    diagonal_.resize(problem.rows());
    runs_.clear();
    run_start_.assign(1, 0);
    for (int i = 0; i < problem.rows(); ++i) {
        for (int k = problem.b_start[i]; k < problem.b_start[i + 1]; ++k) {
            const bool goes_on = k > problem.b_start[i] && problem.b_index[k] == problem.b_index[k - 1] + 1;
            if (!goes_on) runs_.push_back({k, problem.b_index[k], 0});
            ++runs_.back().count;
        }
        run_start_.push_back(static_cast<int>(runs_.size()));
    }
    work_.resize(unknowns);
    for (int i = 0; i < problem.rows(); ++i) diagonal_[i] = row_diagonal(problem, i, work_);
}

void Pgs::add_column(const PgsProblem& p, int row, double amount, std::vector<double>& v) const {
    for (int k = run_start_[row]; k < run_start_[row + 1]; ++k) {
        const Run& run = runs_[k];
        Eigen::Map<VecX>(v.data() + run.to, run.count) +=
            amount * Eigen::Map<const VecX>(p.b_value.data() + run.from, run.count);
    }
}

void Pgs::relax_row(const PgsProblem& p, int row, double relaxation, std::vector<double>& x,
                    std::vector<double>& v) const {
    if (!(diagonal_[row] > 0)) return;  // nothing this row could move
    const auto [lo, hi] = bounds(p, row, x);
    const double next = std::clamp(x[row] - relaxation * slack(p, row, x, v) / diagonal_[row], lo, hi);
    add_column(p, row, next - x[row], v);
    x[row] = next;
}

// Both tangents with one common step length: the disc is round, so the projection keeps the direction.
void Pgs::relax_cone(const PgsProblem& p, int row, double relaxation, std::vector<double>& x,
                     std::vector<double>& v) const {
    const double d = std::max(diagonal_[row], diagonal_[row + 1]);
    if (!(d > 0)) return;
    const double limit = p.friction[row] * std::max(0.0, x[p.normal_row[row]]);
    double t1 = x[row] - relaxation * slack(p, row, x, v) / d;
    double t2 = x[row + 1] - relaxation * slack(p, row + 1, x, v) / d;
    const double length = std::hypot(t1, t2);
    if (length > limit) {
        const double shrink = limit / length;
        t1 *= shrink;
        t2 *= shrink;
    }
    add_column(p, row, t1 - x[row], v);
    add_column(p, row + 1, t2 - x[row + 1], v);
    x[row] = t1;
    x[row + 1] = t2;
}

// Goes on along what sweeps have done before; starts afresh when their steps grow. What leaves its bounds so is put back by the
// next sweep.
void Pgs::extrapolate(std::vector<double>& x, std::vector<double>& v) {
    double squared = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        squared += diagonal_[i] * (x[i] - from_x_[i]) * (x[i] - from_x_[i]);
    const double beta = last_squared_ > 0 ? squared / last_squared_ : 2.0;
    const auto go_on = [&](std::vector<double>& now, std::vector<double>& from, std::vector<double>& along) {
        for (std::size_t i = 0; i < now.size(); ++i) {
            const double swept = now[i] - from[i], before = beta > 1 ? 0.0 : beta * along[i];
            now[i] += before;
            along[i] = swept + before;
            from[i] = now[i];
        }
    };
    go_on(x, from_x_, along_x_);
    go_on(v, from_v_, along_v_);
    last_squared_ = squared;
}

PgsResult Pgs::solve(const PgsProblem& problem, const PgsSettings& settings, std::vector<double>& x,
                     std::vector<double>& v) {
    prepare(problem, v.size());
    const int n = problem.rows();
    if (static_cast<int>(x.size()) != n) x.assign(n, 0.0);
    for (int i = 0; i < n; ++i) {
        if (problem.normal_row[i] < 0) x[i] = std::clamp(x[i], problem.lower[i], problem.upper[i]);
        if (x[i] != 0) add_column(problem, i, x[i], v);
    }
    PgsResult result;
    auto relax = [&](int i) {
        if (problem.cone[i] == 1)
            relax_cone(problem, i, settings.relaxation, x, v);
        else if (problem.cone[i] == 0)
            relax_row(problem, i, settings.relaxation, x, v);
    };
    if (settings.conjugate) {
        from_x_ = x;
        from_v_ = v;
        along_x_.assign(x.size(), 0.0);
        along_v_.assign(v.size(), 0.0);
        last_squared_ = 0;
    }
    const int period = settings.symmetric ? 2 : 1;
    if (settings.check_first && settings.tolerance > 0) {
        result.residual = residual_with(problem, diagonal_, x, v);
        result.converged = result.residual <= settings.tolerance;
        if (result.converged) return result;
    }
    while (result.sweeps < settings.max_sweeps) {
        check_interrupt();
        if (settings.symmetric && result.sweeps % 2 == 1)
            for (int i = n - 1; i >= 0; --i) relax(i);
        else
            for (int i = 0; i < n; ++i) relax(i);
        ++result.sweeps;
        if (settings.tolerance > 0 && result.sweeps % std::max(1, settings.check_every) == 0 &&
            residual_with(problem, diagonal_, x, v) <= settings.tolerance)
            break;
        if (settings.conjugate && result.sweeps % period == 0 && result.sweeps < settings.max_sweeps)
            extrapolate(x, v);
    }
    result.residual = residual_with(problem, diagonal_, x, v);
    result.converged = result.residual <= settings.tolerance;
    return result;
}

double pgs_residual(const PgsProblem& problem, const std::vector<double>& x, const std::vector<double>& v) {
    std::vector<double> diagonal(problem.rows()), work(v.size());
    for (int i = 0; i < problem.rows(); ++i) diagonal[i] = row_diagonal(problem, i, work);
    return residual_with(problem, diagonal, x, v);
}

}  // namespace tenon::solve

#include "solve/block_pgs.hpp"
#include "math/interrupt.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tenon::solve {
namespace {

using Local = std::array<double, 3>;

// w of one block.
Local slack(const BlockLcp& p, int i, const std::vector<double>& x) {
    const int b = p.block;
    Local w{};
    for (int k = 0; k < b; ++k) w[k] = p.free[b * i + k];
    for (int e = p.start[i]; e < p.start[i + 1]; ++e) {
        const double* value = p.value.data() + static_cast<std::size_t>(e) * b * b;
        const double* other = x.data() + static_cast<std::size_t>(p.column[e]) * b;
        for (int k = 0; k < b; ++k)
            for (int l = 0; l < b; ++l) w[k] += value[b * k + l] * other[l];
    }
    return w;
}

double projected(const BlockLcp& p, int i, int row, double value, double normal) {
    if (row == 0) return std::max(0.0, value);
    const double limit = p.friction[i] * std::max(0.0, normal);
    return std::clamp(value, -limit, limit);
}

double violation(const BlockLcp& p, int i, const double* diagonal, const double* x, const Local& w) {
    double worst = 0;
    for (int k = 0; k < p.block; ++k) {
        const double d = diagonal[(p.block + 1) * k];
        if (d > 0) worst = std::max(worst, d * std::abs(x[k] - projected(p, i, k, x[k] - w[k] / d, x[0])));
    }
    return worst;
}

const double* diagonal_block(const BlockLcp& p, int i) {
    const auto begin = p.column.begin() + p.start[i], end = p.column.begin() + p.start[i + 1];
    const auto at = std::lower_bound(begin, end, i) - p.column.begin();
    return p.value.data() + static_cast<std::size_t>(at) * p.block * p.block;
}

// Rows of one block in turn until they agree; w follows x.
void solve_block(const BlockLcp& p, int i, const double* diagonal, double* x, Local& w) {
    constexpr int most = 20;
    const int b = p.block;
    for (int round = 0; round < (b == 1 ? 1 : most); ++round) {
        double moved = 0;
        for (int k = 0; k < b; ++k) {
            const double d = diagonal[(b + 1) * k];
            if (!(d > 0)) continue;
            const double change = projected(p, i, k, x[k] - w[k] / d, x[0]) - x[k];
            x[k] += change;
            for (int l = 0; l < b; ++l) w[l] += diagonal[b * l + k] * change;
            moved = std::max(moved, d * std::abs(change));
        }
        if (moved < 1e-14) break;
    }
}

// One sweep over all blocks; the largest violation met on the way.
double sweep(const BlockLcp& p, const std::vector<const double*>& diagonal, bool forward,
             std::vector<double>& x) {
    const int n = p.blocks();
    double worst = 0;
    for (int k = 0; k < n; ++k) {
        const int i = forward ? k : n - 1 - k;
        double* own = x.data() + static_cast<std::size_t>(i) * p.block;
        Local w = slack(p, i, x);
        worst = std::max(worst, violation(p, i, diagonal[i], own, w));
        solve_block(p, i, diagonal[i], own, w);
    }
    return worst;
}

// Whether the momentum now points against the last pair of sweeps, from y to x with `before` the x before: in the metric
// of the diagonal, which is that of the sweeps.
bool overshoots(const BlockLcp& p, const std::vector<const double*>& diagonal, const std::vector<double>& y,
                const std::vector<double>& x, const std::vector<double>& before) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
        sum += diagonal[k / p.block][(p.block + 1) * (k % p.block)] * (y[k] - x[k]) * (x[k] - before[k]);
    return sum > 0;
}

}  // namespace

PgsResult solve_block_pgs(const BlockLcp& problem, const BlockPgsSettings& settings, std::vector<double>& x) {
    const int n = problem.blocks();
    x.resize(static_cast<std::size_t>(n) * problem.block, 0.0);
    std::vector<const double*> diagonal(n);
    for (int i = 0; i < n; ++i) diagonal[i] = diagonal_block(problem, i);
    PgsResult result;
    result.converged = n == 0;
    if (n == 0) return result;
    std::vector<double> before = x, y;
    double weight = 1;
    while (result.sweeps < settings.max_sweeps) {
        check_interrupt();
        const double next = 0.5 * (1 + std::sqrt(1 + 4 * weight * weight));
        y = x;  // where the sweeps start from
        for (std::size_t k = 0; k < x.size(); ++k) y[k] += (weight - 1) / next * (x[k] - before[k]);
        before.swap(x);
        x = y;
        weight = next;
        for (bool forward : {true, false}) {
            result.residual = sweep(problem, diagonal, forward, x);
            result.converged = result.residual <= settings.tolerance;
            if (++result.sweeps == settings.max_sweeps || result.converged) break;
        }
        if (result.converged) break;
        if (overshoots(problem, diagonal, y, x, before)) weight = 1;
    }
    if (!result.converged) result.residual = block_pgs_residual(problem, x);
    return result;
}

double block_pgs_residual(const BlockLcp& problem, const std::vector<double>& x) {
    double worst = 0;
    for (int i = 0; i < problem.blocks(); ++i)
        worst = std::max(
            worst, violation(problem, i, diagonal_block(problem, i),
                             x.data() + static_cast<std::size_t>(i) * problem.block, slack(problem, i, x)));
    return worst;
}

}  // namespace tenon::solve

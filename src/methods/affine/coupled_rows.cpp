// Joints of a coupled system: H x + C^T y = right, C x = -gap.
//
// The augmented matrix A = H + C^T W C has the same solution, with right + C^T W (-gap) on its right side, and is definite.
// What is left for the multipliers is C A^-1 C^T y = C A^-1 (right - C^T W gap) + gap. Scaled by W its eigenvalues are
// s / (1 + s), s those of W C H^-1 C^T: nearly 1 for what bodies' inertia resists. In closed loops some constraints say the
// same as others, and only the strain of bodies tells them apart: s is small for those, a few for each loop. Conjugate
// gradients take the first in one step and each of the others in about one more; refinement on the true residual follows.
#include "methods/affine/coupled_system.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "math/union_find.hpp"

namespace tenon::affine {
namespace {

constexpr double row_weight = 1e4;     // times the inertia that a row feels, in the augmented matrix
constexpr double most_carried = 1e7;   // times that, for what hangs on a row
constexpr double closing_part = 1e-4;  // of a gap that is closed once more anyway: what may be left of it
constexpr int most_refinements = 8;    // of a solve with rows
constexpr int most_gradients = 60;     // conjugate-gradient steps of a refinement ...
constexpr int most_idle = 8;           // ... one after the other that do not close any further
constexpr double closed_part = 1e-15;  // of the nodes' size: rounding

}  // namespace

// W of each row, in inertias that it feels. A row may have to carry all that hangs on it: the more unequal the masses of a
// mechanism and the longer it is, the more.
void CoupledSystem::add_rows(const CoupledStep& step) {
    const std::vector<CoupledRow>& rows = step.joints.rows();
    rows_.resize(rows.size());
    row_weight_.resize(rows.size());
    std::vector<Mat12> inverse(step.node.size());
    std::vector<char> known(step.node.size(), 0);
    UnionFind mechanisms(step.node.size());
    for (const CoupledRow& row : rows)
        for (int k = 1; k < row.count; ++k) mechanisms.join(row.node[0], row.node[k]);
    struct Mechanism {
        double lightest = 1e300, heaviest = 0.0, nodes = 0.0;
    };
    std::vector<Mechanism> of(step.node.size());
    for (int n = 0; n < step.nodes.size(); ++n) {
        Mechanism& m = of[mechanisms.root(n)];
        m.lightest = std::min(m.lightest, step.node[n].mass[3]);
        m.heaviest = std::max(m.heaviest, step.node[n].mass[3]);
        ++m.nodes;
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        double ease = 0.0;
        for (int k = 0; k < rows[r].count; ++k) {
            const int n = rows[r].node[k];
            rows_[r][k] = map_[n].transpose() * Eigen::Map<const Vec12>(rows[r].gradient[k].data());
            if (!known[n]) {
                known[n] = 1;
                inverse[n] = Eigen::LDLT<Mat12>(Eigen::Map<const Mat12>(plain_.diagonal_block(n)))
                                 .solve(Mat12::Identity());
            }
            ease += rows_[r][k].dot(inverse[n].lazyProduct(rows_[r][k]));
        }
        const Mechanism& m = of[mechanisms.root(rows[r].node[0])];
        const double length = std::max(1.0, m.nodes / 30.0);
        const double carries = std::min(length * length * m.heaviest / m.lightest, most_carried);
        row_weight_[r] = ease > 0.0 ? row_weight * carries / ease : 0.0;
    }
    for (std::size_t r = 0; r < rows.size(); ++r)
        add_square(row_weight_[r], rows[r].count, rows[r].node.data(), rows_[r].data());
}

double CoupledSystem::row_value(const CoupledStep& step, std::size_t r, const std::vector<double>& x) const {
    const CoupledRow& row = step.joints.rows()[r];
    double sum = 0.0;
    for (int k = 0; k < row.count; ++k)
        sum += rows_[r][k].dot(Eigen::Map<const Vec12>(x.data() + 12 * row.node[k]));
    return sum;
}

void CoupledSystem::add_pulls(const CoupledStep& step, const std::vector<double>& pull,
                              std::vector<double>& load) const {
    const std::vector<CoupledRow>& rows = step.joints.rows();
    for (std::size_t r = 0; r < rows.size(); ++r)
        for (int k = 0; k < rows[r].count; ++k)
            Eigen::Map<Vec12>(load.data() + 12 * rows[r].node[k]) += pull[r] * rows_[r][k];
}

// Conjugate gradients on C A^-1 C^T dy = open, preconditioned by W. Changes x by -A^-1 C^T dy, so that `open` closes. Where
// rounding stops them they would go astray: the best of their iterates is taken.
void CoupledSystem::close_by_gradients(const CoupledStep& step, double closed, std::vector<double>& x,
                                       std::vector<double>& multipliers) {
    const std::size_t count = open_.size();
    search_.resize(count);
    image_.resize(count);
    double product = 0.0, best = 0.0;
    for (std::size_t r = 0; r < count; ++r) {
        search_[r] = row_weight_[r] * open_[r];
        product += open_[r] * search_[r];
        best = std::max(best, std::abs(open_[r]));
    }
    best_x_ = x;
    best_multipliers_ = multipliers;
    int idle = 0;
    for (int pass = 0; pass < most_gradients && idle < most_idle && best > closed; ++pass) {
        load_.assign(x.size(), 0.0);
        add_pulls(step, search_, load_);
        solve_factored(load_, change_);
        double curvature = 0.0, worst = 0.0;
        for (std::size_t r = 0; r < count; ++r) {
            image_[r] = row_value(step, r, change_);
            curvature += search_[r] * image_[r];
        }
        if (!(curvature > 0.0) || !(product > 0.0)) break;
        const double length = product / curvature, before = product;
        for (std::size_t k = 0; k < x.size(); ++k) x[k] -= length * change_[k];
        product = 0.0;
        for (std::size_t r = 0; r < count; ++r) {
            multipliers[r] += length * search_[r];
            open_[r] -= length * image_[r];
            worst = std::max(worst, std::abs(open_[r]));
            product += row_weight_[r] * open_[r] * open_[r];
        }
        for (std::size_t r = 0; r < count; ++r)
            search_[r] = row_weight_[r] * open_[r] + product / before * search_[r];
        ++idle;
        if (worst >= best) continue;
        idle = worst < 0.5 * best ? 0 : idle;
        best = worst;
        best_x_ = x;
        best_multipliers_ = multipliers;
    }
    x.swap(best_x_);
    multipliers.swap(best_multipliers_);
}

void CoupledSystem::solve_with_rows(const CoupledStep& step, const std::vector<double>& right,
                                    const std::vector<double>& gap, double enough, std::vector<double>& out,
                                    std::vector<double>& multipliers) {
    const std::size_t count = gap.size();
    double size = 0.0;
    for (const CoupledNode& node : step.nodes.node) size = std::max(size, node.size);
    const double closed = std::max(enough, closed_part * size);
    out.assign(right.size(), 0.0);
    multipliers.assign(count, 0.0);
    residual_.resize(right.size());
    open_.resize(count);
    const bool only_rows = std::all_of(right.begin(), right.end(), [](double load) { return load == 0.0; });
    std::vector<double> change, pull(count), last_out, last_multipliers;
    double last = 1e300;
    for (int refinement = 0; refinement < most_refinements; ++refinement) {
        plain_.multiply(out.data(), residual_.data());
        for (std::size_t k = 0; k < right.size(); ++k) residual_[k] = right[k] - residual_[k];
        double worst = 0.0;
        for (std::size_t r = 0; r < count; ++r) {
            open_[r] = -gap[r] - row_value(step, r, out);
            worst = std::max(worst, std::abs(open_[r]));
            pull[r] = row_weight_[r] * open_[r] - multipliers[r];
        }
        if (refinement > 1 && !(worst < last) && !(worst <= closed)) {  // rounding has the last word
            out.swap(last_out);
            multipliers.swap(last_multipliers);
            break;
        }
        if (refinement > 1 && (worst <= closed || worst > 0.5 * last)) break;
        if (refinement == 1 && only_rows && worst <= closed) break;
        if (refinement > 0) {
            last = worst;
            last_out = out;
            last_multipliers = multipliers;
        }
        add_pulls(step, pull, residual_);
        solve_factored(residual_, change);
        for (std::size_t r = 0; r < count; ++r) open_[r] = row_value(step, r, change) - open_[r];
        close_by_gradients(step, closed, change, multipliers);
        for (std::size_t k = 0; k < right.size(); ++k) out[k] += change[k];
    }
}

void CoupledSystem::solve(const CoupledStep& step, double enough, std::vector<double>& direction,
                          std::vector<double>& multipliers) {
    const std::vector<double> right = right_side();
    const std::vector<CoupledRow>& rows = step.joints.rows();
    if (rows.empty()) {
        solve_factored(right, direction);
        return;
    }
    std::vector<double> gap(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) gap[r] = rows[r].value;
    solve_with_rows(step, right, gap, enough, direction, multipliers);
}

// What turns leave of a gap is of its square: closing it to more digits than that is work for nothing.
void CoupledSystem::close(const CoupledStep& step, const std::vector<double>& gap, double enough,
                          std::vector<double>& increments) {
    std::vector<double> multipliers;
    double worst = 0.0;
    for (const double open : gap) worst = std::max(worst, std::abs(open));
    enough = std::max(enough, closing_part * worst);
    solve_with_rows(step, std::vector<double>(gradient_.size(), 0.0), gap, enough, increments, multipliers);
}

}  // namespace tenon::affine

#include "solve/nnls.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/QR>

namespace tenon::solve {
namespace {

// Least squares over the columns in `passive`; the others are zero.
VecX solve_passive(const MatX& C, const VecX& r, const std::vector<int>& passive) {
    MatX sub(C.rows(), static_cast<Eigen::Index>(passive.size()));
    for (std::size_t j = 0; j < passive.size(); ++j) sub.col(j) = C.col(passive[j]);
    return sub.colPivHouseholderQr().solve(r);
}

// Newton on the dual of the minimum-norm problem: minimise 1/2 |P(C^T y)|^2 - r.y, where P projects each
// group of unknowns onto its cone. `evaluate` gives value, gradient C P(C^T y) - r and a generalised Hessian.
template <class Evaluate>
bool dual_newton(const Vec6& r, double tolerance, Vec6& y, const Evaluate& evaluate) {
    const double goal = tolerance * r.norm();
    Mat6 H, trial_H;
    Vec6 g, trial_g;
    double value = evaluate(y, g, H);
    double damping = 1e-13;  // Levenberg: the Hessian lacks rank where few contacts are active
    for (int iteration = 0; iteration < 60; ++iteration) {
        if (g.norm() <= goal) return true;
        Mat6 damped = H;
        damped.diagonal().array() += damping * std::max(H.trace(), 1e-3);
        // the quick factorisation where it goes through
        const Eigen::LLT<Mat6> llt(damped);
        const Vec6 step = -(llt.info() == Eigen::Success ? Vec6(llt.solve(g)) : Vec6(damped.ldlt().solve(g)));
        const double slope = g.dot(step);
        bool moved = false;
        for (double t = 1.0; std::isfinite(slope) && slope < 0 && t > 1e-3; t *= 0.5) {
            const Vec6 trial = y + t * step;
            const double trial_value = evaluate(trial, trial_g, trial_H);
            // near the solution values drown in round-off: a smaller gradient is progress too
            if (trial_value <= value + 1e-4 * t * slope || trial_g.norm() < 0.5 * g.norm()) {
                y = trial;
                value = trial_value;
                g = trial_g;
                H = trial_H;
                moved = true;
                break;
            }
        }
        damping = moved ? std::max(1e-14, 0.01 * damping) : 100 * damping;
        if (damping > 1e3) return false;
    }
    return false;
}

// Scales each row so that forces and torques, of different units, weigh alike.
Vec6 row_scale(const Columns6& c) {
    Vec6 scale = Vec6::Zero();
    for (const Vec6& column : c) scale += column.cwiseAbs2();
    for (int i = 0; i < 6; ++i) scale[i] = scale[i] > 0 ? 1.0 / std::sqrt(scale[i]) : 0.0;
    return scale;
}

struct ConePart {
    Vec3 p;
    Mat3 derivative;
};

// Projection onto |t| <= mu n with its (generalised) derivative.
ConePart cone_with_derivative(const Vec3& p, double mu) {
    const double length = std::hypot(p[1], p[2]);
    if (length <= mu * p[0]) return {p, Mat3::Identity()};
    if (mu * length <= -p[0]) return {Vec3::Zero(), Mat3::Zero()};
    const Vec2 t = length > 0 ? Vec2(p[1] / length, p[2] / length) : Vec2(1, 0);
    const Vec3 ray = Vec3(1, mu * t[0], mu * t[1]) / std::sqrt(1 + mu * mu);
    const double along = ray.dot(p);
    ConePart part{along * ray, ray * ray.transpose()};
    // turning of the ray with the tangential direction
    const Vec3 side(0, -t[1], t[0]);
    if (length > 0)
        part.derivative += (along * mu / (std::sqrt(1 + mu * mu) * length)) * side * side.transpose();
    return part;
}

}  // namespace

NnlsSolution nnls(const MatX& C, const VecX& r) {
    const int n = static_cast<int>(C.cols());
    NnlsSolution out;
    out.x = VecX::Zero(n);
    std::vector<int> passive;
    std::vector<char> is_passive(n, 0), refused(n, 0);
    const double scale = C.cwiseAbs().maxCoeff() * r.norm();
    const double tolerance = 1e-13 * std::max(scale, 1e-300);
    for (; out.iterations < 3 * n + 10; ++out.iterations) {
        const VecX gradient = C.transpose() * (r - C * out.x);
        int enter = -1;
        for (int k = 0; k < n; ++k)
            if (!is_passive[k] && !refused[k] && gradient[k] > tolerance &&
                (enter < 0 || gradient[k] > gradient[enter]))
                enter = k;
        if (enter < 0) {
            out.residual = (C * out.x - r).norm();
            return out;
        }
        passive.push_back(enter);
        is_passive[enter] = 1;
        VecX s = solve_passive(C, r, passive);
        if (s[s.size() - 1] <= 0) {  // round-off let in a column that cannot help
            passive.pop_back();
            is_passive[enter] = 0;
            refused[enter] = 1;
            continue;
        }
        std::fill(refused.begin(), refused.end(), 0);
        while (s.size() > 0 && s.minCoeff() <= 0) {
            double alpha = 1.0;
            for (std::size_t j = 0; j < passive.size(); ++j)
                if (s[j] <= 0) alpha = std::min(alpha, out.x[passive[j]] / (out.x[passive[j]] - s[j]));
            std::vector<int> keep;
            for (std::size_t j = 0; j < passive.size(); ++j) {
                const int k = passive[j];
                out.x[k] += alpha * (s[j] - out.x[k]);
                if (out.x[k] > 1e-15 * std::abs(s[j]) && out.x[k] > 0) {
                    keep.push_back(k);
                } else {
                    out.x[k] = 0;
                    is_passive[k] = 0;
                }
            }
            passive = keep;
            s = passive.empty() ? VecX(0) : solve_passive(C, r, passive);
        }
        for (std::size_t j = 0; j < passive.size(); ++j) out.x[passive[j]] = s[j];
    }
    out.converged = false;
    out.residual = (C * out.x - r).norm();
    return out;
}

bool smoothest_nonnegative(const Columns6& c, const Vec6& r, std::vector<double>& x, double tolerance) {
    SmoothestSplit split;
    split.set(c);
    return split.solve(r, x, tolerance);
}

void SmoothestSplit::set(const Columns6& c) {
    scale_ = row_scale(c);
    scaled_.set(c, scale_);
    warm_ = false;
}

bool SmoothestSplit::solve(const Vec6& r, std::vector<double>& x, double tolerance) {
    const int count = scaled_.columns();
    x.assign(count, 0.0);
    if (r.norm() == 0 || count == 0) return r.norm() == 0;
    const Vec6 rs = scale_.cwiseProduct(r);
    const ColumnSumsKernel sums_of = column_sums_kernel();
    ColumnSums sums;
    if (!warm_) {
        // at y = 0 nothing is active: start where every contact that helps is
        y_.setZero();
        for (int k = 0; k < count; ++k)
            if (const Vec6 c = scaled_.column(k); c.dot(rs) > 0) y_ += c;
    }
    const bool found = dual_newton(rs, tolerance, y_, [&](const Vec6& at, Vec6& g, Mat6& H) {
        sums_of(scaled_.data(), scaled_.groups(), at.data(), sums);
        g = Eigen::Map<const Vec6>(sums.along.data()) - rs;
        for (int i = 0, k = 0; i < 6; ++i)
            for (int j = 0; j <= i; ++j, ++k) H(i, j) = H(j, i) = sums.lower[k];
        return 0.5 * sums.squares - rs.dot(at);
    });
    for (int k = 0; k < count; ++k) x[k] = std::max(0.0, scaled_.column(k).dot(y_));
    warm_ = found;
    return found;
}

bool smoothest_in_cones(const Columns6& c, const std::vector<double>& mu, const Vec6& r,
                        std::vector<double>& x, double tolerance) {
    x.assign(c.size(), 0.0);
    if (r.norm() == 0 || c.empty()) return r.norm() == 0;
    const Vec6 scale = row_scale(c);
    const Vec6 rs = scale.cwiseProduct(r);
    using Block = Eigen::Matrix<double, 6, 3>;
    auto block = [&](std::size_t k) {
        Block B;
        for (int i = 0; i < 3; ++i) B.col(i) = scale.cwiseProduct(c[3 * k + i]);
        return B;
    };
    Vec6 y = rs;
    const bool found = dual_newton(rs, tolerance, y, [&](const Vec6& at, Vec6& g, Mat6& H) {
        double value = -rs.dot(at);
        g = -rs;
        H.setZero();
        for (std::size_t k = 0; k < mu.size(); ++k) {
            const Block B = block(k);
            const ConePart part = cone_with_derivative(B.transpose() * at, mu[k]);
            value += 0.5 * part.p.squaredNorm();
            g += B * part.p;
            H.noalias() += B * part.derivative * B.transpose();
        }
        return value;
    });
    for (std::size_t k = 0; k < mu.size(); ++k) {
        const Vec3 p = project_onto_cone(block(k).transpose() * y, mu[k]);
        for (int i = 0; i < 3; ++i) x[3 * k + i] = p[i];
    }
    return found;
}

Vec3 project_onto_cone(const Vec3& p, double mu) {
    return cone_with_derivative(p, mu).p;
}

}  // namespace tenon::solve

#include "solve/small_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

namespace tenon::solve {
namespace {

constexpr int max_dim = 32;

// Orthonormal basis of the active normals (modified Gram-Schmidt, run twice) with its triangular factor.
template <int Dim>
struct ActiveBasis {
    static constexpr int capacity = Dim == Eigen::Dynamic ? max_dim : Dim;
    using Columns = Eigen::Matrix<double, Dim, Eigen::Dynamic, 0, capacity, capacity>;
    using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, capacity, capacity>;
    using Coefficients = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, capacity, 1>;

    int count = 0;
    Columns Q;
    Square R;

    explicit ActiveBasis(int dim) : Q(dim, capacity), R(capacity, capacity) {}

    // Splits n into its part in the basis (coefficients) and the rest.
    void split(const Point<Dim>& n, Coefficients& c, Point<Dim>& rest) const {
        c.setZero(count);
        rest = n;
        for (int pass = 0; pass < 2; ++pass)
            for (int j = 0; j < count; ++j) {
                const double d = Q.col(j).dot(rest);
                c[j] += d;
                rest -= d * Q.col(j);
            }
    }
    void append(const Coefficients& c, const Point<Dim>& rest) {
        const double length = rest.norm();
        for (int j = 0; j < count; ++j) R(j, count) = c[j];
        R(count, count) = length;
        Q.col(count) = rest / length;
        ++count;
    }
    // r = R^-1 c
    void back_substitute(const Coefficients& c, Coefficients& r) const {
        r = c;
        for (int i = count - 1; i >= 0; --i) {
            for (int j = i + 1; j < count; ++j) r[i] -= R(i, j) * r[j];
            r[i] /= R(i, i);
        }
    }
    // False: one of the normals depends on those before it.
    bool rebuild(const std::vector<Point<Dim>>& normals, const std::vector<int>& active) {
        Coefficients c;
        Point<Dim> rest;
        count = 0;
        for (int k : active) {
            split(normals[k], c, rest);
            if (count == rest.size() || !(rest.squaredNorm() > 1e-20 * normals[k].squaredNorm()))
                return false;
            append(c, rest);
        }
        return true;
    }
    // The nearest point where all active constraints hold with equality, and its multipliers.
    void solve(const std::vector<double>& bounds, const std::vector<Point<Dim>>& normals,
               const std::vector<int>& active, Point<Dim>& x, std::vector<double>& u) const {
        Coefficients w(count), r;
        for (int i = 0; i < count; ++i) {
            w[i] = bounds[active[i]] - normals[active[i]].dot(x);
            for (int j = 0; j < i; ++j) w[i] -= R(j, i) * w[j];
            w[i] /= R(i, i);
        }
        back_substitute(w, r);
        u.assign(r.data(), r.data() + count);
        for (int j = 0; j < count; ++j) x += w[j] * Q.col(j);
    }
};

// The active set of an earlier problem as a start: constraints whose multipliers come out negative leave it.
template <int Dim>
void start_from_active(const std::vector<Point<Dim>>& normals, const std::vector<double>& bounds,
                       Point<Dim>& x, Projection& result, ActiveBasis<Dim>& basis) {
    const Point<Dim> y = x;
    std::vector<int>& active = result.active;
    std::vector<double>& u = result.multiplier;
    while (!active.empty()) {
        if (!basis.rebuild(normals, active)) {
            active.clear();
            break;
        }
        x = y;
        basis.solve(bounds, normals, active, x, u);
        const auto least = std::min_element(u.begin(), u.end());
        if (*least >= 0) return;
        active.erase(active.begin() + (least - u.begin()));
    }
    x = y;
    u.clear();
    basis.count = 0;
}

}  // namespace

template <int Dim>
void project_onto_halfspaces(const std::vector<Point<Dim>>& normals, const std::vector<double>& bounds,
                             Point<Dim>& x, Projection& result, double tolerance, bool warm) {
    const int dim = static_cast<int>(x.size());
    const int count = static_cast<int>(normals.size());
    std::vector<int>& active = result.active;
    std::vector<double>& u = result.multiplier;
    result.iterations = 0;
    result.feasible = true;

    ActiveBasis<Dim> basis(dim);
    typename ActiveBasis<Dim>::Coefficients c, r;
    Point<Dim> rest = x;
    if (warm) {
        start_from_active(normals, bounds, x, result, basis);
    } else {
        active.clear();
        u.clear();
        result.inverse_length.resize(count);
        for (int k = 0; k < count; ++k) {
            const double length = normals[k].norm();
            result.inverse_length[k] = length > 0 ? 1 / length : 0.0;
        }
    }

    const int limit = 20 * (count + dim) + 50;
    while (result.iterations < limit) {
        // the most violated constraint, measured with unit normals
        int worst = -1;
        double violation = -tolerance;
        for (int k = 0; k < count; ++k) {
            const double slack = (normals[k].dot(x) - bounds[k]) * result.inverse_length[k];
            if (slack < violation) {
                violation = slack;
                worst = k;
            }
        }
        if (worst < 0) return;

        const Point<Dim>& n = normals[worst];
        const double length2 = n.squaredNorm();
        double gained = 0.0;
        while (true) {
            if (++result.iterations >= limit) break;
            basis.split(n, c, rest);
            basis.back_substitute(c, r);
            // how far until a multiplier of an active constraint reaches zero
            double t_dual = std::numeric_limits<double>::infinity();
            int blocking = -1;
            for (int j = 0; j < basis.count; ++j)
                if (r[j] > 0 && u[j] / r[j] < t_dual) {
                    t_dual = u[j] / r[j];
                    blocking = j;
                }
            // how far until the violated constraint holds
            const double reach = rest.squaredNorm();
            const bool independent = reach > 1e-20 * length2 && basis.count < dim;
            const double t_primal =
                independent ? (bounds[worst] - n.dot(x)) / reach : std::numeric_limits<double>::infinity();
            if (!independent && blocking < 0) {
                result.feasible = false;
                return;
            }
            const double t = std::min(t_dual, t_primal);
            if (independent) x += t * rest;
            for (int j = 0; j < basis.count; ++j) u[j] -= t * r[j];
            gained += t;
            if (t_primal <= t_dual) {
                basis.append(c, rest);
                active.push_back(worst);
                u.push_back(gained);
                break;
            }
            active.erase(active.begin() + blocking);
            u.erase(u.begin() + blocking);
            basis.rebuild(normals, active);
        }
    }
    result.feasible = false;
}

template void project_onto_halfspaces<3>(const std::vector<Point<3>>&, const std::vector<double>&, Point<3>&,
                                         Projection&, double, bool);
template void project_onto_halfspaces<6>(const std::vector<Point<6>>&, const std::vector<double>&, Point<6>&,
                                         Projection&, double, bool);
template void project_onto_halfspaces<Eigen::Dynamic>(const std::vector<VecX>&, const std::vector<double>&,
                                                      VecX&, Projection&, double, bool);

QpSolution solve_small_qp(const MatX& H, const VecX& g, const MatX& N, const VecX& b) {
    // H = L L^T and z = L^T x: minimise 1/2 |z - L^-1 g|^2 subject to (L^-1 N^T)^T z >= b.
    const Eigen::LLT<MatX> llt(H);
    const int count = static_cast<int>(N.rows());
    VecX z = llt.matrixL().solve(g);
    std::vector<VecX> normals(count);
    std::vector<double> bounds(b.data(), b.data() + count);
    for (int k = 0; k < count; ++k) normals[k] = llt.matrixL().solve(VecX(N.row(k).transpose()));
    Projection projection;
    project_onto_halfspaces<Eigen::Dynamic>(normals, bounds, z, projection);
    QpSolution solution;
    solution.x = llt.matrixU().solve(z);
    solution.multiplier = VecX::Zero(count);
    for (std::size_t j = 0; j < projection.active.size(); ++j)
        solution.multiplier[projection.active[j]] = projection.multiplier[j];
    solution.feasible = projection.feasible;
    solution.iterations = projection.iterations;
    return solution;
}

}  // namespace tenon::solve

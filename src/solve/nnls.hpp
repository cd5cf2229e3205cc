// Non-negative least squares, and the smoothest exact non-negative solution of few equations.
#pragma once

#include <vector>

#include "solve/column_sums.hpp"
#include "tenon/types.hpp"

namespace tenon::solve {

struct NnlsSolution {
    VecX x;
    double residual = 0.0;  // |C x - r|
    int iterations = 0;
    bool converged = true;
};

// minimise |C x - r|^2 subject to x >= 0 (Lawson and Hanson). C may have more columns than rows; columns that
// depend on the active ones stay at zero.
NnlsSolution nnls(const MatX& C, const VecX& r);

// The distribution of a wrench over contacts: 6 equations, any number of unknowns.
using Columns6 = std::vector<Vec6>;

// minimise 1/2 |x|^2 subject to sum_k c_k x_k = r and x >= 0: of all exact non-negative solutions the
// smoothest one. Its dual has six unknowns, x = max(0, C^T y), and is solved by Newton's method. False when
// no exact solution was found (to `tolerance` relative to |r|); x is then the best non-negative one met.
bool smoothest_nonnegative(const Columns6& c, const Vec6& r, std::vector<double>& x,
                           double tolerance = 1e-11);

// The same for several right-hand sides with one set of columns: each starts from the dual of the last.
class SmoothestSplit {
  public:
    void set(const Columns6& c);
    bool solve(const Vec6& r, std::vector<double>& x, double tolerance = 1e-11);

  private:
    ColumnGroups scaled_;
    Vec6 scale_ = Vec6::Zero(), y_ = Vec6::Zero();
    bool warm_ = false;
};

// The same over friction cones: per contact k an impulse p_k = x_n n + x_t with |x_t| <= mu_k x_n. Columns
// come in threes (normal, two tangents); the solution minimises 1/2 sum |p_k|^2 and meets the wrench exactly.
bool smoothest_in_cones(const Columns6& c, const std::vector<double>& mu, const Vec6& r,
                        std::vector<double>& x, double tolerance = 1e-11);

// The nearest point to (normal, t1, t2) of the cone |t| <= mu normal.
Vec3 project_onto_cone(const Vec3& p, double mu);

}  // namespace tenon::solve

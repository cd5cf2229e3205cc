// Small strictly convex quadratic programs by the dual active-set method of Goldfarb and Idnani.
#pragma once

#include <vector>

#include "tenon/types.hpp"

namespace tenon::solve {

// minimise 1/2 |x - y|^2  subject to  n_k . x >= b_k.
// A problem with metric M is brought to this form by x = L^T z with M = L L^T.
struct Projection {
    bool feasible = true;  // false: the half-spaces have no common point
    int iterations = 0;
    std::vector<int> active;             // constraints that hold with equality ...
    std::vector<double> multiplier;      // ... and their multipliers, >= 0: x = y + sum multiplier n
    std::vector<double> inverse_length;  // of the normals, 0 for those of length 0: scratch
};

template <int Dim>
using Point = Eigen::Matrix<double, Dim, 1>;

// `normals` and `bounds` have equal length. `x` enters as y and leaves as the solution; when the problem has
// none, it leaves at the last point, which violates some constraint. `tolerance` is the allowed violation of
// a constraint with unit normal. Scratch vectors in `result` are reused: no allocation once they have grown.
// `warm`: `result` is that of an earlier call with the same normals; its active set is where this one begins.
// Instantiated for Dim = 3, 6 and Eigen::Dynamic (at most 32).
template <int Dim>
void project_onto_halfspaces(const std::vector<Point<Dim>>& normals, const std::vector<double>& bounds,
                             Point<Dim>& x, Projection& result, double tolerance = 1e-12, bool warm = false);

extern template void project_onto_halfspaces<3>(const std::vector<Point<3>>&, const std::vector<double>&,
                                                Point<3>&, Projection&, double, bool);
extern template void project_onto_halfspaces<6>(const std::vector<Point<6>>&, const std::vector<double>&,
                                                Point<6>&, Projection&, double, bool);
extern template void project_onto_halfspaces<Eigen::Dynamic>(const std::vector<VecX>&,
                                                             const std::vector<double>&, VecX&, Projection&,
                                                             double, bool);

// minimise 1/2 x^T H x - g^T x  subject to  N x >= b, with H positive definite.
struct QpSolution {
    VecX x;
    VecX multiplier;  // one per row of N
    bool feasible = true;
    int iterations = 0;
};
QpSolution solve_small_qp(const MatX& H, const VecX& g, const MatX& N, const VecX& b);

}  // namespace tenon::solve

// Newton's method for contacts with friction cones, given by their dense Delassus matrix.
#pragma once

#include <vector>

#include "tenon/types.hpp"

namespace tenon::solve {

// Contacts k = 0, 1, ... with rows 3 k (normal), 3 k + 1 and 3 k + 2 (tangents). Find x with w = matrix x + free and
//     0 <= w_n  perpendicular to  x_n >= 0,
//     x_t = P(x_t - w_t / d), P the projection onto the disc of radius mu x_n, or onto its square (a pyramid):
//     sticks inside, slides against x_t on the rim.
struct ConeProblem {
    MatX matrix;                   // symmetric, positive semidefinite, with compliances on the diagonal
    VecX free;                     // w without x
    std::vector<double> friction;  // mu of each contact
    bool pyramid = false;
    bool scattered = false;  // most of the matrix is zero: contacts of many bodies, each with few neighbours

    int contacts() const { return static_cast<int>(friction.size()); }
};

struct ConeNewtonResult {
    int iterations = 0;
    double residual = 0.0;  // largest violation, in units of w
    bool converged = false;
};

// Semismooth Newton on the natural map (Alart and Curnier 1991), from `x`; steps that do not reduce the residual are
// halved, and sweeps take over where that does not help. `x` leaves as the best iterate. Sweeps alone are slow where
// many contacts carry one body; this is not, but each iteration factorises the rows of the contacts that press.
ConeNewtonResult solve_cone_newton(const ConeProblem& problem, int max_iterations, double tolerance, VecX& x);

// Largest violation of the conditions: d |x_n - max(0, x_n - w_n / d)| and the like for tangents, d the diagonal.
double cone_residual(const ConeProblem& problem, const VecX& x, const VecX& w);

}  // namespace tenon::solve

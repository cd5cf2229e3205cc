#include "tests/solve/kkt_dense.hpp"

#include <Eigen/LU>

namespace tenon::solve {

KktSolution solve_kkt_dense(const KktProblem& problem) {
    using Real = long double;
    const int bodies = static_cast<int>(problem.H.size());
    int rows = 0;
    for (const KktBlock& block : problem.blocks) rows += static_cast<int>(block.residual.size());
    const int size = 12 * bodies + rows;
    Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> A = decltype(A)::Zero(size, size);
    Eigen::Matrix<Real, Eigen::Dynamic, 1> b = decltype(b)::Zero(size);
    for (int i = 0; i < bodies; ++i) {
        A.block(12 * i, 12 * i, 12, 12) = problem.H[i].cast<Real>();
        b.segment(12 * i, 12) = problem.force[i].cast<Real>();
    }
    int row = 12 * bodies;
    for (const KktBlock& block : problem.blocks)
        for (std::size_t r = 0; r < block.residual.size(); ++r, ++row) {
            for (std::size_t s = 0; s < block.bodies.size(); ++s) {
                A.block(row, 12 * block.bodies[s], 1, 12) += block.gradient[s][r].transpose().cast<Real>();
                A.block(12 * block.bodies[s], row, 12, 1) += block.gradient[s][r].cast<Real>();
            }
            A(row, row) = -Real(block.compliance[r]);
            b[row] = -Real(block.residual[r]);
        }
    const Eigen::Matrix<Real, Eigen::Dynamic, 1> x = A.partialPivLu().solve(b);
    KktSolution solution;
    for (int i = 0; i < bodies; ++i) solution.increment.push_back(x.segment(12 * i, 12).cast<double>());
    for (int r = 12 * bodies; r < size; ++r) solution.multiplier.push_back(static_cast<double>(x[r]));
    return solution;
}

}  // namespace tenon::solve

// The fallback factorisation: exact where the matrix is definite, downhill where it is not.
#include <gtest/gtest.h>

#include <random>

#include <Eigen/Dense>

#include "solve/block_cholesky.hpp"
#include "solve/block_ldlt.hpp"

namespace tenon::solve {
namespace {

// A ring of nodes with random blocks; `shift` times the identity decides whether it is definite.
BlockMatrix random_ring(int nodes, int dof, double shift, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<std::pair<int, int>> links;
    for (int i = 0; i < nodes; ++i)
        links.emplace_back(std::max(i, (i + 1) % nodes), std::min(i, (i + 1) % nodes));
    BlockMatrix matrix;
    matrix.resize(make_pattern(nodes, links), dof);
    for (double& value : matrix.lower) value = normal(random);
    for (int i = 0; i < nodes; ++i) {
        Eigen::Map<Eigen::MatrixXd> block(matrix.diagonal_block(i), dof, dof);
        for (int k = 0; k < dof * dof; ++k) block.data()[k] = normal(random);
        block = (0.5 * (block + block.transpose()) + shift * Eigen::MatrixXd::Identity(dof, dof)).eval();
    }
    return matrix;
}

TEST(BlockLdlt, SolvesDefiniteSystemsAsCholeskyDoes) {
    const BlockMatrix matrix = random_ring(7, 6, 20.0, 1);
    BlockCholesky llt;
    BlockLdlt ldlt;
    ASSERT_TRUE(llt.factor(matrix));
    ASSERT_TRUE(ldlt.factor(matrix));
    EXPECT_EQ(ldlt.negative_pivots(), 0);
    std::vector<double> right(matrix.size()), x(matrix.size()), y(matrix.size());
    for (std::size_t k = 0; k < right.size(); ++k) right[k] = std::sin(1.0 + k);
    llt.solve(right.data(), x.data());
    ldlt.solve(right.data(), y.data());
    for (std::size_t k = 0; k < right.size(); ++k) EXPECT_NEAR(x[k], y[k], 1e-12);
}

TEST(BlockLdlt, GivesAWayDownWhereCholeskyRefuses) {
    for (unsigned seed = 2; seed < 12; ++seed) {
        const BlockMatrix matrix = random_ring(6, 12, 2.0, seed);
        BlockCholesky llt;
        ASSERT_FALSE(llt.factor(matrix));
        BlockLdlt ldlt;
        ASSERT_TRUE(ldlt.factor(matrix));
        EXPECT_GT(ldlt.negative_pivots(), 0);
        Eigen::VectorXd gradient(matrix.size()), step(matrix.size());
        for (int k = 0; k < gradient.size(); ++k) gradient[k] = std::cos(seed + k);
        ldlt.solve(gradient.data(), step.data());
        EXPECT_GT(gradient.dot(step), 0.0);
    }
}

}  // namespace
}  // namespace tenon::solve

#include "solve/block_cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <random>

#include "math/parallel.hpp"
#include "solve/block_symbolic.hpp"
#include "solve/tile_kernels.hpp"

namespace tenon::solve {
namespace {

// Random blocks on a graph, made positive definite by its diagonal, but with soft and stiff unknowns side by
// side as in affine bodies.
BlockMatrix random_matrix(int nodes, int dof, double pairs_per_node, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(-1, 1);
    std::uniform_int_distribution<int> node(0, nodes - 1);
    std::vector<std::pair<int, int>> pairs;
    for (int k = 0; k < static_cast<int>(pairs_per_node * nodes); ++k) {
        const int i = node(random), j = node(random);
        if (i != j) pairs.emplace_back(i, j);
    }
    BlockMatrix matrix;
    matrix.resize(make_pattern(nodes, pairs), dof);
    for (double& entry : matrix.lower) entry = value(random);
    std::vector<int> degree(nodes, 0);
    for (int i = 0; i < nodes; ++i)
        for (int e = matrix.pattern.start[i]; e < matrix.pattern.start[i + 1]; ++e) {
            ++degree[i];
            ++degree[matrix.pattern.columns[e]];
        }
    for (int i = 0; i < nodes; ++i)
        for (int r = 0; r < dof; ++r) {
            matrix.diagonal_block(i)[r * dof + r] = dof * (degree[i] + 1.0) * (r % 4 == 0 ? 1e6 : 1.0);
            for (int c = 0; c < r; ++c)
                matrix.diagonal_block(i)[r * dof + c] = matrix.diagonal_block(i)[c * dof + r] =
                    0.5 * value(random);
        }
    return matrix;
}

Eigen::MatrixXd dense(const BlockMatrix& matrix) {
    Eigen::MatrixXd full(matrix.size(), matrix.size());
    Eigen::VectorXd unit = Eigen::VectorXd::Zero(matrix.size()), column(matrix.size());
    for (int c = 0; c < matrix.size(); ++c) {
        unit[c] = 1;
        matrix.multiply(unit.data(), column.data());
        full.col(c) = column;
        unit[c] = 0;
    }
    return full;
}

double relative_error(const BlockMatrix& matrix, BlockCholesky& cholesky, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(-1, 1);
    Eigen::VectorXd wanted(matrix.size()), b(matrix.size()), x(matrix.size());
    for (double& entry : wanted) entry = value(random);
    matrix.multiply(wanted.data(), b.data());
    cholesky.solve(b.data(), x.data());
    return (x - wanted).norm() / wanted.norm();
}

// Elastic bodies are analysed side by side; the order of one must not depend on who else is at it.
TEST(BlockCholesky, OrdersAreTheSameWhenMadeSideBySide) {
    const BlockPattern pattern = random_matrix(400, 3, 3.0, 7).pattern;
    const std::vector<int> alone = dissection_order(pattern);
    std::vector<std::vector<int>> together(16);
    parallel_for(together.size(), 1, [&](std::size_t i) { together[i] = dissection_order(pattern); });
    for (const std::vector<int>& order : together) EXPECT_EQ(order, alone);
}

TEST(BlockMatrix, MultiplyIsSymmetric) {
    const BlockMatrix matrix = random_matrix(9, 3, 2, 1);
    const Eigen::MatrixXd full = dense(matrix);
    EXPECT_EQ((full - full.transpose()).cwiseAbs().maxCoeff(), 0.0);
    EXPECT_GE(matrix.find(matrix.pattern.nodes - 1, 0), -1);
}

TEST(BlockCholesky, MatchesDenseFactorisationForEveryBlockSize) {
    for (int dof : {1, 2, 3, 4, 6, 12})
        for (int nodes : {1, 2, 3, 7, 20, 45}) {
            const BlockMatrix matrix = random_matrix(nodes, dof, 2.0, 17 * dof + nodes);
            BlockCholesky cholesky;
            ASSERT_TRUE(cholesky.factor(matrix)) << dof << " " << nodes;
            Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(matrix.size(), -1, 2), x(matrix.size());
            cholesky.solve(b.data(), x.data());
            const Eigen::VectorXd reference = dense(matrix).llt().solve(b);
            EXPECT_LT((x - reference).norm(), 1e-12 * reference.norm()) << dof << " " << nodes;
        }
}

TEST(BlockCholesky, SolvesChainsGridsAndSeparateParts) {
    for (double density : {0.0, 0.3, 1.0, 3.0}) {
        const BlockMatrix matrix = random_matrix(400, 12, density, 5);
        BlockCholesky cholesky;
        ASSERT_TRUE(cholesky.factor(matrix));
        EXPECT_LT(relative_error(matrix, cholesky, 9), 1e-12) << density;
    }
}

TEST(BlockCholesky, KeepsTheSymbolicPartAndFactorsAgain) {
    BlockMatrix matrix = random_matrix(200, 6, 1.5, 3);
    BlockCholesky cholesky;
    ASSERT_TRUE(cholesky.factor(matrix));
    const double analysed = cholesky.stats().analyse_ms;
    for (double& entry : matrix.lower) entry *= -0.5;
    ASSERT_TRUE(cholesky.factor(matrix));
    EXPECT_EQ(cholesky.stats().analyse_ms, analysed);
    EXPECT_LT(relative_error(matrix, cholesky, 4), 1e-12);
}

TEST(BlockCholesky, KeepsAnOrderWhileItIsGoodAndFindsItsOwnWhenAsked) {
    const BlockMatrix first = random_matrix(300, 6, 1.2, 3);
    BlockMatrix changed = random_matrix(300, 6, 1.2, 3), other = random_matrix(300, 6, 2.5, 4);
    std::vector<std::pair<int, int>> pairs{{7, 3}, {250, 11}};
    for (int i = 0; i < 300; ++i)
        for (int e = first.pattern.start[i]; e < first.pattern.start[i + 1]; ++e)
            pairs.emplace_back(i, first.pattern.columns[e]);
    changed.resize(make_pattern(300, pairs), 6);
    for (std::size_t k = 0; k < changed.lower.size(); ++k) changed.lower[k] = 0.1 * std::sin(k);
    changed.diagonal = first.diagonal;
    BlockCholesky kept, fresh;
    ASSERT_TRUE(kept.factor(first));
    kept.keep_order(true);
    ASSERT_TRUE(kept.factor(changed));
    ASSERT_TRUE(fresh.factor(changed));
    EXPECT_NE(kept.order(), fresh.order());
    EXPECT_LT(kept.stats().factor_flops, 2.0 * fresh.stats().factor_flops);
    EXPECT_LT(relative_error(changed, kept, 4), 1e-12);
    kept.keep_order(false);
    ASSERT_TRUE(kept.factor(changed));
    EXPECT_EQ(kept.order(), fresh.order());
    kept.keep_order(true);  // a pattern for which the old order is bad
    ASSERT_TRUE(kept.factor(other));
    ASSERT_TRUE(fresh.factor(other));
    EXPECT_EQ(kept.order(), fresh.order());
    EXPECT_LT(relative_error(other, kept, 4), 1e-12);
}

TEST(BlockCholesky, NamesTheNodeThatIsNotPositive) {
    BlockMatrix matrix = random_matrix(60, 3, 1.0, 8);
    BlockCholesky cholesky;
    ASSERT_TRUE(cholesky.factor(matrix));
    matrix.diagonal_block(23)[4] = -1;
    EXPECT_FALSE(cholesky.factor(matrix));
    EXPECT_GE(cholesky.failed_node(), 0);
    matrix.diagonal_block(23)[4] = 1e6;
    ASSERT_TRUE(cholesky.factor(matrix));
    EXPECT_LT(relative_error(matrix, cholesky, 4), 1e-12);
}

TEST(BlockCholesky, InverseBetweenNodesMatchesTheDenseInverse) {
    for (int dof : {1, 3, 6}) {
        const BlockMatrix matrix = random_matrix(60, dof, 1.4, 31 + dof);
        const Eigen::MatrixXd reference = dense(matrix).inverse();
        for (bool in_order : {false, true}) {
            BlockCholesky cholesky;
            cholesky.analyse(matrix.pattern, dof, in_order);
            ASSERT_TRUE(cholesky.factor(matrix));
            EXPECT_LT(relative_error(matrix, cholesky, 4), 1e-12);
            const std::vector<int> nodes{7, 0, 59, 31, 8};
            std::vector<double> inverse;
            cholesky.inverse_on(nodes, inverse);
            const int size = static_cast<int>(nodes.size()) * dof;
            ASSERT_EQ(inverse.size(), static_cast<std::size_t>(size) * size);
            const Eigen::Map<const Eigen::MatrixXd> found(inverse.data(), size, size);
            for (std::size_t a = 0; a < nodes.size(); ++a)
                for (std::size_t b = 0; b < nodes.size(); ++b)
                    EXPECT_LT((found.block(a * dof, b * dof, dof, dof) -
                               reference.block(nodes[a] * dof, nodes[b] * dof, dof, dof))
                                  .norm(),
                              1e-12 * reference.norm());
        }
    }
}

TEST(BlockCholesky, SameBitsForAnyNumberOfThreads) {
    const BlockMatrix matrix = random_matrix(900, 12, 1.3, 12);
    Eigen::VectorXd b = Eigen::VectorXd::Ones(matrix.size()), one(matrix.size()), two(matrix.size());
    for (int threads : {1, 2}) {
        set_threads(threads);
        BlockCholesky cholesky;
        ASSERT_TRUE(cholesky.factor(matrix));
        cholesky.solve(b.data(), threads == 1 ? one.data() : two.data());
    }
    set_threads(0);
    EXPECT_EQ((one - two).cwiseAbs().maxCoeff(), 0.0);
}

// Two ways to compute the same thing: plain loops and vector instructions.
TEST(TileKernels, FastKernelsMatchPortableOnes) {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> value(-1, 1);
    const int depth = 131;
    std::vector<double> a(12 * depth), b(12 * depth), c1(144), c2, x(depth), y1(12), y2;
    for (auto* values : {&a, &b, &c1, &x, &y1})
        for (double& v : *values) v = value(random);
    c2 = c1, y2 = y1;
    const auto near = [](const std::vector<double>& p, const std::vector<double>& q) {
        double worst = 0;
        for (std::size_t i = 0; i < p.size(); ++i) worst = std::max(worst, std::abs(p[i] - q[i]));
        return worst < 1e-12;
    };
    const TileKernels &fast = tile_kernels(), &plain = portable_tile_kernels;
    fast.update(c1.data(), a.data(), b.data(), depth), plain.update(c2.data(), a.data(), b.data(), depth);
    EXPECT_TRUE(near(c1, c2));
    fast.multiply(y1.data(), a.data(), x.data(), depth), plain.multiply(y2.data(), a.data(), x.data(), depth);
    EXPECT_TRUE(near(y1, y2));
    std::vector<double> z1 = x, z2 = x;
    fast.multiply_transposed(z1.data(), a.data(), y1.data(), depth);
    plain.multiply_transposed(z2.data(), a.data(), y2.data(), depth);
    EXPECT_TRUE(near(z1, z2));
    for (int i = 0; i < 12; ++i) c1[i * 13] = c2[i * 13] = 40 + i;
    std::vector<double> l1 = c1, l2 = c1;
    EXPECT_EQ(fast.factor(l1.data(), 0), -1);
    EXPECT_EQ(plain.factor(l2.data(), 0), -1);
    EXPECT_TRUE(near(l1, l2));
    fast.solve(c1.data(), l1.data()), plain.solve(c2.data(), l2.data());
    EXPECT_TRUE(near(c1, c2));
    y2 = y1;
    fast.solve_lower(y1.data(), l1.data()), plain.solve_lower(y2.data(), l2.data());
    EXPECT_TRUE(near(y1, y2));
    fast.solve_upper(y1.data(), l1.data()), plain.solve_upper(y2.data(), l2.data());
    EXPECT_TRUE(near(y1, y2));
}

// Results must not depend on which of them a processor has.
TEST(TileKernels, WiderRegistersGiveTheSameBits) {
#if !defined(__x86_64__)
    GTEST_SKIP() << "another kind of processor";
#else
    if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "no AVX-512 here";
    std::mt19937 random(3);
    std::uniform_real_distribution<double> value(-1, 1);
    for (const int depth : {1, 2, 12, 131, 300}) {
        std::vector<double> a(12 * depth), b(12 * depth), c1(144), x(depth), y1(12);
        for (auto* values : {&a, &b, &c1, &x, &y1})
            for (double& v : *values) v = value(random);
        std::vector<double> c2 = c1, y2 = y1;
        avx2_tile_kernels.update(c1.data(), a.data(), b.data(), depth);
        update_avx512(c2.data(), a.data(), b.data(), depth);
        EXPECT_EQ(c1, c2) << depth;
        avx2_tile_kernels.multiply(y1.data(), a.data(), x.data(), depth);
        multiply_avx512(y2.data(), a.data(), x.data(), depth);
        EXPECT_EQ(y1, y2) << depth;
    }
#endif
}

}  // namespace
}  // namespace tenon::solve

#include "solve/block_pgs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "solve/pgs.hpp"

namespace tenon::solve {
namespace {

// W = G G^T + a little, dense, with a random free velocity.
BlockLcp random_problem(int blocks, int block, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(-1, 1);
    const int n = blocks * block;
    std::vector<double> G(static_cast<std::size_t>(n) * n);
    for (double& g : G) g = unit(random);
    BlockLcp problem;
    problem.block = block;
    for (int i = 0; i < blocks; ++i) {
        for (int j = 0; j < blocks; ++j) {
            problem.column.push_back(j);
            for (int k = 0; k < block; ++k)
                for (int l = 0; l < block; ++l) {
                    const int row = i * block + k, col = j * block + l;
                    double sum = row == col ? 1.0 : 0.0;
                    for (int m = 0; m < n; ++m) sum += G[row * n + m] * G[col * n + m];
                    problem.value.push_back(sum);
                }
        }
        problem.start.push_back(static_cast<int>(problem.column.size()));
        problem.friction.push_back(0.3 + 0.1 * i);
    }
    for (int k = 0; k < n; ++k) problem.free.push_back(unit(random));
    return problem;
}

// Both solvers find a point where the same conditions hold; with W definite and no friction it is the same point.
TEST(BlockPgs, AgreesWithTheRowSolver) {
    for (unsigned seed = 1; seed < 6; ++seed) {
        const BlockLcp problem = random_problem(8, 1, seed);
        std::vector<double> x;
        const PgsResult result = solve_block_pgs(problem, {5000, 1e-12}, x);
        EXPECT_TRUE(result.converged);
        PgsProblem rows;
        for (int i = 0; i < 8; ++i) {
            rows.add_row(-problem.free[i], 0.0, 0.0, 1e300);
            std::vector<int> columns;
            std::vector<double> values(problem.value.begin() + 8 * i, problem.value.begin() + 8 * (i + 1));
            for (int j = 0; j < 8; ++j) columns.push_back(j);
            rows.fill_row(i, {i}, {1.0}, columns, values);
        }
        std::vector<double> y, w(8, 0.0);
        PgsSettings settings;
        settings.max_sweeps = 5000;
        settings.tolerance = 1e-12;
        Pgs().solve(rows, settings, y, w);
        for (int i = 0; i < 8; ++i) EXPECT_NEAR(x[i], y[i], 1e-9) << seed;
    }
}

TEST(BlockPgs, FrictionHoldsItsConditions) {
    for (unsigned seed = 1; seed < 6; ++seed) {
        const BlockLcp problem = random_problem(5, 3, seed);
        std::vector<double> x;
        const PgsResult result = solve_block_pgs(problem, {20000, 1e-10}, x);
        ASSERT_TRUE(result.converged) << seed;
        for (int i = 0; i < 5; ++i) {
            double w[3];
            for (int k = 0; k < 3; ++k) {
                w[k] = problem.free[3 * i + k];
                for (int j = 0; j < 5; ++j)
                    for (int l = 0; l < 3; ++l)
                        w[k] += problem.value[(i * 5 + j) * 9 + 3 * k + l] * x[3 * j + l];
            }
            EXPECT_GE(x[3 * i], 0.0);
            EXPECT_GE(w[0], -1e-8);
            EXPECT_NEAR(x[3 * i] * w[0], 0.0, 1e-8);
            const double limit = problem.friction[i] * x[3 * i];
            for (int k = 1; k < 3; ++k) {
                EXPECT_LE(std::abs(x[3 * i + k]), limit + 1e-12);
                if (std::abs(x[3 * i + k]) < limit - 1e-9) {
                    EXPECT_NEAR(w[k], 0.0, 1e-8);
                }
                EXPECT_LE(w[k] * x[3 * i + k], 1e-9);  // friction never drives
            }
        }
    }
}

// Forty contacts on a chain of springs, far more than it has ways to move along: plain sweeps need 502.
TEST(BlockPgs, RedundantContactsConverge) {
    const int blocks = 40, masses = 12;
    BlockLcp problem;
    const auto weight = [&](int i, int m) {  // contact i is carried by masses around it
        const double at = (i + 0.5) * masses / blocks - (m + 0.5);
        return std::exp(-at * at);
    };
    for (int i = 0; i < blocks; ++i) {
        for (int j = 0; j < blocks; ++j) {
            problem.column.push_back(j);
            double sum = 0;
            for (int m = 0; m < masses; ++m) sum += weight(i, m) * weight(j, m);
            problem.value.push_back(sum);
        }
        problem.start.push_back(static_cast<int>(problem.column.size()));
        problem.friction.push_back(0);
        problem.free.push_back(-1 + 0.4 * std::sin(0.5 * i));
    }
    std::vector<double> x;
    const PgsResult result = solve_block_pgs(problem, {250, 1e-6}, x);
    EXPECT_TRUE(result.converged) << result.residual;
    EXPECT_LE(block_pgs_residual(problem, x), 2e-6);
}

TEST(BlockPgs, StartsFromAGivenGuess) {
    const BlockLcp problem = random_problem(6, 3, 9);
    std::vector<double> x;
    const PgsResult cold = solve_block_pgs(problem, {20000, 1e-8}, x);
    const PgsResult warm = solve_block_pgs(problem, {20000, 1e-8}, x);
    EXPECT_GT(cold.sweeps, warm.sweeps);
    EXPECT_LE(warm.sweeps, 2);
    EXPECT_LT(block_pgs_residual(problem, x), 1e-8);
}

}  // namespace
}  // namespace tenon::solve

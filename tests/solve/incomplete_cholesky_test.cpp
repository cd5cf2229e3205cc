#include "solve/incomplete_cholesky.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solve/block_cholesky.hpp"

namespace tenon::solve {
namespace {

// A Laplacian on a grid plus a small mass.
BlockMatrix grid(int n) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            if (i + 1 < n) pairs.emplace_back(i * n + j, (i + 1) * n + j);
            if (j + 1 < n) pairs.emplace_back(i * n + j, i * n + j + 1);
        }
    BlockMatrix matrix;
    matrix.resize(make_pattern(n * n, pairs), 1);
    for (double& d : matrix.diagonal) d = 4.05;
    for (double& e : matrix.lower) e = -1;
    return matrix;
}

double error_with(double drop, std::size_t& entries) {
    const BlockMatrix matrix = grid(20);
    IncompleteCholesky incomplete;
    EXPECT_TRUE(incomplete.factor(matrix, drop));
    entries = incomplete.entries();
    std::vector<double> wanted(400), b(400), x(400);
    for (int i = 0; i < 400; ++i) wanted[i] = std::sin(3.0 * i);
    matrix.multiply(wanted.data(), b.data());
    incomplete.solve(b.data(), x.data());
    double worst = 0;
    for (int i = 0; i < 400; ++i) worst = std::max(worst, std::abs(x[i] - wanted[i]));
    return worst;
}

TEST(IncompleteCholesky, IsExactWithoutDroppingAndSparserWithIt) {
    std::size_t all = 0, some = 0, few = 0;
    EXPECT_LT(error_with(0.0, all), 1e-12);
    EXPECT_LT(error_with(1e-4, some), 1e-2);
    EXPECT_GT(error_with(1e-1, few), 1e-3);
    EXPECT_LT(some, all);
    EXPECT_LT(few, some);
}

}  // namespace
}  // namespace tenon::solve

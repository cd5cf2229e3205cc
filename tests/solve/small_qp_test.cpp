#include "solve/small_qp.hpp"

#include <random>

#include <gtest/gtest.h>
#include <Eigen/Dense>

namespace tenon::solve {
namespace {

// The projection by brute force: every subset of constraints as equalities, the nearest feasible point wins.
bool nearest_by_enumeration(const std::vector<Vec3>& n, const std::vector<double>& b, const Vec3& y,
                            Vec3& best) {
    const int count = static_cast<int>(n.size());
    double distance = 1e300;
    for (int mask = 0; mask < (1 << count); ++mask) {
        std::vector<int> set;
        for (int k = 0; k < count; ++k)
            if (mask >> k & 1) set.push_back(k);
        if (set.size() > 3) continue;
        Vec3 x = y;
        if (!set.empty()) {
            MatX N(set.size(), 3);
            VecX d(set.size());
            for (std::size_t j = 0; j < set.size(); ++j) {
                N.row(j) = n[set[j]].transpose();
                d[j] = b[set[j]] - n[set[j]].dot(y);
            }
            x += N.completeOrthogonalDecomposition().solve(d);
        }
        bool feasible = true;
        for (int k = 0; k < count; ++k) feasible = feasible && n[k].dot(x) >= b[k] - 1e-9;
        if (feasible && (x - y).norm() < distance) {
            distance = (x - y).norm();
            best = x;
        }
    }
    return distance < 1e300;
}

TEST(SmallQp, ProjectionMatchesEnumeration) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    int infeasible = 0;
    Projection result;
    for (int trial = 0; trial < 300; ++trial) {
        const int count = 1 + trial % 8;
        std::vector<Vec3> n(count);
        std::vector<double> b(count);
        for (int k = 0; k < count; ++k) {
            n[k] = Vec3(normal(random), normal(random), normal(random));
            b[k] = normal(random);
            if (trial % 3 == 0 && k > 0 && k % 2 == 1) n[k] = n[k - 1];  // repeated normals
        }
        const Vec3 y(normal(random), normal(random), normal(random));
        Vec3 expected = y, x = y;
        const bool possible = nearest_by_enumeration(n, b, y, expected);
        project_onto_halfspaces<3>(n, b, x, result);
        EXPECT_EQ(result.feasible, possible) << trial;
        infeasible += !possible;
        if (!possible) continue;
        EXPECT_LT((x - expected).norm(), 1e-8) << trial;
        Vec3 rebuilt = y;  // stationarity
        for (std::size_t j = 0; j < result.active.size(); ++j) {
            EXPECT_GE(result.multiplier[j], 0);
            rebuilt += result.multiplier[j] * n[result.active[j]];
        }
        EXPECT_LT((rebuilt - x).norm(), 1e-10) << trial;
    }
    EXPECT_GT(infeasible, 0);
}

TEST(SmallQp, ManyNearlyParallelConstraintsInSixDimensions) {
    // A body on 40 contacts of one plane: normals span three dimensions only.
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Vec6> n(40);
    std::vector<double> b(40, 0.0);
    for (Vec6& v : n) v << 0.0, 1.0, 0.0, uniform(random), 0.0, uniform(random);
    Vec6 y, x;
    y << 0.3, -1.0, 0.2, 0.4, 0.1, -0.3;
    x = y;
    Projection result;
    project_onto_halfspaces<6>(n, b, x, result);
    ASSERT_TRUE(result.feasible);
    Vec6 rebuilt = y;
    for (std::size_t j = 0; j < result.active.size(); ++j)
        rebuilt += result.multiplier[j] * n[result.active[j]];
    EXPECT_LT((rebuilt - x).norm(), 1e-12);
    for (const Vec6& v : n) EXPECT_GE(v.dot(x), -1e-11);
    EXPECT_EQ(x[0], y[0]);  // nothing pushes sideways
}

TEST(SmallQp, GeneralMetricMeetsTheKktConditions) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 50; ++trial) {
        const int dim = 2 + trial % 7, count = 1 + trial % 10;
        const MatX G = MatX::NullaryExpr(dim, dim, [&] { return normal(random); });
        const MatX H = G * G.transpose() + 0.1 * MatX::Identity(dim, dim);
        const VecX g = VecX::NullaryExpr(dim, [&] { return normal(random); });
        const MatX N = MatX::NullaryExpr(count, dim, [&] { return normal(random); });
        const VecX inside = VecX::NullaryExpr(dim, [&] { return normal(random); });
        const VecX b = N * inside - VecX::Constant(count, 0.01);  // so a feasible point exists
        const QpSolution s = solve_small_qp(H, g, N, b);
        ASSERT_TRUE(s.feasible);
        EXPECT_LT((H * s.x - g - N.transpose() * s.multiplier).norm(), 1e-9) << trial;
        for (int k = 0; k < count; ++k) {
            const double slack = N.row(k).dot(s.x) - b[k];
            EXPECT_GE(slack, -1e-9);
            EXPECT_GE(s.multiplier[k], 0);
            EXPECT_LT(std::abs(s.multiplier[k] * slack), 1e-8);
        }
    }
}

}  // namespace
}  // namespace tenon::solve

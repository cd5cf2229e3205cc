#include "solve/nnls.hpp"

#include <random>

#include <gtest/gtest.h>
#include <Eigen/Dense>

namespace tenon::solve {
namespace {

double best_residual_by_enumeration(const MatX& C, const VecX& r) {
    double best = r.norm();
    for (int mask = 1; mask < (1 << C.cols()); ++mask) {
        std::vector<int> set;
        for (int k = 0; k < C.cols(); ++k)
            if (mask >> k & 1) set.push_back(k);
        MatX sub(C.rows(), set.size());
        for (std::size_t j = 0; j < set.size(); ++j) sub.col(j) = C.col(set[j]);
        const VecX x = sub.completeOrthogonalDecomposition().solve(r);
        if (x.minCoeff() >= -1e-12) best = std::min(best, (sub * x - r).norm());
    }
    return best;
}

TEST(Nnls, MatchesEnumeration) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 200; ++trial) {
        const int rows = 2 + trial % 5, columns = 1 + trial % 8;
        const MatX C = MatX::NullaryExpr(rows, columns, [&] { return normal(random); });
        const VecX r = VecX::NullaryExpr(rows, [&] { return normal(random); });
        const NnlsSolution s = nnls(C, r);
        EXPECT_TRUE(s.converged);
        EXPECT_GE(s.x.minCoeff(), 0);
        EXPECT_NEAR(s.residual, best_residual_by_enumeration(C, r), 1e-10) << trial;
    }
}

// A wrench made of random non-negative amounts, so that an exact solution exists.
Columns6 random_columns(int count, std::mt19937& random, Vec6& r) {
    std::normal_distribution<double> normal;
    Columns6 c(count);
    r.setZero();
    for (Vec6& column : c) {
        for (int i = 0; i < 6; ++i) column[i] = normal(random);
        column[1] = std::abs(column[1]) + 0.3;
        r += std::max(0.0, normal(random)) * column;
    }
    return c;
}

TEST(Nnls, SmoothestSolutionIsExactAndOfLeastNorm) {
    std::mt19937 random(2);
    for (int trial = 0; trial < 200; ++trial) {
        Vec6 r;
        const Columns6 c = random_columns(1 + trial % 20, random, r);
        std::vector<double> x;
        ASSERT_TRUE(smoothest_nonnegative(c, r, x)) << trial;
        Vec6 sum = -r;
        double norm = 0;
        for (std::size_t k = 0; k < c.size(); ++k) {
            EXPECT_GE(x[k], 0);
            sum += x[k] * c[k];
            norm += x[k] * x[k];
        }
        EXPECT_LT(sum.norm(), 1e-9 * (1 + r.norm())) << trial;
        // any other exact solution is longer: Lawson-Hanson's is one
        MatX C(6, c.size());
        for (std::size_t k = 0; k < c.size(); ++k) C.col(k) = c[k];
        const NnlsSolution sparse = nnls(C, r);
        EXPECT_LE(std::sqrt(norm), sparse.x.norm() * (1 + 1e-9)) << trial;
    }
}

TEST(Nnls, SmoothestSolutionOnASquareIsUniform) {
    // Weight on a 5 x 5 grid of contacts: by symmetry each carries 1/25.
    Columns6 c;
    for (int i = -2; i <= 2; ++i)
        for (int j = -2; j <= 2; ++j) c.push_back((Vec6() << 0, 1, 0, -0.1 * j, 0, 0.1 * i).finished());
    Vec6 r;
    r << 0, 9.81, 0, 0, 0, 0;
    std::vector<double> x;
    ASSERT_TRUE(smoothest_nonnegative(c, r, x));
    for (double value : x) EXPECT_NEAR(value, 9.81 / 25, 1e-12);
}

TEST(Nnls, SaysWhenNoExactSolutionExists) {
    const Columns6 c = {(Vec6() << 0, 1, 0, 0, 0, 0).finished()};
    std::vector<double> x;
    EXPECT_FALSE(smoothest_nonnegative(c, (Vec6() << 0, -1, 0, 0, 0, 0).finished(), x));
    EXPECT_GE(x[0], 0);
}

TEST(Nnls, ConeProjectionIsTheNearestPoint) {
    std::mt19937 random(4);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 200; ++trial) {
        const double mu = 0.1 + 0.01 * trial;
        const Vec3 p(normal(random), normal(random), normal(random));
        const Vec3 q = project_onto_cone(p, mu);
        EXPECT_LE(std::hypot(q[1], q[2]), mu * q[0] + 1e-12);
        // p - q lies in the polar cone and is perpendicular to q (Moreau)
        EXPECT_NEAR((p - q).dot(q), 0, 1e-12);
        for (int i = 0; i < 16; ++i) {
            const double a = i * M_PI / 8;
            EXPECT_LE((p - q).dot(Vec3(1, mu * std::cos(a), mu * std::sin(a))), 1e-12);
        }
    }
}

TEST(Nnls, ConesHoldABoxOnASlope) {
    // Unit box, slope tan = 0.5, mu = 0.8: 40 contacts under it must give exactly minus gravity's wrench.
    const double s = 1 / std::sqrt(5.0), k = 2 / std::sqrt(5.0);  // sin, cos
    Columns6 c;
    std::vector<double> mu;
    auto column = [](const Vec3& f, const Vec3& p) { return (Vec6() << f, p.cross(f)).finished(); };
    for (int i = 0; i < 40; ++i) {
        const Vec3 p(-0.5 + (i % 8) / 7.0, -0.5, -0.5 + (i / 8) / 4.0);
        c.push_back(column(Vec3::UnitY(), p));
        c.push_back(column(Vec3::UnitX(), p));
        c.push_back(column(Vec3::UnitZ(), p));
        mu.push_back(0.8);
    }
    Vec6 r;
    r << -s, k, 0, 0, 0, 0;
    std::vector<double> x;
    ASSERT_TRUE(smoothest_in_cones(c, mu, r, x));
    Vec6 sum = -r;
    for (std::size_t i = 0; i < c.size(); ++i) sum += x[i] * c[i];
    EXPECT_LT(sum.norm(), 1e-11);
    for (int i = 0; i < 40; ++i) EXPECT_LE(std::hypot(x[3 * i + 1], x[3 * i + 2]), 0.8 * x[3 * i] + 1e-12);
    // with mu below the slope no impulses can do it
    EXPECT_FALSE(smoothest_in_cones(c, std::vector<double>(40, 0.4), r, x));
}

}  // namespace
}  // namespace tenon::solve

#include "solve/pgs.hpp"

#include <random>

#include <gtest/gtest.h>
#include <Eigen/Dense>

namespace tenon::solve {
namespace {

PgsProblem dense_problem(const MatX& A, const VecX& target, double lower, double upper) {
    PgsProblem p;
    for (int i = 0; i < A.rows(); ++i) {
        p.add_row(target[i], 0.0, lower, upper);
        std::vector<int> all;
        std::vector<double> column;
        for (int k = 0; k < A.rows(); ++k) {
            all.push_back(k);
            column.push_back(A(k, i));
        }
        p.fill_row(i, {i}, {1.0}, all, column);
    }
    return p;
}

MatX random_spd(int n, std::mt19937& random) {
    std::normal_distribution<double> normal;
    const MatX G = MatX::NullaryExpr(n, n, [&] { return normal(random); });
    return G * G.transpose() / n + 0.3 * MatX::Identity(n, n);
}

// A linear complementarity problem by trying every set of active unknowns.
VecX lcp_by_enumeration(const MatX& A, const VecX& target) {
    const int n = static_cast<int>(A.rows());
    for (int mask = 0; mask < (1 << n); ++mask) {
        std::vector<int> set;
        for (int k = 0; k < n; ++k)
            if (mask >> k & 1) set.push_back(k);
        VecX x = VecX::Zero(n);
        if (!set.empty()) {
            MatX sub(set.size(), set.size());
            VecX rhs(set.size());
            for (std::size_t i = 0; i < set.size(); ++i) {
                rhs[i] = target[set[i]];
                for (std::size_t j = 0; j < set.size(); ++j) sub(i, j) = A(set[i], set[j]);
            }
            const VecX s = sub.ldlt().solve(rhs);
            for (std::size_t i = 0; i < set.size(); ++i) x[set[i]] = s[i];
        }
        if (x.minCoeff() >= -1e-12 && (A * x - target).minCoeff() >= -1e-10) return x;
    }
    ADD_FAILURE() << "no solution found";
    return VecX::Zero(n);
}

TEST(Pgs, MatchesEnumeratedComplementarityProblems) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    Pgs pgs;
    for (int trial = 0; trial < 60; ++trial) {
        const int n = 1 + trial % 8;
        const MatX A = random_spd(n, random);
        const VecX target = VecX::NullaryExpr(n, [&] { return normal(random); });
        const VecX expected = lcp_by_enumeration(A, target);
        for (bool conjugate : {false, true}) {
            std::vector<double> x, v(n, 0.0);
            PgsSettings settings;
            settings.max_sweeps = 5000;
            settings.tolerance = 1e-12;
            settings.conjugate = settings.symmetric = conjugate;
            const PgsResult result = pgs.solve(dense_problem(A, target, 0, 1e300), settings, x, v);
            EXPECT_TRUE(result.converged) << trial;
            for (int i = 0; i < n; ++i) EXPECT_NEAR(x[i], expected[i], 1e-9) << trial;
        }
    }
}

// Weights on top of each other: a push at the bottom has to travel through all of them.
TEST(Pgs, ConjugateGradientsSolveTallStacksInFewerSweeps) {
    const int n = 40;
    MatX A = MatX::Zero(n, n);  // contact k between weights k-1 (the ground first) and k
    for (int k = 0; k < n; ++k) {
        A(k, k) = k == 0 ? 1 : 2;
        if (k > 0) A(k, k - 1) = A(k - 1, k) = -1;
    }
    VecX target = VecX::Zero(n);
    target[0] = 1;  // all of them fall; only the lowest contact sees the ground
    int sweeps[2];
    for (bool conjugate : {false, true}) {
        std::vector<double> x, v(n, 0.0);
        PgsSettings settings;
        settings.max_sweeps = 100000;
        settings.tolerance = 1e-9;
        settings.conjugate = settings.symmetric = conjugate;
        const PgsResult result = Pgs().solve(dense_problem(A, target, 0, 1e300), settings, x, v);
        EXPECT_TRUE(result.converged);
        for (int k = 0; k < n; ++k) EXPECT_NEAR(x[k], n - k, 1e-4);
        sweeps[conjugate] = result.sweeps;
        settings.check_first = true;
        std::fill(v.begin(), v.end(), 0.0);
        EXPECT_EQ(Pgs().solve(dense_problem(A, target, 0, 1e300), settings, x, v).sweeps, 0);
    }
    EXPECT_LT(10 * sweeps[1], sweeps[0]);
}

TEST(Pgs, BoxesHoldAndTheResidualSeesAWrongAnswer) {
    std::mt19937 random(2);
    const MatX A = random_spd(6, random);
    const VecX target = VecX::LinSpaced(6, -2, 3);
    const PgsProblem p = dense_problem(A, target, -0.5, 0.5);
    Pgs pgs;
    std::vector<double> x, v(6, 0.0);
    PgsSettings settings;
    settings.max_sweeps = 2000;
    settings.tolerance = 1e-12;
    ASSERT_TRUE(pgs.solve(p, settings, x, v).converged);
    int at_bound = 0;
    for (int i = 0; i < 6; ++i) {
        const double w = v[i] - target[i];
        EXPECT_LE(std::abs(x[i]), 0.5);
        if (x[i] == 0.5) {
            EXPECT_LE(w, 1e-11);
            ++at_bound;
        } else if (x[i] == -0.5) {
            EXPECT_GE(w, -1e-11);
            ++at_bound;
        } else {
            EXPECT_NEAR(w, 0, 1e-11);
        }
    }
    EXPECT_GT(at_bound, 0);
    x[2] += 0.01;
    for (int k = 0; k < 6; ++k) v[k] += 0.01 * A(k, 2);
    EXPECT_GT(pgs_residual(p, x, v), 1e-4);
}

// A point mass on the floor with sideways speed: normal along y, tangents x and z.
PgsProblem sliding_point(double mu, bool cone) {
    PgsProblem p;
    const int n = p.add_row(0, 0, 0, 1e300);
    p.fill_row(n, {1}, {1.0}, {1}, {1.0});
    if (cone) {
        p.add_cone(0, 0, 0, n, mu);
    } else {
        p.add_friction_row(0, 0, n, mu);
        p.add_friction_row(0, 0, n, mu);
    }
    p.fill_row(1, {0}, {1.0}, {0}, {1.0});
    p.fill_row(2, {2}, {1.0}, {2}, {1.0});
    return p;
}

TEST(Pgs, ConeFrictionOpposesSlidingAtTheLimit) {
    Pgs pgs;
    std::vector<double> x, v = {3, -1, 4};  // speed 5 in the plane; normal impulse 1, so friction 0.5
    ASSERT_TRUE(pgs.solve(sliding_point(0.5, true), {}, x, v).converged);
    EXPECT_NEAR(v[1], 0, 1e-14);
    EXPECT_NEAR(v[0], 3 - 0.5 * 3 / 5, 1e-12);
    EXPECT_NEAR(v[2], 4 - 0.5 * 4 / 5, 1e-12);
}

TEST(Pgs, PyramidFrictionBoundsEachTangent) {
    Pgs pgs;
    std::vector<double> x, v = {3, -1, 0.2};
    ASSERT_TRUE(pgs.solve(sliding_point(0.5, false), {}, x, v).converged);
    EXPECT_NEAR(v[0], 2.5, 1e-14);
    EXPECT_NEAR(v[2], 0.0, 1e-14);
}

TEST(Pgs, ComplianceSoftensLikeASpring) {
    // (1/m + gamma) x = 1 with m = 2, gamma = 1.5
    PgsProblem p;
    p.add_row(1.0, 1.5, 0, 1e300);
    p.fill_row(0, {0}, {1.0}, {0}, {0.5});
    Pgs pgs;
    std::vector<double> x, v = {0.0};
    ASSERT_TRUE(pgs.solve(p, {}, x, v).converged);
    EXPECT_NEAR(x[0], 0.5, 1e-14);
    EXPECT_NEAR(v[0], 0.25, 1e-14);
}

TEST(Pgs, WarmStartAtTheSolutionIsDoneAtOnce) {
    std::mt19937 random(9);
    const MatX A = random_spd(8, random);
    const PgsProblem p = dense_problem(A, VecX::LinSpaced(8, -1, 2), 0, 1e300);
    Pgs pgs;
    PgsSettings settings;
    settings.max_sweeps = 5000;
    settings.tolerance = 1e-12;
    settings.symmetric = true;
    std::vector<double> x, v(8, 0.0);
    ASSERT_TRUE(pgs.solve(p, settings, x, v).converged);
    settings.check_every = 1;
    std::vector<double> again(8, 0.0);
    const PgsResult second = pgs.solve(p, settings, x, again);
    EXPECT_EQ(second.sweeps, 1);
    EXPECT_TRUE(second.converged);
}

}  // namespace
}  // namespace tenon::solve

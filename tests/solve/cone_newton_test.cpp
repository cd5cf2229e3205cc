#include "solve/cone_newton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace tenon::solve {
namespace {

// One contact of a block of mass m on a plane, pushed along it: it sticks below mu m g and slides above.
TEST(ConeNewton, BlockSticksAndSlidesAsCoulombSays) {
    const double mass = 2.0, mu = 0.5, dt = 0.01, g = 9.81;
    for (const double push : {0.3, 0.7, 5.0}) {  // of m g, in a direction that is no axis
        ConeProblem problem;
        problem.matrix = Eigen::Matrix3d::Identity() / mass;
        problem.free = Eigen::Vector3d(-g * dt, 0.6 * push * g * dt, -0.8 * push * g * dt);
        problem.friction = {mu};
        VecX x = VecX::Zero(3);
        const ConeNewtonResult result = solve_cone_newton(problem, 30, 1e-12, x);
        EXPECT_TRUE(result.converged) << push;
        EXPECT_NEAR(x[0], mass * g * dt, 1e-11);  // the tolerance in w times the mass
        const double friction = std::min(push, mu) * mass * g * dt;
        EXPECT_NEAR(x[1], -0.6 * friction, 1e-10);
        EXPECT_NEAR(x[2], 0.8 * friction, 1e-10);
    }
}

// Rigid bodies with random points on a floor and on each other, thrown: contacts between the same two bodies depend on
// each other, as those of meshes do.
ConeProblem random_problem(unsigned seed, int contacts, bool pyramid) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    const auto vector = [&] { return Eigen::Vector3d(normal(random), normal(random), normal(random)); };
    const int bodies = 1 + contacts / 6;
    MatX jacobian = MatX::Zero(3 * contacts, 6 * bodies);
    ConeProblem problem;
    problem.pyramid = pyramid;
    for (int k = 0; k < contacts; ++k) {
        const Eigen::Vector3d up = (Eigen::Vector3d::UnitZ() + 0.3 * vector()).normalized();
        Eigen::Matrix3d axes;
        axes << up, up.unitOrthogonal(), up.cross(up.unitOrthogonal());
        const auto touch = [&](int body, double sign) {
            const Eigen::Vector3d arm = 0.5 * vector();
            for (int i = 0; i < 3; ++i) {
                jacobian.block<1, 3>(3 * k + i, 6 * body) = sign * axes.col(i).transpose();
                jacobian.block<1, 3>(3 * k + i, 6 * body + 3) = sign * arm.cross(axes.col(i)).transpose();
            }
        };
        touch(k % bodies, 1);
        if (k % 3 == 2 && bodies > 1) touch((k + 1) % bodies, -1);
        problem.friction.push_back(0.1 + 0.4 * std::abs(normal(random)));
    }
    problem.matrix = jacobian * jacobian.transpose();
    problem.matrix.diagonal() *= 1 + 1e-4;
    VecX velocity(6 * bodies);
    for (double& value : velocity) value = normal(random);
    for (int b = 0; b < bodies; ++b) velocity[6 * b + 2] -= 2;
    problem.free = jacobian * velocity;
    return problem;
}

TEST(ConeNewton, MeetsTheConditionsOnRandomProblems) {
    int converged = 0, all = 0;
    for (const bool pyramid : {false, true})
        for (unsigned seed = 1; seed <= 40; ++seed) {
            const ConeProblem problem = random_problem(seed, 2 + static_cast<int>(seed % 20), pyramid);
            VecX x = VecX::Zero(3 * problem.contacts());
            const ConeNewtonResult result = solve_cone_newton(problem, 60, 1e-9, x);
            ++all;
            if (!result.converged) continue;
            ++converged;
            const VecX w = problem.matrix * x + problem.free;
            const double near = 1e-8 * (1 + x.lpNorm<Eigen::Infinity>() + w.lpNorm<Eigen::Infinity>());
            for (int k = 0; k < problem.contacts(); ++k) {  // the conditions, written anew
                EXPECT_GT(x[3 * k], -1e-8);
                EXPECT_GT(w[3 * k], -1e-8);
                EXPECT_NEAR(x[3 * k] * w[3 * k], 0, near);
                const Eigen::Vector2d force = x.segment<2>(3 * k + 1), slip = w.segment<2>(3 * k + 1);
                const double limit = problem.friction[k] * x[3 * k];
                if (pyramid) {
                    EXPECT_LT(force.cwiseAbs().maxCoeff(), limit + near);
                    for (int t = 0; t < 2; ++t)
                        EXPECT_NEAR(limit * std::abs(slip[t]) + force[t] * slip[t], 0, near);
                } else {
                    EXPECT_LT(force.norm(), limit + near);
                    EXPECT_NEAR(limit * slip.norm() + force.dot(slip), 0, near);  // dissipates all it can
                }
            }
        }
    EXPECT_GE(converged,
              0.8 * all);  // friction that jams need not have a solution that Newton finds from rest
}

// A wall of bodies, each in contact with the next ones: the LU that leaves out zeros goes the same way as the dense one.
TEST(ConeNewton, ScatteredContactsAreSolvedAsDenseOnes) {
    constexpr int columns = 6, rows = 8, each = 3;
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    const auto vector = [&] { return Eigen::Vector3d(normal(random), normal(random), normal(random)); };
    std::vector<std::pair<int, int>> pairs;  // -1: the ground
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c) {
            pairs.emplace_back(r * columns + c, r > 0 ? (r - 1) * columns + c : -1);
            if (c > 0) pairs.emplace_back(r * columns + c, r * columns + c - 1);
        }
    std::shuffle(pairs.begin(), pairs.end(), random);
    const int contacts = each * static_cast<int>(pairs.size());
    MatX jacobian = MatX::Zero(3 * contacts, 6 * columns * rows);
    ConeProblem problem;
    for (int k = 0; k < contacts; ++k) {
        const auto [a, b] = pairs[k / each];
        const Eigen::Vector3d up =
            ((b == a - 1 ? Eigen::Vector3d::UnitX() : Eigen::Vector3d::UnitZ()) + 0.1 * vector())
                .normalized();
        Eigen::Matrix3d axes;
        axes << up, up.unitOrthogonal(), up.cross(up.unitOrthogonal());
        for (const auto& [body, sign] : {std::pair(a, 1.0), std::pair(b, -1.0)}) {
            if (body < 0) continue;
            const Eigen::Vector3d arm = 0.5 * vector();
            for (int i = 0; i < 3; ++i) {
                jacobian.block<1, 3>(3 * k + i, 6 * body) = sign * axes.col(i).transpose();
                jacobian.block<1, 3>(3 * k + i, 6 * body + 3) = sign * arm.cross(axes.col(i)).transpose();
            }
        }
        problem.friction.push_back(0.4);
    }
    problem.matrix = jacobian * jacobian.transpose();
    problem.matrix.diagonal() *= 1 + 1e-2;
    VecX velocity = VecX::Zero(jacobian.cols());
    for (int b = 0; b < columns * rows; ++b)
        velocity.segment<3>(6 * b) = 0.2 * vector() - Eigen::Vector3d(0, 0, 1);
    problem.free = jacobian * velocity;
    VecX dense = VecX::Zero(3 * contacts), scattered = dense;
    const ConeNewtonResult as_dense = solve_cone_newton(problem, 60, 1e-9, dense);
    problem.scattered = true;
    const ConeNewtonResult found = solve_cone_newton(problem, 60, 1e-9, scattered);
    EXPECT_TRUE(as_dense.converged);
    EXPECT_TRUE(found.converged);
    EXPECT_EQ(found.iterations, as_dense.iterations);
    EXPECT_GT(dense.lpNorm<Eigen::Infinity>(), 0.1);
    EXPECT_LT((scattered - dense).lpNorm<Eigen::Infinity>(), 1e-7 * dense.lpNorm<Eigen::Infinity>());
}

}  // namespace
}  // namespace tenon::solve

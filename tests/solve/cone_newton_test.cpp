#include "solve/cone_newton.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

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

}  // namespace
}  // namespace tenon::solve

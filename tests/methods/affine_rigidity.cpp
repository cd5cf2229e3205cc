// Rigidity energies against finite differences, and their projected Hessians.
#include <gtest/gtest.h>

#include <random>

#include <Eigen/Eigenvalues>

#include "methods/affine/rigidity.hpp"

namespace tenon::affine {
namespace {

Mat3 random_near_rotation(std::mt19937& random, double strain_size) {
    std::normal_distribution<double> normal;
    const Quat rotation = Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
    Mat3 noise;
    for (int k = 0; k < 9; ++k) noise(k / 3, k % 3) = normal(random);
    return rotation.toRotationMatrix() * (Mat3::Identity() + strain_size * noise);
}

class Rigidity : public testing::TestWithParam<RigidityModel> {};

TEST_P(Rigidity, GradientMatchesFiniteDifferences) {
    std::mt19937 random(1);
    for (int trial = 0; trial < 20; ++trial) {
        const Mat3 A = random_near_rotation(random, 0.1);
        const Mat3 gradient = rigidity_gradient(GetParam(), A);
        for (int k = 0; k < 9; ++k) {
            const double eps = 1e-5;
            Mat3 plus = A, minus = A;
            plus.data()[k] += eps;
            minus.data()[k] -= eps;
            const double slope =
                (rigidity_energy(GetParam(), plus) - rigidity_energy(GetParam(), minus)) / (2 * eps);
            EXPECT_NEAR(gradient.data()[k], slope, 1e-7);
        }
    }
}

TEST_P(Rigidity, HessianMatchesFiniteDifferences) {
    std::mt19937 random(2);
    for (int trial = 0; trial < 20; ++trial) {
        const Mat3 A = random_near_rotation(random, 0.1);
        const Mat9 H = rigidity_hessian(GetParam(), A, false);
        for (int k = 0; k < 9; ++k) {
            const double eps = 1e-5;
            Mat3 plus = A, minus = A;
            plus.data()[k] += eps;
            minus.data()[k] -= eps;
            const Mat3 slope =
                (rigidity_gradient(GetParam(), plus) - rigidity_gradient(GetParam(), minus)) / (2 * eps);
            for (int i = 0; i < 9; ++i) EXPECT_NEAR(H(i, k), slope.data()[i], 1e-6);
        }
    }
}

TEST_P(Rigidity, ProjectionIsSemidefiniteAndKeepsDefiniteHessians) {
    std::mt19937 random(3);
    for (int trial = 0; trial < 50; ++trial) {
        const Mat3 A = random_near_rotation(random, 0.2);
        const Mat9 H = rigidity_hessian(GetParam(), A, false), P = rigidity_hessian(GetParam(), A, true);
        const Eigen::SelfAdjointEigenSolver<Mat9> projected(P);
        EXPECT_GE(projected.eigenvalues()(0), -1e-10);
        // It never falls below the true curvature.
        EXPECT_GE(Eigen::SelfAdjointEigenSolver<Mat9>(P - H).eigenvalues()(0), -1e-10);
    }
    const Mat3 stretched = 1.1 * Mat3::Identity();  // nothing to remove
    EXPECT_LT((rigidity_hessian(GetParam(), stretched, true) - rigidity_hessian(GetParam(), stretched, false))
                  .norm(),
              1e-12);
}

TEST_P(Rigidity, SmallStrainsCostFourTimesTheirSquare) {
    Mat3 e;
    e << 1e-4, 2e-5, 0, 2e-5, -5e-5, 1e-5, 0, 1e-5, 3e-5;
    const Mat3 A = Quat(0.5, 0.5, -0.5, 0.5).toRotationMatrix() * (Mat3::Identity() + e);
    EXPECT_NEAR(rigidity_energy(GetParam(), A) / (4.0 * e.squaredNorm()), 1.0, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(All, Rigidity,
                         testing::Values(RigidityModel::orthogonality, RigidityModel::arap,
                                         RigidityModel::neo_hookean));

}  // namespace
}  // namespace tenon::affine

#include "math/rotation.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace tenon {
namespace {

// With A = R S, S symmetric and positive definite, R is the nearest rotation, however large the strain.
TEST(Rotation, NearestIsThePolarFactor) {
    const Mat3 R = rotation_matrix(Vec3(0.7, -1.1, 0.4));
    Mat3 S;
    S << 2.0, 0.3, -0.2, 0.3, 0.5, 0.1, -0.2, 0.1, 1e-3 + 0.1;
    EXPECT_LT((nearest_rotation(R * S) - R).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT((nearest_rotation(1e-9 * R * S) - R).cwiseAbs().maxCoeff(), 1e-14);
}

// Of a matrix that mirrors, the rotation maximises tr(R^T A): no turn by a small angle comes nearer.
TEST(Rotation, NearestOfAMirrorIsARotation) {
    const Mat3 A = rotation_matrix(Vec3(0.2, 0.9, -0.3)) * Vec3(1.5, 1.0, -0.4).asDiagonal();
    const Mat3 R = nearest_rotation(A);
    EXPECT_LT((R.transpose() * R - Mat3::Identity()).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_NEAR(R.determinant(), 1.0, 1e-14);
    for (int k = 0; k < 3; ++k)
        for (double angle : {-1e-3, 1e-3, 2.0})
            EXPECT_GT((rotation_matrix(angle * Vec3::Unit(k)) * R - A).norm(), (R - A).norm());
}

TEST(Rotation, ExponentialMapsAgreeAndTheLogarithmUndoesThem) {
    for (double angle : {0.0, 1e-12, 1e-5, 0.3, 3.1}) {
        const Vec3 w = angle * Vec3(1, -2, 2) / 3;
        EXPECT_LT((rotation_matrix(w) - exponential_map(w).toRotationMatrix()).cwiseAbs().maxCoeff(), 1e-15);
        EXPECT_LT((logarithm_map(exponential_map(w)) - w).norm(), 1e-14);
    }
}

// d/dt exp(t skew(w)) R = skew(w) exp(t skew(w)) R.
TEST(Rotation, SpinIsTheAxialVectorOfTheRate) {
    const Vec3 w(0.3, -2, 5), other(4, 0.5, -1);
    const Mat3 A = rotation_matrix(other);
    EXPECT_LT((spin_of(A, skew(w) * A) - w).norm(), 1e-14);
    EXPECT_LT((skew(w) * other - w.cross(other)).norm(), 1e-15);
    EXPECT_LT((axial(skew(w) + Mat3(other * other.transpose())) - w).norm(), 1e-14);
}

}  // namespace
}  // namespace tenon

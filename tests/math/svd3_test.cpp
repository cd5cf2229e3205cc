#include "math/svd3.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tenon {
namespace {

void expect_valid(const Mat3& f) {
    const RotationSvd r = rotation_svd(f);
    const double scale = std::max(1e-300, f.norm());
    EXPECT_LT((r.u * r.s.asDiagonal() * r.v.transpose() - f).norm(), 1e-13 * scale);
    EXPECT_LT((r.u.transpose() * r.u - Mat3::Identity()).norm(), 1e-13);
    EXPECT_LT((r.v.transpose() * r.v - Mat3::Identity()).norm(), 1e-13);
    EXPECT_NEAR(r.u.determinant(), 1, 1e-13);
    EXPECT_NEAR(r.v.determinant(), 1, 1e-13);
    EXPECT_GE(r.s[0], r.s[1] - 1e-14 * scale);
    EXPECT_GE(r.s[1], std::abs(r.s[2]) - 1e-13 * scale);
}

TEST(RotationSvd, HoldsForRandomInvertedSingularAndTinyMatrices) {
    std::mt19937 random(4);
    std::normal_distribution<double> normal;
    for (int trial = 0; trial < 2000; ++trial) {
        Mat3 f;
        for (int i = 0; i < 9; ++i) f.data()[i] = normal(random);
        if (trial % 5 == 1) f.col(2) = f.col(0) + 1e-9 * f.col(1);
        if (trial % 5 == 2) f.col(1) = 2 * f.col(0);
        if (trial % 5 == 3) f *= 1e-30;
        expect_valid(f);
    }
    expect_valid(Mat3::Zero());
    expect_valid(Mat3::Identity());
    expect_valid(-Mat3::Identity());
    expect_valid(Vec3(1, 1, 0).asDiagonal());
}

}  // namespace
}  // namespace tenon

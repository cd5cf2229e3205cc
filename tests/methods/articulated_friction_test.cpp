// Friction limits of contacts: fixed points where the plain iteration swings, of several contacts at once, and where friction locks.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include <Eigen/LU>

#include "methods/articulated/friction_limits.hpp"

namespace tenon::articulated {
namespace {

// Limits that `allowed` gives back, or as far as 60 renewals come; how many they took.
int renewals(std::vector<double>& limits,
             const std::function<std::vector<double>(const std::vector<double>&)>& allowed) {
    FrictionLimits friction;
    for (int count = 0; count < 60; ++count) {
        const std::vector<double> now = allowed(limits);
        std::vector<FrictionLimit> list;
        for (std::size_t k = 0; k < limits.size(); ++k) list.push_back({&limits[k], now[k], 1.0});
        if (!friction.renew(list, 1e-9)) return count;
    }
    return 60;
}

}  // namespace

// allowed = 100 - 20 limit: 100/21, from which the plain iteration leads away twenty times as far each time.
TEST(ArticulatedFriction, LimitsThatTakeFromWhatPressesAreFound) {
    std::vector<double> limits{0.0};
    const int count =
        renewals(limits, [](const auto& x) { return std::vector<double>{100.0 - 20.0 * x[0]}; });
    EXPECT_LE(count, 5);
    EXPECT_NEAR(limits[0], 100.0 / 21.0, 1e-8);
}

// Three contacts of one body that unload each other: (I + B) limits = c.
TEST(ArticulatedFriction, LimitsOfCoupledContactsAreFound) {
    Eigen::Matrix3d B;
    B << 8, 3, 1, 3, 6, 2, 1, 2, 9;
    const Eigen::Vector3d c(500, 400, 600);
    std::vector<double> limits(3, 0.0);
    const int count = renewals(limits, [&](const auto& x) {
        const Eigen::Vector3d out = (c - B * Eigen::Vector3d(x[0], x[1], x[2])).cwiseMax(0.0);
        return std::vector<double>(out.data(), out.data() + 3);
    });
    EXPECT_LT(count, 30);
    const Eigen::Vector3d exact = (Eigen::Matrix3d::Identity() + B).inverse() * c;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(limits[k], exact[k], 1e-6);
}

// allowed = 100 + 2 limit as long as the points slide, 5,000 from where they stick.
TEST(ArticulatedFriction, FrictionThatLocksGrowsUntilThePointsStick) {
    std::vector<double> limits{0.0};
    const int count = renewals(
        limits, [](const auto& x) { return std::vector<double>{std::min(100.0 + 2.0 * x[0], 5000.0)}; });
    EXPECT_LT(count, 30);
    EXPECT_NEAR(limits[0], 5000.0, 1e-8);
}

}  // namespace tenon::articulated

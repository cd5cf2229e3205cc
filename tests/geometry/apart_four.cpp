#include "geometry/separating_axis_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "geometry/distance.hpp"

namespace tenon::geometry {
namespace {

// Pairs of two bodies, a few apart from each other, others meeting on the way.
struct Pairs {
    std::vector<Vec3> start[2], step[2];
    std::vector<std::array<int, 4>> corners;
    std::vector<LooseDirection> directions;
    int split;

    Pairs(int count, int in_first, unsigned seed) : split(in_first) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> any(-1.0, 1.0);
        const auto vector = [&] { return Vec3(any(random), any(random), any(random)); };
        for (int n = 0; n < count; ++n) {
            const Vec3 apart = 0.7 * vector(), common = 2.0 * vector();
            std::array<int, 4> corner;
            for (int k = 0; k < 4; ++k) {
                const int side = k >= split;
                corner[k] = static_cast<int>(start[side].size());
                start[side].push_back(0.5 * vector() + side * apart);
                step[side].push_back(common + (n % 2 ? 0.1 : 1.0) * vector());
            }
            corners.push_back(corner);
            const Vec3 d = closest(n, 0.0).difference;
            const double noise = n % 3 ? 0.0 : 0.2;
            const float size = n % 5 ? 1.0f : 1e-3f;  // the length does not count
            directions.push_back({size * static_cast<float>(d.x() + noise * any(random)),
                                  size * static_cast<float>(d.y() + noise * any(random)),
                                  size * static_cast<float>(d.z() + noise * any(random)), 7.0f});
        }
        for (int side = 0; side < 2; ++side) {  // what may be read
            start[side].push_back(Vec3::Constant(std::nan("")));
            step[side].push_back(Vec3::Constant(1e9));
        }
    }

    Closest closest(int n, double t) const {
        Vec3 x[4];
        for (int k = 0; k < 4; ++k)
            x[k] = start[k >= split][corners[n][k]] + t * step[k >= split][corners[n][k]];
        return split == 2 ? closest_edge_edge(x[0], x[1], x[2], x[3])
                          : closest_point_triangle(x[0], x[1], x[2], x[3]);
    }

    std::vector<int> near(const SeparatingAxisKernels& kernels, double t_max, double gap) const {
        std::vector<int> list(corners.size());
        std::iota(list.begin(), list.end(), 0);
        const MovingSides sides{
            {start[0][0].data(), start[1][0].data()}, {step[0][0].data(), step[1][0].data()}, 10.0};
        list.resize((split == 2 ? kernels.edge_edge : kernels.point_triangle)(
            sides, corners.data(), directions.data(), t_max, gap, list.data(),
            static_cast<int>(list.size())));
        return list;
    }
};

TEST(ApartFour, WhatIsTakenOutStaysApart) {
    for (const int split : {1, 2}) {
        const int count = 20001;
        const Pairs pairs(count, split, 3);
        for (const double t_max : {1.0, 0.3}) {
            const double gap = 0.15;
            const std::vector<int> near = pairs.near(separating_axis_kernels(), t_max, gap);
            EXPECT_EQ(near, pairs.near(portable_separating_axis, t_max, gap));
            ASSERT_TRUE(std::is_sorted(near.begin(), near.end()));
            EXPECT_LT(near.size(), 0.9 * count);  // it is of use
            int come_near = 0;
            for (int n = 0; n < count; ++n) {
                double nearest = 1e300;
                for (int k = 0; k <= 16; ++k)
                    nearest = std::min(nearest, pairs.closest(n, t_max * k / 16.0).squared);
                if (nearest > gap * gap) continue;
                ++come_near;
                ASSERT_TRUE(std::binary_search(near.begin(), near.end(), n)) << n;
            }
            EXPECT_GT(come_near, count / 20);
        }
    }
}

TEST(ApartFour, DirectionsThatSayNothingKeepThePair) {
    for (const int split : {1, 2}) {
        Pairs pairs(8, split, 4);
        for (int n = 0; n < 8; ++n) pairs.directions[n] = {};
        pairs.directions[1] = {1e38f, 1e38f, 1e38f, 0.0f};
        pairs.directions[2] = {std::nanf(""), 1.0f, 0.0f, 0.0f};
        pairs.start[0][pairs.corners[2][0]].x() = 100.0;
        const std::vector<int> near = pairs.near(separating_axis_kernels(), 1.0, 0.0);
        for (const int n : {0, 2, 3, 4, 5, 6, 7})
            EXPECT_TRUE(std::binary_search(near.begin(), near.end(), n));
        // Not a number in a place keeps the pair too.
        Pairs broken(8, split, 4);
        for (int n = 0; n < 8; ++n) broken.step[n % 2][broken.corners[n][n % 2 ? 3 : 0]].y() = std::nan("");
        EXPECT_EQ(broken.near(separating_axis_kernels(), 1.0, 0.0).size(), 8u);
    }
}

}  // namespace
}  // namespace tenon::geometry

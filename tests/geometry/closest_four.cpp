#include "geometry/closest_point_lanes.hpp"

#include <gtest/gtest.h>

#include <random>

#include "geometry/distance.hpp"

namespace tenon::geometry {
namespace {

// Random pairs and, every other time, corners on a coarse grid: parallel edges, feet on borders, flat triangles.
std::array<Vec3, 4> random_corners(std::mt19937& random, bool grid) {
    std::uniform_real_distribution<double> any(-1.0, 1.0);
    std::array<Vec3, 4> x;
    for (Vec3& p : x)
        for (int k = 0; k < 3; ++k) p[k] = grid ? std::round(2.0 * any(random)) : any(random);
    return x;
}

void compare(const ClosestPointKernels& kernels, bool edges) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 2000; ++trial) {
        std::array<std::array<Vec3, 4>, four> x;
        std::array<std::array<std::array<double, 4>, 4>, four> padded;
        std::array<PairCorners, four> corners;
        for (int lane = 0; lane < four; ++lane) {
            x[lane] = random_corners(random, trial % 2);
            for (int n = 0; n < 4; ++n) {
                padded[lane][n] = {x[lane][n][0], x[lane][n][1], x[lane][n][2], 1e9};
                corners[lane][n] = padded[lane][n].data();
            }
        }
        ClosestFour found;
        (edges ? kernels.edge_edge : kernels.point_triangle)(corners.data(), 1, &found);
        for (int lane = 0; lane < four; ++lane) {
            const auto& c = x[lane];
            const Closest one = edges ? closest_edge_edge(c[0], c[1], c[2], c[3])
                                      : closest_point_triangle(c[0], c[1], c[2], c[3]);
            const double s = found.s[lane], t = found.t[lane];
            ASSERT_NEAR(found.squared[lane], one.squared, 1e-14) << trial;
            ASSERT_EQ(found.active[lane], one.active) << trial;
            ASSERT_NEAR(s, edges ? one.weight[1] : -one.weight[2], 1e-12) << trial;
            ASSERT_NEAR(t, -one.weight[3], 1e-12) << trial;
            for (int k = 0; k < 3; ++k)
                ASSERT_NEAR(found.difference[k][lane], one.difference[k], 1e-14) << trial;
        }
    }
}

TEST(ClosestFour, AgreesWithOneByOne) {
    for (const bool edges : {false, true}) {
        compare(portable_closest_point, edges);
        compare(closest_point_kernels(), edges);
    }
}

}  // namespace
}  // namespace tenon::geometry

#include "geometry/signed_distance.hpp"

#include <random>

#include <gtest/gtest.h>

namespace tenon::geometry {
namespace {

// The 12 triangles of a box, outward.
Mesh box_mesh(const Vec3& half) {
    Mesh mesh;
    for (int i = 0; i < 8; ++i)
        mesh.vertices.push_back(
            Vec3(i & 1 ? half.x() : -half.x(), i & 2 ? half.y() : -half.y(), i & 4 ? half.z() : -half.z()));
    mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                      {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    return mesh;
}

// An L: two boxes' union, with a reflex edge where signs are easily lost.
Mesh corner_mesh() {
    // cross-section (0,0) (2,0) (2,1) (1,1) (1,2) (0,2), extruded from z = 0 to 1
    const std::vector<Vec2> outline = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    Mesh mesh;
    for (int z = 0; z < 2; ++z)
        for (const Vec2& p : outline) mesh.vertices.push_back(Vec3(p.x(), p.y(), z));
    const std::vector<Triangle> cap = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    for (const Triangle& t : cap) {
        mesh.triangles.push_back({t[0], t[2], t[1]});
        mesh.triangles.push_back({t[0] + 6, t[1] + 6, t[2] + 6});
    }
    for (int i = 0; i < 6; ++i) {
        const int j = (i + 1) % 6;
        mesh.triangles.push_back({i, j, j + 6});
        mesh.triangles.push_back({i, j + 6, i + 6});
    }
    return mesh;
}

double box_distance(const Vec3& p, const Vec3& lo, const Vec3& hi) {
    const Vec3 d = (lo - p).cwiseMax(p - hi);
    return d.cwiseMax(0.0).norm() + std::min(0.0, d.maxCoeff());
}

TEST(SignedDistance, OfABoxMatchesItsFormula) {
    const Vec3 half(0.5, 0.3, 0.4);
    const SignedDistance field(box_mesh(half));
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-0.55, 0.55);
    for (int i = 0; i < 2000; ++i) {
        const Vec3 p(uniform(random), uniform(random), uniform(random));
        if (!field.box().contains(p)) continue;
        const double truth = box_distance(p, -half, half);
        EXPECT_NEAR(field.distance(p), truth, 0.5 * field.cell_size()) << p.transpose();
        if (std::abs(truth) > field.cell_size()) {
            EXPECT_EQ(field.distance(p) < 0, truth < 0) << p.transpose();
        }
    }
    // over the middle of a face the interpolant is exact
    EXPECT_NEAR(field.distance(Vec3(0.013, 0.31, -0.02)), 0.01, 1e-7);
    EXPECT_NEAR(field.distance(Vec3(0.013, 0.29, -0.02)), -0.01, 1e-7);
    EXPECT_LT((field.sample(Vec3(0.013, 0.31, -0.02)).gradient - Vec3::UnitY()).norm(), 1e-5);
}

TEST(SignedDistance, KeepsItsSignAtAReflexEdge) {
    const SignedDistance field(corner_mesh());
    std::mt19937 random(2);
    std::uniform_real_distribution<double> uniform(-0.1, 2.1), depth(0.2, 0.8);
    for (int i = 0; i < 3000; ++i) {
        const Vec3 p(uniform(random), uniform(random), depth(random));
        const bool inside = p.x() > 0 && p.y() > 0 && p.x() < 2 && p.y() < 2 && (p.x() < 1 || p.y() < 1);
        if (std::abs(field.distance(p)) < field.cell_size()) continue;
        EXPECT_EQ(field.distance(p) < 0, inside) << p.transpose();
    }
}

TEST(SignedDistance, GradientIsTheSlopeOfTheValue) {
    const SignedDistance field(corner_mesh());
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-0.1, 2.1);
    const double h = 1e-6;
    for (int i = 0; i < 300; ++i) {
        const Vec3 p(uniform(random), uniform(random), 0.5 * uniform(random));
        const auto sample = field.sample(p);
        for (int a = 0; a < 3; ++a) {
            const Vec3 e = h * Vec3::Unit(a);
            const double forward = (field.distance(p + e) - sample.distance) / h;
            const double backward = (sample.distance - field.distance(p - e)) / h;
            if (std::abs(forward - backward) > 1e-6) continue;  // a cell wall lies between
            EXPECT_NEAR(sample.gradient[a], forward, 1e-5);
        }
    }
}

TEST(SignedDistance, ContinuesOutsideItsGrid) {
    const SignedDistance field(box_mesh(Vec3(1, 1, 1)));
    EXPECT_NEAR(field.distance(Vec3(5, 0, 0)), 4.0, 1e-6);
    EXPECT_NEAR(field.distance(Vec3(0, -9, 0)), 8.0, 1e-6);
    EXPECT_GT(field.distance(Vec3(5, 5, 5)), 4.0);
}

TEST(SignedDistance, RefusesOpenMeshes) {
    Mesh open = box_mesh(Vec3(1, 1, 1));
    open.triangles.pop_back();
    EXPECT_THROW(SignedDistance{open}, std::invalid_argument);
    EXPECT_THROW(SignedDistance{Mesh{}}, std::invalid_argument);
}

}  // namespace
}  // namespace tenon::geometry

#include "geometry/closest.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "geometry/distance.hpp"
#include "geometry/mesh_check.hpp"
#include "test_meshes.hpp"

namespace tenon::geometry {
namespace {

struct Body {
    Mesh mesh;
    std::vector<Edge> edges;
    SurfaceTree surface;

    explicit Body(Mesh m) : mesh(std::move(m)), edges(all_edges(mesh)), surface(mesh, edges) {}
    Body(const Body&) = delete;
};

double brute_force(const Mesh& mesh, const Vec3& p) {
    double best = 1e300;
    const auto& x = mesh.vertices;
    for (const Triangle& t : mesh.triangles)
        best = std::min(best, squared_distance_point_triangle(p, x[t[0]], x[t[1]], x[t[2]]));
    for (const Edge& e : mesh.edges) best = std::min(best, squared_distance_point_edge(p, x[e[0]], x[e[1]]));
    for (int v : mesh.points) best = std::min(best, (p - x[v]).squaredNorm());
    return best;
}

TEST(ClosestPoint, EqualsBruteForce) {
    const Body torus(torus_mesh(40, 20, 1.0, 0.3)), soup(soup_mesh(60, 40, 30, 1));
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    for (const Body* body : {&torus, &soup}) {
        for (int trial = 0; trial < 200; ++trial) {
            const Vec3 p(normal(random), normal(random), normal(random));
            const SurfacePoint found = closest_point(body->surface, p);
            ASSERT_EQ(found.squared, brute_force(body->mesh, p));
            EXPECT_NEAR((found.point - p).squaredNorm(), found.squared, 1e-12);
            EXPECT_EQ((found.triangle >= 0) + (found.edge >= 0) + (found.vertex >= 0), 1);
            // Within reach or not.
            const double d = std::sqrt(found.squared);
            EXPECT_TRUE(closest_point(body->surface, p, 1.001 * d).found());
            EXPECT_FALSE(closest_point(body->surface, p, 0.999 * d).found());
        }
    }
}

TEST(ClosestPoint, EmptySurface) {
    const Body nothing{Mesh{}};
    EXPECT_FALSE(closest_point(nothing.surface, Vec3(0, 0, 0)).found());
    EXPECT_FALSE(first_hit(nothing.surface, Vec3(0, 0, 0), Vec3(1, 0, 0)).found());
    EXPECT_EQ(WindingNumber(nothing.surface).at(Vec3(0, 0, 0)), 0.0);
}

TEST(RayHit, TorusFromOutside) {
    const Body torus(torus_mesh(60, 30, 1.0, 0.3));
    // Along x through the tube's centre line: enters at the vertex ring x = -1.3.
    const RayHit hit = first_hit(torus.surface, Vec3(-3, 0, 1e-3), Vec3(2, 0, 0));
    ASSERT_TRUE(hit.found());
    EXPECT_NEAR(-3 + 2 * hit.t, -1.3, 1e-4);
    EXPECT_FALSE(first_hit(torus.surface, Vec3(-3, 0, 1e-3), Vec3(2, 0, 0), 0.8).found());
    EXPECT_FALSE(first_hit(torus.surface, Vec3(0.01, -3, 0.02), Vec3(0, 1, 0)).found());  // through the hole
    EXPECT_FALSE(first_hit(torus.surface, Vec3(-3, 0, 0), Vec3(-1, 0, 0)).found());
}

TEST(WindingNumber, InsideATorusAndACube) {
    const Body torus(torus_mesh(60, 30, 1.0, 0.3)), cube(cube_mesh(1.0));
    const WindingNumber in_torus(torus.surface), in_cube(cube.surface);
    std::mt19937 random(2);
    std::uniform_real_distribution<double> uniform(-1.5, 1.5);
    int inside = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        const Vec3 p(uniform(random), 0.3 * uniform(random), uniform(random));
        // Distance from the tube's centre line; the mesh is within 0.3 (1 - cos(pi / 30)) + 1.3 (1 - cos(pi / 60)) of it.
        const double ring = std::hypot(p.x(), p.z()) - 1.0, r = std::hypot(ring, p.y());
        if (std::abs(r - 0.3) < 0.005) continue;
        inside += r < 0.3;
        EXPECT_EQ(in_torus.inside(p), r < 0.3);
        EXPECT_NEAR(in_torus.exact(p), r < 0.3 ? 1.0 : 0.0, 1e-9);
        EXPECT_NEAR(in_torus.at(p), in_torus.exact(p), 0.03);
        EXPECT_NEAR(in_torus.signed_distance(p), r - 0.3, 0.005);
        const double most = p.cwiseAbs().maxCoeff();
        EXPECT_EQ(in_cube.inside(p), most < 0.5);
        if (most < 0.5) {
            EXPECT_NEAR(in_cube.signed_distance(p), most - 0.5, 1e-12);
        }
    }
    EXPECT_GT(inside, 50);
}

TEST(WindingNumber, OpenSurfaceIsInBetween) {
    // A cube without its top: in the middle, 5/6 of the sphere is covered.
    Mesh mesh = cube_mesh(1.0);
    mesh.triangles.erase(mesh.triangles.begin() + 6, mesh.triangles.begin() + 8);
    const Body box(mesh);
    const WindingNumber winding(box.surface);
    EXPECT_NEAR(winding.exact(Vec3(0, 0, 0)), 5.0 / 6.0, 1e-12);
    EXPECT_NEAR(winding.at(Vec3(0, 0, 0)), 5.0 / 6.0, 1e-12);
}

}  // namespace
}  // namespace tenon::geometry

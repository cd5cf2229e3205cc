#include "geometry/mesh_check.hpp"

#include <gtest/gtest.h>

#include "shape_support.hpp"

namespace tenon::geometry {
namespace {

TEST(MeshCheck, BoxIsClean) {
    const MeshReport report = check_mesh(make_shape("box"));
    EXPECT_TRUE(report.clean());
    EXPECT_EQ(report.components, 1);
    EXPECT_DOUBLE_EQ(report.signed_volume, 1.0);
}

TEST(MeshCheck, CountsWhatIsWrong) {
    Mesh box = make_shape("box");
    box.triangles.pop_back();
    EXPECT_EQ(check_mesh(box).boundary_edges, 3);

    box = make_shape("box");
    std::swap(box.triangles[0][0], box.triangles[0][1]);
    EXPECT_EQ(check_mesh(box).inconsistent_edges, 3);

    box = make_shape("box");
    for (Triangle& t : box.triangles) std::swap(t[0], t[1]);
    EXPECT_TRUE(check_mesh(box).inside_out);
    EXPECT_TRUE(check_mesh(box).closed());

    box = make_shape("box");
    box.triangles.push_back(box.triangles[0]);
    EXPECT_EQ(check_mesh(box).non_manifold_edges, 3);

    box = make_shape("box");
    box.triangles.push_back({1, 1, 2});
    box.vertices.push_back(box.vertices[0]);
    EXPECT_EQ(check_mesh(box).degenerate_triangles, 1);
    EXPECT_EQ(check_mesh(box).duplicate_vertices, 1);
    EXPECT_EQ(check_mesh(box).unused_vertices, 1);
}

TEST(MeshCheck, WeldClosesASoup) {
    const Mesh box = make_shape("box");
    Mesh soup;
    for (const Triangle& t : box.triangles) {
        const int first = static_cast<int>(soup.vertices.size());
        for (int v : t) soup.vertices.push_back(box.vertices[v] * (1.0 + 1e-9 * (first % 3)));
        soup.triangles.push_back({first, first + 1, first + 2});
    }
    EXPECT_EQ(check_mesh(soup).boundary_edges, 36);
    const Mesh welded = weld(soup, 1e-6);
    EXPECT_EQ(welded.vertices.size(), 8u);
    EXPECT_TRUE(check_mesh(welded).clean());
    EXPECT_EQ(weld(box, 0.0).vertices.size(), 8u);
}

TEST(MeshCheck, WeldFindsNeighboursAcrossCells) {
    // Two points a hair apart on either side of a cell wall.
    Mesh mesh;
    mesh.vertices = {{1.0 - 1e-9, 0, 0}, {1.0 + 1e-9, -1e-9, 1e-9}, {2, 0, 0}};
    mesh.points = {0, 1, 2};
    EXPECT_EQ(weld(mesh, 0.125).vertices.size(), 2u);
}

TEST(MeshCheck, OrientFixesMixedAndInsideOut) {
    Mesh mesh = make_shape("icosphere", {{"subdivisions", 1.0}});
    for (std::size_t t = 0; t < mesh.triangles.size(); t += 3)
        std::swap(mesh.triangles[t][0], mesh.triangles[t][1]);
    EXPECT_GT(check_mesh(mesh).inconsistent_edges, 0);
    EXPECT_TRUE(orient(mesh));
    EXPECT_TRUE(check_mesh(mesh).clean());
}

TEST(MeshCheck, MoebiusStripCannotBeOriented) {
    Mesh strip;
    const int n = 12;
    for (int i = 0; i < n; ++i)
        for (double side : {-0.2, 0.2}) {
            const double a = 2 * M_PI * i / n, r = 1.0 + side * std::cos(0.5 * a);
            strip.vertices.emplace_back(r * std::cos(a), side * std::sin(0.5 * a), r * std::sin(a));
        }
    for (int i = 0; i < n; ++i) {
        const bool twist = i == n - 1;
        const int a = 2 * i, b = a + 1, c = twist ? 0 : a + 2, d = twist ? 1 : a + 3;
        const int far_low = twist ? d : c, far_high = twist ? c : d;
        strip.triangles.push_back({a, b, far_high});
        strip.triangles.push_back({a, far_high, far_low});
    }
    EXPECT_FALSE(orient(strip));
}

TEST(MeshCheck, EdgesAndComponents) {
    const Mesh box = make_shape("box");
    EXPECT_EQ(all_edges(box).size(), 18u);  // Euler: V - E + F = 8 - 18 + 12 = 2
    Mesh two = box;
    for (const Vec3& v : box.vertices) two.vertices.push_back(v + Vec3(3, 0, 0));
    for (const Triangle& t : box.triangles) two.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
    two.vertices.emplace_back(9, 9, 9);
    two.vertices.emplace_back(9, 9, 8);
    two.edges.push_back({17, 16});
    EXPECT_EQ(check_mesh(two).components, 3);
    EXPECT_EQ(all_edges(two).size(), 37u);
    const std::vector<Mesh> parts = split_components(two);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_TRUE(check_mesh(parts[1]).clean());
    EXPECT_EQ(parts[1].vertices[0], Vec3(box.vertices[0] + Vec3(3, 0, 0)));
    EXPECT_EQ(parts[2].edges.size(), 1u);
}

TEST(MeshCheck, Convexity) {
    for (const char* name :
         {"box", "sphere", "icosphere", "cylinder", "cone", "capsule", "tetrahedron", "wedge"})
        EXPECT_TRUE(is_convex(make_shape(name), 1e-9)) << name;
    for (const char* name : {"torus", "card", "plane"})
        EXPECT_FALSE(is_convex(make_shape(name), 1e-9)) << name;
    Mesh dented = make_shape("icosphere");
    dented.vertices[0] *= 0.9;
    EXPECT_FALSE(is_convex(dented, 1e-9));
}

}  // namespace
}  // namespace tenon::geometry

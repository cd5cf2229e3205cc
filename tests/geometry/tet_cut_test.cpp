#include "geometry/tet_cut.hpp"

#include <gtest/gtest.h>

#include "geometry/mesh_check.hpp"
#include "geometry/shapes.hpp"
#include "tenon/params.hpp"

namespace tenon::geometry {
namespace {

double volume_of(const TetMesh& mesh) {
    double sum = 0;
    for (const Tet& t : mesh.tets) {
        const Vec3& a = mesh.vertices[t[0]];
        sum += (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a).dot(mesh.vertices[t[3]] - a) / 6;
    }
    return sum;
}

TetMesh lattice(const std::string& shape, const std::map<std::string, ParamValue>& given, double cell) {
    const ShapeInfo* info = find_shape(shape);
    return lattice_tets(info->make(resolve_params(info->parameters, given, {})), cell);
}

// A cut that misses no vertex by much still keeps the volume, and each side is closed by itself.
TEST(TetCut, DividesABoxAlongAPlane) {
    for (double x : {0.0, 0.013, 0.061}) {
        TetMesh mesh = lattice("box", {{"size", std::vector<double>{1, 0.4, 0.4}}}, 0.1);
        const double before = volume_of(mesh);
        const auto pairs = cut_tets(mesh, Vec3(x, 0, 0), Vec3(1, 0, 0));
        ASSERT_FALSE(pairs.empty());
        EXPECT_NEAR(volume_of(mesh), before, 1e-12);
        const TetReport report = check_tets(mesh);
        EXPECT_EQ(report.inverted, 0);
        EXPECT_EQ(report.degenerate, 0);
        for (const auto& [a, b] : pairs) {
            EXPECT_EQ(mesh.vertices[a], mesh.vertices[b]);
            EXPECT_NEAR(mesh.vertices[a].x(), x, 1e-12);
        }
        // two closed pieces, split exactly at the plane: their volumes are those of the two parts of the box
        const std::vector<Triangle> surface = tet_surface(mesh.tets);
        Mesh skin;
        skin.vertices = mesh.vertices, skin.triangles = surface;
        EXPECT_TRUE(is_closed_cycle(skin));
        double right = 0;
        for (const Tet& t : mesh.tets) {
            TetMesh one{mesh.vertices, {t}, {0}};
            Vec3 middle = Vec3::Zero();
            for (int v : t) middle += 0.25 * mesh.vertices[v];
            if (middle.x() > x) right += volume_of(one);
        }
        EXPECT_NEAR(right, (0.5 - x) * 0.16, 1e-9);
    }
}

TEST(TetCut, ATiltedCutKeepsTheElementsSound) {
    TetMesh mesh = lattice("icosphere", {{"radius", 0.5}, {"subdivisions", 3.0}}, 0.12);
    const double before = volume_of(mesh);
    const auto pairs = cut_tets(mesh, Vec3(0.03, 0.01, -0.02), Vec3(1, 0.7, 0.3));
    const TetReport report = check_tets(mesh);
    EXPECT_EQ(report.inverted + report.degenerate, 0);
    EXPECT_GT(report.worst_quality, 0.01);
    EXPECT_NEAR(volume_of(mesh), before, 0.01 * before);  // boundary vertices near the plane move into it
    EXPECT_GT(pairs.size(), 20u);
    EXPECT_TRUE(cut_tets(mesh, Vec3(3, 0, 0), Vec3(1, 0, 0)).empty());
}

}  // namespace
}  // namespace tenon::geometry

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
    return fill_with_tets(info->make(resolve_params(info->parameters, given, {})), cell);
}

// A box of n x 4 x 4 cubes of side 0.1 about the origin, each of six tetrahedra around its diagonal.
TetMesh box_of_cubes(int n) {
    TetMesh mesh;
    const auto at = [](int x, int y, int z) { return (x * 5 + y) * 5 + z; };
    for (int x = 0; x <= n; ++x)
        for (int y = 0; y <= 4; ++y)
            for (int z = 0; z <= 4; ++z) mesh.vertices.push_back(0.1 * Vec3(x - 0.5 * n, y - 2, z - 2));
    for (int x = 0; x < n; ++x)
        for (int y = 0; y < 4; ++y)
            for (int z = 0; z < 4; ++z)
                for (const auto& order : {std::array{0, 1, 2}, std::array{1, 2, 0}, std::array{2, 0, 1},
                                          std::array{0, 2, 1}, std::array{2, 1, 0}, std::array{1, 0, 2}}) {
                    std::array<int, 3> corner{x, y, z};
                    Tet tet{at(x, y, z), 0, 0, 0};
                    for (int k = 0; k < 3; ++k) {
                        ++corner[order[k]];
                        tet[k + 1] = at(corner[0], corner[1], corner[2]);
                    }
                    const Vec3& a = mesh.vertices[tet[0]];
                    if ((mesh.vertices[tet[1]] - a)
                            .cross(mesh.vertices[tet[2]] - a)
                            .dot(mesh.vertices[tet[3]] - a) < 0)
                        std::swap(tet[2], tet[3]);
                    mesh.tets.push_back(tet);
                }
    return mesh;
}

// Through vertices, close to them and between them: the volume stays, and both sides are closed.
TEST(TetCut, DividesABoxAlongAPlane) {
    for (double x : {0.0, 0.013, 0.061}) {
        TetMesh mesh = box_of_cubes(10);
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

#include "geometry/tet_mesh.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "geometry/mass_properties.hpp"
#include "geometry/mesh_check.hpp"
#include "geometry/shapes.hpp"
#include "tenon/error.hpp"

namespace tenon::geometry {
namespace {

Mesh shape(const std::string& name, const std::map<std::string, ParamValue>& given) {
    const ShapeInfo* info = find_shape(name);
    return info->make(resolve_params(info->parameters, given, {}));
}

double volume_of(const TetMesh& mesh) {
    double volume = 0;
    for (const Tet& t : mesh.tets)
        volume += (mesh.vertices[t[1]] - mesh.vertices[t[0]])
                      .cross(mesh.vertices[t[2]] - mesh.vertices[t[0]])
                      .dot(mesh.vertices[t[3]] - mesh.vertices[t[0]]) /
                  6;
    return volume;
}

std::string written(const std::string& name, const std::string& text) {
    const auto path =
        std::filesystem::temp_directory_path() / ("tenon-tets-" + std::to_string(::getpid()) + "-" + name);
    std::ofstream(path) << text;
    return path.string();
}

TEST(TetMesh, EmbedsPointsWithTheirWeights) {
    const Mesh sphere = shape("icosphere", {{"radius", 0.5}, {"subdivisions", 3.0}});
    const TetMesh tets = fill_with_tets(sphere, 0.12);
    const Embedding embedding = embed(sphere.vertices, tets);
    for (std::size_t i = 0; i < sphere.vertices.size(); ++i) {
        Vec3 point = Vec3::Zero();
        for (int k = 0; k < 4; ++k)
            point += embedding.weight[i][k] * tets.vertices[tets.tets[embedding.tet[i]][k]];
        EXPECT_LT((point - sphere.vertices[i]).norm(), 1e-12);
        EXPECT_NEAR(embedding.weight[i].sum(), 1, 1e-12);
        EXPECT_GT(embedding.weight[i].minCoeff(),
                  -0.8);  // near, though the sphere bulges out of the tetrahedra
    }
}

TEST(TetMesh, QualityOfTheRegularTetrahedronIsOne) {
    EXPECT_NEAR(tet_quality({1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}), 1, 1e-12);
    EXPECT_NEAR(tet_quality({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}), 0, 1e-12);
}

const char* kMsh2 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
    "$Elements\n2\n1 2 2 7 1 1 2 3\n2 4 2 7 1 1 2 3 4\n$EndElements\n";
const char* kMsh4 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
    "$EndNodes\n$Elements\n1 1 1 1\n3 5 4 1\n1 1 2 3 4\n$EndElements\n";
const char* kVtk =
    "# vtk DataFile Version 3.0\ntet\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0\n0 1 "
    "0\n0 0 1\n"
    "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";
const char* kMedit =
    "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\nTetrahedra\n1\n1 "
    "2 3 4 3\nEnd\n";

TEST(TetMeshIo, ReadsEveryFormat) {
    written("t.ele", "1 4 0\n1 1 2 3 4\n");
    for (const std::string& file :
         {written("a.msh", kMsh2), written("b.msh", kMsh4), written("c.vtk", kVtk), written("d.mesh", kMedit),
          written("t.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")}) {
        const TetMesh mesh = read_tets(file);
        ASSERT_EQ(mesh.vertices.size(), 4u) << file;
        ASSERT_EQ(mesh.tets.size(), 1u) << file;
        EXPECT_NEAR(volume_of(mesh), 1.0 / 6, 1e-15) << file;
    }
    EXPECT_EQ(read_tets(written("a.msh", kMsh2)).region[0], 7);
}

TEST(TetMeshIo, NamesWhatIsWrong) {
    const auto refused = [](const std::string& file, const std::string& word) {
        try {
            read_tets(file);
        } catch (const InputError& error) {
            return std::string(error.what()).find(word) != std::string::npos;
        }
        return false;
    };
    EXPECT_TRUE(refused("no-such-file.msh", "no such file"));
    EXPECT_TRUE(refused(written("e.msh", std::string(kMsh2).substr(0, 72)), "cut off"));
    EXPECT_TRUE(refused(written("f.msh", "$MeshFormat\n2.2 1 8\n"), "binary"));
    EXPECT_TRUE(refused(
        written("g.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n999999999\n1 0 0 0\n"), "announces"));
    EXPECT_TRUE(
        refused(written("h.mesh", "Vertices\n1\n0 0 0 1\nTetrahedra\n1\n1 2 3 4 0\n"), "does not exist"));
    EXPECT_TRUE(refused(written("i.xyz", "1 2 3"), "no known format"));
    EXPECT_TRUE(refused(written("j.vtk", "# vtk\nx\nASCII\nDATASET POLYDATA\nPOINTS 1 double\n0 0 0\n"),
                        "no tetrahedra"));
}

}  // namespace
}  // namespace tenon::geometry

#include "geometry/mesh_io.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "geometry/mass_properties.hpp"
#include "geometry/mesh_check.hpp"
#include "shape_support.hpp"
#include "tenon/error.hpp"

namespace tenon::geometry {
namespace {

namespace fs = std::filesystem;

class MeshIo : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() / fmt::format("tenon_mesh_io_{}_{}", info->name(), ::getpid());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& bytes) {
        const std::string path = (folder_ / name).string();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    Mesh read(const std::string& name, const std::string& bytes) { return read_mesh(write(name, bytes)); }

    // The text of the error, which must name the file; empty when there was none.
    std::string error(const std::string& name, const std::string& bytes) {
        const std::string path = write(name, bytes);
        try {
            read_mesh(path);
        } catch (const InputError& e) {
            EXPECT_EQ(e.file(), path);
            EXPECT_FALSE(e.cure().empty());
            return e.path() + ": " + e.problem();
        }
        return "";
    }

    fs::path folder_;
};

template <class T>
void append(std::string& bytes, T value, bool big_endian = false) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (big_endian) std::reverse(raw, raw + sizeof(T));
    bytes.append(raw, sizeof(T));
}

std::string binary_stl(const Mesh& mesh) {
    std::string bytes(80, ' ');
    bytes.replace(0, 5, "solid");  // as some programs do, to mislead readers
    append(bytes, static_cast<std::uint32_t>(mesh.triangles.size()));
    for (const Triangle& t : mesh.triangles) {
        for (int k = 0; k < 3; ++k) append(bytes, 0.0f);
        for (int v : t)
            for (int k = 0; k < 3; ++k) append(bytes, static_cast<float>(mesh.vertices[v][k]));
        append(bytes, std::uint16_t{0});
    }
    return bytes;
}

std::string binary_ply(const Mesh& mesh, bool big_endian) {
    std::string bytes = fmt::format(
        "ply\nformat binary_{}_endian 1.0\ncomment made by a test\nelement vertex {}\nproperty double x\n"
        "property uchar red\nproperty double y\nproperty double z\nelement face {}\n"
        "property list uchar int vertex_indices\nend_header\n",
        big_endian ? "big" : "little", mesh.vertices.size(), mesh.triangles.size());
    for (const Vec3& v : mesh.vertices) {
        append(bytes, v.x(), big_endian);
        append(bytes, std::uint8_t{200});
        append(bytes, v.y(), big_endian);
        append(bytes, v.z(), big_endian);
    }
    for (const Triangle& t : mesh.triangles) {
        append(bytes, std::uint8_t{3});
        for (int v : t) append(bytes, std::int32_t{v}, big_endian);
    }
    return bytes;
}

void expect_same(const Mesh& a, const Mesh& b) {
    ASSERT_EQ(a.vertices.size(), b.vertices.size());
    for (std::size_t v = 0; v < a.vertices.size(); ++v) EXPECT_EQ(a.vertices[v], b.vertices[v]);
    EXPECT_EQ(a.triangles, b.triangles);
    EXPECT_EQ(a.edges, b.edges);
    EXPECT_EQ(a.points, b.points);
}

TEST_F(MeshIo, ObjRoundTripsBitForBit) {
    Mesh mesh = make_shape("icosphere", {{"radius", 1.0 / 3.0}, {"subdivisions", 2.0}});
    mesh.vertices.emplace_back(1e-300, -2.5, 1e30);
    mesh.vertices.emplace_back(7, 7, 7);
    mesh.vertices.emplace_back(8, 7, 7);
    const int n = static_cast<int>(mesh.vertices.size());
    mesh.edges = {{n - 3, n - 2}};
    mesh.points = {n - 1};
    const std::string path = (folder_ / "round.obj").string();
    write_obj(mesh, path);
    expect_same(read_mesh(path), mesh);
}

TEST_F(MeshIo, ObjForms) {
    const Mesh mesh =
        read("forms.obj",
             "# comment\r\nmtllib a.mtl\no thing\nv 0 0 0 1.0\nv 1 0 0\nv +1e0 1 0 # here\nv 0 1 0\n"
             "v 0 0 0\nvn 0 0 1\nvt 0 0\nf 1/1/1 2//1 3/1 4\nf -5 -4 \\\n -3\nl 1 2 5\np 5 4\n");
    EXPECT_EQ(mesh.vertices.size(), 5u);  // the duplicate of vertex 1 stays
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 2}}));
    EXPECT_EQ(mesh.edges, (std::vector<Edge>{{1, 4}}));  // 1-2 is an edge of a face
    EXPECT_TRUE(mesh.points.empty());
    EXPECT_EQ(mesh.vertices[2], Vec3(1, 1, 0));
}

TEST_F(MeshIo, BareVerticesAreACloud) {
    EXPECT_EQ(read("cloud.obj", "v 0 0 0\nv 1 2 3\n").points, (std::vector<int>{0, 1}));
}

TEST_F(MeshIo, ConcavePolygonsKeepTheirArea) {
    // An L of area 3: a fan from its first corner would cover the notch.
    const Mesh mesh = read("l.obj", "v 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 0\nf 1 2 3 4 5 6\n");
    double area = 0.0;
    for (const Triangle& t : mesh.triangles) {
        const Vec3 n =
            (mesh.vertices[t[1]] - mesh.vertices[t[0]]).cross(mesh.vertices[t[2]] - mesh.vertices[t[0]]);
        EXPECT_GT(n.z(), 0.0);
        area += 0.5 * n.norm();
    }
    EXPECT_DOUBLE_EQ(area, 3.0);
}

TEST_F(MeshIo, StlBothWays) {
    const Mesh box = make_shape("box");
    const Mesh binary = read("box.stl", binary_stl(box));
    EXPECT_EQ(binary.vertices.size(), 8u);
    EXPECT_TRUE(check_mesh(binary).clean());
    EXPECT_DOUBLE_EQ(mass_properties(binary, 0).volume, 1.0);

    std::string text = "solid box with # a name\n";
    for (const Triangle& t : box.triangles) {
        text += " facet normal 0 0 nan\n  outer loop\n";
        for (int v : t)
            text += fmt::format("   vertex {} {} {}\n", box.vertices[v].x(), box.vertices[v].y(),
                                box.vertices[v].z());
        text += "  endloop\n endfacet\n";
    }
    text += "endsolid box\n";
    const Mesh ascii = read("text.stl", text);
    EXPECT_EQ(ascii.vertices.size(), 8u);
    EXPECT_TRUE(check_mesh(ascii).clean());
}

TEST_F(MeshIo, PlyAllWays) {
    const Mesh mesh = make_shape("icosphere", {{"subdivisions", 1.0}, {"radius", 0.3}});
    expect_same(read("little.ply", binary_ply(mesh, false)), mesh);
    expect_same(read("big.ply", binary_ply(mesh, true)), mesh);
    const Mesh text = read(
        "text.ply",
        "ply\r\nformat ascii 1.0\r\nelement vertex 4\r\nproperty float x\r\nproperty float y\r\n"
        "property float z\r\nelement face 1\r\nproperty list uchar int vertex_index\r\nelement edge 1\r\n"
        "property int vertex1\r\nproperty int vertex2\r\nend_header\r\n0 0 0\r\n1 0 0\r\n1 1 0\r\n"
        "0 1 0.5\r\n4 0 1 2 3\r\n1 3\r\n");
    EXPECT_EQ(text.triangles.size(), 2u);
    EXPECT_EQ(text.edges, (std::vector<Edge>{{1, 3}}));
    EXPECT_EQ(text.vertices[3], Vec3(0, 1, 0.5));
}

TEST_F(MeshIo, Off) {
    const Mesh mesh =
        read("a.off",
             "# a square\nOFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0 255 0 0\n4 0 1 2 3 0.5 0.5 0.5\n2 0 1\n");
    EXPECT_EQ(mesh.vertices.size(), 4u);
    EXPECT_EQ(mesh.triangles.size(), 2u);
    EXPECT_EQ(read("b.off", "OFF 3 1 3\n0 0 0\n1 0 0\n1 1 0\n3 0 1 2\n").triangles.size(), 1u);
}

TEST_F(MeshIo, NamesWhatIsWrongAndWhere) {
    const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\n";
    const auto contains = [&](const std::string& name, const std::string& bytes, const std::string& part) {
        const std::string text = error(name, bytes);
        EXPECT_NE(text.find(part), std::string::npos) << name << " said: " << text;
    };
    contains("a.obj", "", "empty");
    contains("a.obj", "# nothing\n", "no triangles");
    contains("a.obj", "v 0 0\nf 1 1 1\n", "line 1: the line ends before z");
    contains("a.obj", "v 0 0 nan\n", "line 1: 'nan' is not a finite");
    contains("a.obj", "v 0 0 1e999\n", "not a finite");
    contains("a.obj", "v 0 0 12abc\n", "'12abc' is not a number");
    contains("a.obj", square + "f 1 2 4\n", "line 4: vertex 4 does not exist");
    contains("a.obj", square + "f 1 2 0\n", "line 4: vertex 0");
    contains("a.obj", square + "f 1 2 -4\n", "line 4: vertex -4");
    contains("a.obj", square + "f 1 2 99999999999999999999\n",
             "line 4: '99999999999999999999' is not a vertex number");
    contains("a.obj", square + "f 1 2\n", "line 4: a face with 2 vertices");
    contains("a.obj", square + "f 1 2 x\n", "line 4: 'x' is not");
    contains("a.obj", std::string("\x7f\x45\x4c\x46\0\0\0", 7), "line 1: unknown keyword");
    contains("a.xyz", "hello", "no known mesh format");

    std::string stl = binary_stl(make_shape("box"));
    contains("a.stl", stl.substr(0, 200), "byte 80: announces 12 triangles");
    contains("a.stl", stl.substr(0, 50).replace(0, 5, "abcde"), "byte 50");
    const std::uint32_t billion = 1'000'000'000;
    std::memcpy(stl.data() + 80, &billion, 4);
    stl.replace(0, 5, "abcde");
    contains("a.stl", stl, "announces 1000000000 triangles");
    stl = binary_stl(make_shape("box"));
    const float nan = NAN;
    std::memcpy(stl.data() + 84 + 12, &nan, 4);
    contains("a.stl", stl, "byte 96: triangle 0");
    contains("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", "ends before 'endsolid'");
    contains("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\nendfacet\n", "line 6");

    const std::string ply = binary_ply(make_shape("box"), false);
    contains("a.ply", ply.substr(0, ply.size() - 5), "ends too early");
    contains("a.ply", ply.substr(0, ply.find("element face")), "within its head");
    contains("a.ply",
             "ply\nformat ascii 1.0\nelement vertex 1000000000\nproperty float x\nproperty float y\nproperty "
             "float z\n"
             "end_header\n0 0 0\n",
             "announces 1000000000 of 'vertex'");
    contains("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n",
             "no property y");
    contains("a.ply",
             "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
             "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n3 0 0 1\n",
             "vertex 1 does not exist");
    contains("a.off", "OFF\n1000000000 1 0\n0 0 0\n", "line 2: announces 1000000000");
    contains("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n1 1 0\n3 0 1 3\n", "line 6: vertex 3");
    contains("a.off", "OFF\n3 2 0\n0 0 0\n1 0 0\n1 1 0\n3 0 1 2\n", "ends before face 2");

    EXPECT_THROW(read_mesh(folder_.string()), InputError);
    EXPECT_THROW(read_mesh((folder_ / "absent.obj").string()), InputError);
}

TEST_F(MeshIo, EveryPrefixReadsOrIsRefused) {
    // Cutting a file anywhere must neither crash nor invent data.
    const Mesh mesh = make_shape("tetrahedron");
    const std::string path = (folder_ / "whole.obj").string();
    write_obj(mesh, path);
    std::ifstream in(path, std::ios::binary);
    const std::string obj((std::istreambuf_iterator<char>(in)), {});
    for (const auto& [name, bytes] : {std::pair<std::string, std::string>{"cut.obj", obj},
                                      {"cut.stl", binary_stl(mesh)},
                                      {"cut.ply", binary_ply(mesh, true)}}) {
        for (std::size_t size = 0; size < bytes.size(); size += 11) {
            try {
                const Mesh read_back = read(name, bytes.substr(0, size));
                EXPECT_LE(read_back.triangles.size(), 4u);
                EXPECT_EQ(name, "cut.obj");  // binary files know their size
            } catch (const InputError&) {
            }
        }
    }
}

TEST(MeshFixtures, AllRead) {
    const char* shared = std::getenv("TENON_FIXTURES");
    const fs::path folder =
        fs::path(shared ? shared : TENON_SOURCE_DIR "/../shared/fixtures") / "rigid-ipc/meshes";
    if (!fs::exists(folder))
        GTEST_SKIP() << "no fixture meshes; set TENON_FIXTURES to the folder that holds rigid-ipc";
    int count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        const Mesh mesh = read_mesh(entry.path().string());
        EXPECT_FALSE(mesh.empty()) << entry.path();
        ++count;
    }
    EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace tenon::geometry

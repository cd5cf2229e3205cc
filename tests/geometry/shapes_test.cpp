#include "geometry/shapes.hpp"

#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "geometry/mass_properties.hpp"
#include "geometry/mesh_check.hpp"
#include "shape_support.hpp"
#include "tenon/error.hpp"

namespace tenon::geometry {
namespace {

const std::set<std::string> flat_shapes{"plane", "quad", "card", "heightfield"};

TEST(Shapes, AreCleanWithDefaults) {
    for (const ShapeInfo& shape : all_shapes()) {
        const Mesh mesh = make_shape(shape.name);
        const MeshReport report = check_mesh(mesh);
        EXPECT_EQ(report.duplicate_vertices, 0) << shape.name;
        EXPECT_EQ(report.degenerate_triangles, 0) << shape.name;
        EXPECT_EQ(report.non_manifold_edges, 0) << shape.name;
        EXPECT_EQ(report.inconsistent_edges, 0) << shape.name;
        EXPECT_EQ(report.unused_vertices, 0) << shape.name;
        EXPECT_EQ(report.components, 1) << shape.name;
        if (flat_shapes.count(shape.name)) continue;
        EXPECT_TRUE(report.clean()) << shape.name;
        EXPECT_GT(report.signed_volume, 0.0) << shape.name;
    }
}

TEST(Shapes, DescribeTheirParameters) {
    std::set<std::string> names;
    for (const ShapeInfo& shape : all_shapes()) {
        EXPECT_TRUE(names.insert(shape.name).second) << shape.name << " is listed twice";
        EXPECT_FALSE(shape.summary.empty()) << shape.name;
        EXPECT_NE(shape.make, nullptr) << shape.name;
        for (const ParamInfo& info : shape.parameters)
            EXPECT_FALSE(info.help.empty()) << shape.name << "." << info.name;
    }
    EXPECT_EQ(find_shape("nothing"), nullptr);
}

TEST(Shapes, AreDocumented) {
    std::ifstream file(TENON_SOURCE_DIR "/docs/shapes.md");
    const std::string page((std::istreambuf_iterator<char>(file)), {});
    for (const ShapeInfo& shape : all_shapes()) {
        const std::size_t at = page.find("### `" + shape.name + "`\n");
        ASSERT_NE(at, std::string::npos) << shape.name;
        const std::string section = page.substr(at, page.find("### ", at + 4) - at);
        for (const ParamInfo& info : shape.parameters)
            EXPECT_NE(section.find("| `" + info.name + "` |"), std::string::npos)
                << shape.name << "." << info.name;
    }
}

TEST(Shapes, PrimitivesEncloseTheirMeshes) {
    // Round meshes are inscribed: every vertex of a sphere, capsule, cylinder or cone lies on its surface or inside.
    for (const ShapeInfo& shape : all_shapes()) {
        if (!shape.primitive) continue;
        const Primitive p = shape.primitive(resolve_params(shape.parameters, {}, {}));
        for (const Vec3& v : make_shape(shape.name).vertices) {
            const double across = std::hypot(v.x(), v.z()), h = 0.5 * p.size.y();
            switch (p.kind) {
                case Primitive::Kind::box:
                    EXPECT_LE((v.cwiseAbs() - 0.5 * p.size).maxCoeff(), 1e-12);
                    break;
                case Primitive::Kind::sphere:
                    EXPECT_NEAR(v.norm(), p.size.x(), 1e-12);
                    break;
                case Primitive::Kind::capsule:
                    EXPECT_NEAR((v - Vec3(0, std::clamp(v.y(), -h, h), 0)).norm(), p.size.x(), 1e-12);
                    break;
                case Primitive::Kind::cylinder:
                    EXPECT_LE(across, p.size.x() + 1e-12);
                    EXPECT_NEAR(std::abs(v.y()), h, 1e-12);
                    break;
                case Primitive::Kind::cone:
                    EXPECT_LE(across, p.size.x() * (h - v.y()) / (2 * h) + 1e-12);
                    break;
                case Primitive::Kind::plane:
                    EXPECT_EQ(v.y(), 0.0);
                    break;
                case Primitive::Kind::none:
                    ADD_FAILURE() << shape.name;
            }
        }
    }
}

TEST(Shapes, FlatOnesFaceUp) {
    for (const char* name : {"plane", "quad"}) {
        const Mesh mesh = make_shape(name, {{"cells", 3.0}});
        for (const Triangle& t : mesh.triangles) {
            const Vec3 n =
                (mesh.vertices[t[1]] - mesh.vertices[t[0]]).cross(mesh.vertices[t[2]] - mesh.vertices[t[0]]);
            EXPECT_GT(n.y(), 0.0);
        }
        EXPECT_EQ(mesh.triangles.size(), 18u);
    }
}

TEST(Shapes, RefuseWhatBoundsCannotSay) {
    EXPECT_THROW(make_shape("torus", {{"major", 0.1}, {"minor", 0.2}}), InputError);
    EXPECT_THROW(make_shape("sphere", {{"radius", -1.0}}), InputError);
}

}  // namespace
}  // namespace tenon::geometry

// OBJ and VTK series, read back.
#include <cstring>
#include <regex>

#include "export/export.hpp"
#include "export/vtu.hpp"
#include "geometry/mesh_io.hpp"
#include "sample_run.hpp"
#include "tenon/error.hpp"

namespace tenon::exporting {
namespace {

std::string from_base64(const std::string& text) {
    std::string bytes;
    std::uint32_t group = 0;
    int bits = 0;
    for (char c : text) {
        int digit = -1;
        if (c >= 'A' && c <= 'Z') digit = c - 'A';
        if (c >= 'a' && c <= 'z') digit = c - 'a' + 26;
        if (c >= '0' && c <= '9') digit = c - '0' + 52;
        if (c == '+') digit = 62;
        if (c == '/') digit = 63;
        if (digit < 0) continue;
        group = (group << 6) | static_cast<std::uint32_t>(digit);
        bits += 6;
        if (bits >= 8) bytes += static_cast<char>(group >> (bits -= 8) & 255);
    }
    return bytes;
}

// The values of a DataArray of a .vtu, by name.
template <class T>
std::vector<T> vtu_array(const std::string& text, const std::string& name) {
    const std::size_t tag = text.find("Name=\"" + name + "\"");
    EXPECT_NE(tag, std::string::npos) << name;
    const std::size_t first = text.find('>', tag) + 1;
    const std::string bytes = from_base64(text.substr(first, text.find('<', first) - first));
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), 8);
    EXPECT_EQ(size + 8, bytes.size());
    std::vector<T> values(size / sizeof(T));
    if (size > 0) std::memcpy(values.data(), bytes.data() + 8, size);
    return values;
}

TEST_F(SampleRun, ObjSeriesHoldsTheFrames) {
    const run::RunReader run(file_);
    ExportOptions options{folder_ + "/objs"};
    options.stride = 3;
    const ExportReport report = export_run(run, "obj", options);
    EXPECT_EQ(report.frames, 2);
    ASSERT_EQ(report.files.size(), 3u);
    EXPECT_EQ(report.files[1], folder_ + "/objs/frame_000003.obj");

    const Mesh mesh = geometry::read_mesh(report.files[1]);
    const run::Frame frame = run.frame(3);
    std::size_t at = 0, triangles = 0;
    for (std::size_t i = 0; i < run.bodies().size(); ++i) {
        const Mesh& shape = run.shapes()[run.bodies()[i].shape].mesh;
        for (const Vec3& v : shape.vertices) EXPECT_EQ(mesh.vertices[at++], transform(frame.q[i], v));
        triangles += shape.triangles.size();
    }
    for (const Vec3& v : solid_surface(run.elastic()[0]).at(frame.x[0])) EXPECT_EQ(mesh.vertices[at++], v);
    EXPECT_EQ(at, mesh.vertices.size());
    EXPECT_EQ(mesh.triangles.size(), triangles + solid_surface(run.elastic()[0]).triangles.size());
    EXPECT_EQ(mesh.edges.size(), 2u);

    const std::string text = bytes_of(report.files[1]), materials = bytes_of(folder_ + "/objs/materials.mtl");
    EXPECT_NE(text.find("\no a_b\n"), std::string::npos);
    static const std::regex use("usemtl (\\w+)");
    for (std::sregex_iterator it(text.begin(), text.end(), use), end; it != end; ++it)
        EXPECT_NE(materials.find("newmtl " + it->str(1) + "\n"), std::string::npos);
}

TEST_F(SampleRun, VtkSeriesHoldsTheFrames) {
    const run::RunReader run(file_);
    const ExportReport report = export_run(run, "vtk", {folder_ + "/out"});
    EXPECT_EQ(report.frames, sample_frames);
    ASSERT_EQ(report.files.size(), 3u * sample_frames + 1);
    EXPECT_EQ(report.files[0], folder_ + "/out.pvd");
    const std::string series = bytes_of(report.files[0]);
    for (std::size_t i = 1; i < report.files.size(); ++i) {
        const std::string name = std::filesystem::relative(report.files[i], folder_).string();
        EXPECT_NE(series.find("file=\"" + name + "\""), std::string::npos) << name;
    }
    EXPECT_NE(series.find("timestep=\"0.4\""), std::string::npos);

    const run::Frame frame = run.frame(4);
    const std::string bodies = bytes_of(folder_ + "/out_vtk/bodies_000004.vtu");
    const auto points = vtu_array<double>(bodies, "Points"), velocity = vtu_array<double>(bodies, "velocity");
    const auto offsets = vtu_array<std::int32_t>(bodies, "offsets"),
               body = vtu_array<std::int32_t>(bodies, "body"),
               corners = vtu_array<std::int32_t>(bodies, "connectivity");
    const auto types = vtu_array<std::uint8_t>(bodies, "types");
    std::size_t at = 0, cell = 0;
    for (std::size_t i = 0; i < run.bodies().size(); ++i) {
        const Mesh& shape = run.shapes()[run.bodies()[i].shape].mesh;
        const auto first = static_cast<std::int32_t>(at);
        for (const Vec3& v : shape.vertices) {
            EXPECT_EQ(Eigen::Map<const Vec3>(&points[3 * at]), transform(frame.q[i], v));
            EXPECT_EQ(Eigen::Map<const Vec3>(&velocity[3 * at++]), transform(frame.rate[i], v));
        }
        for (const Triangle& t : shape.triangles) {
            EXPECT_EQ(types[cell], 5);
            EXPECT_EQ(body[cell], static_cast<int>(i));
            for (int k = 0; k < 3; ++k) EXPECT_EQ(corners[offsets[cell] - 3 + k], first + t[k]);
            ++cell;
        }
        cell += shape.edges.size();
    }
    EXPECT_EQ(types.size(), cell);

    const std::string contacts = bytes_of(folder_ + "/out_vtk/contacts_000004.vtu");
    const auto force = vtu_array<double>(contacts, "force");
    ASSERT_EQ(force.size(), 12u);
    EXPECT_EQ(force[3 * 2 + 1], 12.0);
    EXPECT_EQ(vtu_array<std::int32_t>(contacts, "bodies")[3], 2);
    EXPECT_EQ(vtu_array<double>(contacts, "distance")[3], 0.003);
    EXPECT_TRUE(vtu_array<double>(bytes_of(folder_ + "/out_vtk/contacts_000000.vtu"), "force").empty());

    const std::string solids = bytes_of(folder_ + "/out_vtk/solids_000004.vtu");
    EXPECT_EQ(vtu_array<std::uint8_t>(solids, "types").size(), run.elastic()[0].tets.size());
    const auto x = vtu_array<double>(solids, "Points");
    EXPECT_EQ(Eigen::Map<const Vec3>(&x[3 * 5]), frame.x[0][5]);
}

TEST_F(SampleRun, ExportsRigidRunsToo) {
    const run::RunReader run(write_sample(false));
    for (const ExportFormat& format : export_formats()) {
        const ExportReport report = export_run(run, format.name, {folder_ + "/rigid_" + format.name});
        EXPECT_EQ(report.frames, sample_frames) << format.name;
        for (const std::string& file : report.files) EXPECT_GT(std::filesystem::file_size(file), 0u) << file;
    }
}

TEST_F(SampleRun, RefusesOutputsThatCannotBe) {
    const run::RunReader run(file_);
    std::ofstream(folder_ + "/taken") << "a file";
    EXPECT_THROW(export_run(run, "obj", {folder_ + "/taken"}), InputError);
    EXPECT_THROW(export_run(run, "obj", {""}), InputError);
    ExportOptions options{folder_ + "/objs"};
    options.stride = 0;
    EXPECT_THROW(export_run(run, "obj", options), InputError);
}

}  // namespace
}  // namespace tenon::exporting

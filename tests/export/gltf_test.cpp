#include "export/gltf.hpp"

#include <cstring>

#include <nlohmann/json.hpp>

#include "export/gltf_track.hpp"
#include "sample_run.hpp"
#include "tenon/error.hpp"

namespace tenon::exporting {
namespace {

using nlohmann::json;

// What a viewer would do with a .glb: find accessors, follow nodes, interpolate nothing.
struct Viewer {
    json document;
    std::string data;

    explicit Viewer(const std::string& glb) {
        std::uint32_t head[5];
        std::memcpy(head, glb.data(), 20);
        EXPECT_EQ(glb.substr(0, 4), "glTF");
        EXPECT_EQ(head[1], 2u);
        EXPECT_EQ(head[2], glb.size());
        EXPECT_EQ(head[3] % 4, 0u);
        document = json::parse(glb.substr(20, head[3]));
        data = glb.substr(20 + head[3] + 8);
        EXPECT_EQ(data.size(), document["buffers"][0]["byteLength"].get<std::size_t>());
    }
    std::vector<float> floats(int index) const {
        const json& accessor = document["accessors"][index];
        EXPECT_EQ(accessor["componentType"], 5126);
        static const std::map<std::string, int> sizes{{"SCALAR", 1}, {"VEC3", 3}, {"VEC4", 4}};
        std::vector<float> values(accessor["count"].get<std::size_t>() * sizes.at(accessor["type"]));
        copy(accessor, values);
        return values;
    }
    std::vector<std::uint32_t> indices(int index) const {
        std::vector<std::uint32_t> values(document["accessors"][index]["count"].get<std::size_t>());
        copy(document["accessors"][index], values);
        return values;
    }
    template <class T>
    void copy(const json& accessor, std::vector<T>& values) const {
        const json& view = document["bufferViews"][accessor["bufferView"].get<int>()];
        const std::size_t offset = view["byteOffset"], length = view["byteLength"];
        ASSERT_EQ(length, values.size() * sizeof(T));
        ASSERT_LE(offset + length, data.size());
        ASSERT_EQ(offset % 4, 0u);
        std::memcpy(values.data(), data.data() + offset, length);
    }
    // A node's own matrix at a frame, animated values in place of its fixed ones.
    Eigen::Matrix4d local(int node, int frame) const {
        Vec3 t = Vec3::Zero(), s = Vec3::Ones();
        Quat r = Quat::Identity();
        const json& n = document["nodes"][node];
        const auto vector = [](const json& j) { return Vec3(j[0], j[1], j[2]); };
        if (n.contains("translation")) t = vector(n["translation"]);
        if (n.contains("scale")) s = vector(n["scale"]);
        if (n.contains("rotation"))
            r.coeffs() << n["rotation"][0], n["rotation"][1], n["rotation"][2], n["rotation"][3];
        for (const json& channel : document["animations"][0]["channels"]) {
            if (channel["target"]["node"] != node) continue;
            const auto values =
                floats(document["animations"][0]["samplers"][channel["sampler"].get<int>()]["output"]);
            const std::string path = channel["target"]["path"];
            if (path == "translation")
                t = Vec3(values[3 * frame], values[3 * frame + 1], values[3 * frame + 2]);
            if (path == "scale") s = Vec3(values[3 * frame], values[3 * frame + 1], values[3 * frame + 2]);
            if (path == "rotation")
                for (int k = 0; k < 4; ++k) r.coeffs()[k] = values[4 * frame + k];
        }
        Eigen::Matrix4d m = Eigen::Matrix4d::Identity();
        m.topLeftCorner<3, 3>() = r.toRotationMatrix() * s.asDiagonal();
        m.topRightCorner<3, 1>() = t;
        return m;
    }
    int node_named(const std::string& name) const {
        for (std::size_t i = 0; i < document["nodes"].size(); ++i)
            if (document["nodes"][i].value("name", "") == name) return static_cast<int>(i);
        ADD_FAILURE() << "no node " << name;
        return -1;
    }
    // The node that carries the mesh, and the matrix from there to the world.
    std::pair<int, Eigen::Matrix4d> placed(const std::string& name, int frame) const {
        int node = node_named(name);
        Eigen::Matrix4d m = local(node, frame);
        if (document["nodes"][node].contains("children")) {
            node = document["nodes"][node]["children"][0];
            m = m * local(node, frame);
        }
        return {node, m};
    }
};

TEST_F(SampleRun, GltfPutsEveryVertexWhereTheFrameHasIt) {
    const run::RunReader run(file_);
    const ExportReport report = export_run(run, "gltf", {folder_ + "/out"});
    ASSERT_EQ(report.files, std::vector<std::string>{folder_ + "/out.glb"});
    EXPECT_EQ(report.frames, sample_frames);
    const Viewer viewer(bytes_of(report.files[0]));
    EXPECT_EQ(report.bytes, std::filesystem::file_size(report.files[0]));

    for (int f = 0; f < sample_frames; ++f) {
        const run::Frame frame = run.frame(f);
        for (std::size_t i = 0; i < run.bodies().size(); ++i) {
            const Mesh& mesh = run.shapes()[run.bodies()[i].shape].mesh;
            const auto [node, matrix] = viewer.placed(run.bodies()[i].name, f);
            const json& primitive =
                viewer.document["meshes"][viewer.document["nodes"][node]["mesh"].get<int>()]["primitives"][0];
            const auto positions = viewer.floats(primitive["attributes"]["POSITION"]);
            const auto indices = viewer.indices(primitive["indices"]);
            if (mesh.triangles.empty()) {
                EXPECT_EQ(primitive["mode"], 1);
                continue;
            }
            ASSERT_EQ(indices.size(), 3 * mesh.triangles.size());
            for (std::size_t c = 0; c < indices.size(); ++c) {
                const Vec3 local(positions[3 * indices[c]], positions[3 * indices[c] + 1],
                                 positions[3 * indices[c] + 2]);
                const Vec3 world = (matrix * local.homogeneous()).head<3>();
                EXPECT_NEAR(
                    (world - transform(frame.q[i], mesh.vertices[mesh.triangles[c / 3][c % 3]])).norm(), 0,
                    1e-5);
            }
        }
    }
}

TEST_F(SampleRun, GltfSharesMeshesAndBoundsItsAccessors) {
    const run::RunReader run(file_);
    export_run(run, "gltf", {folder_ + "/out.glb"});
    const Viewer viewer(bytes_of(folder_ + "/out.glb"));
    const auto mesh_of = [&](const char* name) {
        return viewer.document["nodes"][viewer.node_named(name)]["mesh"];
    };
    EXPECT_EQ(mesh_of("a b"), mesh_of("twin"));
    EXPECT_NE(mesh_of("a b"), mesh_of("floor"));
    EXPECT_FALSE(
        viewer.document["nodes"][viewer.node_named("a b")].contains("scale"));  // rigid: no scale, one node
    EXPECT_TRUE(viewer.document["nodes"][viewer.node_named("ball")].contains("scale"));
    int bounded = 0;
    for (std::size_t a = 0; a < viewer.document["accessors"].size(); ++a) {
        const json& accessor = viewer.document["accessors"][a];
        if (!accessor.contains("min")) continue;
        const std::vector<float> values = viewer.floats(static_cast<int>(a));
        const std::size_t n = accessor["min"].size();
        for (std::size_t k = 0; k < n; ++k) {
            float lo = values[k], hi = values[k];
            for (std::size_t i = k; i < values.size(); i += n) {
                lo = std::min(lo, values[i]);
                hi = std::max(hi, values[i]);
            }
            EXPECT_EQ(accessor["min"][k].get<float>(), lo);
            EXPECT_EQ(accessor["max"][k].get<float>(), hi);
        }
        ++bounded;
    }
    EXPECT_GT(bounded, 4);
    // The floor never moves: no channel leads to it.
    for (const json& channel : viewer.document["animations"][0]["channels"])
        EXPECT_NE(channel["target"]["node"], viewer.node_named("floor"));
}

TEST_F(SampleRun, GltfMorphsElasticSolids) {
    const run::RunReader run(file_);
    ASSERT_EQ(run.elastic().size(), 1u);
    export_run(run, "gltf", {folder_ + "/out.glb"});
    const Viewer viewer(bytes_of(folder_ + "/out.glb"));
    const int node = viewer.node_named("pad");
    const json& primitive =
        viewer.document["meshes"][viewer.document["nodes"][node]["mesh"].get<int>()]["primitives"][0];
    const SolidSurface surface = solid_surface(run.elastic()[0]);
    ASSERT_EQ(primitive["targets"].size(), sample_frames - 1u);
    std::vector<float> weights;
    for (const json& channel : viewer.document["animations"][0]["channels"])
        if (channel["target"]["path"] == "weights")
            weights = viewer.floats(
                viewer.document["animations"][0]["samplers"][channel["sampler"].get<int>()]["output"]);
    ASSERT_EQ(weights.size(), sample_frames * (sample_frames - 1u));
    for (int f = 0; f < sample_frames; ++f) {
        std::vector<float> sum = viewer.floats(primitive["attributes"]["POSITION"]);
        for (int k = 0; k + 1 < sample_frames; ++k) {
            const std::vector<float> moved = viewer.floats(primitive["targets"][k]["POSITION"]);
            for (std::size_t i = 0; i < sum.size(); ++i)
                sum[i] += weights[f * (sample_frames - 1) + k] * moved[i];
        }
        const std::vector<Vec3> exact = surface.at(run.frame(f).x[0]);
        ASSERT_EQ(sum.size(), 3 * exact.size());
        for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], exact[i / 3][i % 3], 1e-6);
    }
}

TEST_F(SampleRun, GltfTextFormAndFrameRange) {
    const run::RunReader run(file_);
    ExportOptions options{folder_ + "/out.gltf"};
    options.first = 1;
    options.stride = 2;
    const ExportReport report = export_run(run, "gltf", options);
    EXPECT_EQ(report.frames, 2);
    ASSERT_EQ(report.files.size(), 2u);
    const json document = json::parse(bytes_of(folder_ + "/out.gltf"));
    EXPECT_EQ(document["buffers"][0]["uri"], "out.bin");
    EXPECT_EQ(document["buffers"][0]["byteLength"], std::filesystem::file_size(folder_ + "/out.bin"));
    const json& sampler = document["animations"][0]["samplers"][0];
    EXPECT_EQ(document["accessors"][sampler["input"].get<int>()]["count"], 2);

    options.first = options.last = 2;
    export_run(run, "gltf", options);
    EXPECT_FALSE(
        json::parse(bytes_of(folder_ + "/out.gltf")).contains("animations"));  // one moment does not move

    options.output = folder_ + "/out.txt";
    EXPECT_THROW(export_run(run, "gltf", options), InputError);
    options.output = "/proc/absent/out.glb";
    EXPECT_THROW(export_run(run, "gltf", options), InputError);
    options = {folder_ + "/out.glb", 3, 99, 1};
    EXPECT_THROW(export_run(run, "gltf", options), InputError);
    EXPECT_THROW(export_run(run, "stl", {folder_ + "/out"}), InputError);
}

TEST(GltfTrack, NestedNodesRebuildAnyAffineMap) {
    BodyTrack track;
    std::vector<Mat34> maps;
    for (int f = 0; f < 40; ++f) {
        const double t = 0.05 * f;
        Mat34 q;
        q.leftCols<3>() = Quat(Eigen::AngleAxisd(4 * t, Vec3(1, -2, 1).normalized())).toRotationMatrix();
        Mat3 stretch = Mat3::Identity();
        stretch +=
            0.2 *
            Mat3{{std::sin(t), 0.5 * std::cos(3 * t), 0}, {0, std::sin(2 * t), 0.3}, {0.1 * t, 0, 0.2 * t}};
        q.leftCols<3>() *= stretch;
        q.col(3) = Vec3(t, 1, -t);
        maps.push_back(q);
        track.add(q);
    }
    ASSERT_TRUE(track.stretches());
    const auto rotation = [](const std::vector<float>& v, int f) {
        return Quat(v[4 * f + 3], v[4 * f], v[4 * f + 1], v[4 * f + 2]).toRotationMatrix();
    };
    for (int f = 0; f < 40; ++f) {
        const Vec3 scale(track.scale()[3 * f], track.scale()[3 * f + 1], track.scale()[3 * f + 2]);
        const Mat3 rebuilt =
            rotation(track.rotation(), f) * scale.asDiagonal() * rotation(track.inner_rotation(), f);
        EXPECT_NEAR((rebuilt - maps[f].leftCols<3>()).norm(), 0.0, 2e-6);
        if (f == 0) continue;
        for (const auto* values : {&track.rotation(), &track.inner_rotation()}) {  // smooth: no axis jumps
            double dot = 0;
            for (int k = 0; k < 4; ++k) dot += (*values)[4 * f + k] * (*values)[4 * f - 4 + k];
            EXPECT_GT(dot, 0.95);
        }
    }
}

}  // namespace
}  // namespace tenon::exporting

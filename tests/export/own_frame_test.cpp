// Exports for animators: the author's own mesh, put where the exported node is, lies on the body of the run.
#include <algorithm>
#include <cstring>
#include <map>
#include <regex>

#include <nlohmann/json.hpp>

#include "export/export.hpp"
#include "geometry/mesh_io.hpp"
#include "sample_run.hpp"
#include "tenon/error.hpp"

namespace tenon::exporting {
namespace {

using nlohmann::json;

// A wedge far from its file's origin, scaled: its body frame is another place and direction.
class AuthorsMesh : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = (std::filesystem::temp_directory_path() /
                   fmt::format("tenon_own_{}_{}", info->name(), ::getpid()))
                      .string();
        std::filesystem::create_directories(folder_);
        std::ofstream(folder_ + "/wedge.obj")
            << "v 10 0 0\nv 14 0 0\nv 10 3 0\nv 10 0 5\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
        const std::string text = R"({"tenon": 1, "name": "own", "bodies": [
            {"name": "hull \"A\"", "mesh": "wedge.obj", "scale": 0.1, "position": [1, 2, 3], "rotation_euler": [30, 20, 10]},
            {"name": "flat", "mesh": "wedge.obj", "scale": [0.1, 0.2, 0.05], "position": [-3, 2, 0]},
            {"name": "plain", "mesh": "wedge.obj", "position": [0, 30, 0]}],
            "elastic": [{"name": "pad", "shape": {"type": "box", "size": [1, 1, 1]}, "cell_size": 0.5, "position": [0, -9, 0]}]})";
        const Scene scene = parse_scene(text, folder_ + "/own.json", folder_);
        const Model model = compile(scene);
        State state = initial_state(model);
        const Outputs outputs(model);
        run::RunWriter writer(folder_ + "/own.tenon", scene, model, state);
        for (int f = 0; f < frames; ++f) {
            state.step = f;
            state.time = 0.25 * f;
            const Quat turn(Eigen::AngleAxisd(0.4, Vec3(1, -2, 0.5).normalized()));
            for (std::size_t i = 0; i < state.q.size(); ++i) {
                state.q[i].leftCols<3>() = turn * state.q[i].leftCols<3>();
                state.q[i].col(3) += Vec3(0.1, 0.2, -0.3);
            }
            Mat3 shear = Mat3::Identity();
            shear(0, 1) = 0.05;
            state.q[2].leftCols<3>() *= shear;  // 'plain' deforms
            for (Vec3& x : state.elastic[0].x) x += Vec3(0, 0.1 * x.x() * x.x(), 0);
            writer.add_frame(state, outputs);
        }
        writer.close();
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    static std::string bytes_of(const std::string& file) {
        std::ifstream in(file, std::ios::binary);
        return std::string((std::istreambuf_iterator<char>(in)), {});
    }

    // Every vertex of the author's file, placed, is a vertex of the body in this frame.
    void expect_on_body(const run::RunReader& run, int body, const run::Frame& frame,
                        const Eigen::Matrix4d& node) {
        const Mesh original = geometry::read_mesh(folder_ + "/wedge.obj");
        const Mesh& mesh = run.shapes()[run.bodies()[body].shape].mesh;
        ASSERT_EQ(original.vertices.size(), mesh.vertices.size());
        for (const Vec3& v : original.vertices) {
            const Vec3 placed = (node * v.homogeneous()).head<3>();
            double nearest = 1e300;
            for (const Vec3& w : mesh.vertices)
                nearest = std::min(nearest, (placed - transform(frame.q[body], w)).norm());
            EXPECT_LT(nearest, 2e-5) << run.bodies()[body].name;
        }
    }

    static constexpr int frames = 4;
    std::string folder_;
};

// The parts of a .gltf that an animation needs.
struct Gltf {
    json document;
    std::string bytes;

    std::vector<float> floats(int accessor) const {
        const json& a = document["accessors"][accessor];
        const json& view = document["bufferViews"][a["bufferView"].get<int>()];
        const std::map<std::string, std::size_t> components{{"SCALAR", 1}, {"VEC3", 3}, {"VEC4", 4}};
        std::vector<float> values(a["count"].get<std::size_t>() * components.at(a["type"]));
        std::memcpy(values.data(), bytes.data() + view.value("byteOffset", 0) + a.value("byteOffset", 0),
                    4 * values.size());
        return values;
    }
    int named(const std::string& name) const {
        for (std::size_t i = 0; i < document["nodes"].size(); ++i)
            if (document["nodes"][i].value("name", "") == name) return static_cast<int>(i);
        ADD_FAILURE() << "no node " << name;
        return 0;
    }
    Eigen::Matrix4d local(int node, int frame) const {
        Vec3 t = Vec3::Zero(), s = Vec3::Ones();
        Quat r = Quat::Identity();
        const json& n = document["nodes"][node];
        const auto vec = [](const json& v) { return Vec3(v[0], v[1], v[2]); };
        if (n.contains("translation")) t = vec(n["translation"]);
        if (n.contains("scale")) s = vec(n["scale"]);
        if (n.contains("rotation"))
            r.coeffs() << n["rotation"][0], n["rotation"][1], n["rotation"][2], n["rotation"][3];
        for (const json& channel : document["animations"][0]["channels"]) {
            if (channel["target"]["node"] != node) continue;
            const auto v =
                floats(document["animations"][0]["samplers"][channel["sampler"].get<int>()]["output"]);
            const std::string path = channel["target"]["path"];
            if (path == "translation") t = Vec3(v[3 * frame], v[3 * frame + 1], v[3 * frame + 2]);
            if (path == "scale") s = Vec3(v[3 * frame], v[3 * frame + 1], v[3 * frame + 2]);
            if (path == "rotation")
                for (int k = 0; k < 4; ++k) r.coeffs()[k] = v[4 * frame + k];
        }
        Eigen::Matrix4d m = Eigen::Matrix4d::Identity();
        m.topLeftCorner<3, 3>() = r.toRotationMatrix() * s.asDiagonal();
        m.topRightCorner<3, 1>() = t;
        return m;
    }
};

TEST_F(AuthorsMesh, GltfNodesPlaceTheAuthorsMesh) {
    const run::RunReader run(folder_ + "/own.tenon");
    export_run(run, "gltf", {folder_ + "/own.gltf"});
    const Gltf gltf{json::parse(bytes_of(folder_ + "/own.gltf")), bytes_of(folder_ + "/own.bin")};
    for (int f = 0; f < frames; ++f)
        for (int body = 0; body < 3; ++body) {
            int node = gltf.named(run.bodies()[body].name);
            Eigen::Matrix4d map = gltf.local(node, f);
            if (gltf.document["nodes"][node].contains("children")) {
                node = gltf.document["nodes"][node]["children"][0];
                map = map * gltf.local(node, f);
            }
            expect_on_body(run, body, run.frame(f), map);
            // and the mesh it carries is the author's, in its own coordinates
            const int mesh = gltf.document["nodes"][node]["mesh"];
            const auto& position =
                gltf.document["accessors"]
                             [gltf.document["meshes"][mesh]["primitives"][0]["attributes"]["POSITION"]
                                  .get<int>()];
            EXPECT_NEAR(position["max"][0].get<double>(), 14, 1e-4);
            EXPECT_NEAR(position["max"][2].get<double>(), 5, 1e-4);
            EXPECT_NEAR(position["min"][0].get<double>(), 10, 1e-4);
        }
}

// Numbers in order of appearance.
std::vector<double> numbers_in(const std::string& text) {
    std::vector<double> values;
    static const std::regex number("[-+]?[0-9]*\\.?[0-9]+([eE][-+]?[0-9]+)?");
    for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it)
        values.push_back(std::stod(it->str()));
    return values;
}

// The block { ... } that follows `head`.
std::string block_after(const std::string& text, const std::string& head) {
    const std::size_t at = text.find(head);
    EXPECT_NE(at, std::string::npos) << head;
    if (at == std::string::npos) return "";
    std::size_t open = text.find('{', at), i = open;
    for (int depth = 0; i < text.size(); ++i) {
        if (text[i] == '{') ++depth;
        if (text[i] == '}' && --depth == 0) break;
    }
    return text.substr(open + 1, i - open - 1);
}

TEST_F(AuthorsMesh, UsdSamplesPlaceTheAuthorsMesh) {
    const run::RunReader run(folder_ + "/own.tenon");
    const ExportReport report = export_run(run, "usd", {folder_ + "/own"});
    EXPECT_EQ(report.files, std::vector<std::string>{folder_ + "/own.usda"});
    const std::string text = bytes_of(folder_ + "/own.usda");
    EXPECT_TRUE(text.starts_with("#usda 1.0\n"));
    EXPECT_NE(text.find("timeCodesPerSecond = 4\n"), std::string::npos);
    EXPECT_NE(text.find("string tenon:name = \"hull \\\"A\\\"\""), std::string::npos);
    EXPECT_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}'));
    const char* const names[] = {"hull__A_", "flat", "plain"};
    for (int body = 0; body < 3; ++body) {
        const std::string prim = block_after(text, fmt::format("def Xform \"{}\"", names[body]));
        const std::vector<double> samples = numbers_in(block_after(prim, "xformOp:transform.timeSamples"));
        ASSERT_EQ(samples.size(), 17u * frames);  // a time code and 16 numbers each
        for (int f = 0; f < frames; ++f) {
            EXPECT_NEAR(samples[17 * f], f, 1e-9);
            Eigen::Matrix4d node;
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) node(c, r) = samples[17 * f + 1 + 4 * r + c];  // row vectors
            expect_on_body(run, body, run.frame(f), node);
        }
    }
    const std::vector<double> points =
        numbers_in(block_after(block_after(text, "def Mesh \"pad\""), "points.timeSamples"));
    const SolidSurface surface = solid_surface(run.elastic()[0]);
    ASSERT_EQ(points.size(), frames * (1 + 3 * surface.tet.size()));
    for (int f = 0; f < frames; ++f) {
        const std::vector<Vec3> wanted = surface.at(run.frame(f).x[0]);
        const double* at = &points[f * (1 + 3 * wanted.size()) + 1];
        for (std::size_t v = 0; v < wanted.size(); ++v)
            EXPECT_LT((wanted[v] - Vec3(at[3 * v], at[3 * v + 1], at[3 * v + 2])).norm(), 1e-7);
    }
    EXPECT_THROW(export_run(run, "usd", {folder_ + "/own.usdc"}), InputError);
}

}  // namespace
}  // namespace tenon::exporting

#include "export/gltf.hpp"

#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/gltf_buffer.hpp"
#include "export/gltf_track.hpp"
#include "render/model.hpp"
#include "render/scene_hints.hpp"
#include "tenon/error.hpp"

namespace tenon::exporting {
namespace {

using nlohmann::json;
using Use = GltfBuffer::Use;

std::vector<float> as_floats(const std::vector<Vec3>& vertices) {
    std::vector<float> values;
    values.reserve(3 * vertices.size());
    for (const Vec3& v : vertices)
        for (int k = 0; k < 3; ++k) values.push_back(static_cast<float>(v[k]));
    return values;
}

// A mesh whose vertices are split where their corners have different normals.
struct SplitMesh {
    std::vector<float> positions, normals;
    std::vector<std::uint32_t> indices;

    explicit SplitMesh(const Mesh& mesh) {
        std::vector<render::Vec3f> vertices;
        for (const Vec3& v : mesh.vertices) vertices.push_back(v.cast<float>());
        const std::vector<render::Vec3f> corner = render::corner_normals(vertices, mesh.triangles);
        std::vector<std::vector<std::uint32_t>> copies(vertices.size());
        for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
            for (int k = 0; k < 3; ++k)
                indices.push_back(
                    copy_of(vertices[mesh.triangles[t][k]], corner[3 * t + k], copies[mesh.triangles[t][k]]));
    }

  private:
    std::uint32_t copy_of(const render::Vec3f& vertex, const render::Vec3f& normal,
                          std::vector<std::uint32_t>& copies) {
        for (std::uint32_t copy : copies)
            if (Eigen::Map<const render::Vec3f>(&normals[3 * copy]).dot(normal) > 0.99999f) return copy;
        const auto fresh = static_cast<std::uint32_t>(positions.size() / 3);
        positions.insert(positions.end(), vertex.data(), vertex.data() + 3);
        normals.insert(normals.end(), normal.data(), normal.data() + 3);
        copies.push_back(fresh);
        return fresh;
    }
};

class GltfWriter {
  public:
    explicit GltfWriter(const run::RunReader& run)
        : run_(run), own_(own_frames(run)), solids_(run.elastic().size()) {
        for (const run::ElasticInfo& solid : run.elastic()) surfaces_.push_back(solid_surface(solid));
        for (const OwnFrame& own : own_) tracks_.emplace_back(own.scale);
    }

    void add_frame(const run::Frame& frame) {
        if (times_.empty()) start_ = frame.time;
        times_.push_back(static_cast<float>(frame.time - start_));
        for (std::size_t i = 0; i < tracks_.size(); ++i) tracks_[i].add(own_[i].placed(frame.q[i]));
        for (std::size_t e = 0; e < surfaces_.size(); ++e)
            solids_[e].push_back(as_floats(surfaces_[e].at(frame.x[e])));
    }

    json finish() {
        animated_ = times_.size() > 1;
        for (std::size_t i = 1; i < times_.size(); ++i) animated_ = animated_ && times_[i] > times_[i - 1];
        if (animated_) time_accessor_ = buffer_.add_floats(times_, 1, Use::animation, true);
        for (std::size_t i = 0; i < tracks_.size(); ++i) add_body(static_cast<int>(i));
        for (std::size_t e = 0; e < surfaces_.size(); ++e) add_solid(static_cast<int>(e));
        return document();
    }
    const std::string& bytes() const { return buffer_.bytes(); }

  private:
    // One glTF mesh per shape and colour; vertices and indices are stored once per shape.
    int mesh_of(int body) {
        const int shape = run_.bodies()[body].shape;
        const std::array<double, 3> color = display_color(run_, body);
        const bool closed = run_.shapes()[shape].closed;
        const int material = material_of(color, !closed);
        const auto [it, fresh] =
            meshes_by_look_.emplace(std::pair{shape, material}, static_cast<int>(meshes_.size()));
        if (!fresh) return it->second;
        json primitives = primitives_of(body);
        if (primitives.empty()) return it->second = -1;
        for (json& primitive : primitives) primitive["material"] = material;
        meshes_.push_back({{"name", run_.shapes()[shape].name}, {"primitives", std::move(primitives)}});
        return it->second;
    }

    // Bodies that share a shape share its scale: it is part of the geometry.
    const json& primitives_of(int body) {
        const int shape = run_.bodies()[body].shape;
        const auto [it, fresh] = primitives_.emplace(shape, json::array());
        if (!fresh) return it->second;
        const Mesh mesh = own_[body].mesh(run_.shapes()[shape].mesh);
        if (!mesh.triangles.empty()) {
            const SplitMesh split(mesh);
            const int positions = buffer_.add_floats(split.positions, 3, Use::vertices, true);
            const int normals = buffer_.add_floats(split.normals, 3, Use::vertices, false);
            it->second.push_back({{"attributes", {{"POSITION", positions}, {"NORMAL", normals}}},
                                  {"indices", buffer_.add_indices(split.indices)},
                                  {"mode", 4}});
        }
        if (mesh.edges.empty() && mesh.points.empty()) return it->second;
        const int positions = buffer_.add_floats(as_floats(mesh.vertices), 3, Use::vertices, true);
        const auto add = [&](const std::vector<std::uint32_t>& indices, int mode) {
            if (!indices.empty())
                it->second.push_back({{"attributes", {{"POSITION", positions}}},
                                      {"indices", buffer_.add_indices(indices)},
                                      {"mode", mode}});
        };
        std::vector<std::uint32_t> lines, points(mesh.points.begin(), mesh.points.end());
        for (const Edge& e : mesh.edges) lines.insert(lines.end(), e.begin(), e.end());
        add(lines, 1);
        add(points, 0);
        return it->second;
    }

    int material_of(const std::array<double, 3>& color, bool both_sides) {
        const auto [it, fresh] =
            materials_by_look_.emplace(std::pair{color, both_sides}, static_cast<int>(materials_.size()));
        if (fresh)
            materials_.push_back(
                {{"name", fmt::format("color{}", it->second)},
                 {"pbrMetallicRoughness",
                  {{"baseColorFactor", std::vector<double>{color[0], color[1], color[2], 1.0}},
                   {"metallicFactor", 0.0},
                   {"roughnessFactor", 0.6}}},
                 {"doubleSided", both_sides}});
        return it->second;
    }

    void add_body(int body) {
        const BodyTrack& track = tracks_[body];
        const auto start = [](const std::vector<float>& values, int components) {
            return std::vector<float>(values.begin(), values.begin() + components);
        };
        json node{{"name", run_.bodies()[body].name},
                  {"translation", start(track.translation(), 3)},
                  {"rotation", start(track.rotation(), 4)}};
        const int mesh = mesh_of(body);
        const int outer = add_node({}), inner = track.stretches() ? outer + 1 : outer;
        if (track.stretches()) {
            node["scale"] = start(track.scale(), 3);
            node["children"] = json::array({inner});
            nodes_.push_back({{"rotation", start(track.inner_rotation(), 4)}});
            if (mesh >= 0) nodes_[inner]["mesh"] = mesh;
        } else {
            if (track.scaled()) node["scale"] = as_floats(std::vector<Vec3>{track.mesh_scale()});
            if (mesh >= 0) node["mesh"] = mesh;
        }
        nodes_[outer] = std::move(node);
        roots_.push_back(outer);
        if (!animated_ || !track.moves()) return;
        animate(outer, "translation", track.translation(), 3);
        animate(outer, "rotation", track.rotation(), 4);
        if (!track.stretches()) return;
        animate(outer, "scale", track.scale(), 3);
        animate(inner, "rotation", track.inner_rotation(), 4);
    }

    // The first frame is the mesh, every later one a morph target: its weight is 1 at its time, 0 at all others.
    void add_solid(int solid) {
        const SolidSurface& surface = surfaces_[solid];
        if (surface.triangles.empty()) return;
        const std::vector<std::vector<float>>& frames = solids_[solid];
        std::vector<std::uint32_t> indices;
        for (const Triangle& t : surface.triangles) indices.insert(indices.end(), t.begin(), t.end());
        json primitive{
            {"attributes", {{"POSITION", buffer_.add_floats(frames[0], 3, Use::vertices, true)}}},
            {"indices", buffer_.add_indices(indices)},
            {"mode", 4},
            {"material",
             material_of(display_color(run_, static_cast<int>(run_.bodies().size()) + solid), true)}};
        json mesh{{"name", run_.elastic()[solid].name}};
        const std::size_t targets = animated_ ? frames.size() - 1 : 0;
        for (std::size_t f = 1; f <= targets; ++f) {
            std::vector<float> moved(frames[f].size());
            for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = frames[f][i] - frames[0][i];
            primitive["targets"].push_back({{"POSITION", buffer_.add_floats(moved, 3, Use::vertices, true)}});
        }
        mesh["primitives"] = json::array({std::move(primitive)});
        if (targets > 0) mesh["weights"] = std::vector<double>(targets, 0.0);
        meshes_.push_back(std::move(mesh));
        const int node = add_node({{"name", run_.elastic()[solid].name}, {"mesh", meshes_.size() - 1}});
        roots_.push_back(node);
        if (targets == 0) return;
        std::vector<float> weights((targets + 1) * targets, 0.0f);
        for (std::size_t f = 1; f <= targets; ++f) weights[f * targets + f - 1] = 1.0f;
        animate(node, "weights", weights, 1);
    }

    int add_node(json node) {
        nodes_.push_back(std::move(node));
        return static_cast<int>(nodes_.size()) - 1;
    }

    void animate(int node, const char* what, const std::vector<float>& values, int components) {
        const int output = buffer_.add_floats(values, components, Use::animation, false);
        channels_.push_back({{"sampler", samplers_.size()}, {"target", {{"node", node}, {"path", what}}}});
        samplers_.push_back({{"input", time_accessor_}, {"output", output}, {"interpolation", "LINEAR"}});
    }

    // The empty lists that a scene may lead to must be left out: glTF has none.
    json document() {
        json root{{"name", "tenon"}};
        if (!roots_.empty()) root["children"] = roots_;
        if (render::scene_hints(run_.scene_json()).up == "z")  // glTF is y up
            root["rotation"] = std::vector<double>{-std::sqrt(0.5), 0.0, 0.0, std::sqrt(0.5)};
        const int root_node = add_node(std::move(root));
        json all{{"asset", {{"version", "2.0"}, {"generator", "Tenon"}}},
                 {"scene", 0},
                 {"scenes", json::array({json{{"nodes", json::array({root_node})}}})},
                 {"nodes", std::move(nodes_)}};
        const auto put = [&](const char* key, const json& list) {
            if (!list.empty()) all[key] = list;
        };
        put("meshes", meshes_);
        put("materials", materials_);
        put("accessors", buffer_.accessors());
        put("bufferViews", buffer_.views());
        if (!channels_.empty())
            all["animations"] = json::array({json{
                {"name", "run"}, {"channels", std::move(channels_)}, {"samplers", std::move(samplers_)}}});
        return all;
    }

    const run::RunReader& run_;
    const std::vector<OwnFrame> own_;
    std::vector<float> times_;
    double start_ = 0.0;
    bool animated_ = false;
    int time_accessor_ = -1;
    std::vector<BodyTrack> tracks_;
    std::vector<SolidSurface> surfaces_;
    std::vector<std::vector<std::vector<float>>> solids_;  // per solid and frame, positions
    GltfBuffer buffer_;
    std::map<std::pair<int, int>, int> meshes_by_look_;
    std::map<int, json> primitives_;
    std::map<std::pair<std::array<double, 3>, bool>, int> materials_by_look_;
    json nodes_ = json::array(), meshes_ = json::array(), materials_ = json::array(),
         channels_ = json::array(), samplers_ = json::array();
    std::vector<int> roots_;
};

std::string text_of(const json& document) {
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string little_endian(std::uint32_t value) {
    std::string bytes;
    for (int k = 0; k < 4; ++k) bytes += static_cast<char>(value >> (8 * k) & 255);
    return bytes;
}

void write_binary(const std::string& file, const json& document, const std::string& bytes,
                  ExportReport& report) {
    std::string text = text_of(document);
    text.resize((text.size() + 3) / 4 * 4, ' ');
    const std::size_t total = 12 + 8 + text.size() + (bytes.empty() ? 0 : 8 + bytes.size());
    if (total > 0xffffffffu)
        throw InputError(file, "", "would be larger than the 4 GB a .glb can hold",
                         "choose fewer frames with a stride");
    std::string head = "glTF" + little_endian(2) + little_endian(static_cast<std::uint32_t>(total)) +
                       little_endian(static_cast<std::uint32_t>(text.size())) + "JSON";
    const std::string middle =
        bytes.empty() ? ""
                      : little_endian(static_cast<std::uint32_t>(bytes.size())) + std::string("BIN\0", 4);
    write_file(file, {head, text, middle, bytes}, report);
}

}  // namespace

ExportReport write_gltf(const run::RunReader& run, const ExportOptions& options) {
    namespace fs = std::filesystem;
    const fs::path output(options.output);
    const bool binary = output.extension() == ".glb";
    if (!binary && output.extension() != ".gltf")
        throw InputError(options.output, "", "does not end in .glb or .gltf",
                         "choose one of the two endings");
    ExportReport report;
    GltfWriter writer(run);
    for (long index : selected_frames(run, options)) {
        writer.add_frame(run.frame(index));
        ++report.frames;
    }
    json document = writer.finish();
    if (!writer.bytes().empty())
        document["buffers"] = json::array({json{{"byteLength", writer.bytes().size()}}});
    if (binary) {
        write_binary(options.output, document, writer.bytes(), report);
        return report;
    }
    const fs::path data = fs::path(output).replace_extension(".bin");
    if (!writer.bytes().empty()) document["buffers"][0]["uri"] = data.filename().string();
    write_file(options.output, {text_of(document)}, report);
    if (!writer.bytes().empty()) write_file(data.string(), {writer.bytes()}, report);
    return report;
}

}  // namespace tenon::exporting

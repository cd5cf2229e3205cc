#include "serve/model_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "run/run_schema.hpp"
#include "serve/byte_writer.hpp"
#include "tenon/error.hpp"

namespace tenon::serve {
namespace {

using nlohmann::json;
using render::Vec3f;

// Corners that agree in vertex and normal become one.
struct IndexedMesh {
    std::vector<Vec3f> positions;
    std::vector<std::int8_t> normals;  // four a vertex, the last unused
    std::vector<std::uint32_t> indices;
};

IndexedMesh indexed(const render::DrawMesh& mesh) {
    IndexedMesh out;
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    for (std::size_t corner = 0; corner < mesh.corner_normals.size(); ++corner) {
        const int vertex = mesh.triangles[corner / 3][corner % 3];
        std::int8_t n[4] = {};
        for (int k = 0; k < 3; ++k)
            n[k] = static_cast<std::int8_t>(std::lround(mesh.corner_normals[corner][k] * 127));
        std::uint32_t bits = 0;
        std::memcpy(&bits, n, 4);
        const std::uint64_t key = (static_cast<std::uint64_t>(vertex) << 32) | bits;
        const auto [place, added] = known.emplace(key, static_cast<std::uint32_t>(out.positions.size()));
        if (added) {
            out.positions.push_back(mesh.vertices[vertex]);
            out.normals.insert(out.normals.end(), n, n + 4);
        }
        out.indices.push_back(place->second);
    }
    return out;
}

json number_list(const Vec3& v) {
    return json::array({v.x(), v.y(), v.z()});
}

// Colours as screens want them, three bytes in one number.
int packed_srgb(const Vec3f& linear) {
    int packed = 0;
    for (int k = 0; k < 3; ++k)
        packed = packed * 256 + static_cast<int>(std::lround(255 * render::srgb_from_linear(linear[k])));
    return packed;
}

// Materials by the name of the body; of the scene only names and materials are kept while it is parsed.
std::map<std::string, std::string> materials_by_body(const std::string& scene_json, const char* list) {
    const json::parser_callback_t keep = [&](int depth, json::parse_event_t event, json& value) {
        if (event != json::parse_event_t::key) return true;
        if (depth == 1) return value == list;
        return depth != 3 || value == "name" || value == "material";
    };
    std::map<std::string, std::string> materials;
    const json scene = json::parse(scene_json, keep, false);
    if (!scene.is_object() || !scene.contains(list) || !scene[list].is_array()) return materials;
    for (const json& body : scene[list])
        if (body.is_object() && body.contains("name") && body["name"].is_string() &&
            body.contains("material") && body["material"].is_string())
            materials[body["name"]] = body["material"];
    return materials;
}

json describe_shapes(const OpenRun& run) {
    json list = json::array();
    for (std::size_t i = 0; i < run.drawn.meshes.size(); ++i) {
        const render::DrawMesh& mesh = run.drawn.meshes[i];
        list.push_back({{"name", run.reader.shapes()[i].name},
                        {"vertices", run.geometry.vertices[i]},
                        {"indices", 3 * mesh.triangles.size()},
                        {"center", number_list(mesh.center.cast<double>())},
                        {"radius", mesh.radius},
                        {"closed", mesh.closed}});
    }
    return list;
}

// Columns rather than rows: a fifth of the size for many bodies.
json describe_bodies(const OpenRun& run, const std::string& scene) {
    const auto materials = materials_by_body(scene, "bodies");
    json names = json::array(), shapes = json::array(), types = json::array(), masses = json::array(),
         colors = json::array(), material = json::array();
    for (std::size_t i = 0; i < run.reader.bodies().size(); ++i) {
        const run::BodyInfo& body = run.reader.bodies()[i];
        names.push_back(body.name);
        shapes.push_back(body.shape);
        types.push_back(static_cast<int>(body.type));
        masses.push_back(body.mass);
        colors.push_back(packed_srgb(run.drawn.bodies[i].color));
        const auto found = materials.find(body.name);
        material.push_back(found == materials.end() ? "default" : found->second);
    }
    return {{"name", names},  {"shape", shapes}, {"type", types},
            {"mass", masses}, {"color", colors}, {"material", material}};
}

json describe_elastic(const OpenRun& run, const std::string& scene) {
    const auto materials = materials_by_body(scene, "elastic");
    json list = json::array();
    for (std::size_t e = 0; e < run.surfaces.size(); ++e) {
        const run::ElasticInfo& solid = run.reader.elastic()[e];
        double mass = 0;
        for (const double m : solid.vertex_mass) mass += m;
        const auto found = materials.find(solid.name);
        list.push_back({{"name", solid.name},
                        {"vertices", run.surfaces[e].vertices.size()},
                        {"triangles", run.surfaces[e].triangles.size()},
                        {"tets", solid.tets.size()},
                        {"mass", mass},
                        {"material", found == materials.end() ? "default" : found->second},
                        {"color", packed_srgb(run.drawn.elastic[e].color)}});
    }
    return list;
}

json numbers_of_blob(const run::Statement& row, int column, std::size_t count) {
    const std::string_view blob = row.blob(column);
    std::vector<double> values(count, 0.0);
    if (blob.size() == count * sizeof(double)) std::memcpy(values.data(), blob.data(), blob.size());
    return values;
}

json describe_joints(const OpenRun& run) {
    json list = json::array();
    run::Statement row(
        run.database,
        "SELECT name, type, body_a, body_b, point_a, point_b, frame_a, frame_b FROM joints ORDER BY id");
    while (row.next())
        list.push_back({{"name", row.text(0)},
                        {"type", row.text(1)},
                        {"a", row.integer(2)},
                        {"b", row.integer(3)},
                        {"point_a", numbers_of_blob(row, 4, 3)},
                        {"point_b", numbers_of_blob(row, 5, 3)},
                        {"frame_a", numbers_of_blob(row, 6, 9)},
                        {"frame_b", numbers_of_blob(row, 7, 9)}});
    return list;
}

// Names of series per step; phases and figures are those of a few steps spread over the run.
json step_series(const OpenRun& run) {
    json names = {"energy", "kinetic", "gravity", "elastic",  "px",         "py",           "pz",
                  "lx",     "ly",      "lz",      "contacts", "iterations", "min_distance", "joint_residual",
                  "wall_ms"};
    run::Statement last(run.database, "SELECT ifnull(max(step), 0) FROM steps");
    const long steps = last.next() ? last.integer(0) : 0;
    std::vector<std::string> extra;
    for (int part = 0; part <= 16; ++part) {
        run::Statement row(run.database, "SELECT phases, figures FROM steps WHERE step = ?");
        row.bind(0, std::max(1L, steps * part / 16));
        if (!row.next()) continue;
        for (int column = 0; column < 2; ++column) {
            const auto values = nlohmann::ordered_json::parse(row.text(column), nullptr, false);
            if (!values.is_object()) continue;
            for (const auto& [name, value] : values.items()) {
                const std::string full = (column == 0 ? "phase." : "figure.") + name;
                if (value.is_number() && std::find(extra.begin(), extra.end(), full) == extra.end())
                    extra.push_back(full);
            }
        }
    }
    for (const std::string& name : extra) names.push_back(name);
    return names;
}

}  // namespace

std::string dump(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Geometry pack_geometry(const OpenRun& run) {
    Geometry geometry;
    ByteWriter out;
    for (const render::DrawMesh& mesh : run.drawn.meshes) {
        const IndexedMesh buffers = indexed(mesh);
        geometry.vertices.push_back(buffers.positions.size());
        out.array(buffers.positions);
        out.array(buffers.normals);
        out.array(buffers.indices);
    }
    for (const ElasticSurface& surface : run.surfaces) out.array(surface.triangles);
    geometry.bytes = out.take();
    return geometry;
}

std::string describe_model(const OpenRun& run) {
    const std::string scene = run.reader.scene_json();
    json model = {{"generation", run.generation},
                  {"file", std::filesystem::path(run.reader.file()).filename().string()},
                  {"name", run.reader.meta("name")},
                  {"method", run.reader.meta("method")},
                  {"dt", std::strtod(run.reader.meta("dt").c_str(), nullptr)},
                  {"up", run.drawn.up.z() > 0.5 ? "z" : "y"},
                  {"camera", run.drawn.camera},
                  {"interest", {number_list(run.interest.lo), number_list(run.interest.hi)}},
                  {"quantum", run.quantum},
                  {"chunk_frames", run.chunk_frames()},
                  {"shapes", describe_shapes(run)},
                  {"bodies", describe_bodies(run, scene)},
                  {"elastic", describe_elastic(run, scene)},
                  {"joints", describe_joints(run)},
                  {"series", step_series(run)}};
    return dump(model);
}

}  // namespace tenon::serve

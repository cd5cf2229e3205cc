#include "export/export.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "export/gltf.hpp"
#include "export/obj.hpp"
#include "export/usd.hpp"
#include "export/vtk.hpp"
#include "math/whole_file.hpp"
#include "render/colors.hpp"
#include "tenon/error.hpp"

namespace tenon::exporting {

namespace fs = std::filesystem;

const std::vector<ExportFormat>& export_formats() {
    static const std::vector<ExportFormat> formats{
        {"gltf",
         "an animated glTF 2.0 scene for Blender, game engines and the web: one .glb, or .gltf with .bin",
         ".glb", write_gltf},
        {"usd", "a plain-text USD stage with time samples for film tools: one .usda", ".usda", write_usd},
        {"vtk", "a series of VTK files with contacts and forces for ParaView: a .pvd and its folder", ".pvd",
         write_vtk},
        {"obj", "one Wavefront OBJ per frame in a folder", "", write_obj_series},
    };
    return formats;
}

ExportReport export_run(const run::RunReader& run, const std::string& format, const ExportOptions& options) {
    std::vector<std::string> names;
    for (const ExportFormat& known : export_formats()) {
        names.push_back(known.name);
        if (known.name != format) continue;
        ExportOptions complete = options;
        if (complete.output.empty())
            throw InputError("", "output", "no name for the output", "give one with -o");
        if (fs::path(complete.output).extension().empty()) complete.output += known.ending;
        return known.write(run, complete);
    }
    throw InputError("", "format", fmt::format("unknown format '{}'", format),
                     fmt::format("known: {}", fmt::join(names, ", ")));
}

std::vector<long> selected_frames(const run::RunReader& run, const ExportOptions& options) {
    const long count = run.frame_count(), last = options.last < 0 ? count - 1 : options.last;
    if (count == 0) throw InputError(run.file(), "", "holds no frames", "run the scene again");
    if (options.stride < 1) throw InputError("", "stride", "is less than 1", "give 1 or more");
    if (options.first < 0 || options.first > last || last >= count)
        throw InputError(run.file(), "frames", fmt::format("there is no range {} to {}", options.first, last),
                         fmt::format("the run has frames 0 to {}", count - 1));
    std::vector<long> frames;
    for (long f = options.first; f <= last; f += options.stride) frames.push_back(f);
    return frames;
}

void write_file(const std::string& file, std::initializer_list<std::string_view> parts,
                ExportReport& report) {
    make_folder_of(file);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "wb"), std::fclose);
    bool good = out != nullptr;
    for (const std::string_view part : parts) {
        good = good && std::fwrite(part.data(), 1, part.size(), out.get()) == part.size();
        report.bytes += part.size();
    }
    if (!good || std::fflush(out.get()) != 0)
        throw InputError(file, "", fmt::format("cannot be written: {}", std::strerror(errno)),
                         "check the folder, its permissions and the space left");
    report.files.push_back(file);
}

void make_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder))
        throw InputError(folder, "", "is not a folder and cannot become one", "choose another output");
}

std::array<double, 3> display_color(const run::RunReader& run, int body) {
    const auto bodies = static_cast<int>(run.bodies().size());
    const bool solid = body >= bodies;
    const std::array<double, 3>& given =
        solid ? run.elastic()[body - bodies].color : run.bodies()[body].color;
    render::Vec3f color;
    if (given[0] >= 0.0) {
        color = render::linear_from_srgb(given);
    } else if (!solid && run.bodies()[body].type == BodyType::static_body) {
        color = render::linear_from_srgb({0.62, 0.62, 0.6});
    } else {
        color = render::palette(solid ? static_cast<int>(run.shapes().size()) + body - bodies
                                      : run.bodies()[body].shape);
    }
    return {color.x(), color.y(), color.z()};
}

Mesh OwnFrame::mesh(const Mesh& body_mesh) const {
    Mesh own = body_mesh;
    for (Vec3& v : own.vertices) v = (frame.rotation.conjugate() * (v - frame.position)).cwiseQuotient(scale);
    return own;
}

Mat34 OwnFrame::placed(const Mat34& q) const {
    Mat34 map;
    map.leftCols<3>() = q.leftCols<3>() * frame.rotation.toRotationMatrix();
    map.col(3) = transform(q, frame.position);
    return map;
}

// The scale stands in the scene that the run holds.
std::vector<OwnFrame> own_frames(const run::RunReader& run) {
    std::map<std::string, Vec3> scales;
    const nlohmann::json scene = nlohmann::json::parse(run.scene_json(), nullptr, false);
    if (scene.is_object() && scene.contains("bodies") && scene["bodies"].is_array())
        for (const nlohmann::json& body : scene["bodies"]) {
            if (!body.is_object() || !body.contains("name") || !body["name"].is_string() ||
                !body.contains("mesh") || !body["mesh"].is_string() || !body.contains("scale"))
                continue;
            const nlohmann::json& scale = body["scale"];
            Vec3 value = Vec3::Ones();
            if (scale.is_number()) value.setConstant(scale.get<double>());
            if (scale.is_array() && scale.size() == 3)
                for (int k = 0; k < 3; ++k)
                    if (scale[k].is_number()) value[k] = scale[k].get<double>();
            if ((value.array() != 0).all()) scales[body["name"].get<std::string>()] = value;
        }
    std::vector<OwnFrame> frames;
    for (const run::BodyInfo& body : run.bodies()) {
        const auto found = scales.find(body.name);
        frames.push_back(
            {run.shapes()[body.shape].geometry_frame, found == scales.end() ? Vec3::Ones() : found->second});
    }
    return frames;
}

std::vector<Vec3> SolidSurface::at(const std::vector<Vec3>& x) const {
    std::vector<Vec3> vertices(tet.size(), Vec3::Zero());
    for (std::size_t i = 0; i < tet.size(); ++i)
        for (int k = 0; k < 4; ++k)
            if (tet[i][k] >= 0 && weight[i][k] != 0.0) vertices[i] += weight[i][k] * x[tet[i][k]];
    return vertices;
}

SolidSurface solid_surface(const run::ElasticInfo& solid) {
    SolidSurface surface;
    if (!solid.embedded.triangles.empty()) {
        surface.triangles = solid.embedded.triangles;
        surface.weight = solid.embedded_weight;
        for (int tet : solid.embedded_tet) surface.tet.push_back(solid.tets[tet]);
        return surface;
    }
    std::vector<int> number(solid.rest.size(), -1);
    for (const Triangle& triangle : solid.surface) {
        Triangle renumbered{};
        for (int k = 0; k < 3; ++k) {
            int& index = number[triangle[k]];
            if (index < 0) {
                index = static_cast<int>(surface.tet.size());
                surface.tet.push_back({triangle[k], -1, -1, -1});
                surface.weight.push_back(Vec4(1, 0, 0, 0));
            }
            renumbered[k] = index;
        }
        surface.triangles.push_back(renumbered);
    }
    return surface;
}

}  // namespace tenon::exporting

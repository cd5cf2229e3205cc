// Runs for other programs: which frames, where to, and the formats there are.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::exporting {

struct ExportOptions {
    std::string output;  // file or folder, by format
    long first = 0;      // frames first, first + stride, ... up to last
    long last = -1;      // negative: to the end
    long stride = 1;
};

struct ExportReport {
    long frames = 0;
    std::vector<std::string> files;  // the one to open comes first
    std::uintmax_t bytes = 0;
};

struct ExportFormat {
    std::string name;
    std::string summary;
    std::string ending;  // that `output` gets when it has none
    ExportReport (*write)(const run::RunReader&, const ExportOptions&) = nullptr;
};

const std::vector<ExportFormat>& export_formats();  // gltf, usd, vtk, obj

// Throws InputError for an unknown format, an empty choice of frames or an output that cannot be written.
ExportReport export_run(const run::RunReader& run, const std::string& format, const ExportOptions& options);

// What the formats share.
std::vector<long> selected_frames(const run::RunReader& run, const ExportOptions& options);
void write_file(const std::string& file, std::initializer_list<std::string_view> parts, ExportReport& report);
void make_folder(const std::string& folder);

// Colour of a body or an elastic solid, in linear light: the scene's, or one of the palette by its shape.
std::array<double, 3> display_color(const run::RunReader& run, int body);

// A body's mesh as its author made it: the file's coordinates, and the map from them to the body's frame,
// body = frame * (scale * own). Generated shapes have no file; their own coordinates are the shape's.
struct OwnFrame {
    Pose frame;
    Vec3 scale = Vec3::Ones();
    Mesh mesh(const Mesh& body_mesh) const;  // the body's mesh in its own coordinates
    Mat34 placed(const Mat34& q) const;      // q * frame: where the scaled mesh is, without `scale`
};
std::vector<OwnFrame> own_frames(const run::RunReader& run);  // per body

// The surface of an elastic solid: its fine surface, or its tetrahedra's. Only vertices that are used.
struct SolidSurface {
    std::vector<Triangle> triangles;
    std::vector<Tet> tet;  // of each vertex: its value is the weighted sum of these four vertices'
    std::vector<Vec4> weight;
    std::vector<Vec3> at(const std::vector<Vec3>& x) const;
};
SolidSurface solid_surface(const run::ElasticInfo& solid);

}  // namespace tenon::exporting

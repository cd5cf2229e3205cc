#include "export/obj.hpp"

#include <map>

#include <fmt/format.h>

#include "render/colors.hpp"

namespace tenon::exporting {
namespace {

// A name that stays one word, without characters that a terminal obeys (U+0080 to U+009F are two bytes).
std::string one_word(const std::string& name) {
    std::string word;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto c = static_cast<unsigned char>(name[i]);
        const bool c1 = c == 0xC2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xA0;
        i += c1;
        word += c1 || c <= ' ' || c == '#' || c == 0x7F ? '_' : name[i];
    }
    return word.empty() ? "body" : word;
}

class ObjText {
  public:
    void begin(const std::string& name, int material) {
        fmt::format_to(out(), "o {}\nusemtl color{}\n", one_word(name), material);
    }
    void add(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles,
             const std::vector<Edge>& edges, const std::vector<int>& points) {
        for (const Vec3& v : vertices) fmt::format_to(out(), "v {} {} {}\n", v.x(), v.y(), v.z());
        for (const Triangle& t : triangles)
            fmt::format_to(out(), "f {} {} {}\n", first_ + t[0], first_ + t[1], first_ + t[2]);
        for (const Edge& e : edges) fmt::format_to(out(), "l {} {}\n", first_ + e[0], first_ + e[1]);
        for (int p : points) fmt::format_to(out(), "p {}\n", first_ + p);
        first_ += static_cast<long>(vertices.size());
    }
    void line(const std::string& text) { fmt::format_to(out(), "{}\n", text); }
    std::string_view text() const { return {buffer_.data(), buffer_.size()}; }

  private:
    std::back_insert_iterator<fmt::memory_buffer> out() { return std::back_inserter(buffer_); }
    fmt::memory_buffer buffer_;
    long first_ = 1;
};

struct Palette {
    std::vector<int> material;  // of each body, elastic solids after bodies
    std::string text;

    explicit Palette(const run::RunReader& run) {
        std::map<std::array<double, 3>, int> known;
        const std::size_t count = run.bodies().size() + run.elastic().size();
        for (std::size_t i = 0; i < count; ++i) {
            const auto color = display_color(run, static_cast<int>(i));
            const auto [it, fresh] = known.emplace(color, static_cast<int>(known.size()));
            material.push_back(it->second);
            if (!fresh) continue;
            text += fmt::format("newmtl color{}\nKd", it->second);
            for (double c : color)
                text += fmt::format(" {:.4f}", render::srgb_from_linear(static_cast<float>(c)));
            text += "\n";
        }
    }
};

std::string frame_text(const run::RunReader& run, const run::Frame& frame, const Palette& palette,
                       const std::vector<SolidSurface>& solids) {
    ObjText obj;
    obj.line(fmt::format("# step {}, time {} s\nmtllib materials.mtl", frame.step, frame.time));
    for (std::size_t i = 0; i < run.bodies().size(); ++i) {
        const Mesh& mesh = run.shapes()[run.bodies()[i].shape].mesh;
        std::vector<Vec3> vertices;
        vertices.reserve(mesh.vertices.size());
        for (const Vec3& v : mesh.vertices) vertices.push_back(transform(frame.q[i], v));
        obj.begin(run.bodies()[i].name, palette.material[i]);
        obj.add(vertices, mesh.triangles, mesh.edges, mesh.points);
    }
    for (std::size_t e = 0; e < solids.size(); ++e) {
        obj.begin(run.elastic()[e].name, palette.material[run.bodies().size() + e]);
        obj.add(solids[e].at(frame.x[e]), solids[e].triangles, {}, {});
    }
    return std::string(obj.text());
}

}  // namespace

ExportReport write_obj_series(const run::RunReader& run, const ExportOptions& options) {
    const std::vector<long> frames = selected_frames(run, options);
    make_folder(options.output);
    const Palette palette(run);
    std::vector<SolidSurface> solids;
    for (const run::ElasticInfo& solid : run.elastic()) solids.push_back(solid_surface(solid));
    ExportReport report;
    for (long index : frames) {
        const std::string file = fmt::format("{}/frame_{:06}.obj", options.output, index);
        write_file(file, {frame_text(run, run.frame(index), palette, solids)}, report);
        ++report.frames;
    }
    write_file(options.output + "/materials.mtl", {palette.text}, report);
    return report;
}

}  // namespace tenon::exporting

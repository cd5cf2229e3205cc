#include "export/usd.hpp"

#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "render/scene_hints.hpp"
#include "tenon/error.hpp"

namespace tenon::exporting {
namespace {

// USD names are identifiers: letters, digits and underscores. The name as given stays beside it.
class Names {
  public:
    std::string identifier(const std::string& name) {
        std::string plain;
        for (const char c : name) plain += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
        if (plain.empty() || std::isdigit(static_cast<unsigned char>(plain[0]))) plain = "_" + plain;
        std::string fresh = plain;
        for (int k = 2; !taken_.insert(fresh).second; ++k) fresh = fmt::format("{}_{}", plain, k);
        return fresh;
    }

  private:
    std::set<std::string> taken_;
};

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool c1 = c == '\xC2' && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else if (c == '\n')
            out += "\\n";
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else if (c1)  // a terminal would obey it
            out += fmt::format("\\xc2\\x{:02x}", static_cast<unsigned char>(text[++i]));
        else
            out += c;
    }
    return out + "\"";
}

std::string triple(const Vec3& v) {
    return fmt::format("({:.9g}, {:.9g}, {:.9g})", v.x(), v.y(), v.z());
}

template <class List, class Text>
std::string joined(const List& list, Text text) {
    std::string out = "[";
    for (const auto& entry : list) {
        if (out.size() > 1) out += ", ";
        out += text(entry);
    }
    return out + "]";
}

std::string points_of(const std::vector<Vec3>& vertices) {
    return joined(vertices, triple);
}

std::string extent_of(const std::vector<Vec3>& vertices) {
    Vec3 low = vertices.front(), high = vertices.front();
    for (const Vec3& v : vertices) {
        low = low.cwiseMin(v);
        high = high.cwiseMax(v);
    }
    return fmt::format("[{}, {}]", triple(low), triple(high));
}

std::string topology_of(const std::vector<Triangle>& triangles) {
    return fmt::format(
        "        int[] faceVertexCounts = {}\n        int[] faceVertexIndices = {}\n"
        "        uniform token subdivisionScheme = \"none\"\n",
        joined(triangles, [](const Triangle&) { return "3"; }),
        joined(triangles, [](const Triangle& t) { return fmt::format("{}, {}, {}", t[0], t[1], t[2]); }));
}

// Row vectors: the translation stands in the last row.
std::string matrix_of(const Mat34& q, const Vec3& scale) {
    const Mat3 map = q.leftCols<3>() * scale.asDiagonal();
    std::string rows;
    for (int c = 0; c < 3; ++c)
        rows += fmt::format("({:.12g}, {:.12g}, {:.12g}, 0), ", map(0, c), map(1, c), map(2, c));
    return fmt::format("( {}({:.12g}, {:.12g}, {:.12g}, 1) )", rows, q(0, 3), q(1, 3), q(2, 3));
}

class UsdWriter {
  public:
    UsdWriter(const run::RunReader& run, std::vector<long> frames)
        : run_(run), own_(own_frames(run)), frames_(std::move(frames)) {
        for (const run::ElasticInfo& solid : run.elastic()) surfaces_.push_back(solid_surface(solid));
        transforms_.resize(run.bodies().size());
        points_.resize(surfaces_.size());
        read_frames();
    }

    std::string text() {
        std::string out = head();
        out += "class \"Shapes\"\n{\n";
        std::set<int> shapes;
        for (std::size_t i = 0; i < run_.bodies().size(); ++i)
            if (shapes.insert(run_.bodies()[i].shape).second) out += shape(static_cast<int>(i));
        out += "}\n\ndef Xform \"World\"\n{\n";
        Names names;
        for (std::size_t i = 0; i < run_.bodies().size(); ++i) out += body(static_cast<int>(i), names);
        for (std::size_t e = 0; e < surfaces_.size(); ++e) out += solid(static_cast<int>(e), names);
        return out + "}\n";
    }

  private:
    // Time codes count recorded frames where those are evenly spaced, so that a film tool's frames fall on them.
    void read_frames() {
        const std::vector<run::FrameEntry> list = run_.frame_list();
        std::vector<double> times;
        for (const long index : frames_) times.push_back(list[static_cast<std::size_t>(index)].time);
        const double span = times.back() - times.front();
        rate_ = span > 0 ? static_cast<double>(times.size() - 1) / span : 24.0;
        if (std::abs(rate_ - std::round(rate_)) < 0.02 * rate_ && rate_ > 0.5) rate_ = std::round(rate_);
        for (const double time : times) codes_.push_back(rate_ * (time - times.front()));
        for (std::size_t f = 0; f < frames_.size(); ++f) {
            const run::Frame frame = run_.frame(frames_[f]);
            const std::string code = fmt::format("            {:.9g}: ", codes_[f]);
            for (std::size_t i = 0; i < transforms_.size(); ++i) {
                // a body that stands still needs one sample
                if (f > 0 && run_.bodies()[i].type == BodyType::static_body) continue;
                transforms_[i] += code + matrix_of(own_[i].placed(frame.q[i]), own_[i].scale) + ",\n";
            }
            for (std::size_t e = 0; e < surfaces_.size(); ++e)
                points_[e] += code + points_of(surfaces_[e].at(frame.x[e])) + ",\n";
        }
    }

    std::string head() const {
        const bool z_up = render::scene_hints(run_.scene_json()).up == "z";
        return fmt::format(
            "#usda 1.0\n(\n    defaultPrim = \"World\"\n    doc = \"Written by Tenon\"\n"
            "    endTimeCode = {:.9g}\n    framesPerSecond = {:.9g}\n    metersPerUnit = 1\n"
            "    startTimeCode = 0\n    timeCodesPerSecond = {:.9g}\n    upAxis = \"{}\"\n)\n\n",
            codes_.back(), rate_, rate_, z_up ? "Z" : "Y");
    }

    static std::string shape_name(int shape) { return fmt::format("shape_{}", shape); }

    // Stored once, in the coordinates of its file; bodies refer to it.
    std::string shape(int body) const {
        const int index = run_.bodies()[body].shape;
        const run::ShapeData& data = run_.shapes()[index];
        const Mesh mesh = own_[body].mesh(data.mesh);
        if (mesh.vertices.empty())
            return fmt::format("    class Xform \"{}\"\n    {{\n    }}\n", shape_name(index));
        std::string kind = "Mesh", rest;
        if (!mesh.triangles.empty()) {
            rest = topology_of(mesh.triangles);
            if (!data.closed) rest += "        uniform bool doubleSided = 1\n";
        } else if (!mesh.edges.empty()) {
            return curves(index, mesh);
        } else {
            kind = "Points";
        }
        return fmt::format(
            "    class {} \"{}\"\n    {{\n        custom string tenon:name = {}\n{}        float3[] extent = "
            "{}\n"
            "        point3f[] points = {}\n    }}\n",
            kind, shape_name(index), quoted(data.name), rest, extent_of(mesh.vertices),
            points_of(mesh.vertices));
    }

    std::string curves(int index, const Mesh& mesh) const {
        std::vector<Vec3> ends;
        for (const Edge& e : mesh.edges)
            for (int k = 0; k < 2; ++k) ends.push_back(mesh.vertices[e[k]]);
        return fmt::format(
            "    class BasisCurves \"{}\"\n    {{\n        uniform token type = \"linear\"\n"
            "        int[] curveVertexCounts = {}\n        float3[] extent = {}\n"
            "        float[] widths = [0.01] (\n            interpolation = \"constant\"\n        )\n"
            "        point3f[] points = {}\n    }}\n",
            shape_name(index), joined(mesh.edges, [](const Edge&) { return "2"; }), extent_of(ends),
            points_of(ends));
    }

    std::string color(int body) const {
        const std::array<double, 3> c = display_color(run_, body);
        return fmt::format("color3f[] primvars:displayColor = [({:.4g}, {:.4g}, {:.4g})]", c[0], c[1], c[2]);
    }

    std::string body(int index, Names& names) const {
        const run::BodyInfo& info = run_.bodies()[index];
        return fmt::format(
            "    def Xform \"{}\"\n    {{\n        custom string tenon:name = {}\n"
            "        matrix4d xformOp:transform.timeSamples = {{\n{}        }}\n"
            "        uniform token[] xformOpOrder = [\"xformOp:transform\"]\n\n"
            "        def \"geometry\" (\n            references = </Shapes/{}>\n        )\n        {{\n"
            "            {}\n        }}\n    }}\n",
            names.identifier(info.name), quoted(info.name), transforms_[index], shape_name(info.shape),
            color(index));
    }

    std::string solid(int index, Names& names) const {
        const std::string& name = run_.elastic()[index].name;
        return fmt::format(
            "    def Mesh \"{}\"\n    {{\n        custom string tenon:name = {}\n{}"
            "        uniform bool doubleSided = 1\n        {}\n"
            "        point3f[] points.timeSamples = {{\n{}        }}\n    }}\n",
            names.identifier(name), quoted(name), topology_of(surfaces_[index].triangles),
            color(static_cast<int>(run_.bodies().size()) + index), points_[index]);
    }

    const run::RunReader& run_;
    const std::vector<OwnFrame> own_;
    std::vector<long> frames_;
    std::vector<SolidSurface> surfaces_;
    double rate_ = 24.0;
    std::vector<double> codes_;
    std::vector<std::string> transforms_, points_;  // time samples of each body and solid
};

}  // namespace

ExportReport write_usd(const run::RunReader& run, const ExportOptions& options) {
    if (std::filesystem::path(options.output).extension() != ".usda")
        throw InputError(options.output, "", "does not end in .usda", "plain-text USD has this ending");
    ExportReport report;
    const std::vector<long> frames = selected_frames(run, options);
    report.frames = static_cast<long>(frames.size());
    write_file(options.output, {UsdWriter(run, frames).text()}, report);
    return report;
}

}  // namespace tenon::exporting

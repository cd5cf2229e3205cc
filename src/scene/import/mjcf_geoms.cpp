// Geoms and assets: primitives, meshes, height fields, colours, and the mass each brings.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numbers>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include "geometry/mass_properties.hpp"
#include "geometry/mesh_check.hpp"
#include "scene/import/mjcf.hpp"
#include "scene/value.hpp"
#include "tenon/error.hpp"

namespace tenon::scene {
namespace {

namespace fs = std::filesystem;
constexpr double pi = std::numbers::pi;

Mat3 diagonal(double x, double y, double z) {
    return Vec3(x, y, z).asDiagonal();
}

// Mass properties at unit density about the origin, axis along z; lengths are half of the full ones.
Inertial sphere_inertial(double r) {
    const double m = 4.0 / 3.0 * pi * r * r * r, i = 0.4 * m * r * r;
    return {m, Vec3::Zero(), diagonal(i, i, i)};
}
Inertial ellipsoid_inertial(const Vec3& s) {
    const double m = 4.0 / 3.0 * pi * s.prod();
    const Vec3 q = s.cwiseProduct(s);
    return {m, Vec3::Zero(), m / 5.0 * diagonal(q.y() + q.z(), q.z() + q.x(), q.x() + q.y())};
}
Inertial box_inertial(const Vec3& s) {
    const double m = 8.0 * s.prod();
    const Vec3 q = s.cwiseProduct(s);
    return {m, Vec3::Zero(), m / 3.0 * diagonal(q.y() + q.z(), q.z() + q.x(), q.x() + q.y())};
}
Inertial cylinder_inertial(double r, double half) {
    const double m = 2.0 * pi * r * r * half, across = m * (3 * r * r + 4 * half * half) / 12.0;
    return {m, Vec3::Zero(), diagonal(across, across, 0.5 * m * r * r)};
}
Inertial capsule_inertial(double r, double half) {
    const Inertial tube = cylinder_inertial(r, half), ball = sphere_inertial(r);
    // two half balls, each with its centre 3/8 r outside the end of the tube
    const double m = ball.mass, along = 0.4 * m * r * r;
    const double across = along + m * (half * half + 0.75 * half * r);
    Inertial sum = tube;
    sum.mass += m;
    sum.inertia += diagonal(across, across, along);
    return sum;
}

// Walls down to the base below a grid of heights, and its bottom as a fan.
void close_height_field(GeometrySpec& field, int rows, int columns, double base) {
    std::vector<int> edge;  // counterclockwise, seen from above
    for (int c = 0; c + 1 < columns; ++c) edge.push_back(c);
    for (int r = 0; r + 1 < rows; ++r) edge.push_back(r * columns + columns - 1);
    for (int c = columns - 1; c > 0; --c) edge.push_back((rows - 1) * columns + c);
    for (int r = rows - 1; r > 0; --r) edge.push_back(r * columns);
    const int below = static_cast<int>(field.vertices.size()), count = static_cast<int>(edge.size());
    for (const int top : edge) {
        const Vec3 v = field.vertices[static_cast<std::size_t>(top)];
        field.vertices.emplace_back(v.x(), v.y(), -base);
    }
    field.vertices.emplace_back(0, 0, -base);
    for (int k = 0; k < count; ++k) {
        const int next = (k + 1) % count, a = edge[static_cast<std::size_t>(k)],
                  b = edge[static_cast<std::size_t>(next)];
        field.triangles.push_back({a, below + k, below + next});
        field.triangles.push_back({a, below + next, b});
        field.triangles.push_back({below + count, below + next, below + k});
    }
}

Inertial mesh_inertial(const Mesh& mesh) {
    const geometry::MassProperties p = geometry::mass_properties(mesh, 0.0);
    if (!p.solid || !(p.volume > 0)) return {0.0, Vec3::Zero(), Mat3::Zero()};
    return {p.volume, p.centroid, p.second.trace() * Mat3::Identity() - p.second};
}

}  // namespace

std::string MjcfImporter::asset_path(const XmlElement& element, const std::string& file) const {
    fs::path name(file);
    if (compiler_.strippath) name = name.filename();
    const std::string folder = compiler_.meshdir.empty() ? compiler_.assetdir : compiler_.meshdir;
    std::vector<fs::path> tried;
    if (name.is_absolute()) tried.push_back(name);
    if (!options_.mesh_root.empty()) tried.push_back(fs::path(options_.mesh_root) / name);
    tried.push_back(fs::path(folder_) / folder / name);
    std::error_code error;
    for (const fs::path& path : tried)
        if (fs::is_regular_file(path, error)) return fs::absolute(path, error).lexically_normal().string();
    element.fail(
        fmt::format("no such file: {}", tried.back().string().substr(0, 300)),
        "paths are relative to the model's file and the compiler's meshdir; --meshes gives another folder");
}

void MjcfImporter::read_asset(const XmlElement& asset) {
    static const std::vector<std::string> known = {"mesh", "hfield", "material", "texture",
                                                   "skin", "model",  "plugin"};
    check_children(asset, known);
    for (XmlElement child = asset.first_child(); child; child = child.next()) {
        const MjcfElement element(child, defaults_, 0);
        if (child.name() == "mesh" || child.name() == "hfield") {
            std::string name = text_attribute(child, "name");
            if (name.empty()) name = fs::path(text_attribute(child, "file")).stem().string();
            if (name.empty())
                child.fail(fmt::format("<{}> has neither name nor file", child.name()), "add one");
            auto& list = child.name() == "mesh" ? meshes_ : height_fields_;
            if (!list.emplace(name, child).second)
                child.fail(fmt::format("two {}es are named '{}'", child.name(), name.substr(0, 60)),
                           "names must be unique");
        } else if (child.name() == "material") {
            if (const auto n = element.numbers("rgba", 4, 4); !n.empty())
                colors_[needed_attribute(child, "name")] = {n[0], n[1], n[2]};
        } else {
            lose(child, Kind::left_out, fmt::format("<{}> assets", child.name()), "bodies have one colour");
        }
    }
}

void MjcfImporter::read_geom(const XmlElement& xml, int body, const Pose& offset, int childclass) {
    const MjcfElement element(xml, defaults_, childclass);
    const std::string type = element.text("type", "sphere");
    if (type == "sdf")
        return lose(xml, Kind::left_out, "geoms of type sdf", "their plugin makes the shape: give a mesh");
    MjcfGeom geom;
    geom.element = xml;
    geom.name = text_attribute(xml, "name");
    if (!geom.name.empty() && !geom_body_.emplace(geom.name, body).second)
        xml.fail(fmt::format("two geoms are named '{}'", geom.name.substr(0, 60)), "names must be unique");
    if (!geom.name.empty()) geom_place_.emplace(geom.name, static_cast<int>(bodies_[at(body)].geoms.size()));
    geom.contype = static_cast<int>(element.number("contype", 1));
    geom.conaffinity = static_cast<int>(element.number("conaffinity", 1));
    geom.group = static_cast<int>(element.number("group", 0));
    if (const auto n = element.numbers("friction", 1, 3); !n.empty()) geom.friction = n[0];
    if (geom.friction < 0)
        xml.fail(fmt::format("friction is {:g}", geom.friction), "it must not be negative");
    if (const auto found = colors_.find(element.text("material")); found != colors_.end())
        geom.color = found->second;
    if (const auto n = element.numbers("rgba", 4, 4); !n.empty()) geom.color = {n[0], n[1], n[2]};
    for (double& c : geom.color)
        if (c >= 0) c = std::min(c, 1.0);
    for (const char* name : {"margin", "gap"})
        if (element.number(name, 0) != 0)
            lose(xml, Kind::left_out, fmt::format("{} of geoms", name), "contact begins at the scene's dhat");
    for (const char* name : {"solref", "solimp", "solmix", "priority", "condim", "fluidshape"})
        if (element.has(name))
            lose(xml, Kind::left_out, fmt::format("{} of geoms", name),
                 "is a setting of MuJoCo's contact model");
    if (element.flag("shellinertia", false, false))
        lose(xml, Kind::approximated, "shellinertia of geoms", "their mass fills the volume");

    Inertial unit;  // at unit density, in the part's own frame
    Pose pose = pose_of(element);
    if (element.has("mesh") && type != "mesh")
        geom.part = fitted_part(element, type, unit, pose);
    else if (type == "mesh")
        geom.part = mesh_part(element, unit);
    else if (type == "hfield")
        geom.part = height_field_part(element, unit);
    else
        geom.part = primitive_part(element, type, unit, pose);
    geom.plane = type == "plane";
    if ((geom.plane || type == "hfield") && body != 0 && !bodies_[at(body)].joints.empty())
        xml.fail(fmt::format("a {} moves", type), "planes and height fields belong to bodies that stay");

    const Pose placed = offset * pose;
    const Pose part = placed * Pose{geom.part.position, geom.part.rotation};
    geom.part.position = part.position;
    geom.part.rotation = part.rotation;
    double density = element.number("density", 1000.0);
    if (density < 0) xml.fail(fmt::format("density is {:g}", density), "it must not be negative");
    if (element.has("mass")) {
        const double mass = element.number("mass", 0);
        if (mass < 0) xml.fail(fmt::format("mass is {:g} kg", mass), "it must not be negative");
        density = unit.mass > 0 ? mass / unit.mass : 0.0;
    }
    unit.mass *= density;
    unit.inertia *= density;
    geom.inertial = moved(unit, placed);
    bodies_[at(body)].geoms.push_back(std::move(geom));
}

GeometryPart MjcfImporter::primitive_part(const MjcfElement& element, const std::string& type, Inertial& unit,
                                          Pose& pose) {
    const XmlElement& xml = element.xml();
    std::vector<double> size = element.numbers("size", 1, 3);
    const auto fromto = element.numbers("fromto", 6, 6);
    if (!fromto.empty()) {
        if (type != "capsule" && type != "cylinder" && type != "box" && type != "ellipsoid")
            xml.fail(fmt::format("a {} has no fromto", type.substr(0, 40)), "give pos and size");
        if (size.empty()) xml.fail(fmt::format("a {} with fromto has no size", type), "give its radius");
        pose = pose_between(xml, fromto);
        const double half =
            0.5 * Vec3(fromto[3] - fromto[0], fromto[4] - fromto[1], fromto[5] - fromto[2]).norm();
        size = type == "box" || type == "ellipsoid" ? std::vector<double>{size[0], size[0], half}
                                                    : std::vector<double>{size[0], half};
    }
    if (type == "plane") {
        const bool endless = size.size() < 2 || size[0] <= 0 || size[1] <= 0;
        const double wide = size.empty() || size[0] <= 0 ? 100.0 : size[0],
                     deep = size.size() < 2 || size[1] <= 0 ? 100.0 : size[1];
        if (endless) lose(xml, Kind::approximated, "endless planes", "are 200 m wide");
        GeometryPart part = shape_part("plane", {{"size", std::vector<double>{2 * wide, 2 * deep}}});
        part.rotation = Quat(std::sqrt(0.5), std::sqrt(0.5), 0, 0);  // facing +z
        return part;
    }
    return solid_part(xml, type, size, unit);
}

// A primitive about the origin, axis along z; sizes are half of the full ones.
GeometryPart MjcfImporter::solid_part(const XmlElement& xml, const std::string& type,
                                      const std::vector<double>& size, Inertial& unit) const {
    const auto needs = [&](std::size_t count) {
        if (size.size() < count)
            xml.fail(fmt::format("a {} takes {} sizes", type, count),
                     fmt::format("{} are given", size.size()));
        for (std::size_t k = 0; k < count; ++k)
            if (!(size[k] > 0)) xml.fail(fmt::format("a size is {:g}", size[k]), "sizes must be above 0");
    };
    if (type == "sphere") {
        needs(1);
        unit = sphere_inertial(size[0]);
        return sphere_part(size[0]);
    }
    if (type == "capsule") {
        needs(2);
        unit = capsule_inertial(size[0], size[1]);
        return capsule_part(size[0], 2 * size[1]);
    }
    if (type == "cylinder") {
        needs(2);
        unit = cylinder_inertial(size[0], size[1]);
        return cylinder_part(size[0], 2 * size[1]);
    }
    if (type == "box" || type == "ellipsoid") {
        needs(3);
        const Vec3 s(size[0], size[1], size[2]);
        unit = type == "box" ? box_inertial(s) : ellipsoid_inertial(s);
        if (type == "box") return box_part(2 * s);
        GeometryPart part = sphere_part(1.0);
        part.geometry.scale = s;
        return part;
    }
    xml.fail(fmt::format("unknown geom type '{}'", type.substr(0, 40)),
             "use plane, hfield, sphere, capsule, ellipsoid, cylinder, box or mesh");
}

// A primitive in the place of a mesh: that of the box which has the mesh's principal moments, the longest side along z.
GeometryPart MjcfImporter::fitted_part(const MjcfElement& element, const std::string& type, Inertial& unit,
                                       Pose& pose) {
    const XmlElement& xml = element.xml();
    Inertial mesh;
    mesh_part(element, mesh);
    if (!(mesh.mass > 0))
        xml.fail(fmt::format("a {} cannot be fitted to a mesh without volume", type.substr(0, 40)),
                 "give its size");
    const Eigen::SelfAdjointEigenSolver<Mat3> principal(mesh.inertia);
    const Vec3 moments = principal.eigenvalues().reverse();
    Mat3 axes = principal.eigenvectors().rowwise().reverse();
    if (axes.determinant() < 0) axes.col(0) *= -1;
    const double scale = element.number("fitscale", 1);
    if (!(scale > 0)) xml.fail(fmt::format("fitscale is {:g}", scale), "it must be above 0");
    Vec3 half;  // of a box of mass m: m (a_j^2 + a_k^2) / 3 = I_i
    for (int k = 0; k < 3; ++k)
        half[k] = scale * std::sqrt(std::max(1.5 * (moments.sum() - 2 * moments[k]) / mesh.mass, 0.0));
    std::vector<double> size{half[0], half[1], half[2]};
    const double across = 0.5 * (half[0] + half[1]);
    if (type == "sphere") size = {half.mean()};
    if (type == "cylinder") size = {across, half[2]};
    if (type == "capsule") size = {across, std::max(half[2] - 0.5 * across, 1e-6 * across)};
    pose = pose * Pose{mesh.center, Quat(axes).normalized()};
    lose(xml, Kind::converted, "primitives fitted to meshes",
         "have the sizes that give the mesh's inertia to a box");
    return solid_part(xml, type, size, unit);
}

// Vertices are s * R^-1 (v - p): refpos p and refquat R first, then the scale s.
GeometryPart MjcfImporter::mesh_part(const MjcfElement& element, Inertial& unit) {
    const XmlElement& xml = element.xml();
    const std::string name = element.text("mesh");
    const auto found = meshes_.find(name);
    if (found == meshes_.end())
        xml.fail(name.empty() ? "a mesh geom names no mesh"
                              : fmt::format("no mesh is named '{}'", name.substr(0, 60)),
                 "name one of the <mesh> assets");
    const XmlElement& asset_xml = found->second;
    const MjcfElement asset(asset_xml, defaults_, 0);
    const Vec3 scale = asset.vec3("scale", Vec3::Ones()), origin = asset.vec3("refpos", Vec3::Zero());
    if ((scale.array() == 0).any()) asset_xml.fail("scale has a factor of zero", "factors are not zero");
    Quat turn = Quat::Identity();
    if (const auto n = asset.numbers("refquat", 4, 4); !n.empty()) {
        turn = Quat(n[0], n[1], n[2], n[3]);
        if (!(turn.norm() > 1e-12)) asset_xml.fail("refquat has length zero", "1 0 0 0 is no rotation");
        turn = turn.normalized().conjugate();
    }
    if (const std::string inertia = asset.text("inertia", "exact"); inertia == "shell" || inertia == "convex")
        lose(asset_xml, Kind::approximated, fmt::format("inertia=\"{}\" of meshes", inertia),
             "their mass fills the mesh");
    GeometryPart part;
    part.geometry.repair = true;
    Mesh mesh;
    if (asset.has("file")) {
        const std::string path = asset_path(asset_xml, asset.text("file"));
        mesh = mesh_of(asset_xml, path);
        part.geometry.mesh_file = path;
    } else {
        const auto points = asset.numbers("vertex", 9, 30'000'000),
                   faces = asset.numbers("face", 3, 30'000'000);
        if (points.empty()) asset_xml.fail("a mesh has neither a file nor vertices", "give one of them");
        if (faces.empty() || points.size() % 3 != 0 || faces.size() % 3 != 0)
            asset_xml.fail("an inline mesh needs vertices and faces in threes",
                           "MuJoCo's hull of loose vertices is not made here");
        for (std::size_t k = 0; k < points.size(); k += 3)
            mesh.vertices.emplace_back(points[k], points[k + 1], points[k + 2]);
        for (std::size_t k = 0; k < faces.size(); k += 3) {
            Triangle t{};
            for (std::size_t c = 0; c < 3; ++c) {
                if (!(faces[k + c] >= 0 && faces[k + c] < static_cast<double>(mesh.vertices.size())))
                    asset_xml.fail(fmt::format("a face names vertex {:g}", faces[k + c]),
                                   "vertices are numbered from 0");
                t[c] = static_cast<int>(faces[k + c]);
            }
            mesh.triangles.push_back(t);
        }
        part.geometry.vertices = mesh.vertices;
        part.geometry.triangles = mesh.triangles;
    }
    const bool uniform = scale.x() == scale.y() && scale.y() == scale.z();
    const bool turned = turn.coeffs() != Quat::Identity().coeffs();
    for (Vec3& v : mesh.vertices) v = scale.cwiseProduct(turn * (v - origin));
    if (scale.prod() < 0)
        for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
    mesh = geometry::weld(mesh, 0.0);
    geometry::orient(mesh);
    unit = mesh_inertial(mesh);
    if (turned && !uniform) {  // no pose and scale say this: the vertices themselves do
        part.geometry = {};
        part.geometry.vertices = mesh.vertices;
        part.geometry.triangles = mesh.triangles;
        part.geometry.repair = true;
        return part;
    }
    part.geometry.scale = scale;
    part.rotation = turn;
    part.position = -(turned ? Vec3(scale.x() * (turn * origin)) : Vec3(scale.cwiseProduct(origin)));
    return part;
}

// A grid of heights over [-rx, rx] x [-ry, ry], row 0 at -ry; in the text of `elevation` it comes last. Heights are
// scaled so that they span 0..1 before size z.
GeometryPart MjcfImporter::height_field_part(const MjcfElement& element, Inertial& unit) {
    const XmlElement& xml = element.xml();
    const std::string name = element.text("hfield");
    const auto found = height_fields_.find(name);
    if (found == height_fields_.end())
        xml.fail(fmt::format("no hfield is named '{}'", name.substr(0, 60)),
                 "name one of the <hfield> assets");
    const XmlElement& asset = found->second;
    const auto size_text = asset.attribute("size");
    if (!size_text) asset.fail("<hfield> has no 'size'", "give radius_x radius_y elevation base");
    const std::vector<double> size = parse_numbers(asset, "size", *size_text, 4, 4);
    for (const double entry : size)
        if (!(entry > 0))
            asset.fail(fmt::format("a size of a height field is {:g}", entry), "sizes must be above 0");
    int rows = static_cast<int>(number_attribute(asset, "nrow", 0)),
        columns = static_cast<int>(number_attribute(asset, "ncol", 0));
    std::vector<double> height;
    bool from_top = false;  // the first row is the one at +y
    if (const auto file = asset.attribute("file")) {
        const std::string path = asset_path(asset, std::string(*file));
        const std::string bytes = read_text_file(path, std::size_t{1} << 28);
        if (bytes.size() < 8 || bytes.compare(1, 3, "PNG") == 0)
            asset.fail("a height field's file is not MuJoCo's binary form",
                       "give nrow, ncol and float data, or elevation");
        std::int32_t counts[2];
        std::memcpy(counts, bytes.data(), 8);
        rows = counts[0], columns = counts[1];
        if (rows < 2 || columns < 2 || rows > 20000 || columns > 20000 ||
            bytes.size() != 8 + 4 * static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns))
            asset.fail("a height field's file does not hold nrow x ncol numbers", "check the file");
        for (std::size_t k = 8; k < bytes.size(); k += 4) {
            float value = 0;
            std::memcpy(&value, bytes.data() + k, 4);
            if (!std::isfinite(value)) asset.fail("a height is not a finite number", "check the file");
            height.push_back(value);
        }
    } else if (const auto elevation = asset.attribute("elevation")) {
        height = parse_numbers(asset, "elevation", *elevation, 4, 100'000'000);
        from_top = true;
    }
    if (rows < 2 || columns < 2 || static_cast<double>(rows) * columns > 1e8)
        asset.fail(fmt::format("a height field has {} rows and {} columns", rows, columns),
                   "give at least two of each");
    if (height.empty()) height.assign(at(rows) * at(columns), 0.0);
    if (height.size() != at(rows) * at(columns))
        asset.fail(fmt::format("a height field has {} heights", height.size()),
                   fmt::format("give {} x {}", rows, columns));
    if (from_top)
        for (int r = 0; r < rows / 2; ++r)
            std::swap_ranges(height.begin() + r * columns, height.begin() + (r + 1) * columns,
                             height.begin() + (rows - 1 - r) * columns);
    const auto [low, high] = std::minmax_element(height.begin(), height.end());
    const double base = *low, span = *high > *low ? *high - *low : 1.0;
    GeometryPart part;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            part.geometry.vertices.emplace_back(size[0] * (2.0 * c / (columns - 1) - 1),
                                                size[1] * (2.0 * r / (rows - 1) - 1),
                                                size[2] * (height[at(r * columns + c)] - base) / span);
    for (int r = 0; r + 1 < rows; ++r)
        for (int c = 0; c + 1 < columns; ++c) {
            const int a = r * columns + c, b = a + 1, d = a + columns, e = d + 1;
            part.geometry.triangles.push_back({a, b, e});
            part.geometry.triangles.push_back({a, e, d});
        }
    close_height_field(part.geometry, rows, columns, size[3]);
    unit = {};
    return part;
}

}  // namespace tenon::scene

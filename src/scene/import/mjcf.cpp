// The file as a whole: sections, compiler and option settings, frames, and the walk over the tree of bodies.
#include "scene/import/mjcf.hpp"

#include <cmath>
#include <filesystem>
#include <numbers>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "scene/import/mjcf_attributes.hpp"
#include "tenon/params.hpp"

namespace tenon::scene {
namespace {

using Names = std::vector<std::string>;

// Known to MuJoCo, without a counterpart here.
const Names sections_left_out = {"size", "visual", "statistic", "custom", "extension", "deformable", "skin"};
const Names body_parts_left_out = {"camera", "light",  "composite", "flexcomp",
                                   "plugin", "attach", "replicate", "freejointplugin"};

bool contains(const Names& list, std::string_view entry) {
    return std::find(list.begin(), list.end(), entry) != list.end();
}

bool is_true(const XmlElement& element, std::string_view attribute, bool fallback) {
    const auto value = element.attribute(attribute);
    if (!value) return fallback;
    if (*value != "true" && *value != "false")
        element.fail(fmt::format("{} is '{}'", attribute, value->substr(0, 40)), "it is true or false");
    return *value == "true";
}

}  // namespace

MjcfImporter::MjcfImporter(const std::string& file, const ImportOptions& options)
    : Importer(options),
      document_(file, "include"),
      folder_(std::filesystem::path(file).parent_path().string()) {}

ImportedScene MjcfImporter::run() {
    const XmlElement root = document_.root();
    begin(root, "mujoco", "a robot's file has <mujoco> (MJCF) or <robot> (URDF)",
          text_attribute(root, "model", "MuJoCo Model"), 0.002);
    read_top(root);
    const auto each = [&](const char* section, void (MjcfImporter::*read)(const XmlElement&)) {
        for (XmlElement child = root.first_child(); child; child = child.next())
            if (child.name() == section) (this->*read)(child);
    };
    each("asset", &MjcfImporter::read_asset);
    read_tree();
    each("contact", &MjcfImporter::mark_pairs);
    make_bodies();
    make_joints();
    each("equality", &MjcfImporter::read_equality);
    each("contact", &MjcfImporter::read_contact);
    resolve_pairs();
    make_filters();
    mix_frictions();
    note_tendons(root);
    each("tendon", &MjcfImporter::read_tendons);
    each("actuator", &MjcfImporter::read_actuators);
    each("sensor", &MjcfImporter::read_sensors);
    each("keyframe", &MjcfImporter::read_keyframes);
    start_within_limits([&](int joint, int coordinate) {
        const auto found = joint_of_scene_.find({joint, coordinate});
        return found == joint_of_scene_.end() ? XmlElement() : joints_[at(found->second)].element;
    });
    return std::move(out_);
}

void MjcfImporter::read_top(const XmlElement& root) {
    Names known = {"compiler", "option", "default",  "asset",  "worldbody", "contact",
                   "equality", "tendon", "actuator", "sensor", "keyframe"};
    known.insert(known.end(), sections_left_out.begin(), sections_left_out.end());
    check_children(root, known);
    for (XmlElement child = root.first_child(); child; child = child.next()) {
        if (child.name() == "compiler") read_compiler(child);
        if (child.name() == "option") read_option(child);
        if (child.name() == "default") defaults_.add(child);
        if (contains(sections_left_out, child.name()) && child.name() != "size")
            lose(child, Kind::left_out, fmt::format("<{}>", child.name()),
                 child.name() == "visual" || child.name() == "statistic" ? "pictures have their own settings"
                                                                         : "has no counterpart here");
    }
}

void MjcfImporter::read_compiler(const XmlElement& element) {
    static const Names known = {"autolimits",     "boundmass",       "boundinertia",      "settotalmass",
                                "balanceinertia", "strippath",       "coordinate",        "angle",
                                "fitaabb",        "eulerseq",        "meshdir",           "texturedir",
                                "assetdir",       "discardvisual",   "convexhull",        "usethread",
                                "fusestatic",     "inertiafromgeom", "inertiagrouprange", "exactmeshinertia",
                                "alignfree",      "saveinertial"};
    check_attributes(element, known);
    const std::string unit = text_attribute(element, "angle", compiler_.degrees ? "degree" : "radian");
    if (unit != "degree" && unit != "radian")
        element.fail(fmt::format("angle is '{}'", unit.substr(0, 40)), "it is degree or radian");
    compiler_.degrees = unit == "degree";
    if (text_attribute(element, "coordinate", "local") != "local")
        element.fail("coordinates are global", "save the model with MuJoCo, which writes local ones");
    compiler_.eulerseq = text_attribute(element, "eulerseq", compiler_.eulerseq);
    if (compiler_.eulerseq.size() != 3 || compiler_.eulerseq.find_first_not_of("xyzXYZ") != std::string::npos)
        element.fail(fmt::format("eulerseq is '{}'", compiler_.eulerseq.substr(0, 40)),
                     "it is three of x y z X Y Z");
    compiler_.assetdir = text_attribute(element, "assetdir", compiler_.assetdir);
    compiler_.meshdir = text_attribute(element, "meshdir", compiler_.meshdir);
    compiler_.autolimits = is_true(element, "autolimits", compiler_.autolimits);
    compiler_.strippath = is_true(element, "strippath", compiler_.strippath);
    compiler_.balanceinertia = is_true(element, "balanceinertia", compiler_.balanceinertia);
    compiler_.boundmass = number_attribute(element, "boundmass", compiler_.boundmass);
    compiler_.boundinertia = number_attribute(element, "boundinertia", compiler_.boundinertia);
    compiler_.settotalmass = number_attribute(element, "settotalmass", compiler_.settotalmass);
    if (const auto value = element.attribute("inertiafromgeom")) {
        using FromGeom = MjcfCompiler::FromGeom;
        if (*value != "true" && *value != "false" && *value != "auto")
            element.fail(fmt::format("inertiafromgeom is '{}'", value->substr(0, 40)),
                         "it is true, false or auto");
        compiler_.inertiafromgeom = *value == "true"    ? FromGeom::always
                                    : *value == "false" ? FromGeom::never
                                                        : FromGeom::missing;
    }
    if (const auto range = element.attribute("inertiagrouprange")) {
        const std::vector<double> n = parse_numbers(element, "inertiagrouprange", *range, 2, 2);
        compiler_.inertiagrouprange = {static_cast<int>(n[0]), static_cast<int>(n[1])};
    }
    if (is_true(element, "fitaabb", false))
        lose(element, Kind::approximated, "fitaabb",
             "primitives are fitted to the inertia of meshes, not to their boxes");
}

void MjcfImporter::read_option(const XmlElement& element) {
    check_mjcf_attributes(element);
    Scene& scene = out_.scene;
    scene.dt = number_attribute(element, "timestep", scene.dt);
    if (!(scene.dt > 0 && scene.dt <= 1000))
        element.fail(fmt::format("timestep is {:g} s", scene.dt), "it must be above 0");
    scene.gravity = vec3_attribute(element, "gravity", scene.gravity);
    static const Names ours = {"timestep", "gravity"};
    for (const auto& [name, value] : element.attributes())
        if (!contains(ours, name))
            lose(element, Kind::left_out,
                 fmt::format("option {}=\"{}\"", name.substr(0, 40), value.substr(0, 40)),
                 name == "wind" || name == "density" || name == "viscosity"
                     ? "bodies move in empty space"
                     : "is a setting of MuJoCo's solver");
    for (XmlElement child = element.first_child(); child; child = child.next())
        lose(child, Kind::left_out, "option flags", "are settings of MuJoCo's solver");
}

double MjcfImporter::angle(double value) const {
    return compiler_.degrees ? value * (std::numbers::pi / 180.0) : value;
}

Quat MjcfImporter::orientation(const MjcfElement& element) const {
    const XmlElement& xml = element.xml();
    int given = 0;
    for (const char* name : {"quat", "axisangle", "xyaxes", "zaxis", "euler"}) given += element.has(name);
    if (given > 1)
        xml.fail("has more than one orientation", "keep one of quat, axisangle, xyaxes, zaxis, euler");
    const auto unit = [&](const Vec3& v, const char* what) {
        if (!(v.norm() > 1e-12)) xml.fail(fmt::format("{} has length zero", what), "give a direction");
        return Vec3(v.normalized());
    };
    if (const auto n = element.numbers("quat", 4, 4); !n.empty()) {
        const Quat q(n[0], n[1], n[2], n[3]);
        if (!(q.norm() > 1e-12)) xml.fail("quat has length zero", "1 0 0 0 is no rotation");
        return q.normalized();
    }
    if (const auto n = element.numbers("axisangle", 4, 4); !n.empty())
        return Quat(Eigen::AngleAxisd(angle(n[3]), unit({n[0], n[1], n[2]}, "axisangle")));
    if (const auto n = element.numbers("xyaxes", 6, 6); !n.empty()) {
        Mat3 axes;
        axes.col(0) = unit({n[0], n[1], n[2]}, "xyaxes");
        const Vec3 y(n[3], n[4], n[5]);
        axes.col(1) = unit(y - axes.col(0) * axes.col(0).dot(y), "xyaxes");
        axes.col(2) = axes.col(0).cross(axes.col(1));
        return Quat(axes).normalized();
    }
    if (element.has("zaxis"))
        return shortest_turn(Vec3::UnitZ(), unit(element.vec3("zaxis", Vec3::UnitZ()), "zaxis")).normalized();
    if (const auto n = element.numbers("euler", 3, 3); !n.empty()) {
        Quat q = Quat::Identity();
        for (std::size_t k = 0; k < 3; ++k) {
            const char letter = compiler_.eulerseq[k];
            const Quat turn(Eigen::AngleAxisd(angle(n[k]), Vec3::Unit(std::tolower(letter) - 'x')));
            q = std::islower(letter) ? q * turn : turn * q;  // lower case: about axes that turn with it
        }
        return q.normalized();
    }
    return Quat::Identity();
}

// Between two points, the axis z towards the first of them, as MuJoCo has it.
Pose MjcfImporter::pose_between(const XmlElement& xml, const std::vector<double>& fromto) const {
    const Vec3 from(fromto[0], fromto[1], fromto[2]), to(fromto[3], fromto[4], fromto[5]);
    if (!((to - from).norm() > 1e-12)) xml.fail("fromto has two equal points", "give two different ones");
    return {0.5 * (from + to), shortest_turn(Vec3::UnitZ(), (from - to).normalized()).normalized()};
}

Pose MjcfImporter::site_pose(const MjcfElement& site) const {
    const auto fromto = site.numbers("fromto", 6, 6);
    return fromto.empty() ? pose_of(site) : pose_between(site.xml(), fromto);
}

Pose MjcfImporter::pose_of(const MjcfElement& element) const {
    return {element.vec3("pos", Vec3::Zero()), orientation(element)};
}

std::string MjcfImporter::new_name(const XmlElement& element, std::string_view given, const char* kind,
                                   std::unordered_map<std::string, int>& taken, int index) {
    std::string name(given);
    if (name.empty())
        name = free_name(fmt::format("{}{}", kind, index),
                         [&](const std::string& n) { return taken.count(n) > 0; });
    if (!taken.emplace(name, index).second)
        element.fail(fmt::format("two {} are named '{}'",
                                 kind == std::string_view("body") ? "bodies" : std::string(kind) + "s",
                                 name.substr(0, 60)),
                     "names must be unique");
    return name;
}

// Elements come in the order of the file, so a body's parent is known before the body: no recursion, any depth.
void MjcfImporter::read_tree() {
    struct Node {
        int body;
        Pose offset;
        int childclass;
    };
    std::unordered_map<std::uint32_t, Node> nodes;
    MjcfBody world;
    world.name = "world";
    world.stays = true;
    bodies_.push_back(world);
    body_index_.emplace("world", 0);
    static const Names known = {"body",     "geom",   "joint",  "freejoint", "inertial",
                                "site",     "frame",  "camera", "light",     "composite",
                                "flexcomp", "plugin", "attach", "replicate"};
    for (std::size_t i = 0; i < document_.size(); ++i) {
        const XmlElement element = document_.element(i);
        const XmlElement parent = element.parent();
        if (element.name() == "worldbody" && parent && parent.index() == 0) {
            nodes[element.index()] = {0, {}, 0};
            bodies_[0].element = element;
            continue;
        }
        const auto host = parent ? nodes.find(parent.index()) : nodes.end();
        if (host == nodes.end()) continue;
        const Node node = host->second;
        const std::string_view name = element.name();
        if (name == "body" || name == "frame") {
            int childclass = node.childclass;
            if (const auto cls = element.attribute("childclass")) childclass = defaults_.find(element, *cls);
            if (name == "body") {
                read_body(element, node.body, node.offset, childclass);
                nodes[element.index()] = {static_cast<int>(bodies_.size()) - 1, {}, childclass};
            } else {
                const Pose own = pose_of(MjcfElement(element, defaults_, childclass));
                nodes[element.index()] = {node.body, node.offset * own, childclass};
            }
        } else if (name == "geom") {
            read_geom(element, node.body, node.offset, node.childclass);
        } else if (name == "joint" || name == "freejoint") {
            read_joint(element, node.body, node.offset, node.childclass);
        } else if (name == "inertial") {
            read_inertial(element, node.body, node.offset);
        } else if (name == "site") {
            const MjcfElement site(element, defaults_, node.childclass);
            const MjcfSite placed{node.body, node.offset * site_pose(site)};
            if (const std::string called = site.text("name"); !called.empty())
                if (!sites_.emplace(called, placed).second)
                    element.fail(fmt::format("two sites are named '{}'", called.substr(0, 60)),
                                 "names must be unique");
        } else if (contains(body_parts_left_out, name)) {
            lose(element, Kind::left_out, fmt::format("<{}>", name),
                 name == "camera" || name == "light" ? "pictures have their own" : "has no counterpart here");
        } else {
            element.fail(fmt::format("<{}> is not known inside <{}>", name.substr(0, 60), parent.name()),
                         suggestion(std::string(name.substr(0, 100)), known));
        }
    }
    if (!bodies_[0].element) document_.root().fail("has no <worldbody>", "a model has one");
}

void MjcfImporter::read_body(const XmlElement& element, int parent, const Pose& offset, int childclass) {
    MjcfBody body;
    body.element = element;
    body.parent = parent;
    body.childclass = childclass;
    body.name = new_name(element, text_attribute(element, "name"), "body", body_index_,
                         static_cast<int>(bodies_.size()));
    body.pose = bodies_[at(parent)].pose * offset * pose_of(MjcfElement(element, defaults_, childclass));
    body.mocap = is_true(element, "mocap", false);
    body.gravcomp = number_attribute(element, "gravcomp", 0);
    bodies_.push_back(std::move(body));
}

}  // namespace tenon::scene

namespace tenon {

ImportedScene import_mjcf(const std::string& file, const ImportOptions& options) {
    return scene::MjcfImporter(file, options).run();
}

}  // namespace tenon

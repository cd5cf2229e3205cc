// URDF: links, joints, inertials, geometry, mimics and transmissions as a scene.
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "scene/import/importer.hpp"
#include "tenon/error.hpp"
#include "tenon/params.hpp"

namespace tenon::scene {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using Kind = ImportLoss::Kind;

Quat from_rpy(const Vec3& rpy) {  // fixed axes: roll about x, then pitch about y, then yaw about z
    return (Eigen::AngleAxisd(rpy.z(), Vec3::UnitZ()) * Eigen::AngleAxisd(rpy.y(), Vec3::UnitY()) *
            Eigen::AngleAxisd(rpy.x(), Vec3::UnitX()))
        .normalized();
}

Pose origin_of(const XmlElement& owner) {
    const XmlElement origin = owner.child("origin");
    if (!origin) return {};
    check_attributes(origin, Names{"xyz", "rpy"});
    const Vec3 rpy = vec3_attribute(origin, "rpy", Vec3::Zero());
    return {vec3_attribute(origin, "xyz", Vec3::Zero()), rpy.isZero(0.0) ? Quat::Identity() : from_rpy(rpy)};
}

struct Link {
    XmlElement element;
    std::string name;
    int parent_joint = -1;
    std::vector<int> child_joints;
    Pose pose;           // in the world, all joints at zero
    int owner = -1;      // body; -1: the world
    Pose in_owner;       // pose in that body's frame
    bool stays = false;  // part of what never moves
};

struct Joint {
    XmlElement element;
    std::string name, type;
    int parent = -1, child = -1;
    int index = -1;  // in the scene; -1: none
    double effort = 1e300, speed = 1e300;
};

// <joint> and <material> are other things in transmissions and in the robot: each is checked where it is read.
const Names& urdf_attributes(std::string_view element) {
    static const std::map<std::string, Names, std::less<>> table = {
        {"link", {"name", "type"}},
        {"joint", {"name", "type"}},
        {"parent", {"link"}},
        {"child", {"link"}},
        {"axis", {"xyz"}},
        {"mass", {"value"}},
        {"visual", {"name"}},
        {"collision", {"name"}},
        {"box", {"size"}},
        {"sphere", {"radius"}},
        {"cylinder", {"radius", "length"}},
        {"capsule", {"radius", "length"}},
        {"mesh", {"filename", "scale"}},
        {"mimic", {"joint", "multiplier", "offset"}},
        {"inertia", {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}}};
    return table.find(element)->second;
}

class UrdfImporter : Importer {
  public:
    UrdfImporter(const std::string& file, const ImportOptions& options)
        : Importer(options), document_(file), folder_(fs::path(file).parent_path()) {}

    ImportedScene run() {
        const XmlElement robot = document_.root();
        begin(robot, "robot", "a URDF file has <robot>", text_attribute(robot, "name", "robot"), 0.005);
        read_top(robot);
        connect();
        place();
        make_bodies();
        make_joints();
        make_mimics();
        make_transmissions(robot);
        list_unused_limits();
        std::vector<XmlElement> element_of(out_.scene.joints.size());
        for (const Joint& joint : joints_)
            if (joint.index >= 0) element_of[at(joint.index)] = joint.element;
        start_within_limits([&](int joint, int) { return element_of[at(joint)]; });
        for (ActuatorSpec& actuator : out_.scene.actuators) {
            const std::vector<double>& start = out_.scene.joints[at(actuator.joint)].start;
            if (actuator.type == ActuatorSpec::Type::position && !start.empty())
                actuator.target = actuator.gear * start[0];
        }
        return std::move(out_);
    }

  private:
    // Other programs have attributes of their own, which are listed; what looks like a slip is refused.
    void check(const XmlElement& element) {
        const Names& known = urdf_attributes(element.name());
        for (const auto& [name, unused] : element.attributes()) {
            if (std::find(known.begin(), known.end(), name) != known.end()) continue;
            const std::string called(name.substr(0, 60)), cure = suggestion(called, known);
            if (cure.starts_with("did you mean"))
                element.fail(fmt::format("<{}> has an unknown attribute '{}'", element.name(), called), cure);
            lose(element, Kind::left_out, fmt::format("the attribute '{}' of <{}>", called, element.name()),
                 "is for another program");
        }
    }

    void read_top(const XmlElement& robot) {
        static const Names other = {"gazebo",      "sensor",       "ros2_control",  "group",
                                    "group_state", "end_effector", "virtual_joint", "disable_collisions",
                                    "mujoco",      "verbose"};
        Names known = {"link", "joint", "material", "transmission"};
        known.insert(known.end(), other.begin(), other.end());
        for (XmlElement child = robot.first_child(); child; child = child.next()) {
            const std::string name(child.name());
            if (name == "link")
                read_link(child);
            else if (name == "joint")
                read_joint(child);
            else if (name == "material")
                read_material(child);
            else if (name == "transmission")
                continue;
            else if (name.starts_with("xacro:"))
                child.fail(fmt::format("<{}> is a macro", name.substr(0, 60)),
                           "expand the file first: xacro robot.urdf.xacro > robot.urdf");
            else if (std::find(other.begin(), other.end(), name) != other.end() ||
                     name.find(':') != std::string::npos)
                lose(child, Kind::left_out, "<" + name.substr(0, 60) + ">", "is for another program");
            else
                child.fail(fmt::format("<{}> is not known inside <robot>", name.substr(0, 60)),
                           suggestion(name.substr(0, 100), known));
        }
        if (links_.empty()) robot.fail("has no <link>", "a robot has at least one link");
    }

    void read_link(const XmlElement& element) {
        static const Names known = {"inertial", "visual", "collision", "sensor", "self_collision_checking",
                                    "contact",  "audio"};
        check_children(element, known);
        check(element);
        Link link;
        link.element = element;
        link.name = needed_attribute(element, "name");
        const auto [other, is_new] = link_index_.emplace(link.name, static_cast<int>(links_.size()));
        if (!is_new)
            element.fail(fmt::format("two links are named '{}'", link.name.substr(0, 60)),
                         fmt::format("the other one is in {}", links_[at(other->second)].element.where()));
        for (XmlElement child = element.first_child(); child; child = child.next())
            if (child.name() != "inertial" && child.name() != "visual" && child.name() != "collision")
                lose(child, Kind::left_out, "<" + std::string(child.name()) + "> of a link",
                     "is for another program");
        links_.push_back(std::move(link));
    }

    void read_joint(const XmlElement& element) {
        static const Names known = {"origin",
                                    "parent",
                                    "child",
                                    "axis",
                                    "limit",
                                    "mimic",
                                    "dynamics",
                                    "calibration",
                                    "safety_controller",
                                    "hardwareInterface"};
        static const Names types = {"revolute", "continuous", "prismatic", "fixed", "floating", "planar"};
        check_children(element, known);
        check(element);
        Joint joint;
        joint.element = element;
        joint.name = needed_attribute(element, "name");
        joint.type = needed_attribute(element, "type");
        if (std::find(types.begin(), types.end(), joint.type) == types.end())
            element.fail(fmt::format("unknown joint type '{}'", joint.type.substr(0, 60)),
                         "use revolute, continuous, prismatic, fixed, floating or planar");
        const auto [other, is_new] = joint_index_.emplace(joint.name, static_cast<int>(joints_.size()));
        if (!is_new)
            element.fail(fmt::format("two joints are named '{}'", joint.name.substr(0, 60)),
                         fmt::format("the other one is in {}", joints_[at(other->second)].element.where()));
        for (const char* name : {"calibration", "safety_controller", "hardwareInterface"})
            if (const XmlElement child = element.child(name))
                lose(child, Kind::left_out, fmt::format("<{}> of joints", name), "is for a controller");
        joints_.push_back(std::move(joint));
    }

    void read_material(const XmlElement& element) {
        if (const XmlElement color = element.child("color"))
            if (const auto rgba = color.attribute("rgba")) {
                const std::vector<double> n = parse_numbers(color, "rgba", *rgba, 4, 4);
                colors_[text_attribute(element, "name")] = {n[0], n[1], n[2]};
            }
        if (const XmlElement texture = element.child("texture"))
            lose(texture, Kind::left_out, "textures", "bodies have one colour");
    }

    int link_named(const XmlElement& joint, const char* tag) {
        const XmlElement element = joint.child(tag);
        if (!element)
            joint.fail(fmt::format("the joint has no <{}>", tag), fmt::format("add <{} link=\"...\"/>", tag));
        check(element);
        const std::string name = needed_attribute(element, "link");
        const auto found = link_index_.find(name);
        if (found == link_index_.end()) {
            Names names;
            for (const Link& link : links_) {
                if (names.size() == 1000) break;  // enough to suggest from
                names.push_back(link.name);
            }
            element.fail(fmt::format("no link is named '{}'", name.substr(0, 60)),
                         suggestion(name.substr(0, 100), names));
        }
        return found->second;
    }

    void connect() {
        for (std::size_t j = 0; j < joints_.size(); ++j) {
            Joint& joint = joints_[j];
            joint.parent = link_named(joint.element, "parent");
            joint.child = link_named(joint.element, "child");
            if (joint.parent == joint.child)
                joint.element.fail(
                    fmt::format("joins the link '{}' with itself", links_[at(joint.parent)].name),
                    "name two different links");
            Link& child = links_[at(joint.child)];
            if (child.parent_joint >= 0)
                joint.element.fail(fmt::format("the link '{}' has two parents", child.name),
                                   fmt::format("joint '{}' in {} is the other; URDF is a tree",
                                               joints_[at(child.parent_joint)].name,
                                               joints_[at(child.parent_joint)].element.where()));
            child.parent_joint = static_cast<int>(j);
            links_[at(joint.parent)].child_joints.push_back(static_cast<int>(j));
        }
    }

    // Poses by breadth first search from the root; what is not reached is part of a cycle.
    void place() {
        for (std::size_t i = 0; i < links_.size(); ++i) {
            if (links_[i].parent_joint >= 0) continue;
            if (!order_.empty())
                links_[i].element.fail(
                    fmt::format("'{}' and '{}' are both roots", links_[at(order_[0])].name, links_[i].name),
                    "a robot has one link without a parent: join the others to it");
            order_.push_back(static_cast<int>(i));
        }
        if (order_.empty())
            joints_[0].element.fail("every link has a parent: the joints make a cycle",
                                    "one link, the root, is nobody's child");
        for (std::size_t next = 0; next < order_.size(); ++next) {
            const Link& parent = links_[at(order_[next])];
            for (const int j : parent.child_joints) {
                Link& child = links_[at(joints_[at(j)].child)];
                child.pose = parent.pose * origin_of(joints_[at(j)].element);
                order_.push_back(joints_[at(j)].child);
            }
        }
        if (order_.size() == links_.size()) return;
        std::vector<char> reached(links_.size(), 0);
        for (const int link : order_) reached[at(link)] = 1;
        for (std::size_t i = 0; i < links_.size(); ++i)
            if (!reached[i])
                links_[i].element.fail(fmt::format("'{}' is part of a cycle of joints", links_[i].name),
                                       "URDF is a tree: remove one of the joints");
    }

    std::optional<Inertial> inertial_of(const Link& link) {
        const XmlElement element = link.element.child("inertial");
        if (!element) return std::nullopt;
        check_children(element, Names{"origin", "mass", "inertia"});
        const XmlElement mass = element.child("mass"), inertia = element.child("inertia");
        if (!mass) element.fail("an inertial has no <mass>", "add <mass value=\"...\"/>");
        check(mass);
        if (inertia) check(inertia);
        Inertial result;
        if (!mass.attribute("value")) mass.fail("<mass> has no 'value'", "add it");
        result.mass = number_attribute(mass, "value", 0.0);
        if (result.mass < 0)
            mass.fail(fmt::format("the mass is {:g} kg", result.mass), "it must be positive");
        if (inertia) {
            const char* const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
            double n[6];
            for (int k = 0; k < 6; ++k) n[k] = number_attribute(inertia, names[k], 0.0);
            for (const int k : {0, 3, 5})
                if (n[k] < 0)
                    inertia.fail(fmt::format("{} is {:g}", names[k], n[k]),
                                 "moments of inertia are not negative");
            result.inertia << n[0], n[1], n[2], n[1], n[3], n[4], n[2], n[4], n[5];
        } else {
            element.fail("an inertial has no <inertia>", "add its six numbers");
        }
        if (result.mass == 0) return std::nullopt;
        return moved(result, origin_of(element));
    }

    void make_bodies() {
        double total = 0;
        std::vector<std::optional<Inertial>> inertial(links_.size());
        for (std::size_t i = 0; i < links_.size(); ++i) {
            inertial[i] = inertial_of(links_[i]);
            if (inertial[i]) total += inertial[i]->mass;
        }
        std::vector<std::vector<GeometryPart>> parts;  // by body
        for (const int index : order_) {
            Link& link = links_[at(index)];
            const bool root = link.parent_joint < 0;
            const Joint* joint = root ? nullptr : &joints_[at(link.parent_joint)];
            const Link* parent = root ? nullptr : &links_[at(joint->parent)];
            const bool rigidly = joint && joint->type == "fixed";
            link.stays = root ? !options_.free_base : rigidly && parent->stays;
            std::vector<GeometryPart> own = parts_of(link);
            if (link.stays && own.empty() && !inertial[at(index)]) {  // a frame of the world
                link.owner = root ? -1 : parent->owner;
                link.in_owner = link.owner < 0 ? link.pose : parent->in_owner * origin_of(joint->element);
                continue;
            }
            if (rigidly && !inertial[at(index)] && parent->owner >= 0) {
                link.owner = parent->owner;
                link.in_owner = parent->in_owner * origin_of(joint->element);
                lose(link.element, Kind::converted, "links without mass on fixed joints",
                     "their geometry is part of the link that holds them");
                for (GeometryPart& part : own) {
                    const Pose pose = link.in_owner * Pose{part.position, part.rotation};
                    part.position = pose.position;
                    part.rotation = pose.rotation;
                    parts[at(link.owner)].push_back(std::move(part));
                }
                continue;
            }
            link.owner = add_body(link, inertial[at(index)], total);
            parts.resize(out_.scene.bodies.size());
            parts[at(link.owner)] = std::move(own);
        }
        for (std::size_t i = 0; i < out_.scene.bodies.size(); ++i) {
            BodySpec& body = out_.scene.bodies[i];
            body.geometry = geometry_of(parts[i]);
            if (body.geometry < 0) body.collides = true;
        }
        if (out_.scene.bodies.empty())
            document_.root().fail("no link has a mass or a geometry", "give at least one link either");
    }

    int add_body(const Link& link, const std::optional<Inertial>& inertial, double total) {
        BodySpec body;
        body.name = link.name;
        if (body.name == "world") {
            body.name =
                free_name("world-link", [&](const std::string& name) { return link_index_.count(name) > 0; });
            lose(link.element, Kind::converted, "a link named 'world' became '" + body.name + "'",
                 "'world' is the fixed frame");
        }
        body.type = link.stays ? BodyType::static_body : BodyType::dynamic_body;
        body.position = link.pose.position;
        body.rotation = link.pose.rotation;
        body.color = color_of(link);
        if (inertial) {
            set_inertia(link.element, "'" + link.name + "'", body, *inertial);
        } else if (!link.stays) {
            Inertial small;
            small.mass = total > 0 ? 1e-4 * total : 1e-3;
            small.inertia = small.mass * 1e-4 * Mat3::Identity();
            set_inertia(link.element, "'" + link.name + "'", body, small);
            lose(link.element, Kind::approximated,
                 fmt::format("moving links without mass weigh {:g} kg, 1 cm about their origin", small.mass),
                 "a body that moves has a mass");
        }
        return out_.scene.add_body(body);
    }

    std::array<double, 3> color_of(const Link& link) {
        for (XmlElement visual = link.element.child("visual"); visual; visual = visual.next()) {
            if (visual.name() != "visual") continue;
            const XmlElement material = visual.child("material");
            if (!material) continue;
            if (material.child("color")) read_material(material);
            const auto found = colors_.find(text_attribute(material, "name"));
            if (found != colors_.end()) return found->second;
        }
        return {-1, -1, -1};
    }

    std::vector<GeometryPart> parts_of(const Link& link) {
        const char* const wanted = options_.visual_geometry ? "visual" : "collision";
        std::vector<GeometryPart> parts;
        int shown = 0;
        for (XmlElement child = link.element.first_child(); child; child = child.next()) {
            if (child.name() != "visual" && child.name() != "collision") continue;
            check_children(child, Names{"origin", "geometry", "material", "verbose"});
            check(child);
            if (child.name() != wanted) {
                ++shown;
                continue;
            }
            if (auto part = part_of(child)) parts.push_back(std::move(*part));
        }
        if (shown > 0 && !options_.visual_geometry)
            lose(link.element, Kind::left_out, "<visual>",
                 "a body is drawn as what collides (--geometry visual takes it)");
        if (shown > 0 && options_.visual_geometry)
            lose(link.element, Kind::left_out, "<collision>", "asked for by --geometry visual");
        return parts;
    }

    std::optional<GeometryPart> part_of(const XmlElement& owner) {
        const XmlElement geometry = owner.child("geometry");
        if (!geometry) owner.fail(fmt::format("<{}> has no <geometry>", owner.name()), "add one");
        const XmlElement shape = geometry.first_child();
        if (!shape) geometry.fail("<geometry> is empty", "add box, cylinder, sphere, capsule or mesh");
        check_children(geometry, Names{"box", "cylinder", "sphere", "capsule", "mesh"});
        check(shape);
        const auto length = [&](const char* name) {
            if (!shape.attribute(name))
                shape.fail(fmt::format("<{}> has no '{}'", shape.name(), name), "add it");
            const double value = number_attribute(shape, name, 0);
            if (!(value > 0)) shape.fail(fmt::format("{} is {:g}", name, value), "it must be above 0");
            return value;
        };
        std::optional<GeometryPart> part;
        if (shape.name() == "box") {
            if (!shape.attribute("size")) shape.fail("<box> has no 'size'", "add it");
            const Vec3 size = vec3_attribute(shape, "size", Vec3::Zero());
            if (!(size.minCoeff() > 0))
                shape.fail("a box has a size of zero or less", "sizes must be above 0");
            part = box_part(size);
        } else if (shape.name() == "cylinder") {
            part = cylinder_part(length("radius"), length("length"));
        } else if (shape.name() == "capsule") {
            part = capsule_part(length("radius"), length("length"));
        } else if (shape.name() == "sphere") {
            part = sphere_part(length("radius"));
        } else {
            part = mesh_part(shape);
        }
        if (!part) return part;
        const Pose pose = origin_of(owner) * Pose{part->position, part->rotation};
        part->position = pose.position;
        part->rotation = pose.rotation;
        return part;
    }

    std::optional<GeometryPart> mesh_part(const XmlElement& shape) {
        const std::string name = needed_attribute(shape, "filename");
        const std::string path = mesh_path(shape, name);
        std::string ending = fs::path(path).extension().string();
        for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (ending != ".obj" && ending != ".stl" && ending != ".ply" && ending != ".off") {
            lose(shape, Kind::left_out, fmt::format("meshes ending in {}", ending.substr(0, 20)),
                 "OBJ, STL, PLY and OFF are read: convert them");
            return std::nullopt;
        }
        mesh_of(shape, path);
        GeometryPart part;
        part.geometry.mesh_file = path;
        part.geometry.repair = true;
        part.geometry.scale = vec3_attribute(shape, "scale", Vec3::Ones());
        if ((part.geometry.scale.array() == 0).any())
            shape.fail("scale has a factor of zero", "factors are not zero");
        return part;
    }

    // package://NAME/PATH is looked for in NAME beside or above the file, and under the mesh root.
    std::string mesh_path(const XmlElement& shape, const std::string& name) const {
        std::string rest = name;
        std::vector<fs::path> tried;
        if (name.ends_with("://")) shape.fail("a mesh has no path", "name a file");
        for (const char* scheme : {"package://", "model://", "file://"}) {
            const std::string prefix = scheme;
            if (!rest.starts_with(prefix)) continue;
            rest = rest.substr(prefix.size());
            if (prefix == "file://") {
                tried.emplace_back(rest);
                break;
            }
            const fs::path in_package(rest);
            fs::path bare;
            for (auto part = ++in_package.begin();
                 in_package.begin() != in_package.end() && part != in_package.end(); ++part)
                bare /= *part;
            if (!options_.mesh_root.empty()) {
                tried.push_back(fs::path(options_.mesh_root) / in_package);
                tried.push_back(fs::path(options_.mesh_root) / bare);
            }
            std::error_code error;
            fs::path up = fs::absolute(folder_.empty() ? fs::path(".") : folder_, error).lexically_normal();
            for (int level = 0; level < 32; ++level) {
                tried.push_back(up / in_package);
                if (up.filename() == *in_package.begin()) tried.push_back(up / bare);
                if (up == up.parent_path()) break;
                up = up.parent_path();
            }
            break;
        }
        if (tried.empty()) {
            if (!options_.mesh_root.empty()) tried.push_back(fs::path(options_.mesh_root) / rest);
            tried.push_back(folder_ / rest);
        }
        std::error_code error;
        for (const fs::path& path : tried)
            if (fs::is_regular_file(path, error))
                return fs::absolute(path, error).lexically_normal().string();
        shape.fail(fmt::format("no such mesh: {}", name.substr(0, 200)),
                   "give the folder that holds it, or the packages, with --meshes");
    }

    void make_joints() {
        for (const int index : order_) {
            const Link& link = links_[at(index)];
            if (link.parent_joint < 0) continue;
            Joint& joint = joints_[at(link.parent_joint)];
            const Link& parent = links_[at(joint.parent)];
            if (joint.type == "floating" || link.owner == parent.owner) continue;
            if (joint.type == "fixed" && link.stays) continue;
            JointSpec spec;
            spec.name = joint.name;
            spec.bodies = {parent.owner, link.owner};
            spec.point = link.pose.position;
            spec.type = joint.type == "fixed"       ? JointType::fixed
                        : joint.type == "prismatic" ? JointType::prismatic
                        : joint.type == "planar"    ? JointType::planar
                                                    : JointType::hinge;
            if (joint.type != "fixed") {
                spec.axis = axis_of(joint, link);
                read_limits(joint, spec);
                read_dynamics(joint, spec);
            }
            joint.index = static_cast<int>(out_.scene.joints.size());
            out_.scene.joints.push_back(std::move(spec));
        }
    }

    Vec3 axis_of(const Joint& joint, const Link& link) {
        Vec3 axis = Vec3::UnitX();
        if (const XmlElement element = joint.element.child("axis")) {
            check(element);
            if (!element.attribute("xyz")) element.fail("<axis> has no 'xyz'", "add it");
            axis = vec3_attribute(element, "xyz", axis);
            if (!(axis.norm() > 1e-12)) element.fail("the axis has length zero", "give a direction");
        }
        return (link.pose.rotation * axis).normalized();
    }

    static DriveSpec& drive_of(JointSpec& spec) {
        if (spec.drives.empty()) spec.drives.emplace_back();
        return spec.drives[0];
    }

    void read_limits(Joint& joint, JointSpec& spec) {
        const XmlElement limit = joint.element.child("limit");
        const bool needs = joint.type == "revolute" || joint.type == "prismatic";
        if (!limit) {
            if (needs)
                joint.element.fail(fmt::format("a {} joint has no <limit>", joint.type),
                                   "add it, or use a continuous joint");
            return;
        }
        check_attributes(limit, Names{"lower", "upper", "effort", "velocity"});
        const double lower = number_attribute(limit, "lower", 0), upper = number_attribute(limit, "upper", 0);
        if (needs) {
            if (lower > upper)
                limit.fail(fmt::format("the lower limit {:g} is above the upper {:g}", lower, upper),
                           "swap them");
            drive_of(spec).limits = {lower, upper};
        }
        for (const auto& [name, out] :
             {std::pair{"effort", &joint.effort}, std::pair{"velocity", &joint.speed}})
            if (limit.attribute(name)) {
                *out = number_attribute(limit, name, 0);
                if (*out < 0) limit.fail(fmt::format("{} is {:g}", name, *out), "it must not be negative");
            }
    }

    void read_dynamics(const Joint& joint, JointSpec& spec) {
        const XmlElement dynamics = joint.element.child("dynamics");
        if (!dynamics) return;
        check_attributes(dynamics, Names{"damping", "friction"});
        const double damping = number_attribute(dynamics, "damping", 0),
                     friction = number_attribute(dynamics, "friction", 0);
        if (damping < 0 || friction < 0)
            dynamics.fail("damping or friction is negative", "they take energy, never give it");
        if (spec.type == JointType::planar && (damping > 0 || friction > 0)) {
            lose(dynamics, Kind::approximated, "<dynamics> of a planar joint",
                 "acts on its first two coordinates and on its angle alike");
            for (int k = 0; k < 3; ++k) {
                spec.drives.resize(3);
                if (damping > 0) spec.drives[at(k)].spring = SpringSpec{0, damping, 0};
                spec.drives[at(k)].friction = friction;
            }
            return;
        }
        if (damping > 0) drive_of(spec).spring = SpringSpec{0, damping, 0};
        if (friction > 0) drive_of(spec).friction = friction;
    }

    void make_mimics() {
        for (const Joint& joint : joints_) {
            const XmlElement mimic = joint.element.child("mimic");
            if (!mimic || joint.index < 0) continue;
            check(mimic);
            const std::string name = needed_attribute(mimic, "joint");
            const auto found = joint_index_.find(name);
            if (found == joint_index_.end())
                mimic.fail(fmt::format("no joint is named '{}'", name.substr(0, 60)),
                           "a joint mimics another one");
            const Joint& other = joints_[at(found->second)];
            if (&other == &joint) mimic.fail("a joint mimics itself", "name another joint");
            if (other.index < 0 || out_.scene.joints[at(other.index)].type == JointType::fixed)
                mimic.fail(fmt::format("mimics '{}', which does not move", name.substr(0, 60)),
                           "name a joint that moves");
            JointSpec coupling;
            coupling.type = JointType::coupling;
            coupling.name = free_name(joint.name + "-mimic",
                                      [&](const std::string& n) { return joint_index_.count(n) > 0; });
            coupling.joints = {other.index, joint.index};
            coupling.ratio = number_attribute(mimic, "multiplier", 1.0);
            coupling.offset = number_attribute(mimic, "offset", 0.0);
            if (coupling.ratio == 0) {
                drive_of(out_.scene.joints[at(joint.index)]).limits = {coupling.offset, coupling.offset};
                lose(mimic, Kind::converted, "a mimic with multiplier 0", "became limits that meet");
                continue;
            }
            out_.scene.joints.push_back(coupling);
            mimics_[joint.index] = {mimic, other.index};
        }
        refuse_circles();
    }

    void refuse_circles() const {
        std::set<int> fine;
        for (const auto& [index, unused] : mimics_) {
            std::set<int> row;
            for (auto place = mimics_.find(index); place != mimics_.end() && fine.count(place->first) == 0;
                 place = mimics_.find(place->second.of))
                if (!row.insert(place->first).second)
                    place->second.element.fail("joints mimic each other in a circle",
                                               "let one of them move by itself");
            fine.merge(row);
        }
    }

    void make_transmissions(const XmlElement& robot) {
        std::unordered_map<std::string, int> taken;
        for (XmlElement element = robot.first_child(); element; element = element.next()) {
            if (element.name() != "transmission") continue;
            const XmlElement joint_element = element.child("joint"), motor = element.child("actuator");
            if (!joint_element || !motor) {
                lose(element, Kind::left_out, "<transmission> without a joint or an actuator",
                     "drives nothing");
                continue;
            }
            const std::string name = needed_attribute(joint_element, "name");
            const auto found = joint_index_.find(name);
            if (found == joint_index_.end())
                joint_element.fail(fmt::format("no joint is named '{}'", name.substr(0, 60)),
                                   "name a joint of the robot");
            Joint& joint = joints_[at(found->second)];
            if (joint.index < 0 || out_.scene.joints[at(joint.index)].type == JointType::fixed) {
                lose(element, Kind::left_out, "<transmission> of a joint that does not move",
                     "drives nothing");
                continue;
            }
            add_actuator(element, joint_element, motor, joint, taken);
        }
    }

    // The reduction n has the motor turn n times as far as the joint: l = n q.
    void add_actuator(const XmlElement& element, const XmlElement& joint_element, const XmlElement& motor,
                      Joint& joint, std::unordered_map<std::string, int>& taken) {
        ActuatorSpec actuator;
        actuator.name = free_name(needed_attribute(motor, "name"),
                                  [&](const std::string& n) { return taken.count(n) > 0; });
        taken.emplace(actuator.name, 1);
        actuator.joint = joint.index;
        XmlElement interface = joint_element.child("hardwareInterface");
        if (!interface) interface = motor.child("hardwareInterface");
        const std::string kind(interface ? interface.text() : std::string_view());
        const auto has = [&](const char* word) { return kind.find(word) != std::string::npos; };
        actuator.type = has("osition")   ? ActuatorSpec::Type::position
                        : has("elocity") ? ActuatorSpec::Type::velocity
                                         : ActuatorSpec::Type::torque;
        if (const XmlElement reduction = motor.child("mechanicalReduction")) {
            actuator.gear = parse_numbers(reduction, "mechanicalReduction", reduction.text(), 1, 1)[0];
            if (actuator.gear == 0) reduction.fail("the reduction is zero", "give a ratio");
        }
        if (joint.effort < 1e299) {
            const double bound = joint.effort / std::abs(actuator.gear);
            actuator.force_limits = {-bound, bound};
            joint.effort = 1e300;
        }
        if (joint.speed < 1e299 && joint.speed > 0 && actuator.type != ActuatorSpec::Type::torque) {
            actuator.velocity_limit = joint.speed * std::abs(actuator.gear);
            joint.speed = 1e300;
        }
        static const char* const types[] = {"position", "velocity", "torque"};
        lose(element, Kind::converted,
             fmt::format("<transmission> became the {} actuator '{}'", types[static_cast<int>(actuator.type)],
                         actuator.name),
             actuator.type == ActuatorSpec::Type::position
                 ? "it holds the joint where it starts until a target is set"
                 : "its target is 0 until one is set");
        out_.scene.actuators.push_back(actuator);
    }

    void list_unused_limits() {
        for (const Joint& joint : joints_) {
            const XmlElement limit = joint.element.child("limit");
            if (joint.index < 0 || !limit) continue;
            if (joint.effort < 1e299)
                lose(limit, Kind::left_out, "effort limits of joints without a transmission",
                     "they belong to actuators (force_limits)");
            if (joint.speed < 1e299)
                lose(limit, Kind::left_out, "velocity limits",
                     "joints have none; actuators of position and velocity do");
        }
    }

    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    XmlDocument document_;
    fs::path folder_;
    std::vector<Link> links_;
    std::vector<Joint> joints_;
    std::unordered_map<std::string, int> link_index_, joint_index_;
    std::unordered_map<std::string, std::array<double, 3>> colors_;
    std::vector<int> order_;  // links, parents first
    struct Mimic {
        XmlElement element;
        int of = -1;
    };
    std::map<int, Mimic> mimics_;  // by joint of the scene
};

}  // namespace
}  // namespace tenon::scene

namespace tenon {

ImportedScene import_urdf(const std::string& file, const ImportOptions& options) {
    return scene::UrdfImporter(file, options).run();
}

}  // namespace tenon

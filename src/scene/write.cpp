// A scene as JSON: what equals its default is left out, geometry used more than once is written once.
#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include <fmt/format.h>

#include "scene/joint_kinds.hpp"
#include "scene/json_writer.hpp"
#include "scene/write_robot.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

using namespace scene;

constexpr double unlimited = 1e300;

class Writer {
  public:
    Writer(const Scene& scene, const std::string& base_folder) : scene_(scene), base_folder_(base_folder) {
        name_shared_geometry();
    }
    std::string write() const;

  private:
    void name_shared_geometry();
    const std::string& body_name(int index) const {
        static const std::string world = "world";
        const auto at = static_cast<std::size_t>(index);
        if (index < 0) return world;
        return at < scene_.bodies.size() ? scene_.bodies[at].name
                                         : scene_.elastic[at - scene_.bodies.size()].name;
    }
    const std::string& material_name(int index) const {
        return scene_.materials[static_cast<std::size_t>(index)].name;
    }
    std::string file_path(const std::string& file) const;

    std::string method() const;
    std::string materials() const;
    std::string shapes() const;
    std::string contact() const;
    std::string body(std::size_t index) const;
    std::string joint(std::size_t index) const;
    std::string elastic(std::size_t index) const;
    std::string force(const ForceSpec& force) const;
    std::string expect(const ExpectSpec& expect) const;
    std::string wind() const;
    std::string camera() const;
    void geometry(JsonObject& out, const GeometrySpec& spec, const Vec3& scale) const;

    const Scene& scene_;
    const std::string& base_folder_;
    std::vector<std::string> shared_name_;  // by geometry; empty for those that only one body has
    std::vector<std::size_t> shared_;       // geometries that have a name, in order
};

void add_pose(JsonObject& out, const Vec3& position, const Quat& rotation) {
    if (!position.isZero(0.0)) out.vec3("position", position);
    if (rotation.coeffs() != Quat::Identity().coeffs()) out.add("rotation", json_quat(rotation));
}

void add_velocity(JsonObject& out, const Vec3& linear, const Vec3& angular) {
    if (!linear.isZero(0.0)) out.vec3("linear_velocity", linear);
    if (!angular.isZero(0.0)) out.vec3("angular_velocity", angular);
}

void add_color(JsonObject& out, const std::array<double, 3>& color) {
    if (color[0] >= 0) out.add("color", json_numbers({color[0], color[1], color[2]}));
}

std::string motion_text(const std::vector<Keyframe>& motion) {
    std::vector<std::string> entries;
    for (const Keyframe& frame : motion) {
        JsonObject out;
        out.number("time", frame.time);
        out.vec3("position", frame.position);
        out.add("rotation", json_quat(frame.rotation));
        entries.push_back(out.take());
    }
    return json_list(entries);
}

template <class Tuples>
std::string tuples_text(const Tuples& tuples) {
    std::string out = "[";
    for (const auto& tuple : tuples) {
        out += out.size() > 1 ? ",[" : "[";
        for (std::size_t k = 0; k < tuple.size(); ++k) out += (k ? "," : "") + std::to_string(tuple[k]);
        out += ']';
    }
    return out += ']';
}

// The spring of a distance joint has another default than zero.
std::string spring_text(const SpringSpec& spring, bool always_rest = false) {
    JsonObject out;
    out.number("stiffness", spring.stiffness);
    if (spring.damping != 0) out.number("damping", spring.damping);
    if (spring.rest != 0 || always_rest) out.number("rest", spring.rest);
    return out.take();
}

std::string motor_text(const MotorSpec& motor) {
    static const char* const names[] = {"none", "velocity", "position", "force"};
    JsonObject out;
    out.text("type", names[static_cast<int>(motor.type)]);
    if (motor.profile.empty()) out.number("target", motor.target);
    if (motor.max < unlimited) out.number("max", motor.max);
    if (motor.stiffness != 0) out.number("stiffness", motor.stiffness);
    if (motor.damping != 0) out.number("damping", motor.damping);
    if (!motor.profile.empty()) out.add("profile", profile_text(motor.profile));
    return out.take();
}

void add_drive(JsonObject& out, const DriveSpec& drive, bool always_rest) {
    if (drive.limits) out.add("limits", json_numbers({(*drive.limits)[0], (*drive.limits)[1]}));
    if (drive.spring) out.add("spring", spring_text(*drive.spring, always_rest));
    if (drive.friction != 0) out.number("friction", drive.friction);
    if (drive.armature != 0) out.number("armature", drive.armature);
    if (drive.motor.type != MotorSpec::Type::none) out.add("motor", motor_text(drive.motor));
}

// Names follow the order of first use, as the reader finds them: writing what was read gives the same text.
void Writer::name_shared_geometry() {
    std::vector<int> uses(scene_.geometries.size());
    for (const BodySpec& body : scene_.bodies)
        if (body.geometry >= 0) ++uses[static_cast<std::size_t>(body.geometry)];
    shared_name_.resize(scene_.geometries.size());
    for (const BodySpec& body : scene_.bodies) {
        if (body.geometry < 0) continue;
        const auto used = static_cast<std::size_t>(body.geometry);
        if (uses[used] < 2 || !shared_name_[used].empty()) continue;
        shared_name_[used] = fmt::format("shape-{}", shared_.size());
        shared_.push_back(used);
    }
}

std::string Writer::file_path(const std::string& file) const {
    if (base_folder_.empty()) return file;
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path relative = fs::absolute(file, error)
                                  .lexically_normal()
                                  .lexically_relative(fs::absolute(base_folder_, error).lexically_normal());
    const std::string text = relative.string();
    return text.empty() || text.starts_with("..") ? file : text;
}

std::string Writer::method() const {
    JsonObject out;
    out.text("type", scene_.method);
    out.number("dt", scene_.dt);
    for (const auto& [name, value] : scene_.method_params) out.add(name, json_param(value));
    return out.take();
}

std::string Writer::materials() const {
    const MaterialSpec standard;
    JsonObject out;
    for (const MaterialSpec& material : scene_.materials) {
        JsonObject entry;
        const auto add = [&](const char* key, double value, double fallback) {
            if (value != fallback) entry.number(key, value);
        };
        add("density", material.density, standard.density);
        if (material.young_given)
            entry.number("young", material.young);
        else
            add("young", material.young, standard.young);
        add("poisson", material.poisson, standard.poisson);
        add("max_strain", material.max_strain, standard.max_strain);
        add("friction", material.friction, standard.friction);
        add("restitution", material.restitution, standard.restitution);
        add("rayleigh_mass", material.rayleigh_mass, standard.rayleigh_mass);
        add("rayleigh_stiffness", material.rayleigh_stiffness, standard.rayleigh_stiffness);
        if (material.name != "default" || !entry.empty()) out.add(material.name, entry.take());
    }
    return out.take();
}

void Writer::geometry(JsonObject& out, const GeometrySpec& spec, const Vec3& scale) const {
    if (!spec.shape.empty()) {
        JsonObject shape;
        shape.text("type", spec.shape);
        for (const auto& [name, value] : spec.shape_params.all()) shape.add(name, json_param(value));
        out.add("shape", shape.take());
    } else if (!spec.mesh_file.empty()) {
        out.text("mesh", file_path(spec.mesh_file));
    } else if (!spec.parts.empty()) {
        std::vector<std::string> parts;
        for (const GeometryPart& part : spec.parts) {
            JsonObject entry;
            geometry(entry, part.geometry, part.geometry.scale);
            add_pose(entry, part.position, part.rotation);
            parts.push_back(entry.take());
        }
        out.add("parts", json_list(parts));
    } else {
        std::vector<std::string> vertices;
        for (const Vec3& vertex : spec.vertices) vertices.push_back(json_vec3(vertex));
        out.add("vertices", json_list(vertices));
        if (!spec.triangles.empty()) out.add("triangles", tuples_text(spec.triangles));
        if (!spec.edges.empty()) out.add("edges", tuples_text(spec.edges));
        if (!spec.points.empty())
            out.add("points", json_numbers(std::vector<double>(spec.points.begin(), spec.points.end())));
    }
    if (scale != Vec3::Ones())
        out.add("scale",
                scale.x() == scale.y() && scale.y() == scale.z() ? json_number(scale.x()) : json_vec3(scale));
    if (spec.thickness != 0) out.number("thickness", spec.thickness);
    if (spec.repair) out.flag("repair", true);
}

std::string Writer::shapes() const {
    JsonObject out;
    for (const std::size_t shared : shared_) {
        JsonObject entry;
        geometry(entry, scene_.geometries[shared], scene_.geometries[shared].scale);
        out.add(shared_name_[shared], entry.take());
    }
    return out.take();
}

std::string Writer::contact() const {
    const ContactSpec& contact = scene_.contact;
    JsonObject out;
    if (contact.dhat) out.number("dhat", *contact.dhat);
    std::vector<std::string> pairs;
    for (const PairSpec& pair : contact.pairs) {
        JsonObject entry;
        entry.add("materials", json_list({json_text(material_name(pair.materials[0])),
                                          json_text(material_name(pair.materials[1]))}));
        if (pair.friction) entry.number("friction", *pair.friction);
        if (pair.restitution) entry.number("restitution", *pair.restitution);
        pairs.push_back(entry.take());
    }
    if (!pairs.empty()) out.add("pairs", json_list(pairs));
    std::vector<std::string> ignore;
    for (const auto& [a, b] : contact.ignore)
        ignore.push_back(json_list({json_text(body_name(a)), json_text(body_name(b))}));
    if (!ignore.empty()) out.add("ignore", json_list(ignore));
    if (contact.jointed_bodies_collide) out.flag("jointed_bodies_collide", true);
    return out.take();
}

std::string Writer::body(std::size_t index) const {
    const BodySpec& body = scene_.bodies[index];
    JsonObject out;
    if (body.name != fmt::format("body-{}", index)) out.text("name", body.name);
    if (body.type == BodyType::static_body) out.text("type", "static");
    if (body.type == BodyType::kinematic_body) out.text("type", "kinematic");
    if (body.geometry >= 0) {
        const auto used = static_cast<std::size_t>(body.geometry);
        if (!shared_name_[used].empty())
            out.text("shape", shared_name_[used]);
        else
            geometry(out, scene_.geometries[used], scene_.geometries[used].scale);
    }
    add_pose(out, body.position, body.rotation);
    add_velocity(out, body.linear_velocity, body.angular_velocity);
    if (material_name(body.material) != "default") out.text("material", material_name(body.material));
    if (body.density) out.number("density", *body.density);
    if (body.mass) out.number("mass", *body.mass);
    if (body.friction) out.number("friction", *body.friction);
    if (body.restitution) out.number("restitution", *body.restitution);
    if (body.inertia) {
        JsonObject inertia;
        inertia.vec3("center", body.inertia->center);
        inertia.vec3("moments", body.inertia->moments);
        inertia.add("axes", json_quat(body.inertia->axes));
        out.add("inertia", inertia.take());
    }
    static const char* const coordinates[] = {"x", "y", "z", "rx", "ry", "rz"};
    std::vector<std::string> fixed;
    for (std::size_t k = 0; k < 6; ++k)
        if (body.fixed[k]) fixed.push_back(json_text(coordinates[k]));
    if (!fixed.empty()) out.add("fixed", json_list(fixed));
    if (!body.group.empty()) out.text("group", body.group);
    if (!body.collides) out.flag("collides", false);
    if (body.min_separation != 0) out.number("min_separation", body.min_separation);
    if (!body.motion.empty()) {
        // Without these the first keyframe's pose would be taken for the body's.
        if (body.position.isZero(0.0)) out.vec3("position", body.position);
        if (body.rotation.coeffs() == Quat::Identity().coeffs())
            out.add("rotation", json_quat(body.rotation));
        out.add("motion", motion_text(body.motion));
    }
    if (body.kinematic_until < unlimited) out.number("kinematic_until", body.kinematic_until);
    add_color(out, body.color);
    return out.take();
}

std::string Writer::joint(std::size_t index) const {
    const JointSpec& joint = scene_.joints[index];
    JsonObject out;
    if (!joint.name.empty() && joint.name != fmt::format("joint-{}", index)) out.text("name", joint.name);
    out.text("type", joint_type_name(joint.type));
    if (joint.type == JointType::coupling) {
        const auto joint_name = [&](int other) {
            const std::string& name = scene_.joints[static_cast<std::size_t>(other)].name;
            return json_text(name.empty() ? fmt::format("joint-{}", other) : name);
        };
        out.add("joints", json_list({joint_name(joint.joints[0]), joint_name(joint.joints[1])}));
        if (joint.coordinates != std::array<int, 2>{0, 0})
            out.add("coordinates", fmt::format("[{}, {}]", joint.coordinates[0], joint.coordinates[1]));
        out.number("ratio", joint.ratio);
        if (joint.offset != 0) out.number("offset", joint.offset);
    } else {
        out.add("bodies",
                json_list({json_text(body_name(joint.bodies[0])), json_text(body_name(joint.bodies[1]))}));
        if (!joint.point.isZero(0.0)) out.vec3("point", joint.point);
        if (joint.point_b) out.vec3("point_b", *joint.point_b);
        if (joint.axis != Vec3::UnitZ()) out.vec3("axis", joint.axis);
        if (joint.axis_b) out.vec3("axis_b", *joint.axis_b);
    }
    if (joint.drives.size() == 1) {
        add_drive(out, joint.drives[0], joint.type == JointType::distance);
    } else if (!joint.drives.empty()) {
        std::vector<std::string> drives;
        for (const DriveSpec& drive : joint.drives) {
            JsonObject entry;
            add_drive(entry, drive, joint.type == JointType::distance);
            drives.push_back(entry.take());
        }
        out.add("drives", json_list(drives));
    }
    if (joint.twist) out.add("twist", spring_text(*joint.twist));
    if (joint.bend) out.add("bend", spring_text(*joint.bend));
    if (joint.linear) out.flag("linear", true);
    if (joint.break_force < unlimited) out.number("break_force", joint.break_force);
    if (joint.break_torque < unlimited) out.number("break_torque", joint.break_torque);
    add_joint_start(out, joint);
    return out.take();
}

std::string Writer::elastic(std::size_t index) const {
    const ElasticSpec& elastic = scene_.elastic[index];
    JsonObject out;
    if (!elastic.name.empty() && elastic.name != fmt::format("elastic-{}", index))
        out.text("name", elastic.name);
    if (!elastic.tets_file.empty()) {
        out.text("tets", file_path(elastic.tets_file));
        if (elastic.scale != Vec3::Ones()) out.vec3("scale", elastic.scale);
    } else {
        const GeometrySpec& spec = scene_.geometries[static_cast<std::size_t>(elastic.geometry)];
        geometry(out, spec, spec.scale.cwiseProduct(elastic.scale));
    }
    if (elastic.cell_size != 0) out.number("cell_size", elastic.cell_size);
    if (elastic.model != "neo-hookean") out.text("model", elastic.model);
    if (material_name(elastic.material) != "default") out.text("material", material_name(elastic.material));
    add_pose(out, elastic.position, elastic.rotation);
    add_velocity(out, elastic.linear_velocity, elastic.angular_velocity);
    if (!elastic.surface_file.empty()) out.text("surface", file_path(elastic.surface_file));
    std::vector<std::string> regions, pins;
    for (const ElasticSpec::Region& region : elastic.regions) {
        JsonObject entry;
        entry.vec3("lo", region.lo);
        entry.vec3("hi", region.hi);
        entry.text("material", material_name(region.material));
        regions.push_back(entry.take());
    }
    for (const ElasticSpec::Pin& pin : elastic.pins) {
        JsonObject entry;
        entry.vec3("lo", pin.lo);
        entry.vec3("hi", pin.hi);
        if (!pin.motion.empty()) entry.add("motion", motion_text(pin.motion));
        if (!pin.body.empty()) entry.text("body", pin.body);
        pins.push_back(entry.take());
    }
    if (!regions.empty()) out.add("regions", json_list(regions));
    if (!pins.empty()) out.add("pins", json_list(pins));
    if (elastic.plane_strain) out.flag("plane_strain", true);
    add_color(out, elastic.color);
    return out.take();
}

std::string Writer::force(const ForceSpec& force) const {
    JsonObject out;
    out.text("body", body_name(force.body));
    if (!force.force.isZero(0.0)) out.vec3("force", force.force);
    if (!force.torque.isZero(0.0)) out.vec3("torque", force.torque);
    if (force.point) out.vec3("point", *force.point);
    if (force.body_frame) out.flag("body_frame", true);
    if (force.from != 0) out.number("from", force.from);
    if (force.to < unlimited) out.number("to", force.to);
    return out.take();
}

std::string Writer::expect(const ExpectSpec& expect) const {
    JsonObject out;
    if (!expect.body.empty()) out.text("body", expect.body);
    if (expect.at >= 0) out.number("at", expect.at);
    if (expect.position) out.vec3("position", *expect.position);
    if (expect.within != 0) out.number("within", expect.within);
    if (!expect.quantity.empty()) out.text("quantity", expect.quantity);
    if (expect.min > -unlimited) out.number("min", expect.min);
    if (expect.max < unlimited) out.number("max", expect.max);
    if (!expect.note.empty()) out.text("note", expect.note);
    return out.take();
}

std::string Writer::wind() const {
    const WindSpec standard;
    JsonObject out;
    if (!scene_.wind.velocity.isZero(0.0)) out.vec3("velocity", scene_.wind.velocity);
    if (scene_.wind.drag != standard.drag) out.number("drag", scene_.wind.drag);
    if (scene_.wind.gust != standard.gust) out.number("gust", scene_.wind.gust);
    if (scene_.wind.gust_period != standard.gust_period) out.number("gust_period", scene_.wind.gust_period);
    return out.take();
}

std::string Writer::camera() const {
    JsonObject out;
    for (const auto& [key, numbers] : scene_.camera)
        if (key != "portrait")
            out.add(key, numbers.size() == 1 ? json_number(numbers[0]) : json_numbers(numbers));
    return out.take();
}

std::string Writer::write() const {
    std::string out = "{\n";
    const auto add = [&](const char* key, const std::string& value) {
        if (out.size() > 2) out += ",\n";
        ((out += json_text(key)) += ": ") += value;
    };
    const auto add_unless_empty = [&](const char* key, const std::string& value) {
        if (value != "{}" && value != "[]") add(key, value);
    };
    const auto add_each = [&](const char* key, std::size_t count, const auto& entry_text) {
        if (count == 0) return;
        add(key, "[");
        for (std::size_t i = 0; i < count; ++i) ((out += i ? ",\n  " : "\n  ") += entry_text(i));
        out += "\n]";
    };
    add("tenon", "1");
    add("name", json_text(scene_.name));
    if (scene_.up != "y") add("up", json_text(scene_.up));
    add("gravity", json_vec3(scene_.gravity));
    add("seconds", json_number(scene_.seconds));
    add("method", method());
    add_unless_empty("materials", materials());
    add_unless_empty("shapes", shapes());
    add_unless_empty("contact", contact());
    add_each("bodies", scene_.bodies.size(), [&](std::size_t i) { return body(i); });
    add_each("joints", scene_.joints.size(), [&](std::size_t i) { return joint(i); });
    add_each("tendons", scene_.tendons.size(),
             [&](std::size_t i) { return tendon_text(scene_, scene_.tendons[i]); });
    add_each("actuators", scene_.actuators.size(),
             [&](std::size_t i) { return actuator_text(scene_, scene_.actuators[i]); });
    add_each("sensors", scene_.sensors.size(),
             [&](std::size_t i) { return sensor_text(scene_, scene_.sensors[i]); });
    add_each("keyframes", scene_.keyframes.size(),
             [&](std::size_t i) { return keyframe_text(scene_, scene_.keyframes[i]); });
    if (!scene_.start.empty()) add("start", json_text(scene_.start));
    add_each("elastic", scene_.elastic.size(), [&](std::size_t i) { return elastic(i); });
    add_each("forces", scene_.forces.size(), [&](std::size_t i) { return force(scene_.forces[i]); });
    add_unless_empty("wind", wind());
    add_each("expect", scene_.expect.size(), [&](std::size_t i) { return expect(scene_.expect[i]); });
    add_unless_empty("camera", camera());
    if (const auto portrait = scene_.camera.find("portrait"); portrait != scene_.camera.end())
        add("portrait", json_number(portrait->second.at(0)));
    return out += "\n}\n";
}

}  // namespace

std::string write_scene(const Scene& scene, const std::string& base_folder) {
    return Writer(scene, base_folder).write();
}

}  // namespace tenon

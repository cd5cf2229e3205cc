#include "scene/import/importer.hpp"

#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "geometry/mesh_io.hpp"
#include "geometry/shapes.hpp"
#include "scene/value.hpp"
#include "tenon/error.hpp"
#include "tenon/inertia.hpp"

namespace tenon::scene {
namespace {

const char* kind_name(ImportLoss::Kind kind) {
    static const char* const names[] = {"left out", "approximated", "converted"};
    return names[static_cast<int>(kind)];
}

}  // namespace

void Importer::begin(const XmlElement& root, const char* tag, const char* right, const std::string& name,
                     double dt) {
    if (root.name() != tag)
        root.fail(fmt::format("the outermost element is <{}>", root.name().substr(0, 60)), right);
    Scene& scene = out_.scene;
    scene.name = name;
    scene.up = "z";
    scene.gravity = Vec3(0, 0, -9.81);
    scene.method = "articulated";
    scene.dt = dt;
}

void Importer::lose(const XmlElement& element, ImportLoss::Kind kind, const std::string& what,
                    const std::string& why) {
    std::string called = "<" + std::string(element.name().substr(0, 60)) + ">";
    if (const auto name = element.attribute("name")) called += " '" + std::string(name->substr(0, 60)) + "'";
    out_.losses.push_back({element.file(), element.line(), called, kind, what, why});
}

GeometryPart Importer::shape_part(const std::string& shape, std::map<std::string, ParamValue> params) const {
    GeometryPart part;
    part.geometry.shape = shape;
    part.geometry.shape_params = resolve_params(geometry::find_shape(shape)->parameters, params, {});
    return part;
}

namespace {

// From the axis of our shapes, y, to z.
Quat y_to_z() {
    const double half = std::sqrt(0.5);
    return {half, half, 0, 0};
}

}  // namespace

GeometryPart Importer::box_part(const Vec3& s) const {
    return shape_part("box", {{"size", std::vector<double>{s.x(), s.y(), s.z()}}});
}

GeometryPart Importer::sphere_part(double radius) const {
    return shape_part("sphere", {{"radius", radius}});
}

GeometryPart Importer::cylinder_part(double radius, double length) const {
    GeometryPart part = shape_part("cylinder", {{"radius", radius}, {"length", length}});
    part.rotation = y_to_z();
    return part;
}

GeometryPart Importer::capsule_part(double radius, double length) const {
    GeometryPart part = shape_part("capsule", {{"radius", radius}, {"length", length}});
    part.rotation = y_to_z();
    return part;
}

const Mesh& Importer::mesh_of(const XmlElement& element, const std::string& path) {
    const auto found = meshes_.find(path);
    if (found != meshes_.end()) return found->second;
    try {
        return meshes_.emplace(path, geometry::read_mesh(path)).first->second;
    } catch (const InputError& error) {
        element.fail(
            fmt::format("the mesh {} cannot be used: {} {}", error.file(), error.path(), error.problem()),
            error.cure());
    }
}

int Importer::geometry_of(const std::vector<GeometryPart>& parts) {
    if (parts.empty()) return -1;
    const GeometryPart& first = parts[0];
    if (parts.size() == 1 && first.position.isZero(0.0) &&
        first.rotation.coeffs() == Quat::Identity().coeffs())
        return out_.scene.add_geometry(first.geometry);
    GeometrySpec compound;
    compound.parts = parts;
    return out_.scene.add_geometry(compound);
}

void Importer::set_inertia(const XmlElement& element, const std::string& of, BodySpec& body,
                           const Inertial& inertial) {
    InertiaSpec spec = principal_inertia(inertial.inertia);
    const Vec3 given = spec.moments;
    if (!(given.minCoeff() >= 0))
        element.fail(fmt::format("the inertia of {} has the principal moments {:g}, {:g}, {:g}", of, given[0],
                                 given[1], given[2]),
                     "none may be negative");
    // integrals of rho x_k^2: a body has none below zero
    Vec3 second = Vec3::Constant(0.5 * given.sum()) - given;
    const double floor = std::max(1e-6 * given.maxCoeff(), 1e-12 * inertial.mass);
    if (second.minCoeff() < -1e-9 * given.sum() || !(given.minCoeff() > 0)) {
        second = second.cwiseMax(floor);
        spec.moments = {second.y() + second.z(), second.z() + second.x(), second.x() + second.y()};
        lose(element, ImportLoss::Kind::approximated,
             fmt::format("moments of inertia {:g}, {:g}, {:g} of {} became {:g}, {:g}, {:g}", given[0],
                         given[1], given[2], of, spec.moments[0], spec.moments[1], spec.moments[2]),
             "no body has them: none may be zero or exceed the sum of the other two");
    }
    spec.center = inertial.center;
    body.mass = inertial.mass;
    body.inertia = spec;
}

namespace {

// Loops would open when one of their joints starts elsewhere.
bool is_a_tree(const Scene& scene) {
    std::size_t holding = 0, moving = 0;
    for (const JointSpec& joint : scene.joints)
        holding += joint.type != JointType::coupling && joint.type != JointType::distance;
    for (const BodySpec& body : scene.bodies) moving += body.type == BodyType::dynamic_body;
    return holding <= moving;
}

double& start_of(JointSpec& joint, std::size_t coordinate) {
    const bool two = joint.type == JointType::universal || joint.type == JointType::cylindrical;
    joint.start.resize(two ? 2 : joint.type == JointType::planar ? 3 : 1, 0.0);
    return joint.start[coordinate];
}

// Coordinates that follow others start where these put them, rows of followers included.
void start_couplings(Scene& scene) {
    using Place = std::pair<int, int>;
    std::map<Place, const JointSpec*> leader;
    for (const JointSpec& joint : scene.joints)
        if (joint.type == JointType::coupling) leader[{joint.joints[1], joint.coordinates[1]}] = &joint;
    std::set<Place> done;
    for (const auto& [follower, unused] : leader) {
        std::vector<Place> row;
        std::set<Place> seen;
        for (Place place = follower; leader.count(place) > 0 && done.count(place) == 0;) {
            if (!seen.insert(place).second) return;  // a circle has no first
            row.push_back(place);
            place = {leader[place]->joints[0], leader[place]->coordinates[0]};
        }
        for (; !row.empty(); row.pop_back()) {
            const JointSpec& coupling = *leader[row.back()];
            const std::vector<double>& led = scene.joints[static_cast<std::size_t>(coupling.joints[0])].start;
            const auto k = static_cast<std::size_t>(coupling.coordinates[0]);
            const double value = coupling.ratio * (led.size() > k ? led[k] : 0.0) + coupling.offset;
            if (value != 0)
                start_of(scene.joints[static_cast<std::size_t>(row.back().first)],
                         static_cast<std::size_t>(row.back().second)) = value;
            done.insert(row.back());
        }
    }
}

}  // namespace

void Importer::start_within_limits(const std::function<XmlElement(int joint, int coordinate)>& element_of) {
    Scene& scene = out_.scene;
    if (!is_a_tree(scene)) return;
    std::vector<char> coupled(scene.joints.size(), 0);  // to another, which it follows
    for (const JointSpec& joint : scene.joints)
        if (joint.type == JointType::coupling) coupled[static_cast<std::size_t>(joint.joints[1])] = 1;
    for (std::size_t j = 0; j < scene.joints.size(); ++j) {
        JointSpec& joint = scene.joints[j];
        if (joint.type == JointType::ball || joint.type == JointType::distance || coupled[j]) continue;
        for (std::size_t k = 0; k < joint.drives.size(); ++k) {
            if (!joint.drives[k].limits) continue;
            const auto [low, high] = *joint.drives[k].limits;
            if (low <= 0 && 0 <= high) continue;
            const XmlElement element = element_of(static_cast<int>(j), static_cast<int>(k));
            if (!element) continue;
            start_of(joint, k) = low > 0 ? low : high;
            lose(element, ImportLoss::Kind::converted, "joints whose limits leave out their zero",
                 "start at the nearer limit, unless a keyframe says otherwise");
        }
    }
    start_couplings(scene);
}

Inertial combined(const Inertial& a, const Inertial& b) {
    Inertial sum;
    sum.mass = a.mass + b.mass;
    if (!(sum.mass > 0)) return sum;
    sum.center = (a.mass * a.center + b.mass * b.center) / sum.mass;
    for (const Inertial* part : {&a, &b}) {
        const Vec3 d = part->center - sum.center;
        sum.inertia += part->inertia + part->mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
    }
    return sum;
}

Inertial moved(const Inertial& inertial, const Pose& pose) {
    const Mat3 R = pose.rotation.toRotationMatrix();
    return {inertial.mass, pose.position + R * inertial.center, R * inertial.inertia * R.transpose()};
}

}  // namespace tenon::scene

namespace tenon {

std::string losses_json(const std::vector<ImportLoss>& losses) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const ImportLoss& loss : losses)
        all.push_back({{"file", loss.file},
                       {"line", loss.line},
                       {"element", loss.element},
                       {"kind", scene::kind_name(loss.kind)},
                       {"what", loss.what},
                       {"why", loss.why}});
    return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string losses_text(const std::vector<ImportLoss>& losses) {
    struct Group {
        const ImportLoss* first;
        std::vector<int> lines;
    };
    std::map<std::tuple<int, std::string, std::string>, std::size_t> index;
    std::vector<Group> groups;
    for (const ImportLoss& loss : losses) {
        const auto [entry, is_new] =
            index.try_emplace({static_cast<int>(loss.kind), loss.what, loss.why}, groups.size());
        if (is_new) groups.push_back({&loss, {}});
        groups[entry->second].lines.push_back(loss.line);
    }
    std::string text;
    for (const Group& group : groups) {
        const ImportLoss& loss = *group.first;
        text += fmt::format("{}: {}", scene::kind_name(loss.kind), loss.what);
        if (!loss.why.empty()) text += ": " + loss.why;
        if (loss.line > 0) {
            text += fmt::format(" ({} {}", group.lines.size() == 1 ? loss.element + ", line" : "lines",
                                group.lines[0]);
            for (std::size_t k = 1; k < std::min<std::size_t>(group.lines.size(), 5); ++k)
                text += fmt::format(", {}", group.lines[k]);
            if (group.lines.size() > 5) text += fmt::format(" and {} more", group.lines.size() - 5);
            text += ")";
        }
        text += "\n";
    }
    return text;
}

ImportedScene import_scene(const std::string& file, const ImportOptions& options) {
    const std::string text = scene::read_text_file(file);
    const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first != std::string::npos && text[first] == '<') {
        // the first element that is no comment or declaration says what it is
        for (std::size_t at = first; at != std::string::npos; at = text.find('<', at + 1)) {
            if (text.compare(at, 4, "<!--") == 0) {
                at = text.find("-->", at);
                if (at == std::string::npos) break;
                continue;
            }
            if (text.compare(at, 2, "<?") == 0 || text.compare(at, 2, "<!") == 0) continue;
            if (text.compare(at, 6, "<robot") == 0) return import_urdf(file, options);
            break;
        }
        return import_mjcf(file, options);
    }
    ImportedScene result;
    std::vector<std::string> warnings;
    result.scene = import_rigid_ipc(file, options.mesh_root, &warnings);
    for (const std::string& warning : warnings)
        result.losses.push_back({file, 0, "", ImportLoss::Kind::left_out, warning, ""});
    return result;
}

}  // namespace tenon

// Scenes of the rigid-ipc project, with the meaning their own reader gives them (docs/scene.md).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "geometry/hole_caps.hpp"
#include "geometry/mass_properties.hpp"
#include "geometry/mesh_check.hpp"
#include "geometry/mesh_io.hpp"
#include "math/rotation.hpp"
#include "math/union_find.hpp"
#include "scene/check.hpp"
#include "scene/import/rigid_ipc_keys.hpp"
#include "scene/method_schema.hpp"
#include "scene/reader.hpp"
#include "tenon/error.hpp"
#include "tenon/mesh.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

using namespace scene;
namespace fs = std::filesystem;

constexpr double degree = std::numbers::pi / 180.0;

// R = Rz Ry Rx of angles in degrees.
Quat rotation_of(const Vec3& degrees) {
    return normalised_quaternion(Quat(Eigen::AngleAxisd(degrees.z() * degree, Vec3::UnitZ())) *
                                 Quat(Eigen::AngleAxisd(degrees.y() * degree, Vec3::UnitY())) *
                                 Quat(Eigen::AngleAxisd(degrees.x() * degree, Vec3::UnitX())));
}

// Triangles that share an edge belong together, as its reader has it.
std::vector<Mesh> components_by_edges(const Mesh& mesh) {
    UnionFind joined(mesh.triangles.size());
    std::map<Edge, int> owner;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k) {
            const auto [a, b] = std::minmax(mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3]);
            const auto [found, is_new] = owner.emplace(Edge{a, b}, static_cast<int>(t));
            if (!is_new) joined.join(static_cast<int>(t), found->second);
        }
    std::map<int, Mesh> parts;
    std::map<std::pair<int, int>, int> renumbered;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const int part = joined.root(static_cast<int>(t));
        Mesh& out = parts[part];
        Triangle triangle;
        for (std::size_t k = 0; k < 3; ++k) {
            const int vertex = mesh.triangles[t][k];
            const auto [found, is_new] =
                renumbered.emplace(std::pair{part, vertex}, static_cast<int>(out.vertices.size()));
            if (is_new) out.vertices.push_back(mesh.vertices[static_cast<std::size_t>(vertex)]);
            triangle[k] = found->second;
        }
        out.triangles.push_back(triangle);
    }
    std::vector<Mesh> list;
    for (auto& [part, out] : parts) list.push_back(std::move(out));
    return list;
}

class RigidIpcImporter {
  public:
    RigidIpcImporter(const std::string& file, const std::string& mesh_root,
                     std::vector<std::string>* warnings)
        : context_{file}, mesh_root_(mesh_root), warnings_(warnings) {}

    Scene import();

  private:
    // A body's geometry as it is in the file, before scaling.
    struct Source {
        Mesh mesh;
        std::string file;  // empty: inline
        std::string name;
    };

    void warn(const Where& where, const std::string& text) {
        if (warnings_) warnings_->push_back(where.text() + ": " + text);
    }
    void drop_unknown_keys(const Where& where, Value& value, const ObjectInfo& info);
    void read_settings(const Value& root);
    void read_contact(const Where& where, const Value& root);
    void set_method_param(const Where& where, const char* name, ParamValue value);
    void read_body(const Where& where, const Value& value);
    Source read_source(const Where& where, const Value& value);
    std::string mesh_path(const Where& where, const std::string& given) const;
    Vec3 read_scale(const Where& where, const Value& value, const Mesh& mesh) const;
    void add_body(const Where& where, const Value& value, const Source& source, const Vec3& scale);
    bool mass_with_holes(const Where& where, const Mesh& welded, const Vec3& scale, GeometrySpec& spec,
                         BodySpec& body);
    GeometrySpec geometry_spec(const Where& where, const Source& source, const Vec3& scale, BodySpec& body);
    std::vector<Keyframe> motion(const Where& where, const Value& value, const BodySpec& body,
                                 const Vec3& center);
    void set_groups();

    Context context_;
    std::string mesh_root_;
    std::vector<std::string>* warnings_;
    Scene scene_;
    std::unordered_map<std::string, Mesh> meshes_;
    std::unordered_map<std::string, int> names_;
    std::vector<int> group_ids_;
};

// Unknown keys have no meaning to rigid-ipc either; they are named rather than refused.
void RigidIpcImporter::drop_unknown_keys(const Where& where, Value& value, const ObjectInfo& info) {
    if (!value.is_object()) return;
    std::erase_if(value.object(), [&](const Member& member) {
        if (is_comment(member.key)) return true;
        if (info.find(member.key)) return false;
        warn(where / member.key, "unknown key, left out; " + suggestion(member.key, info.names()));
        return true;
    });
    for (Member& member : value.object()) {
        const KeyInfo& key = *info.find(member.key);
        const Where place = where / member.key;
        if (key.kind == Kind::object) drop_unknown_keys(place, member.value, key.object());
        if (key.kind == Kind::objects && member.value.is_list())
            for (std::size_t i = 0; i < member.value.list().size(); ++i)
                drop_unknown_keys(place / static_cast<long>(i), member.value.list()[i], key.object());
    }
}

void RigidIpcImporter::set_method_param(const Where& where, const char* name, ParamValue value) {
    for (const MethodSchema& method : method_schemas())
        if (method.name == scene_.method)
            for (const ParamInfo& info : method.parameters)
                if (info.name == name) {
                    scene_.method_params[name] = std::move(value);
                    return;
                }
    warn(where, fmt::format("the method {} has no '{}': left out", scene_.method, name));
}

void RigidIpcImporter::read_settings(const Value& root) {
    const Where top;
    scene_.method = "affine";
    scene_.dt = number_or(root, "timestep", 0.01);
    const double max_time = number_or(root, "max_time", -1),
                 max_steps = number_or(root, "max_iterations", -1);
    if (max_time >= 0) {
        scene_.seconds = max_time;
    } else if (max_steps >= 0) {
        scene_.seconds = max_steps * scene_.dt;
    } else {
        scene_.seconds = 10;
        warn(top / "max_time", "neither max_time nor max_iterations is given: 10 seconds are taken");
    }
    const Where problem_place = top / "rigid_body_problem";
    const Value& problem = *root.find("rigid_body_problem");
    scene_.gravity = vec3_or(problem, "gravity", Vec3::Zero());
    scene_.materials[0].friction = number_or(problem, "coefficient_friction", 0.0);
    // Negative restitution stands for none at all.
    scene_.materials[0].restitution = std::max(0.0, number_or(problem, "coefficient_restitution", 0.0));
    const std::string stepper = text_or(problem, "time_stepper", "implicit_euler");
    const Where stepper_place = problem_place / "time_stepper";
    if (stepper == "implicit_newmark" || stepper == "newmark")
        set_method_param(stepper_place, "integrator", std::string("newmark"));
    else if (stepper != "implicit_euler")
        warn(stepper_place, fmt::format("'{}' is not known: implicit Euler is taken", stepper));
    for (const char* key : {"collision_eps", "do_intersection_check"})
        if (problem.find(key)) warn(problem_place / key, "concerns rigid-ipc's own checks: left out");
}

void RigidIpcImporter::read_contact(const Where& top, const Value& root) {
    scene_.contact.dhat = 1e-3;  // rigid-ipc's default
    const Where barrier_place = top / "distance_barrier_constraint";
    if (const Value* barrier = root.find("distance_barrier_constraint")) {
        scene_.contact.dhat =
            number_or(*barrier, "initial_barrier_activation_distance", *scene_.contact.dhat);
        for (const char* key : {"barrier_type", "detection_method", "trajectory_type"})
            if (barrier->find(key))
                warn(barrier_place / key, "chooses a part of rigid-ipc's solver: left out");
        if (number_or(*barrier, "minimum_separation_distance", 0.0) > 0)
            for (BodySpec& body : scene_.bodies)
                body.min_separation =
                    0.5 * barrier->find("minimum_separation_distance")->number();  // two add up
    }
    const Where friction_place = top / "friction_constraints";
    if (const Value* friction = root.find("friction_constraints")) {
        const double iterations = number_or(*friction, "iterations", 1);
        if (iterations == 0) scene_.materials[0].friction = 0;  // its way to switch friction off
        if (iterations < 0) set_method_param(friction_place / "iterations", "friction_iterations", 100.0);
        if (iterations > 1)
            set_method_param(friction_place / "iterations", "friction_iterations", iterations);
        if (const Value* bound = friction->find("static_friction_speed_bound"))
            set_method_param(friction_place / "static_friction_speed_bound", "eps_v", bound->number());
    }
    for (const char* name : {"ipc_solver", "newton_solver"}) {
        const Value* solver = root.find(name);
        if (!solver) continue;
        const Where place = top / name;
        for (const Member& member : solver->object())
            if (member.key == "velocity_conv_tol")
                set_method_param(place / member.key, "tolerance", member.value.number());
            else
                warn(place / member.key, "concerns rigid-ipc's own solver: left out");
    }
}

std::string RigidIpcImporter::mesh_path(const Where& where, const std::string& given) const {
    std::vector<fs::path> candidates;
    if (!mesh_root_.empty()) candidates.push_back(fs::path(mesh_root_) / given);
    const fs::path folder = fs::absolute(context_.file).parent_path();
    candidates.push_back(folder / given);
    for (fs::path above = folder;; above = above.parent_path()) {
        candidates.push_back(above / "meshes" / given);
        if (above == above.parent_path()) break;
    }
    std::error_code error;
    for (const fs::path& path : candidates)
        if (fs::is_regular_file(path, error)) return fs::absolute(path).lexically_normal().string();
    context_.fail(where, fmt::format("no such mesh: {}", given),
                  mesh_root_.empty()
                      ? "meshes are looked for beside the file and in a folder 'meshes' above it"
                      : fmt::format("it is not in {} either", mesh_root_));
}

RigidIpcImporter::Source RigidIpcImporter::read_source(const Where& where, const Value& value) {
    Source source;
    if (const Value* mesh = value.find("mesh"); mesh && !mesh->text().empty()) {
        source.file = mesh_path(where / "mesh", mesh->text());
        source.name = fs::path(source.file).stem().string();
        auto found = meshes_.find(source.file);
        if (found == meshes_.end())
            found = meshes_.emplace(source.file, geometry::read_mesh(source.file)).first;
        source.mesh = found->second;
        return source;
    }
    source.name = "body";
    const Value* vertices = value.find("vertices");
    if (!vertices || vertices->array_size() == 0)
        context_.fail(where, "has no geometry", "give a mesh, or vertices with faces or edges");
    for (const Value& vertex : vertices->list()) source.mesh.vertices.push_back(to_vec3(vertex));
    const auto index = [&](const Where& place, double number) {
        if (number >= static_cast<double>(source.mesh.vertices.size()))
            context_.fail(place, fmt::format("vertex {:g} does not exist", number), "vertices count from 0");
        return static_cast<int>(number);
    };
    if (const Value* faces = value.find("faces"); faces && faces->is_list())
        for (const Value& face : faces->list()) {
            const Numbers& n = face.numbers();
            const Where place = where / "faces";
            source.mesh.triangles.push_back({index(place, n[0]), index(place, n[1]), index(place, n[2])});
        }
    std::set<Edge> of_triangles;
    for (const Triangle& triangle : source.mesh.triangles)
        for (std::size_t k = 0; k < 3; ++k) {
            const auto [a, b] = std::minmax(triangle[k], triangle[(k + 1) % 3]);
            of_triangles.insert({a, b});
        }
    std::vector<bool> used(source.mesh.vertices.size());
    if (const Value* edges = value.find("edges"); edges && edges->is_list())
        for (const Value& edge : edges->list()) {  // its edges include those of the faces
            const Where place = where / "edges";
            const int one = index(place, edge.numbers()[0]), other = index(place, edge.numbers()[1]);
            if (!of_triangles.count({std::min(one, other), std::max(one, other)}))
                source.mesh.edges.push_back({one, other});
            used[static_cast<std::size_t>(one)] = used[static_cast<std::size_t>(other)] = true;
        }
    for (const Triangle& triangle : source.mesh.triangles)
        for (int vertex : triangle) used[static_cast<std::size_t>(vertex)] = true;
    for (std::size_t i = 0; i < used.size(); ++i)
        if (!used[i]) source.mesh.points.push_back(static_cast<int>(i));
    return source;
}

Vec3 RigidIpcImporter::read_scale(const Where& where, const Value& value, const Mesh& mesh) const {
    const Value* dimensions = value.find("dimensions");  // wins over scale
    if (!dimensions) {
        const Value* scale = value.find("scale");
        if (!scale) return Vec3::Ones();
        return scale->is_number() ? Vec3(Vec3::Constant(scale->number())) : to_vec3(*scale);
    }
    Box3 box;
    for (const Vec3& vertex : mesh.vertices) box.add(vertex);
    const Vec3 wanted = to_vec3(*dimensions);
    Vec3 scale;
    for (int k = 0; k < 3; ++k) {
        const double extent = box.hi[k] - box.lo[k];
        const bool flat_at_zero = extent == 0 && box.lo[k] == 0;  // any factor does
        scale[k] = flat_at_zero ? 1.0 : wanted[k] / (extent == 0 ? 1.0 : extent);
        if (scale[k] == 0)
            context_.fail(where / "dimensions", "would flatten the mesh", "leave no dimension at zero");
    }
    return scale;
}

void RigidIpcImporter::read_body(const Where& where, const Value& value) {
    if (!flag_or(value, "enabled", true)) return;
    for (const char* key : {"oriented", "ipc_comparison_enabled"})
        if (value.find(key)) warn(where / key, "has no meaning here: left out");
    const Source source = read_source(where, value);
    const Vec3 scale = read_scale(where, value, source.mesh);
    if (!flag_or(value, "split_components", false)) return add_body(where, value, source, scale);
    int part = 0;
    for (Mesh& mesh : components_by_edges(source.mesh))
        add_body(where, value, {std::move(mesh), "", fmt::format("{}-part{:03d}", source.name, part++)},
                 scale);
}

// Their masses are volume integrals over the triangles there are. Where holes are small this is the volume of the surface
// with the holes closed, which does not depend on where the origin is; of sheets and bowls it says nothing.
bool RigidIpcImporter::mass_with_holes(const Where& where, const Mesh& welded, const Vec3& scale,
                                       GeometrySpec& spec, BodySpec& body) {
    constexpr double largest_share = 0.1;
    if (welded.triangles.empty() || !welded.edges.empty() || !welded.points.empty()) return false;
    Mesh scaled = welded;
    Box3 box;
    for (Vec3& vertex : scaled.vertices) box.add(vertex = vertex.cwiseProduct(scale));
    const geometry::CappedMesh capped = geometry::cap_holes(scaled);
    if (!capped.closed || capped.cap_share > largest_share) return false;
    const geometry::MassProperties properties = geometry::mass_properties(capped.mesh, 0.0);
    if (!properties.solid || !(properties.volume > 0)) return false;
    spec.thickness = 1e-3 * box.diagonal();
    if (body.type != BodyType::dynamic_body) return true;
    const geometry::PrincipalFrame frame = geometry::principal_frame(properties.second);
    const Vec3 second = *body.density * frame.moments;
    body.mass = *body.density * properties.volume;
    body.inertia = InertiaSpec{properties.centroid,
                               {second.y() + second.z(), second.z() + second.x(), second.x() + second.y()},
                               Quat(frame.axes)};
    body.density.reset();
    warn(where, fmt::format(
                    "the mesh has holes ({:.2g} % of its area): its mass is {:g} kg, that of the volume with "
                    "the holes closed",
                    100 * capped.cap_share, *body.mass));
    return true;
}

GeometrySpec RigidIpcImporter::geometry_spec(const Where& where, const Source& source, const Vec3& scale,
                                             BodySpec& body) {
    GeometrySpec spec;
    spec.scale = scale;
    spec.mesh_file = source.file;
    if (source.file.empty()) {
        spec.vertices = source.mesh.vertices;
        spec.triangles = source.mesh.triangles;
        spec.edges = source.mesh.edges;
        spec.points = source.mesh.points;
    }
    // Exporters write a vertex for each corner: what is closed shows only when equal ones are one.
    const geometry::MeshReport raw = geometry::check_mesh(source.mesh);
    const Mesh welded = raw.closed() ? source.mesh : geometry::weld(source.mesh, 0.0);
    const geometry::MeshReport report = raw.closed() ? raw : geometry::check_mesh(welded);
    const bool mirrored = scale.prod() < 0;
    spec.repair = report.degenerate_triangles > 0 || report.inside_out != mirrored ||
                  report.inconsistent_edges > 0 || (report.closed() && !raw.closed());
    if (report.closed() && !source.mesh.triangles.empty()) return spec;
    if (mass_with_holes(where, welded, scale, spec, body)) return spec;

    // Without a volume its masses are density times area, length or number of points.
    Mesh scaled = source.mesh;
    Box3 box;
    for (Vec3& vertex : scaled.vertices) box.add(vertex = vertex.cwiseProduct(scale));
    spec.thickness = 1e-3 * box.diagonal();
    if (spec.thickness == 0) spec.thickness = 1e-3;
    if (body.type != BodyType::dynamic_body) return spec;
    const double volume = geometry::mass_properties(scaled, spec.thickness).volume;
    const int flat_directions = !scaled.triangles.empty() ? 1 : !scaled.edges.empty() ? 2 : 3;
    body.mass = *body.density * volume / std::pow(spec.thickness, flat_directions);
    body.density.reset();
    warn(where, fmt::format("the mesh does not enclose a volume: its mass is {:g} kg by {}, thickness {:g} m",
                            *body.mass,
                            flat_directions == 1   ? "area"
                            : flat_directions == 2 ? "length"
                                                   : "points",
                            spec.thickness));
    return spec;
}

void RigidIpcImporter::add_body(const Where& where, const Value& value, const Source& source,
                                const Vec3& scale) {
    BodySpec body;
    const std::string type = text_or(value, "type", "dynamic");
    body.type = type == "static"      ? BodyType::static_body
                : type == "kinematic" ? BodyType::kinematic_body
                                      : BodyType::dynamic_body;
    if (const Value* fixed = value.find("is_dof_fixed")) {
        if (fixed->is_flag()) body.fixed.fill(fixed->flag());
        if (fixed->is_list())
            for (std::size_t k = 0; k < 6; ++k) {
                if (k >= fixed->list().size() || !fixed->list()[k].is_flag())
                    context_.fail(where / "is_dof_fixed", "is not six of true and false",
                                  "give one flag for each coordinate, or one for all");
                body.fixed[k] = fixed->list()[k].flag();
            }
    }
    const bool all_fixed = std::all_of(body.fixed.begin(), body.fixed.end(), [](bool f) { return f; });
    if (all_fixed || body.type == BodyType::static_body) {
        body.type = BodyType::static_body;
        body.fixed.fill(false);
    }
    if (std::count(body.fixed.begin() + 3, body.fixed.end(), true) == 1)
        warn(where / "is_dof_fixed",
             "one fixed rotation: taken about the world's axis, not a principal axis");

    body.density = number_or(value, "density", 1000.0);
    if (*body.density == 0) {  // of scenery, which no force moves
        if (body.type == BodyType::dynamic_body)
            context_.fail(where / "density", "0 is out of range", "a body that moves has a mass");
        body.density.reset();
    }
    body.position = vec3_or(value, "position", Vec3::Zero());
    body.rotation = rotation_of(vec3_or(value, "rotation", Vec3::Zero()));
    const GeometrySpec spec = geometry_spec(where, source, scale, body);
    body.geometry = scene_.add_geometry(spec);

    Vec3 linear = vec3_or(value, "linear_velocity", Vec3::Zero());
    Vec3 angular = degree * vec3_or(value, "angular_velocity", Vec3::Zero());
    ForceSpec force;
    force.force = vec3_or(value, "force", Vec3::Zero());
    force.torque = degree * vec3_or(value, "torque", Vec3::Zero());
    for (int k = 0; k < 3; ++k) {  // fixed coordinates feel nothing
        const auto at = static_cast<std::size_t>(k);
        if (body.fixed[at]) linear[k] = force.force[k] = 0;
        if (body.fixed[at + 3]) angular[k] = force.torque[k] = 0;
    }
    if (body.type == BodyType::dynamic_body) {
        body.linear_velocity = linear;
        body.angular_velocity = angular;
    }
    if (body.type == BodyType::kinematic_body) {
        Mesh scaled = source.mesh;
        for (Vec3& vertex : scaled.vertices) vertex = vertex.cwiseProduct(scale);
        const Vec3 center = geometry::mass_properties(scaled, spec.thickness).centroid;
        body.linear_velocity = linear;  // carried to motion(), which turns them into keyframes
        body.angular_velocity = angular;
        body.motion = motion(where, value, body, center);
        body.linear_velocity.setZero();
        body.angular_velocity.setZero();
        body.fixed.fill(false);
    }
    int& count = names_[source.name];
    do {
        body.name = ++count == 1 ? source.name : fmt::format("{}-{}", source.name, count);
    } while (body.name == "world" || scene_.body_index(body.name) >= 0);
    group_ids_.push_back(static_cast<int>(number_or(value, "group_id", -1)));
    const bool dynamic = body.type == BodyType::dynamic_body;
    force.body = scene_.add_body(std::move(body));
    if (dynamic && (!force.force.isZero(0.0) || !force.torque.isZero(0.0))) scene_.forces.push_back(force);
}

// Kinematic bodies take one pose of the list a step, then go on with their velocity, until their time is up.
std::vector<Keyframe> RigidIpcImporter::motion(const Where& where, const Value& value, const BodySpec& body,
                                               const Vec3& center) {
    const double limit = number_or(value, "kinematic_max_time", -1.0);
    const double end = limit < 0 ? scene_.seconds : std::min(limit, scene_.seconds);
    const Vec3 arm = body.rotation * -center;  // from the centre of mass to the mesh's origin, at the start
    std::vector<Keyframe> frames;
    const auto add = [&](double time, const Vec3& place, const Quat& turn) {
        frames.push_back({time, place + turn * arm, normalised_quaternion(turn * body.rotation)});
    };
    double time = 0;
    Vec3 place = body.position - arm;
    Quat turn = Quat::Identity();
    add(time, place, turn);
    if (const Value* poses = value.find("kinematic_poses"); poses && poses->is_list())
        for (std::size_t i = 0; i < poses->list().size(); ++i) {
            const double next = static_cast<double>(i + 1) * scene_.dt;
            if (next > end * (1 + 1e-12)) break;
            const Value& pose = poses->list()[i];
            time = next;
            place = vec3_or(pose, "position", Vec3::Zero());
            turn = exponential_map(vec3_or(pose, "rotation", Vec3::Zero()));
            if (i == 0 && pose.find("rotation"))
                warn(where / "kinematic_poses",
                     "rotations are taken from the mesh as placed, not its principal axes");
            add(time, place, turn);
        }
    const Vec3 linear = body.linear_velocity, angular = body.angular_velocity;
    const double left = end - time, speed = angular.norm();
    if (left <= 0 || (linear.isZero(0.0) && speed == 0)) return frames;
    // A turn about the mesh's own origin is exact between keyframes; one about another point is followed
    // step by step.
    const bool centered = arm.norm() <= 1e-9 * (1 + place.norm());
    const double largest_turn =
        centered ? std::numbers::pi / 4 : std::min(speed * scene_.dt, std::numbers::pi / 4);
    const int pieces = speed == 0 ? 1 : static_cast<int>(std::ceil(speed * left / largest_turn - 1e-9));
    for (int i = 1; i <= pieces; ++i) {
        const double since = left * i / pieces;
        add(time + since, place + since * linear, exponential_map(since * angular) * turn);
    }
    return frames;
}

// All static and kinematic bodies form one group, with the dynamic bodies that share an id with one of them.
void RigidIpcImporter::set_groups() {
    std::set<int> still;
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i)
        if (scene_.bodies[i].type != BodyType::dynamic_body && group_ids_[i] >= 0)
            still.insert(group_ids_[i]);
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) {
        BodySpec& body = scene_.bodies[i];
        if (body.type != BodyType::dynamic_body || still.count(group_ids_[i]))
            body.group = "static";
        else if (group_ids_[i] >= 0)
            body.group = fmt::format("group-{}", group_ids_[i]);
    }
}

Scene RigidIpcImporter::import() {
    Value root = parse_json(read_text_file(context_.file), context_.file);
    const Where top;
    if (!root.is_object() || !root.find("rigid_body_problem"))
        context_.fail(top, "is no rigid-ipc scene", "such a scene has a \"rigid_body_problem\"");
    drop_unknown_keys(top, root, rigid_ipc_keys());
    check_object(context_, top, root, rigid_ipc_keys());
    scene_.file = context_.file;
    scene_.name = fs::path(context_.file).stem().string();
    read_settings(root);
    const Where problem = top / "rigid_body_problem", bodies = problem / "rigid_bodies";
    const Value& list = *root.find("rigid_body_problem")->find("rigid_bodies");
    for (std::size_t i = 0; list.is_list() && i < list.list().size(); ++i)
        read_body(bodies / static_cast<long>(i), list.list()[i]);
    if (scene_.bodies.empty())
        context_.fail(bodies, "the scene has no enabled bodies", "enable at least one");
    set_groups();
    read_contact(top, root);
    return std::move(scene_);
}

}  // namespace

Scene import_rigid_ipc(const std::string& file, const std::string& mesh_root,
                       std::vector<std::string>* warnings) {
    return RigidIpcImporter(file, mesh_root, warnings).import();
}

}  // namespace tenon

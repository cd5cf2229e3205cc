// From the scene's description to the model: shapes, mass, frames, poses at the start.
#include <cmath>

#include <fmt/format.h>

#include "geometry/mass_properties.hpp"
#include "geometry/mesh_check.hpp"
#include "geometry/shapes.hpp"
#include "math/rotation.hpp"
#include "model/elastic_build.hpp"
#include "model/expand.hpp"
#include "model/geometry_mesh.hpp"
#include "model/joint_check.hpp"
#include "model/joint_start.hpp"
#include "scene/actuators.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

double diagonal(const Mesh& mesh) {
    Box3 box;
    for (const Vec3& vertex : mesh.vertices) box.add(vertex);
    return box.diagonal();
}

Primitive scaled_primitive(const GeometrySpec& geometry) {
    if (geometry.parts.size() == 1 && geometry.scale == Vec3::Ones()) {
        const GeometryPart& part = geometry.parts[0];
        Primitive primitive = scaled_primitive(part.geometry);
        primitive.frame.position = part.position + part.rotation * primitive.frame.position;
        primitive.frame.rotation = part.rotation * primitive.frame.rotation;
        return primitive;
    }
    const geometry::ShapeInfo* info = geometry.shape.empty() ? nullptr : geometry::find_shape(geometry.shape);
    if (!info || !info->primitive) return {};
    Primitive primitive = info->primitive(geometry.shape_params);
    const Vec3 s = geometry.scale.cwiseAbs();
    const bool uniform = s.x() == s.y() && s.y() == s.z();
    if (primitive.kind == Primitive::Kind::box && primitive.frame.rotation.isApprox(Quat::Identity()))
        primitive.size = primitive.size.cwiseProduct(s);
    else if (uniform)
        primitive.size *= s.x();
    else
        return {};
    primitive.frame.position = primitive.frame.position.cwiseProduct(geometry.scale);
    return primitive;
}

struct FrameAndMoments {
    Mat3 axes;
    Vec3 center, second_moments;
};

FrameAndMoments body_frame(const geometry::MassProperties& mass, const BodySpec& body) {
    if (body.inertia) {
        const Mat3 axes = body.inertia->axes.toRotationMatrix();
        return {axes, body.inertia->center, (axes.transpose() * mass.second * axes).diagonal()};
    }
    const geometry::PrincipalFrame principal = geometry::principal_frame(mass.second);
    return {principal.axes, mass.centroid, principal.moments};
}

geometry::MassProperties volume_integrals(const Mesh& mesh, const GeometrySpec& geometry,
                                          const BodySpec& body, const Origin& origin) {
    const bool moves_freely = body.type == BodyType::dynamic_body || body.kinematic_until < 1e299;
    geometry::MassProperties mass = geometry::mass_properties(mesh, geometry.thickness);
    if (!mass.solid && geometry.thickness <= 0) {
        if (moves_freely && !(body.mass && body.inertia))
            throw InputError(origin.file, origin.path,
                             "the mesh does not enclose a volume, so it has no mass",
                             "give a \"thickness\" in metres, or \"mass\" and \"inertia\"");
        mass = geometry::mass_properties(mesh, std::max(1e-3 * diagonal(mesh), 1e-9));
    }
    if (!(mass.volume > 0) || !std::isfinite(mass.volume))
        throw InputError(origin.file, origin.path, fmt::format("the body has volume {:g} m^3", mass.volume),
                         "it must be positive: check the mesh, its scale and thickness");
    return mass;
}

// A body without geometry: only a frame with mass and inertia.
std::shared_ptr<const Shape> make_bare_shape(const BodySpec& body) {
    auto shape = std::make_shared<Shape>();
    shape->name = "none";
    shape->box.add(Vec3::Zero());  // the centre of mass stands for it where sizes matter
    if (!body.inertia) return shape;
    shape->geometry_frame.rotation = body.inertia->axes.conjugate();
    shape->geometry_frame.position = -(shape->geometry_frame.rotation * body.inertia->center);
    return shape;
}

// The geometry in its body frame: centre of mass at the origin, principal axes along the coordinate axes.
std::shared_ptr<const Shape> make_shape(const GeometrySpec& geometry, const BodySpec& body,
                                        const Origin& origin) {
    auto shape = std::make_shared<Shape>();
    shape->name = !geometry.shape.empty()       ? geometry.shape
                  : !geometry.mesh_file.empty() ? geometry.mesh_file
                                                : "mesh";
    shape->mesh = geometry_mesh(geometry, origin);

    const double size = diagonal(shape->mesh);
    const geometry::MassProperties mass = volume_integrals(shape->mesh, geometry, body, origin);
    const auto [axes, center, second_moments] = body_frame(mass, body);
    shape->second_moments = second_moments;
    shape->volume = mass.volume;
    shape->geometry_frame.rotation = Quat(Mat3(axes.transpose()));
    shape->geometry_frame.position = -(axes.transpose() * center);
    for (Vec3& vertex : shape->mesh.vertices) {
        vertex = axes.transpose() * (vertex - center);
        shape->box.add(vertex);
        shape->radius = std::max(shape->radius, vertex.norm());
    }
    shape->all_edges = geometry::all_edges(shape->mesh);
    shape->closed = mass.solid;
    shape->convex =
        mass.solid && shape->mesh.triangles.size() < 20000 && geometry::is_convex(shape->mesh, 1e-9 * size);
    shape->primitive = scaled_primitive(geometry);
    shape->primitive.frame.position = axes.transpose() * (shape->primitive.frame.position - center);
    shape->primitive.frame.rotation = shape->geometry_frame.rotation * shape->primitive.frame.rotation;
    return shape;
}

int shape_for(Model& model, const Scene& scene, const BodySpec& body, const Origin& origin) {
    if (body.geometry < 0) {
        const bool moves = body.type == BodyType::dynamic_body || body.kinematic_until < 1e299;
        if (moves && !(body.mass && body.inertia))
            throw InputError(origin.file, origin.path, "the body has neither \"shape\" nor \"mesh\"",
                             "give one of them, or \"mass\" and \"inertia\"");
        model.shapes.push_back(make_bare_shape(body));
        return static_cast<int>(model.shapes.size()) - 1;
    }
    if (!body.inertia) {
        const auto found = model.shape_of_geometry.find(body.geometry);
        if (found != model.shape_of_geometry.end()) return found->second;
    }
    model.shapes.push_back(make_shape(scene.geometries[body.geometry], body, origin));
    const int index = static_cast<int>(model.shapes.size()) - 1;
    if (!body.inertia) model.shape_of_geometry[body.geometry] = index;
    return index;
}

struct BodyMass {
    double mass;
    Vec3 second_moments;
};

BodyMass mass_of(const Scene& scene, const BodySpec& body, const Shape& shape, const Origin& origin) {
    const double density = body.density ? *body.density : scene.materials[body.material].density;
    BodyMass result;
    const bool bare = body.geometry < 0;  // then nothing moves it but a script, or its mass is given
    result.mass = body.mass ? *body.mass : bare ? 1.0 : density * shape.volume;
    result.second_moments =
        bare ? Vec3(Vec3::Constant(1.0)) : Vec3(shape.second_moments * (result.mass / shape.volume));
    if (body.inertia) {
        const Vec3& moments = body.inertia->moments;
        result.second_moments = Vec3::Constant(0.5 * moments.sum()) - moments;
        if (result.second_moments.minCoeff() < -1e-9 * moments.sum())
            throw InputError(origin.file, origin.path + ".inertia.moments",
                             fmt::format("no body has the moments {:g}, {:g}, {:g}", moments.x(), moments.y(),
                                         moments.z()),
                             "none may exceed the sum of the other two");
        // a flat body has none across itself; affine bodies need a little
        result.second_moments = result.second_moments.cwiseMax(1e-6 * moments.maxCoeff());
    }
    if (!(result.mass > 0) || !std::isfinite(result.mass))
        throw InputError(origin.file, origin.path, fmt::format("the mass is {:g} kg", result.mass),
                         "must be positive");
    return result;
}

Mat3 joint_frame(const JointSpec& spec, const Origin& origin) {
    const Vec3 n = spec.axis.normalized();
    const Vec3 seed = std::abs(n.x()) < 0.6 ? Vec3::UnitX() : Vec3::UnitY();
    const Vec3 other = spec.axis_b ? *spec.axis_b : seed;
    const Vec3 e1 = other - n * n.dot(other);
    if (e1.norm() < 1e-6 * other.norm())
        throw InputError(origin.file, origin.path + ".axis_b", "is parallel to axis",
                         "give an axis perpendicular to it");
    Mat3 frame;
    frame << n, e1.normalized(), n.cross(e1.normalized());
    return frame;
}

void add_joint(Model& model, const Scene& scene, int index) {
    const JointSpec& spec = scene.joints[index];
    const Origin origin{scene.file, fmt::format("joints[{}]", index)};
    Joint joint;
    joint.spec = spec;
    joint.bodies = spec.bodies;
    const Mat3 frame = joint_frame(spec, origin);
    const std::array<Vec3, 2> anchor{spec.point, spec.point_b ? *spec.point_b : spec.point};
    for (int side = 0; side < 2; ++side) {
        const int body = spec.bodies[side];
        if (body < 0) {
            joint.point[side] = anchor[side];
            joint.frame[side] = frame;
        } else {
            const Mat3 inverse = model.bodies.start_q[body].leftCols<3>().transpose();
            joint.point[side] = inverse * (anchor[side] - model.bodies.start_q[body].col(3));
            joint.frame[side] = inverse * frame;
        }
    }
    joint.rest_length = (anchor[1] - anchor[0]).norm();
    if (spec.type == JointType::distance) joint.start_coordinate[0] = joint.rest_length;
    if (spec.type != JointType::distance && joint.rest_length > 1e-9)
        throw InputError(origin.file, origin.path + ".point_b",
                         fmt::format("the two anchors{} are {:g} m apart at the start",
                                     spec.name.empty() ? "" : " of '" + spec.name + "'", joint.rest_length),
                         "leave out point_b, or make them meet");
    model.joints.push_back(joint);
}

void add_body(Model& model, const Scene& scene, int index) {
    const BodySpec& spec = scene.bodies[index];
    const Origin origin{scene.file, fmt::format("bodies[{}]", index)};
    const int shape_index = shape_for(model, scene, spec, origin);
    const Shape& shape = *model.shapes[shape_index];
    const BodyMass mass = mass_of(scene, spec, shape, origin);
    const MaterialSpec& material = scene.materials[spec.material];

    const Quat body_rotation = spec.rotation.normalized() * shape.geometry_frame.rotation.conjugate();
    Mat34 q, rate;
    q.leftCols<3>() = body_rotation.toRotationMatrix();
    q.col(3) = spec.position - body_rotation * shape.geometry_frame.position;
    rate.leftCols<3>() = skew(spec.angular_velocity) * q.leftCols<3>();
    rate.col(3) = spec.linear_velocity;

    Bodies& bodies = model.bodies;
    bodies.name.push_back(spec.name);
    bodies.shape.push_back(shape_index);
    bodies.start_type.push_back(spec.type);
    bodies.start_q.push_back(q);
    bodies.start_rate.push_back(spec.type == BodyType::dynamic_body ? rate : Mat34(Mat34::Zero()));
    bodies.mass.push_back(mass.mass);
    bodies.second_moments.push_back(mass.second_moments);
    bodies.volume.push_back(shape.volume);
    bodies.material.push_back(spec.material);
    bodies.friction.push_back(spec.friction ? *spec.friction : material.friction);
    bodies.restitution.push_back(spec.restitution ? *spec.restitution : material.restitution);
    bodies.min_separation.push_back(spec.min_separation);
    bodies.fixed.push_back(spec.fixed);
    bodies.group.push_back(spec.group);
    bodies.collides.push_back(spec.collides && spec.geometry >= 0);
    bodies.motion.push_back(spec.motion);
    bodies.kinematic_until.push_back(spec.kinematic_until);
    bodies.color.push_back(spec.color);
    const int body = bodies.size() - 1;
    if (spec.type != BodyType::kinematic_body) return;
    if (!spec.motion.empty()) {
        bodies.start_q[body] = scripted_pose(model, body, 0.0);
        bodies.start_rate[body] = scripted_rate(model, body, 0.0);
    }
    if (!spec.linear_velocity.isZero(0.0) || !spec.angular_velocity.isZero(0.0))
        model.release_velocity[body] = {spec.linear_velocity, spec.angular_velocity};
}

void set_pair_rules(Model& model, const Scene& scene) {
    for (const auto& pair : scene.contact.ignore) model.ignored_pairs.insert(pair_key(pair[0], pair[1]));
    for (const PairSpec& pair : scene.contact.pairs)
        model.material_pairs[pair_key(pair.materials[0], pair.materials[1])] = pair;
    if (scene.contact.jointed_bodies_collide) return;
    for (const Joint& joint : model.joints)
        if (joint.bodies[0] >= 0 && joint.bodies[1] >= 0 &&
            model.may_collide(joint.bodies[0], joint.bodies[1]))  // their group may say so already
            model.ignored_pairs.insert(pair_key(joint.bodies[0], joint.bodies[1]));
}

Model compile_in_full(const Scene& scene, const Model* earlier) {
    Model model;
    if (earlier) {
        model.shapes = earlier->shapes;
        model.shape_of_geometry = earlier->shape_of_geometry;
    }
    model.materials = scene.materials;
    model.gravity = scene.gravity;
    model.forces = scene.forces;
    model.wind = scene.wind;
    model.contact_spec = scene.contact;
    for (int i = 0; i < static_cast<int>(scene.bodies.size()); ++i) add_body(model, scene, i);
    check_joints(scene);
    for (int i = 0; i < static_cast<int>(scene.joints.size()); ++i) add_joint(model, scene, i);
    apply_joint_starts(model, scene);
    set_pair_rules(model, scene);
    build_elastic_bodies(model, scene);
    return model;
}

}  // namespace

Model compile(const Scene& scene, const Model* earlier) {
    const std::optional<Scene> full = model::expanded(scene);
    Model model = compile_in_full(full ? *full : scene, earlier);
    model.actuators = scene::actuators_at_start(scene);
    return model;
}

}  // namespace tenon

// Small words for writing scenes in code.
#pragma once

#include <map>
#include <string>

#include "geometry/shapes.hpp"
#include "tenon/scene.hpp"

namespace tenon {

inline GeometrySpec shape_spec(const std::string& shape, const std::map<std::string, ParamValue>& values,
                               double thickness = 0.0) {
    GeometrySpec geometry;
    geometry.shape = shape;
    geometry.shape_params = resolve_params(geometry::find_shape(shape)->parameters, values, {shape, "shape"});
    geometry.thickness = thickness;
    return geometry;
}

inline Mesh shape_mesh(const std::string& shape, const std::map<std::string, ParamValue>& values) {
    const geometry::ShapeInfo* info = geometry::find_shape(shape);
    return info->make(resolve_params(info->parameters, values, {shape, "shape"}));
}

inline void append_mesh(Mesh& mesh, const Mesh& part, const Vec3& position, const Quat& rotation) {
    const int first = static_cast<int>(mesh.vertices.size());
    for (const Vec3& v : part.vertices) mesh.vertices.push_back(rotation * v + position);
    for (const Triangle& t : part.triangles)
        mesh.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
}

inline GeometrySpec mesh_spec(const Mesh& mesh) {
    GeometrySpec geometry;
    geometry.vertices = mesh.vertices;
    geometry.triangles = mesh.triangles;
    geometry.edges = mesh.edges;
    geometry.points = mesh.points;
    return geometry;
}

inline std::vector<double> list_of(const Vec3& v) {
    return {v.x(), v.y(), v.z()};
}

inline GeometrySpec box_spec(const Vec3& size) {
    return shape_spec("box", {{"size", list_of(size)}});
}

inline BodySpec body_spec(Scene& scene, const std::string& name, const GeometrySpec& geometry,
                          const Vec3& position, const Quat& rotation = Quat::Identity()) {
    BodySpec body;
    body.name = name;
    body.geometry = scene.add_geometry(geometry);
    body.position = position;
    body.rotation = rotation;
    return body;
}

inline Quat turn(double degrees, const Vec3& axis) {
    return Quat(Eigen::AngleAxisd(degrees * EIGEN_PI / 180.0, axis.normalized()));
}

// What a scene stands or hangs on in a picture: static, and it touches nothing.
inline BodySpec& add_prop(Scene& scene, const std::string& name, const GeometrySpec& geometry,
                          const Vec3& position, const Quat& rotation = Quat::Identity()) {
    BodySpec prop = body_spec(scene, name, geometry, position, rotation);
    prop.type = BodyType::static_body;
    prop.collides = false;
    prop.color = {0.45, 0.47, 0.5};
    return scene.bodies[scene.add_body(prop)];
}

inline ExpectSpec expect_quantity(const std::string& body, const std::string& quantity, double min,
                                  double max, const std::string& note) {
    ExpectSpec expect;
    expect.body = body;
    expect.quantity = quantity;
    expect.min = min;
    expect.max = max;
    expect.note = note;
    return expect;
}

}  // namespace tenon

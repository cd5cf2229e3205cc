// Small scenes for the tests of the impulse method.
#pragma once

#include <string>

#include "geometry/shapes.hpp"
#include "tenon/simulation.hpp"

namespace tenon::impulse_test {

inline int add_shape(Scene& scene, const std::string& shape,
                     const std::map<std::string, ParamValue>& values = {}) {
    GeometrySpec geometry;
    geometry.shape = shape;
    geometry.shape_params = resolve_params(geometry::find_shape(shape)->parameters, values, {"test", shape});
    scene.geometries.push_back(geometry);
    return static_cast<int>(scene.geometries.size()) - 1;
}

inline int add_box(Scene& scene, const Vec3& size) {
    return add_shape(scene, "box", {{"size", std::vector<double>{size.x(), size.y(), size.z()}}});
}

inline BodySpec& add_body(Scene& scene, int geometry, const Vec3& position,
                          BodyType type = BodyType::dynamic_body) {
    BodySpec body;
    body.name = "body" + std::to_string(scene.bodies.size());
    body.geometry = geometry;
    body.position = position;
    body.type = type;
    scene.bodies.push_back(body);
    return scene.bodies.back();
}

inline Scene make_scene(double friction = 0.5) {
    Scene scene;
    scene.method = "impulse";
    scene.materials[0].friction = friction;
    return scene;
}

inline void add_ground(Scene& scene) {
    add_body(scene, add_shape(scene, "plane"), Vec3::Zero(), BodyType::static_body);
}

// A plane through the origin that falls towards +x by the given angle.
inline Quat slope_rotation(double angle) {
    return Quat(Eigen::AngleAxisd(-angle, Vec3::UnitZ()));
}

inline void run(Simulation& simulation, double seconds) {
    const int steps = static_cast<int>(std::lround(seconds / simulation.dt()));
    for (int i = 0; i < steps; ++i) simulation.step();
}

}  // namespace tenon::impulse_test

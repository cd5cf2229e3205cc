// Small scenes for tests of the adaptive method.
#pragma once

#include "scene/builtin/adaptive_scene_parts.hpp"
#include "tenon/simulation.hpp"

namespace tenon {

inline Scene soft_scene(double dt, bool adaptive) {
    Scene scene;
    scene.method = "adaptive";
    scene.dt = dt;
    scene.gravity.setZero();
    scene.method_params["adaptive"] = adaptive;
    return scene;
}

inline void add_soft_box(Scene& scene, const std::string& name, const Vec3& size, double cell,
                         const Vec3& position, const MaterialSpec& material) {
    scene.elastic.push_back(
        elastic_spec(scene, name, box_spec(size), scene.add_material(material), cell, position));
}

inline double figure(const StepReport& report, const std::string& name) {
    for (const auto& [key, value] : report.metrics)
        if (key == name) return value;
    return -1e300;
}

// Of the first elastic body.
inline Vec3 mass_center(const Simulation& simulation) {
    const std::vector<double>& vertex_mass = simulation.model().elastic[0].vertex_mass;
    const std::vector<Vec3>& x = simulation.state().elastic[0].x;
    Vec3 sum = Vec3::Zero();
    double mass = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
        sum += vertex_mass[v] * x[v];
        mass += vertex_mass[v];
    }
    return sum / mass;
}

// Contact forces on the first elastic body over its weight: one when it rests.
inline double carried_part(const Simulation& simulation) {
    double force = 0, mass = 0;
    for (const Contact& c : simulation.outputs().contacts) force += c.force.y();
    for (double m : simulation.model().elastic[0].vertex_mass) mass += m;
    return force / (mass * 9.81);
}

}  // namespace tenon

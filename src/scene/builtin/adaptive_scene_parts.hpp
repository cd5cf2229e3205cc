// What the scenes of the adaptive family share.
#pragma once

#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"

namespace tenon {

inline Scene adaptive_scene(const Params& params) {
    Scene scene;
    scene.method = "adaptive";
    scene.dt = params.number("dt");
    scene.seconds = params.number("seconds");
    scene.method_params["adaptive"] = params.flag("adaptive");
    scene.method_params["tau_R"] = params.number("tau_R");
    scene.method_params["tau_E"] = params.number("tau_E");
    return scene;
}

// Parameters that every scene of the family has, with its own defaults (Table 1).
inline std::vector<ParamInfo> adaptive_parameters(std::vector<ParamInfo> own, double cell, double dt,
                                                  double seconds, double tau_r, double tau_e) {
    own.insert(own.end(),
               {{"cell", cell, "edge length of the tetrahedra that solids are made of", 1e-4, 10, {}, "m"},
                {"adaptive", true, "false: every element stays elastic"},
                {"tau_R", tau_r, "squared strain rate below which elements become rigid", 0, 1e12},
                {"tau_E", tau_e, "forecast above which they become elastic again", 0, 1e12},
                {"dt", dt, "time step", 1e-6, 0.1, {}, "s"},
                {"seconds", seconds, "simulated time", 1e-3, 1e4, {}, "s"}});
    return own;
}

inline MaterialSpec soft_material(const std::string& name, double density, double young, double poisson,
                                  double rayleigh_mass, double rayleigh_stiffness, double friction = 0.5) {
    MaterialSpec m;
    m.name = name;
    m.density = density;
    m.young = young;
    m.poisson = poisson;
    m.rayleigh_mass = rayleigh_mass;
    m.rayleigh_stiffness = rayleigh_stiffness;
    m.friction = friction;
    return m;
}

inline ElasticSpec elastic_spec(Scene& scene, const std::string& name, const GeometrySpec& geometry,
                                int material, double cell, const Vec3& position,
                                const Quat& rotation = Quat::Identity()) {
    ElasticSpec e;
    e.name = name;
    e.geometry = scene.add_geometry(geometry);
    e.material = material;
    e.cell_size = cell;
    e.position = position;
    e.rotation = rotation;
    return e;
}

inline void add_floor(Scene& scene, double height = 0.0) {
    BodySpec floor = body_spec(scene, "floor", shape_spec("plane", {}), {0, height, 0});
    floor.type = BodyType::static_body;
    scene.add_body(floor);
}

// A closed surface of revolution about y; the profile (radius, height) goes up, its ends lie on the axis.
Mesh lathe(const std::vector<Vec2>& profile, int segments);

std::vector<BuiltinScene> adaptive_large_scenes();

}  // namespace tenon

// Built-in scenes of the adaptive family: cantilever, blob, mattress, wheel, octopus.
#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/adaptive_scene_parts.hpp"

namespace tenon {
namespace {

Scene make_cantilever(const Params& params) {
    Scene scene = adaptive_scene(params);
    const double length = 1.0, side = 0.1, cell = params.number("cell");
    const int material = scene.add_material(
        soft_material("rubber", 1000, params.number("young"), 0.3, 0.0, params.number("damping"), 0.3));
    ElasticSpec beam;
    if (params.flag("flat")) {
        Mesh mesh;
        const int nx = std::max(2, static_cast<int>(std::lround(length / cell))),
                  ny = std::max(1, static_cast<int>(std::lround(side / cell)));
        for (int i = 0; i <= nx; ++i)
            for (int j = 0; j <= ny; ++j)
                mesh.vertices.emplace_back(length * i / nx - 0.5 * length, side * j / ny - 0.5 * side, 0);
        const auto at = [&](int i, int j) { return i * (ny + 1) + j; };
        for (int i = 0; i < nx; ++i)
            for (int j = 0; j < ny; ++j) {
                if ((i + j) % 2) {
                    mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
                    mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
                } else {
                    mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i, j + 1)});
                    mesh.triangles.push_back({at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
                }
            }
        GeometrySpec geometry = mesh_spec(mesh);
        geometry.thickness = side;
        beam = elastic_spec(scene, "beam", geometry, material, cell, {0.5 * length, 0, 0});
        beam.plane_strain = true;
        beam.model = "stvk";
    } else {
        beam =
            elastic_spec(scene, "beam", box_spec({length, side, side}), material, cell, {0.5 * length, 0, 0});
    }
    ElasticSpec::Pin wall;
    wall.lo = Vec3(-0.5 * length - 1e-3, -side, -side);
    wall.hi = Vec3(-0.5 * length + 1e-3, side, side);
    beam.pins.push_back(wall);
    scene.elastic.push_back(beam);
    add_prop(scene, "wall", box_spec({0.12, 0.5, 0.5}), Vec3(-0.0601, 0, 0));
    const double push = params.number("push_at");
    if (push > 0) {
        const Quat across = turn(90, Vec3::UnitX());
        const Vec3 below(0.85, -0.9, 0), up(0.85, -0.22, 0);
        BodySpec finger = body_spec(
            scene, "finger", shape_spec("cylinder", {{"radius", 0.08}, {"length", 0.3}, {"segments", 48.0}}),
            below, across);
        finger.type = BodyType::kinematic_body;
        finger.motion = {{0, below, across},
                         {push, below, across},
                         {push + 0.8, up, across},
                         {push + 1.0, up, across},
                         {push + 1.5, below, across}};
        scene.add_body(finger);
    }
    scene.expect.push_back(expect_quantity("beam", "y", -0.25, -0.01, "the beam sags"));
    return scene;
}

Scene make_blob(const Params& params) {
    Scene scene = adaptive_scene(params);
    add_floor(scene);
    const int material = scene.add_material(soft_material("jelly", 100, 5e3, 0.22, 1e-3, 1e-2));
    const int count = params.integer("count");
    for (int i = 0; i < count; ++i)
        scene.elastic.push_back(elastic_spec(scene, fmt::format("blob{}", i),
                                             shape_spec("icosphere", {{"radius", 0.5}}), material,
                                             params.number("cell"), {0.12 * i, 0.7 + 1.3 * i, 0.05 * i}));
    scene.expect.push_back(expect_quantity("blob0", "y", 0.25, 0.5, "lies on the floor"));
    scene.expect.push_back(expect_quantity("", "max_speed", 0, 3, "comes to rest"));
    return scene;
}

Scene make_mattress(const Params& params) {
    Scene scene = adaptive_scene(params);
    add_floor(scene);
    const int foam = scene.add_material(soft_material("foam", 60, 3e4, 0.3, 0.1, 2e-2));
    MaterialSpec hard;
    hard.name = "bowling ball";
    hard.density = 1300;
    const int ball = scene.add_material(hard);
    const Vec3 size(2.0, 0.3, 1.2);
    scene.elastic.push_back(
        elastic_spec(scene, "mattress", box_spec(size), foam, params.number("cell"), {0, 0.5 * size.y(), 0}));
    const std::array<double, 2> height{params.number("low"), params.number("high")};
    for (int k = 0; k < 2; ++k) {
        BodySpec body = body_spec(scene, k == 0 ? "low" : "high", shape_spec("sphere", {{"radius", 0.108}}),
                                  {k == 0 ? -0.55 : 0.55, size.y() + 0.108 + height[k], 0});
        body.material = ball;
        scene.add_body(body);
    }
    scene.expect.push_back(expect_quantity("low", "y", 0.25, 0.42, "the balls lie on the mattress"));
    scene.expect.push_back(expect_quantity("high", "y", 0.25, 0.42, "the balls lie on the mattress"));
    return scene;
}

// Boxes that fill a disc about y: regions are boxes.
void fill_disc(ElasticSpec& body, double radius, double half_width, int strips, int material) {
    for (int k = 0; k < strips; ++k) {
        const double lo = -radius + 2 * radius * k / strips, hi = -radius + 2 * radius * (k + 1) / strips;
        const double middle = 0.5 * (lo + hi), half = std::sqrt(radius * radius - middle * middle);
        body.regions.push_back({Vec3(-half, -half_width, lo), Vec3(half, half_width, hi), material});
    }
}

Scene make_wheel(const Params& params) {
    Scene scene = adaptive_scene(params);
    add_floor(scene);
    const double radius = 0.3, width = 0.16, speed = 1.5;
    const int tyre =
        scene.add_material(soft_material("tyre", 100, params.number("young"), 0.30, 1e-5, 5e-2, 0.8));
    // as much stiffer than the tyre as in the paper
    const int rim =
        scene.add_material(soft_material("rim", 300, 333 * params.number("young"), 0.40, 1e-5, 1e-3, 0.8));
    ElasticSpec wheel = elastic_spec(
        scene, "wheel", shape_spec("cylinder", {{"radius", radius}, {"length", width}, {"segments", 48.0}}),
        tyre, params.number("cell"), {0, radius + 0.001, 0},
        turn(params.number("tilt"), Vec3::UnitX()) * turn(90, Vec3::UnitX()));
    fill_disc(wheel, 0.65 * radius, width, 12, rim);
    wheel.linear_velocity = Vec3(speed, 0, 0);
    wheel.angular_velocity = Vec3(0, 0, -speed / radius);
    scene.elastic.push_back(wheel);
    scene.expect.push_back(
        expect_quantity("wheel", "x", 0.5 * speed * params.number("seconds") * 0.5, 1e9, "the wheel rolls"));
    return scene;
}

// A ball whose radius grows into arms along eight directions.
Mesh octopus_surface() {
    Mesh mesh = shape_mesh("icosphere", {{"radius", 1.0}, {"subdivisions", 5.0}});
    for (Vec3& v : mesh.vertices) {
        const Vec3 d = v.normalized();
        double r = 0.30 + 0.06 * std::max(0.0, d.y());
        for (int k = 0; k < 8; ++k) {
            const double turn = 2 * EIGEN_PI * k / 8;
            const Vec3 arm = Vec3(std::cos(turn), -0.35, std::sin(turn)).normalized();
            const double angle = std::acos(std::clamp(d.dot(arm), -1.0, 1.0));
            r += 0.75 * std::exp(-std::pow(angle / 0.17, 2));
        }
        v = r * d;
    }
    return mesh;
}

Scene make_octopus(const Params& params) {
    Scene scene = adaptive_scene(params);
    add_floor(scene);
    const int material =
        scene.add_material(soft_material("octopus", 100, params.number("young"), 0.30, 1e-4, 1e-1, 0.6));
    ElasticSpec octopus = elastic_spec(scene, "octopus", mesh_spec(octopus_surface()), material,
                                       params.number("cell"), {0, 0.75, 0});
    scene.elastic.push_back(octopus);
    if (const double pull = params.number("pull_at"); pull > 0) {  // somebody lifts the tip of an arm
        ForceSpec hand;
        hand.body = static_cast<int>(scene.bodies.size());
        hand.point = Vec3(0.95, 0.75 - 0.33, 0);
        hand.force = Vec3(1.0, 4.0, 0);
        hand.from = pull;
        hand.to = pull + 0.5;
        scene.forces.push_back(hand);
    }
    scene.expect.push_back(expect_quantity("octopus", "y", 0.1, 0.6, "lies on its arms"));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> adaptive_scenes() {
    std::vector<BuiltinScene> scenes = {
        {"cantilever",
         "adaptive",
         "a beam held at one end sags, swings, comes to rest and is pushed",
         "Adaptive Rigidification Figs. 4 and 5",
         "the beam swings out, turns rigid from its held end, and becomes elastic again when pushed",
         adaptive_parameters({{"young", 5e6, "Young's modulus", 1, 1e13, {}, "Pa"},
                              {"damping", 0.02, "Rayleigh's stiffness damping", 0, 10, {}, "s"},
                              {"flat", false, "plane-strain triangles instead of tetrahedra"},
                              {"push_at", 4.0, "when the finger comes; 0: never", 0, 1e4, {}, "s"}},
                             0.05, 0.01, 6.0, 1e-6, 1e-5),
         {{"cell", 0.0086}, {"flat", true}},
         make_cantilever},
        {"blob",
         "adaptive",
         "soft balls fall on the floor and on each other",
         "Adaptive Rigidification Fig. 3 and Table 1",
         "rigid in flight, elastic as they bounce and wobble, rigid again at rest though deformed",
         adaptive_parameters({{"count", 2.0, "number of blobs", 1, 100}}, 0.2, 0.01, 4.0, 1e-5, 1e-4),
         {{"cell", 0.096}, {"count", 1.0}, {"seconds", 30.0}},
         make_blob},
        {"mattress",
         "adaptive",
         "two bowling balls dropped on a mattress from different heights",
         "Adaptive Rigidification Fig. 8",
         "each ball wakes a patch around it; the higher drop wakes the larger one",
         adaptive_parameters({{"low", 0.15, "height of the lower drop", 0, 10, {}, "m"},
                              {"high", 0.8, "height of the higher drop", 0, 10, {}, "m"}},
                             0.12, 0.01, 2.5, 1e-3, 1e-2),
         {{"cell", 0.06}},
         make_mattress},
        {"wheel",
         "adaptive",
         "a wheel with a soft tyre on a stiff rim rolls until it tips over",
         "Adaptive Rigidification Figs. 1 and 7, Table 1",
         "the rim stays rigid while the tyre deforms where it touches the ground",
         adaptive_parameters({{"young", 1e6, "Young's modulus of the tyre", 1, 1e13, {}, "Pa"},
                              {"tilt", 4.0, "lean at the start, in degrees", -45, 45}},
                             0.06, 2e-3, 4.0, 5e-4, 5e-3),
         {{"cell", 0.0312}, {"dt", 1e-3}, {"seconds", 4.0}},
         make_wheel},
        {"octopus-soft",
         "adaptive",
         "a soft octopus falls on the floor and comes to rest on its arms",
         "Adaptive Rigidification Fig. 3 and Table 1",
         "arms become rigid one by one as they come to rest",
         adaptive_parameters({{"young", 5e4, "Young's modulus", 1, 1e13, {}, "Pa"},
                              {"pull_at", 2.0, "when an arm is lifted; 0: never", 0, 1e4, {}, "s"}},
                             0.2, 0.01, 3.0, 1e-5, 1e-4),
         {{"cell", 0.13}, {"seconds", 20.0}, {"pull_at", 4.0}},
         make_octopus},
    };
    for (BuiltinScene& scene : adaptive_large_scenes()) scenes.push_back(std::move(scene));
    return scenes;
}

}  // namespace tenon

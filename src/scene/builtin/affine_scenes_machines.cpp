// A machine that exact joints and barrier contact carry together: an engine.
#include <cmath>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/affine_scene_parts.hpp"

namespace tenon {
namespace {

// ---- engine ------------------------------------------------------------------------------------------------

struct Engine {
    double crank = 0.04, rod = 0.14, bore = 0.04, spacing = 0.11;  // m
};

// Shaft along z; for each cylinder two webs and the pin between them, at `angle` from the top. The rod's end clears the pin:
// the joint holds it.
GeometrySpec crankshaft(const Engine& engine, const std::vector<double>& angles) {
    Mesh mesh;
    const auto add = [&](const Vec3& size, const Vec3& at, const Quat& around) {
        append_mesh(mesh, shape_mesh("box", {{"size", list_of(size)}}), at, around);
    };
    constexpr double inner = 0.007, outer = 0.017;  // webs, from the rod's plane
    for (std::size_t k = 0; k < angles.size(); ++k) {
        const Quat around = turn(-angles[k], Vec3::UnitZ());
        const Vec3 middle(0, 0, engine.spacing * static_cast<double>(k));
        for (const double side : {-1.0, 1.0})
            add({0.024, engine.crank + 0.024, outer - inner - 1e-5},
                middle + around * Vec3(0, 0.5 * engine.crank, 0.5 * side * (inner + outer)), around);
        add({0.01, 0.01, 2.0 * inner - 1e-5}, middle + around * Vec3(0, engine.crank, 0), around);
        const double before = k == 0 ? 0.04 : engine.spacing - outer;
        add({0.018, 0.018, before - outer - 1e-5}, middle - Vec3(0, 0, 0.5 * (before + outer)),
            Quat::Identity());
    }
    return mesh_spec(mesh);
}

// Rod and piston of one cylinder. Nothing but the wall guides the piston.
void add_cylinder(Scene& scene, const Engine& engine, int k, double degrees, double clearance, int crank) {
    const double angle = degrees * EIGEN_PI / 180.0, z = engine.spacing * k;
    const Vec3 pin(engine.crank * std::sin(angle), engine.crank * std::cos(angle), z);
    const Vec3 top(0, pin.y() + std::sqrt(engine.rod * engine.rod - pin.x() * pin.x()), z);
    BodySpec rod = body_spec(scene, fmt::format("rod{}", k), box_spec({0.014, engine.rod - 0.02, 0.012}),
                             0.5 * (pin + top), shortest_turn(Vec3::UnitY(), top - pin));
    BodySpec piston =
        body_spec(scene, fmt::format("piston{}", k),
                  shape_spec("cylinder", {{"radius", engine.bore - clearance}, {"length", 0.05}}),
                  top + Vec3(0, 0.045, 0));
    rod.color = {0.4, 0.5, 0.7};
    piston.color = {0.75, 0.75, 0.8};
    const int rod_body = scene.add_body(rod), piston_body = scene.add_body(piston);
    add_joint(scene, fmt::format("crank-pin{}", k), JointType::hinge, crank, rod_body, pin, Vec3::UnitZ());
    add_joint(scene, fmt::format("piston-pin{}", k), JointType::hinge, rod_body, piston_body, top,
              Vec3::UnitZ());
    for (int side = 0; side < 8; ++side) {
        const Quat around = turn(45.0 * side, Vec3::UnitY());
        add_static(scene, fmt::format("wall{}-{}", k, side), box_spec({0.01, 0.17, 0.030}),
                   Vec3(0, engine.rod + 0.055, z) + around * Vec3(engine.bore + 0.005, 0, 0), around);
    }
}

// A cam on a shaft at half the crank's speed lifts a valve against its spring.
void add_valve(Scene& scene, int shaft) {
    const double x = 0.16;
    BodySpec cam = body_spec(scene, "cam", shape_spec("cylinder", {{"radius", 0.02}, {"length", 0.015}}),
                             Vec3(x, 0.01, 0), turn(90, Vec3::UnitX()));
    cam.color = {0.85, 0.6, 0.2};
    const int cam_body = scene.add_body(cam);
    const int hinge =
        add_joint(scene, "cam-shaft", JointType::hinge, -1, cam_body, Vec3(x, 0, 0), Vec3::UnitZ());
    JointSpec belt;
    belt.name = "belt";
    belt.type = JointType::coupling;
    belt.joints = {shaft, hinge};
    belt.ratio = 0.5;
    scene.joints.push_back(belt);
    BodySpec valve = body_spec(scene, "valve", box_spec({0.02, 0.1, 0.02}), Vec3(x, 0.081, 0));
    valve.color = {0.35, 0.65, 0.45};
    const int valve_body = scene.add_body(valve);
    DriveSpec spring;
    spring.spring = SpringSpec{};
    spring.spring->stiffness = 400.0;
    spring.spring->damping = 2.0;
    spring.spring->rest = -0.01;
    add_joint(scene, "guide", JointType::prismatic, -1, valve_body, valve.position, Vec3::UnitY(), spring);
}

Scene make_engine(const Params& params) {
    Scene scene;
    scene.name = "engine";
    scene.dt = params.number("step");
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = 0.05;
    scene.materials[0].density = 2700.0;
    scene.contact.jointed_bodies_collide = true;
    const Engine engine;
    const double speed = 2.0 * EIGEN_PI * params.number("turns_per_second");
    const int cylinders = params.integer("cylinders");
    std::vector<double> angles;
    for (int k = 0; k < cylinders; ++k) angles.push_back(360.0 * k / cylinders);
    BodySpec crank = body_spec(scene, "crank", crankshaft(engine, angles), Vec3::Zero());
    crank.color = {0.7, 0.3, 0.25};
    const int crank_body = scene.add_body(crank);
    const int shaft = add_joint(scene, "shaft", JointType::hinge, -1, crank_body, Vec3::Zero(), Vec3::UnitZ(),
                                spinning(speed));
    for (int k = 0; k < cylinders; ++k)
        add_cylinder(scene, engine, k, angles[k], params.number("clearance"), crank_body);
    add_valve(scene, shaft);
    expect_sound(scene);
    for (int k = 0; k < cylinders; ++k)
        scene.expect.push_back(
            expect_quantity(fmt::format("piston{}", k), "tilt", 0.0, 0.1, "the cylinder guides the piston"));
    const double turned = speed * scene.seconds;
    scene.expect.push_back(
        expect_quantity("cam", "turned_z", 0.4999 * turned, 0.5001 * turned, "the cam turns half as fast"));
    scene.camera = {{"eye", {0.35, 0.3, 0.75}}, {"target", {0.05, 0.1, 0.05}}};
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_machine_scenes() {
    return {
        {"engine",
         "affine",
         "a crank moves pistons that only their cylinders guide; a cam lifts a sprung valve",
         "exact joints and barrier contact together",
         "joints stay closed, the pistons stay in their bores",
         {{"cylinders", 2.0, "number of them", 1.0, 12.0},
          {"turns_per_second", 2.0, "of the crank", 0.01, 50.0},
          {"clearance", 0.0004, "between piston and bore", 1e-5, 0.005, {}, "m"},
          {"step", 0.01, "time step", 1e-5, 0.1, {}, "s"},
          {"seconds", 1.0, "duration", 0.01, 100.0, {}, "s"}},
         {{"cylinders", 4.0}, {"seconds", 4.0}},
         make_engine},
    };
}

}  // namespace tenon

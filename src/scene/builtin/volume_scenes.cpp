// Built-in scenes of the volume family: contact between detailed, deformable and overlapping solids.
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "scene/builtin/bumpy_ball.hpp"
#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"

namespace tenon {
namespace {

Scene volume_scene(double seconds, double dt) {
    Scene scene;
    scene.method = "volume";
    scene.seconds = seconds;
    scene.dt = dt;
    return scene;
}

void add_floor(Scene& scene, double size, double height = 0.0) {
    BodySpec floor = body_spec(scene, "floor", box_spec({size, 0.2, size}), {0, height - 0.1, 0});
    floor.type = BodyType::static_body;
    scene.add_body(floor);
}

MaterialSpec soft_material(const std::string& name, double young, double friction) {
    MaterialSpec material;
    material.name = name;
    material.density = 1000;
    material.young = young;
    material.poisson = 0.4;
    material.friction = friction;
    material.rayleigh_stiffness = 0.005;
    material.rayleigh_mass = 0.1;
    return material;
}

ElasticSpec soft_body(Scene& scene, const std::string& name, const GeometrySpec& geometry, int material,
                      double cell, const Vec3& position, const Quat& rotation = Quat::Identity()) {
    ElasticSpec body;
    body.name = name;
    body.geometry = scene.add_geometry(geometry);
    body.cell_size = cell;
    body.model = "corotational";
    body.material = material;
    body.position = position;
    body.rotation = rotation;
    return body;
}

Scene tori_stack(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials[0].friction = 0.4;
    add_floor(scene, 4);
    const GeometrySpec torus = shape_spec("torus", {{"major", 0.3}, {"minor", 0.1}});
    const int tori = params.integer("tori");
    for (int i = 0; i < tori; ++i)
        scene.add_body(body_spec(scene, fmt::format("torus-{}", i), torus,
                                 {0.04 * std::sin(2.4 * i), 0.11 + 0.215 * i, 0.04 * std::cos(2.4 * i)}));
    scene.method_params["pixel"] = 0.0125;
    scene.expect.push_back(expect_quantity("", "max_speed", 0, 0.3, "the tori have come to rest"));
    scene.expect.push_back(expect_quantity(fmt::format("torus-{}", tori - 1), "y", 0.2 * tori - 0.25, 10,
                                           "the stack still stands"));
    return scene;
}

// A table top at height 0 on four legs; the legs touch nothing.
void add_table(Scene& scene, const Vec3& size, double height) {
    BodySpec top = body_spec(scene, "table", box_spec(size), {0, -0.5 * size.y(), 0});
    top.type = BodyType::static_body;
    top.color = {0.72, 0.55, 0.38};
    scene.add_body(top);
    for (int corner = 0; corner < 4; ++corner) {
        const double side = 0.08, length = height - size.y();
        BodySpec leg = body_spec(scene, fmt::format("leg-{}", corner), box_spec({side, length, side}),
                                 {(corner & 1 ? 0.5 : -0.5) * (size.x() - 2 * side), -size.y() - 0.5 * length,
                                  (corner & 2 ? 0.5 : -0.5) * (size.z() - 2 * side)});
        leg.type = BodyType::static_body;
        leg.collides = false;
        leg.color = {0.6, 0.44, 0.3};
        scene.add_body(leg);
    }
}

// A soft snake on a table, pushed across its middle: with one volume all of it slides or sticks as a whole.
Scene snake(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials.push_back(soft_material("snake", 3e4, 0.7));
    scene.materials[0].friction = 0.7;
    add_table(scene, {2.2, 0.2, 1.6}, 0.9);
    const double length = 1.2, radius = 0.06;
    ElasticSpec body =
        soft_body(scene, "snake", shape_spec("capsule", {{"radius", radius}, {"length", length}}), 1,
                  params.number("cell_size"), {0, radius, 0}, turn(90, Vec3::UnitZ()));
    // one end is dragged sideways, held along an upright line so that it can turn
    ElasticSpec::Pin pin;
    const double half = 0.4 * params.number("cell_size");
    pin.lo = Vec3(-1, 0.5 * length - half, -half), pin.hi = Vec3(1, 0.5 * length + half, half);
    pin.motion = {{0.0, body.position, body.rotation},
                  {0.2, body.position, body.rotation},
                  {1.2, body.position + Vec3(0, 0, 0.4), body.rotation}};
    body.pins.push_back(pin);
    scene.elastic.push_back(body);
    scene.method_params["pixel"] = 0.01;
    scene.method_params["self_contact"] = false;
    scene.method_params["contacts"] = params.text("contacts");
    scene.method_params["cell_pixels"] = params.number("cell_pixels");
    return scene;
}

// Two fingers close on a soft ball, lift it and, later, pull it against a bar until it slips.
Scene grasp(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials.push_back(soft_material("ball", 4e4, params.number("friction")));
    scene.materials[0].friction = params.number("friction");
    add_floor(scene, 3);
    scene.elastic.push_back(soft_body(
        scene, "ball",
        shape_spec("icosphere", {{"radius", 0.15}, {"subdivisions", params.number("subdivisions")}}), 1,
        params.number("cell_size"), {0, 0.15, 0}));
    for (int side : {-1, 1}) {
        BodySpec finger =
            body_spec(scene, side < 0 ? "left" : "right", box_spec({0.05, 0.2, 0.15}), {side * 0.2, 0.16, 0});
        finger.type = BodyType::kinematic_body;
        const double closed = side * (0.175 - params.number("squeeze"));
        finger.motion = {{0.0, {side * 0.2, 0.16, 0}},
                         {0.5, {closed, 0.16, 0}},
                         {0.7, {closed, 0.16, 0}},
                         {1.5, {closed, 0.45, 0}}};
        scene.add_body(finger);
    }
    scene.method_params["pixel"] = 0.01;
    scene.method_params["self_contact"] = false;
    ExpectSpec lifted =
        expect_quantity("", "min_distance", -0.01, 1, "the fingers press into the ball by a pixel at most");
    scene.expect.push_back(lifted);
    return scene;
}

// Toys with ears and limbs, dropped into a box.
Scene soft_toys(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials.push_back(soft_material("toy", 2e4, 0.4));
    scene.materials[0].friction = 0.4;
    const int count = params.integer("toys");
    add_floor(scene, 4);
    const double half = 0.42;
    for (int side = 0; side < 4; ++side) {
        const Quat rotation = turn(90.0 * side, Vec3::UnitY());
        BodySpec wall = body_spec(scene, fmt::format("wall-{}", side), box_spec({0.1, 0.4, 2 * half + 0.2}),
                                  rotation * Vec3(half + 0.05, 0.2, 0), rotation);
        wall.type = BodyType::static_body;
        scene.add_body(wall);
    }
    scene.camera = {{"eye", {0.9, 2.3, 1.1}}, {"target", {0, 0.1, 0}}};
    const double detail = params.number("detail");
    const GeometrySpec toy = mesh_spec(toy_mesh(detail, 0.2));
    for (int i = 0; i < count; ++i) {
        const int layer = i / 4, place = i % 4;
        ElasticSpec body = soft_body(scene, fmt::format("toy-{}", i), toy, 1, params.number("cell_size"),
                                     {(place % 2 ? 0.2 : -0.2), 0.3 + 0.5 * layer, (place / 2 ? 0.2 : -0.2)},
                                     turn(37.0 * i, Vec3(1, 2, 3)));
        scene.elastic.push_back(body);
    }
    scene.method_params["pixel"] = 0.02;
    scene.method_params["self_contact"] = false;
    return scene;
}

// Two detailed concave bodies, one dropped on the other: as many triangles as wanted, few contacts.
Scene detailed_pair(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials[0].friction = 0.5;
    add_floor(scene, 6);
    const GeometrySpec blob =
        shape_spec("blob", {{"radius", 1.0}, {"amplitude", 0.3}, {"detail", params.number("detail")}});
    scene.add_body(body_spec(scene, "lower", blob, {0, 1.35, 0}));
    scene.add_body(body_spec(scene, "upper", blob, {0.35, 3.9, 0.2}, turn(40, Vec3(1, 0.4, 0.2))));
    scene.method_params["pixel"] = params.number("pixel");
    scene.expect.push_back(expect_quantity("", "max_speed", 0, 8, "nothing blew up"));
    return scene;
}

// Three soft bodies with long arms fall into a heap, touching each other and themselves.
Scene octopuses(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials.push_back(soft_material("octopus", 3e4, 0.4));
    scene.materials[0].friction = 0.4;
    add_floor(scene, 4);
    const GeometrySpec shape = mesh_spec(octopus_mesh(params.number("detail"), 0.42));
    for (int i = 0; i < params.integer("count"); ++i)
        scene.elastic.push_back(
            soft_body(scene, fmt::format("octopus-{}", i), shape, 1, params.number("cell_size"),
                      {0.1 * (i % 3 - 1), 0.45 + 0.5 * i, 0.08 * (i % 2)}, turn(50.0 * i, Vec3(1, 1, 0.3))));
    scene.method_params["pixel"] = 0.02;
    scene.method_params["self_contact"] = true;
    return scene;
}

// Soft organs that overlap at the start, as in data from scans, and a tool that grasps one of them. That one has grown
// to the floor, so that the tool stretches it until friction no longer holds.
Scene organs(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials.push_back(soft_material("tissue", 1e5, 1.0));
    scene.materials[0].friction = 1.0;
    scene.gravity = Vec3(0, params.flag("gravity") ? -9.81 : 0.0, 0);
    add_floor(scene, 4);
    const double cell = params.number("cell_size");
    const GeometrySpec organ =
        shape_spec("icosphere", {{"radius", 0.2}, {"subdivisions", params.number("subdivisions")}});
    const Vec3 places[] = {{0, 0.31, 0},        {0.33, 0.19, 0.05}, {-0.33, 0.19, 0.0},
                           {0.02, 0.19, -0.32}, {0.36, 0.2, -0.3},  {-0.35, 0.2, 0.33}};
    const Vec3 scales[] = {{1, 1.6, 1}, {1, 1, 1}, {1, 1, 1.1}, {1.1, 1, 1}, {1, 0.9, 1}, {0.9, 0.9, 1}};
    // stomach, liver, spleen, kidney, gall bladder, fat
    const std::array<double, 3> colors[] = {{0.87, 0.56, 0.52}, {0.50, 0.17, 0.14}, {0.56, 0.22, 0.34},
                                            {0.68, 0.30, 0.24}, {0.42, 0.52, 0.26}, {0.90, 0.78, 0.48}};
    for (int i = 0; i < params.integer("organs"); ++i) {
        ElasticSpec body = soft_body(scene, fmt::format("organ-{}", i), organ, 1, cell, places[i]);
        body.scale = scales[i];
        body.color = colors[i];
        if (i == 0) body.pins.push_back({Vec3(-1, -1, -1), Vec3(1, -0.27, 1), {}, ""});
        scene.elastic.push_back(body);
    }
    for (int side : {-1, 1}) {  // the tool closes on the tall organ, holds it, then pulls
        const auto at = [&](double gap, double y) { return Vec3(side * gap, y, 0); };
        BodySpec jaw = body_spec(scene, side < 0 ? "jaw-left" : "jaw-right", box_spec({0.04, 0.1, 0.24}),
                                 at(0.24, 0.46));
        jaw.type = BodyType::kinematic_body;
        jaw.motion = {{0.0, at(0.24, 0.46)},
                      {0.1, at(0.24, 0.46)},
                      {0.3, at(0.14, 0.44)},
                      {0.4, at(0.14, 0.44)},
                      {1.6, at(0.14, 0.96)}};
        scene.add_body(jaw);
    }
    scene.method_params["pixel"] = 0.015;
    scene.method_params["self_contact"] = false;
    scene.camera = {{"eye", {0.9, 1.1, 1.9}}, {"target", {0, 0.4, 0}}};
    return scene;
}

// A soft bar across two posts is cut in the middle: its halves tip into the gap and lean on each other there.
Scene cut(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials.push_back(soft_material("bar", 1.5e5, 0.3));
    scene.materials[0].friction = 0.3;
    add_floor(scene, 4);
    for (int side : {-1, 1}) {
        BodySpec post =
            body_spec(scene, side < 0 ? "left" : "right", box_spec({0.3, 0.5, 0.5}), {side * 0.45, 0.25, 0});
        post.type = BodyType::static_body;
        scene.add_body(post);
    }
    ElasticSpec bar =
        soft_body(scene, "bar", box_spec({1.0, 0.16, 0.24}), 1, params.number("cell_size"), {0, 0.58, 0});
    if (params.flag("cut")) {
        scene.method_params["cut_body"] = bar.name;
        scene.method_params["cut_point"] = list_of(bar.position);
        scene.method_params["cut_normal"] = list_of(Vec3::UnitX());
        scene.method_params["cut_sweep"] = list_of(-Vec3::UnitY());
        scene.method_params["cut_from"] = params.number("from");
        scene.method_params["cut_takes"] = params.number("takes");
    }
    scene.elastic.push_back(bar);
    scene.method_params["pixel"] = 0.01;
    scene.method_params["self_contact"] = true;
    scene.camera = {{"eye", {1.0, 1.0, 2.0}}, {"target", {0, 0.4, 0}}};
    return scene;
}

// Boxes, tori and gears thrown into one place without regard for each other: the start that `tenon untangle` mends.
Scene overlapping_pile(const Params& params) {
    Scene scene = volume_scene(params.number("seconds"), 0.01);
    scene.materials[0].friction = 0.4;
    const int count = params.integer("bodies");
    const GeometrySpec shapes[] = {
        box_spec({0.4, 0.3, 0.5}),
        shape_spec("torus", {{"major", 0.25}, {"minor", 0.08}, {"segments", 16.0}}),
        shape_spec("gear", {{"teeth", 12.0}, {"module", 0.04}, {"width", 0.15}, {"bore", 0.06}})};
    const double room = 0.35 * std::cbrt(count);
    add_floor(scene, 8 * room);
    std::mt19937 random(static_cast<unsigned>(params.integer("seed")));
    const auto unit = [&] { return std::ldexp(static_cast<double>(random()), -31) - 1; };
    const auto vector = [&] {
        const double x = unit(), y = unit();
        return Vec3(x, y, unit());
    };
    for (int i = 0; i < count; ++i) {
        const Vec3 position = Vec3(0, room + 0.3, 0) + room * vector();
        const Vec3 axis = vector() + Vec3(0, 0, 1e-3);
        scene.add_body(
            body_spec(scene, fmt::format("body-{}", i), shapes[i % 3], position, turn(180 * unit(), axis)));
    }
    return scene;
}

const ParamInfo kSeconds(double value) {
    return {"seconds", value, "simulated time", 0.01, 1000.0, {}, "s"};
}
const ParamInfo kCell(double value) {
    return {"cell_size", value, "edge length of the tetrahedra", 0.001, 10.0, {}, "m"};
}

}  // namespace

std::vector<BuiltinScene> volume_scenes() {
    return {
        {"tori-stack",
         "volume",
         "a stack of tori, resting on each other",
         "Volume Contact Constraints, Fig. 1 left",
         "the tori settle with thin overlaps and stay stacked",
         {{"tori", 4.0, "how many", 1.0, 100.0}, kSeconds(2)},
         {{"tori", 10.0}},
         tori_stack},
        {"snake",
         "volume",
         "a soft snake on a table, dragged by one end",
         "Volume Contact Constraints, Fig. 7",
         "with multi-volume contacts the far end sticks and the snake bends; with one volume it turns as a "
         "whole",
         {{"contacts", std::string("multi"), "one volume, or one per grid cell", 0, 0, {"mono", "multi"}},
          {"cell_pixels", 8.0, "pixels along a cell", 1.0, 1000.0},
          kCell(0.06),
          kSeconds(1.5)},
         {{"cell_size", 0.03}},
         snake},
        {"grasp",
         "volume",
         "two fingers grasp a soft ball and lift it",
         "Volume Contact Constraints, Fig. 2b",
         "the ball is held by friction and rises with the fingers",
         {{"friction", 0.8, "between fingers and ball", 0.0, 10.0},
          {"squeeze", 0.05, "how far each finger presses in", 0.0, 0.1, {}, "m"},
          {"subdivisions", 3.0, "of the ball's surface: 20 4^n triangles", 1.0, 7.0},
          kCell(0.06),
          kSeconds(1.5)},
         {{"cell_size", 0.03}},
         grasp},
        {"soft-toys",
         "volume",
         "soft bodies with thin parts fall into a box",
         "Volume Contact Constraints, Fig. 9",
         "the toys pile up and come to rest without passing through each other",
         {{"toys", 4.0, "how many", 1.0, 200.0},
          {"detail", 8.0, "pieces along each edge of an icosahedron: 20 detail^2 triangles", 2.0, 300.0},
          kCell(0.1),
          kSeconds(1)},
         {{"toys", 40.0}, {"detail", 30.0}, {"seconds", 4.0}},
         soft_toys},
        {"detailed-pair",
         "volume",
         "two detailed concave bodies in contact",
         "Volume Contact Constraints, Fig. 8",
         "the upper body drops on the lower one and rolls off, at a cost that follows the contact, not the "
         "mesh",
         {{"detail", 16.0, "pieces along each edge of an icosahedron: 20 detail^2 triangles", 2.0, 300.0},
          {"pixel", 0.03, "size of a pixel", 0.001, 1.0, {}, "m"},
          kSeconds(1)},
         {{"detail", 131.0}},
         detailed_pair},
        {"octopuses",
         "volume",
         "soft bodies with long arms in a heap, touching each other and themselves",
         "Volume Contact Constraints, Fig. 2a",
         "arms slide over and under each other without passing through",
         {{"count", 2.0, "how many", 1.0, 50.0},
          {"detail", 10.0, "pieces along each edge of an icosahedron: 20 detail^2 triangles", 2.0, 300.0},
          kCell(0.1),
          kSeconds(0.8)},
         {{"count", 3.0}, {"detail", 28.0}, {"cell_size", 0.05}, {"seconds", 3.0}},
         octopuses},
        {"organs",
         "volume",
         "soft organs that overlap at the start, and a tool that grasps one",
         "Volume Contact Constraints, Fig. 1 right",
         "the overlap is gone after the first steps without adding speed; the tool holds, then slips when it "
         "pulls too far",
         {{"gravity", true, "off: to see that separation adds no velocity"},
          {"organs", 4.0, "how many", 1.0, 6.0},
          {"subdivisions", 3.0, "of their surfaces: 20 4^n triangles", 1.0, 7.0},
          kCell(0.1),
          kSeconds(1.6)},
         {{"cell_size", 0.06}, {"organs", 6.0}, {"subdivisions", 6.0}},
         organs},
        {"cut",
         "volume",
         "a soft bar across two posts is cut through in the middle",
         "Volume Contact Constraints, Fig. 2c",
         "the bar sags, the cut runs down through it, the halves tip into the gap and lean on each other",
         {{"cut", true, "off: the bar stays in one piece"},
          {"from", 0.25, "when the cut begins", 0.0, 100.0, {}, "s"},
          {"takes", 0.15, "until it is through", 0.0, 100.0, {}, "s"},
          kCell(0.05),
          kSeconds(1.2)},
         {{"cell_size", 0.03}},
         cut},
        {"overlapping-pile",
         "volume",
         "boxes, tori and gears thrown into one place without regard for each other",
         "for untangling: the paper's deep overlaps at the start, with rigid bodies",
         "the bodies separate without speed and fall to the floor; `tenon untangle` makes a start of it that "
         "every method accepts",
         {{"bodies", 12.0, "how many", 2.0, 1000.0},
          {"seed", 1.0, "of the random places", 0.0, 1e9},
          kSeconds(0.5)},
         {{"bodies", 50.0}},
         overlapping_pile},
    };
}

}  // namespace tenon

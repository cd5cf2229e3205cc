// Built-in scenes of the adaptive family with many solids: forest, pachinko.
#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/adaptive_scene_parts.hpp"

namespace tenon {

Mesh lathe(const std::vector<Vec2>& profile, int segments) {
    Mesh mesh;
    const int rings = static_cast<int>(profile.size()) - 2;  // between the two points on the axis
    mesh.vertices.emplace_back(0, profile.front().y(), 0);
    for (int r = 1; r <= rings; ++r)
        for (int s = 0; s < segments; ++s) {
            const double turn = 2 * EIGEN_PI * s / segments;
            mesh.vertices.emplace_back(profile[r].x() * std::cos(turn), profile[r].y(),
                                       -profile[r].x() * std::sin(turn));
        }
    mesh.vertices.emplace_back(0, profile.back().y(), 0);
    const auto at = [&](int r, int s) { return 1 + (r - 1) * segments + s % segments; };
    const int top = static_cast<int>(mesh.vertices.size()) - 1;
    for (int s = 0; s < segments; ++s) {
        mesh.triangles.push_back({0, at(1, s + 1), at(1, s)});
        for (int r = 1; r < rings; ++r) {
            mesh.triangles.push_back({at(r, s), at(r, s + 1), at(r + 1, s + 1)});
            mesh.triangles.push_back({at(r, s), at(r + 1, s + 1), at(r + 1, s)});
        }
        mesh.triangles.push_back({top, at(rings, s), at(rings, s + 1)});
    }
    return mesh;
}

namespace {

Scene make_forest(const Params& params) {
    Scene scene = adaptive_scene(params);
    // trees sway slowly: within one step a bent one gains less than these thresholds ask for, and would stay bent
    scene.method_params["horizon"] = 0.04;
    const int pine = scene.add_material(soft_material("pine", 200, 5e6, 0.37, 1e-5, 1e-2));
    const int other = scene.add_material(soft_material("wood", 200, 1.5e7, 0.37, 1e-5, 7e-2));
    const std::vector<Vec2> pine_profile{{0, 0},     {0.13, 0},   {0.13, 0.5}, {0.34, 0.52},
                                         {0.2, 1.0}, {0.08, 1.5}, {0, 1.55}};
    const std::vector<Vec2> other_profile{{0, 0},      {0.14, 0},   {0.13, 0.8}, {0.28, 0.95},
                                          {0.34, 1.2}, {0.26, 1.5}, {0, 1.6}};
    const int columns = params.integer("columns"), rows = params.integer("rows");
    for (int i = 0; i < columns; ++i)
        for (int k = 0; k < rows; ++k) {
            const bool round = (i + k) % 3 == 2;
            const Mesh mesh = lathe(round ? other_profile : pine_profile, 20);
            ElasticSpec tree =
                elastic_spec(scene, fmt::format("tree{}-{}", i, k), mesh_spec(mesh), round ? other : pine,
                             params.number("cell"), {1.0 * i + 0.5 * (k % 2), 0, 1.0 * k});
            ElasticSpec::Pin root;
            root.lo = Vec3(-0.2, -0.05, -0.2);
            root.hi = Vec3(0.2, 0.06, 0.2);
            tree.pins.push_back(root);
            scene.elastic.push_back(tree);
        }
    // the bat swings through the first row
    BodySpec bat = body_spec(scene, "bat", shape_spec("capsule", {{"radius", 0.06}, {"length", 0.9}}),
                             {-1.2, 0.75, -0.47});
    bat.type = BodyType::kinematic_body;
    const Quat flat = turn(90, Vec3::UnitX());
    bat.motion = {{0, {-1.2, 0.75, -0.47}, flat},
                  {params.number("seconds"), {1.0 * columns, 0.75, -0.47}, flat}};
    scene.add_body(bat);
    scene.expect.push_back(expect_quantity(fmt::format("tree{}-{}", columns - 1, rows - 1), "moved", 0, 0.05,
                                           "a tree that is not struck hardly moves"));
    return scene;
}

Scene make_pachinko(const Params& params) {
    Scene scene = adaptive_scene(params);
    const int red = scene.add_material(soft_material("red", 100, 5e4, 0.35, 1e-5, 5e-2, 0.3));
    const int white = scene.add_material(soft_material("white", 100, 5e3, 0.35, 1e-5, 1e-1, 0.3));
    const int columns = params.integer("columns"), rows = params.integer("rows");
    const double pitch = 0.5, depth = 0.5, wide = columns * pitch, high = rows * 0.4 + 0.8;
    const auto wall = [&](const std::string& name, const Vec3& size, const Vec3& at) {
        BodySpec body = body_spec(scene, name, box_spec(size), at);
        body.type = BodyType::static_body;
        if (name == "front") body.color = {-1, -1, -1};
        scene.add_body(body);
    };
    wall("floor", {wide + 0.4, 0.2, depth}, {0, -0.1, 0});
    wall("left", {0.2, high + 4, depth}, {-0.5 * wide - 0.1, 0.5 * high + 2, 0});
    wall("right", {0.2, high + 4, depth}, {0.5 * wide + 0.1, 0.5 * high + 2, 0});
    wall("back", {wide + 0.4, high + 4, 0.2}, {0, 0.5 * high + 2, -0.5 * depth - 0.1});
    BodySpec front =
        body_spec(scene, "front", shape_spec("plane", {{"size", std::vector<double>{0.01, 0.01}}}),
                  {0, 0, 0.5 * depth}, turn(-90, Vec3::UnitX()));
    front.type = BodyType::static_body;
    scene.add_body(front);
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c + (r % 2) < columns; ++c) {
            BodySpec peg = body_spec(scene, fmt::format("peg{}-{}", r, c),
                                     shape_spec("cylinder", {{"radius", 0.05}, {"length", depth}}),
                                     {(c + 0.5 + 0.5 * (r % 2)) * pitch - 0.5 * wide, 0.8 + 0.4 * r, 0},
                                     turn(90, Vec3::UnitX()));
            peg.type = BodyType::static_body;
            scene.add_body(peg);
        }
    const int pills = params.integer("pills"), across = std::max(1, columns - 1);
    for (int i = 0; i < pills; ++i) {
        const double x = (i % across - 0.5 * (across - 1)) * pitch + 0.03 * ((i * 7) % 5 - 2);
        ElasticSpec pill =
            elastic_spec(scene, fmt::format("pill{}", i),
                         shape_spec("capsule", {{"radius", 0.1}, {"length", 0.14}, {"segments", 16.0}}),
                         i % 2 ? white : red, params.number("cell"),
                         {x, high + 0.35 * (i / across) + 0.2, 0.0}, turn(37.0 * i, Vec3::UnitZ()));
        pill.color = i % 2 ? std::array<double, 3>{0.92, 0.92, 0.9} : std::array<double, 3>{0.8, 0.15, 0.12};
        scene.elastic.push_back(pill);
    }
    scene.expect.push_back(expect_quantity("pill0", "y", 0.02, high, "the pills fall between the pegs"));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> adaptive_large_scenes() {
    return {{"forest",
             "adaptive",
             "a bat swings through a forest of elastic trees",
             "Adaptive Rigidification Fig. 3 and Table 1",
             "only trees that are struck become elastic, near the blow first",
             adaptive_parameters({{"columns", 4.0, "trees along the bat's way", 1, 100},
                                  {"rows", 2.0, "rows of trees", 1, 100}},
                                 0.14, 5e-3, 1.5, 5e-3, 5e-2),
             {{"columns", 8.0}, {"rows", 6.0}, {"cell", 0.131}, {"seconds", 3.5}},
             make_forest},
            {"pachinko",
             "adaptive",
             "stiff and soft pills fall through rows of pegs",
             "Adaptive Rigidification Fig. 3 and Table 1",
             "pills slide and turn rigidly though deformed, and become elastic when they are hit",
             adaptive_parameters({{"pills", 8.0, "number of pills", 1, 1e5},
                                  {"columns", 4.0, "pegs in a row", 2, 1000},
                                  {"rows", 4.0, "rows of pegs", 1, 1000}},
                                 // Table 1 has 7e-3 and 7e-2: faster, but pills then end elsewhere
                                 0.08, 0.01, 3.0, 1e-6, 1e-5),
             {{"pills", 90.0}, {"columns", 10.0}, {"rows", 10.0}, {"cell", 0.058}, {"seconds", 20.0}},
             make_pachinko}};
}

}  // namespace tenon

// Nets of ball-jointed rods: joint-net.
#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/articulated_scene_families.hpp"

namespace tenon {
std::vector<int> add_joint_net(Scene& scene, int n, double spacing, const Vec3& corner, int material,
                               const std::string& prefix, double thick) {
    const GeometrySpec node = box_spec(Vec3::Constant(1.5 * thick)), rod = box_spec({spacing, thick, thick});
    std::vector<int> nodes;
    const auto at = [&](int i, int j) -> Vec3 { return corner + Vec3(i * spacing, 0, j * spacing); };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            BodySpec body = body_spec(scene, fmt::format("{}node{}_{}", prefix, i, j), node, at(i, j));
            body.material = material;
            body.group = prefix + "net";
            nodes.push_back(scene.add_body(body));
        }
    const auto link = [&](int i0, int j0, int i1, int j1) {
        const Vec3 a = at(i0, j0), b = at(i1, j1);
        BodySpec body = body_spec(scene, fmt::format("{}rod{}_{}_{}", prefix, i0, j0, j1 > j0 ? "z" : "x"),
                                  rod, 0.5 * (a + b), along(b - a));
        body.material = material;
        body.group = prefix + "net";
        const int index = scene.add_body(body);
        scene.joints.push_back(joint_spec("", JointType::ball, nodes[j0 * n + i0], index, a));
        scene.joints.push_back(joint_spec("", JointType::ball, index, nodes[j1 * n + i1], b));
    };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            if (i + 1 < n) link(i, j, i + 1, j);
            if (j + 1 < n) link(i, j, i, j + 1);
        }
    return nodes;
}

namespace {

Scene make_joint_net(const Params& params) {
    const int n = params.integer("n");
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const double spacing = 0.2;
    const int material = scene.add_material(material_spec("link", 1000.0, params.number("young"), 0.3, 0.1));
    const double width = spacing * (n - 1);
    const std::vector<int> nodes =
        add_joint_net(scene, n, spacing, Vec3(-0.5 * width, 0, 0), material, "", 0.1 * spacing);
    for (int i = 0; i < n; ++i)  // one edge is pinned
        scene.joints.push_back(
            joint_spec("", JointType::ball, -1, nodes[i], Vec3(-0.5 * width + i * spacing, 0, 0)));
    if (params.text("collider") == "cylinder") {
        const double radius = 0.15 * width;
        BodySpec drum =
            body_spec(scene, "drum", shape_spec("cylinder", {{"radius", radius}, {"length", 1.5 * width}}),
                      Vec3(0, -1.4 * radius, 0.45 * width), turn(90, Vec3::UnitZ()));
        drum.type = BodyType::static_body;
        drum.friction = 0.0;
        scene.add_body(drum);
    }
    scene.expect.push_back(expect_closed_joints(1e-6));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> articulated_net_scenes() {
    return {{"joint-net",
             "articulated",
             "a net of ball-jointed rods, pinned along one edge",
             "M-ABD Figs. 12-14",
             "the net falls, swings and drapes; no joint opens",
             {{"n", 10.0, "nodes along each side", 2, 400},
              {"collider", std::string("none"), "what the net falls on", 0, 0, {"none", "cylinder"}},
              {"young", 1e9, "Young's modulus", 1e3, 1e13, {}, "Pa"},
              {"dt", 1.0 / 30.0, "time step", 1e-6, 0.1, {}, "s"},
              {"seconds", 4.0, "simulated time", 0.001, 1e4, {}, "s"}},
             {{"n", 100.0}, {"dt", 0.01}},
             make_joint_net}};
}

}  // namespace tenon

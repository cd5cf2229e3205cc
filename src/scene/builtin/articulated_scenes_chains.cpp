// Chains: the heavy end mass that breaks other schemes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/articulated_scene_families.hpp"

namespace tenon {
namespace {

constexpr double link_length = 0.1, link_width = 0.02, link_density = 1000.0;

// Points of a chain that hangs from the origin: straight out, or folded like an accordion.
std::vector<Vec3> chain_points(int links, bool folded) {
    std::vector<Vec3> points;
    const double drop = 1.05 * link_width, across = std::sqrt(link_length * link_length - drop * drop);
    for (int i = 0; i <= links; ++i)
        points.push_back(folded ? Vec3(i % 2 ? across : 0.0, -drop * i, 0) : Vec3(link_length * i, 0, 0));
    return points;
}

// An end mass M that falls by the chain's length and is caught by it strains it by up to sqrt(2 M g / (E A)), however long it
// is. Links are stiff enough for that to stay at 3 %, and have 1e9 Pa at least.
double stiff_enough(double end_mass) {
    const double strain = 0.03, section = link_width * link_width;
    return std::max(1e9, 2.0 * end_mass * 9.81 / (section * strain * strain));
}

Scene make_heavy_chain(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const int links = params.integer("links");
    const bool folded = params.text("start") == "folded";
    const double ratio = params.number("end_mass_ratio");
    const double end_mass = ratio * link_density * link_length * link_width * link_width;
    const double young = params.number("young") > 0 ? params.number("young") : stiff_enough(end_mass);
    MaterialSpec material = material_spec("link", link_density, young);
    material.max_strain = 0.1;
    const int link_material = scene.add_material(material);
    const std::vector<Vec3> points = chain_points(links, folded);
    const GeometrySpec link = box_spec({link_length, link_width, link_width});
    int before = -1;
    for (int i = 0; i < links; ++i) {
        BodySpec body = body_spec(scene, fmt::format("link{}", i), link, 0.5 * (points[i] + points[i + 1]),
                                  along(points[i + 1] - points[i]));
        body.material = link_material;
        body.group = "chain";
        const int index = scene.add_body(body);
        scene.joints.push_back(
            joint_spec(fmt::format("joint{}", i), JointType::ball, before, index, points[i]));
        before = index;
    }
    if (ratio > 0) {
        const double side = std::cbrt(end_mass / 7850.0);  // a cube of steel's density
        const Vec3 out = folded ? Vec3(0, -1, 0) : Vec3(1, 0, 0);
        BodySpec end =
            body_spec(scene, "end", box_spec(Vec3::Constant(side)), points.back() + 0.5 * side * out);
        end.material = link_material;
        end.mass = end_mass;
        end.group = "chain";
        end.color = {0.8, 0.3, 0.2};
        const int index = scene.add_body(end);
        scene.joints.push_back(joint_spec("hook", JointType::ball, before, index, points.back()));
    }
    scene.expect.push_back(expect_closed_joints(1e-9));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> articulated_chain_scenes() {
    return {{"heavy-chain",
             "articulated",
             "a chain of ball-jointed links with a heavy mass at its end",
             "M-ABD Fig. 11",
             "the mass swings down, the chain goes taut and rings; no joint opens at any step size",
             {{"links", 100.0, "number of links", 1, 5e6},
              {"end_mass_ratio", 1000.0, "end mass in link masses; 0: none", 0, 1e7},
              {"start",
               std::string("horizontal"),
               "how the chain lies at the start",
               0,
               0,
               {"horizontal", "folded"}},
              {"young", 0.0, "Young's modulus; 0: as the end mass asks for", 0, 1e13, {}, "Pa"},
              {"dt", 0.01, "time step", 1e-6, 0.1, {}, "s"},
              {"seconds", 5.0, "simulated time", 0.001, 1e4, {}, "s"}},
             {{"seconds", 60.0}},
             make_heavy_chain}};
}

}  // namespace tenon

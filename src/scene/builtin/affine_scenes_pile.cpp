// Concave bodies that hook into each other (Figs. 2 and 11).
#include <cmath>

#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon {
namespace {

GeometrySpec spiky_spec(double radius, double spikes, double detail) {
    return shape_spec("spiky", {{"radius", radius},
                                {"spike_length", 1.1 * radius},
                                {"spike_radius", 0.35 * radius},
                                {"spikes", spikes},
                                {"detail", detail}});
}

// Spiky bodies fall on a bed of spikes.
Scene make_spiky_pile(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = params.number("friction");
    const int count = params.integer("bodies");
    const int side = std::max(2, static_cast<int>(std::ceil(std::sqrt(count))));
    const double pitch = 0.9;
    BodySpec floor =
        body_spec(scene, "floor", box_spec({pitch * (side + 4), 0.4, pitch * (side + 4)}), Vec3(0, -0.2, 0));
    floor.type = BodyType::static_body;
    floor.color = {0.45, 0.42, 0.4};
    scene.add_body(floor);
    const GeometrySpec cone = shape_spec("cone", {{"radius", 0.16}, {"length", 0.9}, {"segments", 10.0}});
    for (int i = 0; i <= side + 1; ++i)
        for (int j = 0; j <= side + 1; ++j) {
            BodySpec spike =
                body_spec(scene, "spike" + std::to_string(i * (side + 2) + j), cone,
                          Vec3((i - 0.5 * (side + 1)) * pitch, 0.46, (j - 0.5 * (side + 1)) * pitch));
            spike.type = BodyType::static_body;
            spike.color = {0.5, 0.46, 0.42};
            scene.add_body(spike);
        }
    const GeometrySpec body_geometry = spiky_spec(0.3, 12, params.number("detail"));
    for (int k = 0; k < count; ++k) {
        const int layer = k / (side * side), at = k % (side * side);
        BodySpec body = body_spec(scene, "body" + std::to_string(k), body_geometry,
                                  Vec3((at % side - 0.5 * (side - 1)) * 1.4 + 0.13 * layer,
                                       1.75 + 1.4 * layer, (at / side - 0.5 * (side - 1)) * 1.4),
                                  turn(37.0 * k, Vec3(1, 0.3 * k, 2)));
        body.color = {0.8, 0.75 - 0.06 * (k % 5), 0.55};
        scene.add_body(body);
    }
    scene.expect.push_back(expect_quantity("body0", "y", 0.2, 1.9, "it hooks onto the spikes"));
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    return scene;
}

// Two detailed concave bodies fly into each other.
Scene make_entangled_pair(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.gravity = Vec3::Zero();
    scene.materials[0].friction = 0.2;
    const double detail[] = {params.number("detail_a"), params.number("detail_b")};
    for (int k = 0; k < 2; ++k) {
        BodySpec body = body_spec(scene, k ? "right" : "left", spiky_spec(0.5, 30, detail[k]),
                                  Vec3(k ? 1.05 : -1.05, 0.1 * k, 0), turn(40.0 * k + 10, Vec3(1, 2, 3)));
        body.linear_velocity = Vec3(k ? -1.5 : 1.5, 0, 0);
        body.angular_velocity = Vec3(k ? 2.0 : 0.0, 0, 1.0);
        body.color = k ? std::array<double, 3>{0.35, 0.55, 0.75} : std::array<double, 3>{0.8, 0.5, 0.3};
        scene.add_body(body);
    }
    scene.expect.push_back(expect_quantity("left", "moved", 0.05, 1e300, "they meet"));
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_pile_scenes() {
    return {{"spiky-pile",
             "affine",
             "spiky bodies fall onto a bed of spikes",
             "Affine Body Dynamics, Fig. 11",
             "they hook onto the spikes and stay",
             {{"bodies", 4.0, "number of falling bodies", 1.0, 1000.0},
              {"detail", 8.0, "fineness: 20 detail^2 triangles a body", 2.0, 300.0},
              {"friction", 0.4, "coefficient of friction", 0.0, 10.0},
              {"seconds", 0.8, "duration", 0.01, 100.0, {}, "s"}},
             {{"bodies", 28.0}, {"detail", 46.0}, {"seconds", 2.0}},
             make_spiky_pile},
            {"entangled-pair",
             "affine",
             "two detailed concave bodies collide",
             "Affine Body Dynamics, Fig. 2",
             "their spikes interlock without intersecting",
             {{"detail_a", 14.0, "fineness of the left body: 20 detail^2 triangles", 2.0, 300.0},
              {"detail_b", 10.0, "fineness of the right body", 2.0, 300.0},
              {"seconds", 0.4, "duration", 0.01, 100.0, {}, "s"}},
             {{"detail_a", 106.0}, {"detail_b", 76.0}},
             make_entangled_pair}};
}

}  // namespace tenon

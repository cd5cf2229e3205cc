// A ball on a chain of rings swings into a wall of blocks (Fig. 3), or flies into it without the chain (Table 1).
#include <cmath>

#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon {
namespace {

constexpr double side_gap = 0.04, level_gap = 0.01;  // between blocks, m

// How many blocks along the wall, upwards, and behind each other.
std::array<int, 3> wall_layout(int blocks) {
    if (blocks == 560) return {10, 14, 4};
    if (blocks == 140) return {7, 10, 2};
    if (blocks == 14) return {7, 2, 1};
    const int deep = std::max(1, static_cast<int>(std::lround(std::cbrt(blocks / 12.0))));
    const int high = std::max(1, static_cast<int>(std::lround(std::sqrt(blocks / (1.2 * deep)))));
    return {std::max(1, blocks / (deep * high)), high, deep};
}

void add_wall(Scene& scene, int blocks) {
    const auto [along, up, deep] = wall_layout(blocks);
    const GeometrySpec block = box_spec({1, 1, 1});
    int number = 0;
    for (int y = 0; y < up; ++y)
        for (int z = 0; z < along; ++z)
            for (int x = 0; x < deep; ++x) {
                BodySpec body =
                    body_spec(scene, "block" + std::to_string(number++), block,
                              Vec3((0.5 + x) * (1 + side_gap), 0.5 + level_gap + y * (1 + level_gap),
                                   (z - 0.5 * (along - 1)) * (1 + side_gap)));
                body.density = 600.0;
                const double shade = 0.55 + 0.1 * ((x + y + z) % 3);
                body.color = {shade + 0.2, shade, 0.45 * shade};
                scene.add_body(body);
            }
}

struct ChainSizes {
    double length = 1.0, width = 0.72, wire = 0.11;
    double pitch() const { return length - 4.0 * wire - 0.03; }
};

Scene make_wrecking_ball(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = params.number("friction");
    scene.contact.dhat = level_gap;  // a larger range would push the levels apart at the start
    BodySpec floor = body_spec(scene, "floor", box_spec({60, 1, 60}), Vec3(0, -0.5, 0));
    floor.type = BodyType::static_body;
    floor.color = {0.5, 0.52, 0.55};
    scene.add_body(floor);
    const int blocks = params.integer("blocks");
    const auto [along, up, deep] = wall_layout(blocks);
    add_wall(scene, blocks);

    const double radius = params.number("ball_radius");
    const int subdivisions = params.integer("ball_detail");
    const double hit_height = std::max(radius + 0.15, 0.45 * up);
    const Mesh ball_mesh =
        shape_mesh("icosphere", {{"radius", radius}, {"subdivisions", double(subdivisions)}});
    if (!params.flag("chain")) {
        BodySpec ball =
            body_spec(scene, "ball",
                      shape_spec("icosphere", {{"radius", radius}, {"subdivisions", double(subdivisions)}}),
                      Vec3(-radius - 0.3, hit_height, 0));
        ball.density = 7850.0;
        ball.color = {0.25, 0.27, 0.3};
        ball.linear_velocity = Vec3(params.number("speed"), 0, 0);
        scene.add_body(ball);
    } else {
        const ChainSizes chain;
        const int rings = params.integer("rings");
        const std::map<std::string, ParamValue> ring_values = {{"length", chain.length},
                                                               {"width", chain.width},
                                                               {"wire_radius", chain.wire},
                                                               {"segments", params.number("ring_segments")},
                                                               {"sides", params.number("ring_sides")}};
        const GeometrySpec ring = shape_spec("ring", ring_values);
        // The ball carries a ring of its own, half sunk into it.
        Mesh ball_with_eye = ball_mesh;
        const double eye = radius + 0.5 * chain.length - 2.2 * chain.wire;
        append_mesh(ball_with_eye, shape_mesh("ring", ring_values), Vec3(0, eye, 0), Quat::Identity());
        const double angle = params.number("angle") * EIGEN_PI / 180.0;
        const double reach = rings * chain.pitch() + eye;  // from the anchor ring's centre to the ball's
        const Vec3 anchor(-radius - 0.05, hit_height + reach, 0);
        const Vec3 down(-std::sin(angle), -std::cos(angle), 0);
        const Quat lean = turn(-params.number("angle"), Vec3::UnitZ());
        for (int k = 0; k < rings; ++k) {
            BodySpec link =
                body_spec(scene, k == 0 ? "anchor" : "ring" + std::to_string(k), ring,
                          anchor + down * (k * chain.pitch()), lean * turn(k % 2 ? 90 : 0, Vec3::UnitY()));
            link.density = 7850.0;
            link.color = {0.45, 0.47, 0.5};
            if (k == 0) link.type = BodyType::static_body;
            scene.add_body(link);
        }
        BodySpec ball = body_spec(scene, "ball", mesh_spec(ball_with_eye), anchor + down * reach,
                                  lean * turn(rings % 2 ? 90 : 0, Vec3::UnitY()));
        ball.density = 7850.0;
        ball.color = {0.25, 0.27, 0.3};
        scene.add_body(ball);
        scene.expect.push_back(
            expect_quantity("ball", "y", 0.5 * radius, 1e300, "the chain still holds the ball"));
    }
    ExpectSpec hit = expect_quantity("block" + std::to_string((up / 3) * along * deep + (along / 2) * deep),
                                     "moved", 0.05, 1e300, "the wall is hit");
    scene.expect.push_back(hit);
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    const double size = std::max<double>(up, along);
    scene.camera["eye"] = {-0.9 * size - 6, 0.6 * size + 3, 1.3 * size + 7};
    scene.camera["target"] = {0, 0.35 * size + 0.5, 0};
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_wall_scenes() {
    return {{"wrecking-ball",
             "affine",
             "a steel ball on a chain of rings swings into a wall of wooden blocks",
             "Affine Body Dynamics, Figs. 3 and 10, Table 1",
             "the chain holds, the blocks scatter, nothing intersects",
             {{"blocks", 48.0, "blocks of 1 m in the wall", 1.0, 20000.0},
              {"chain", true, "hang the ball on a chain; otherwise it flies"},
              {"rings", 9.0, "rings of the chain, the fixed one included", 2.0, 100.0},
              {"ring_segments", 16.0, "corners along a ring", 8.0, 200.0},
              {"ring_sides", 6.0, "corners around the wire", 3.0, 100.0},
              {"ball_radius", 0.9, "radius of the ball", 0.1, 10.0, {}, "m"},
              {"ball_detail", 2.0, "subdivisions of the ball", 0.0, 6.0},
              {"angle", 70.0, "how far the ball is pulled back", 0.0, 120.0, {}, "deg"},
              {"speed", 10.0, "of a ball without chain", 0.0, 1000.0, {}, "m/s"},
              {"friction", 0.3, "coefficient of friction", 0.0, 10.0},
              {"seconds", 3.0, "duration", 0.01, 100.0, {}, "s"}},
             {{"blocks", 560.0},
              {"rings", 14.0},
              {"ring_segments", 24.0},
              {"ring_sides", 10.0},
              {"ball_radius", 1.5}},
             make_wrecking_ball}};
}

}  // namespace tenon

// Nets of interlocked rings (Figs. 5 and 6).
#include <cmath>

#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon {
namespace {

// Flat rings on a square grid, each linked to its four neighbours by upright rings; the border is fixed.
Scene make_chain_net(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = params.number("friction");
    const int n = params.integer("n");
    const double wire = 0.08, size = 1.0;
    const GeometrySpec ring = shape_spec("ring", {{"length", size},
                                                  {"width", size},
                                                  {"wire_radius", wire},
                                                  {"segments", params.number("segments")},
                                                  {"sides", params.number("sides")}});
    const double pitch =
        2.0 * (size - 4.0 * wire) - 0.06;  // flat ring to flat ring, through one upright ring
    int number = 0;
    const auto add_ring = [&](const Vec3& position, const Quat& rotation, bool fixed) {
        BodySpec body = body_spec(scene, "ring" + std::to_string(number++), ring, position, rotation);
        body.density = 2000.0;
        if (fixed) body.type = BodyType::static_body;
        body.color = fixed ? std::array<double, 3>{0.25, 0.4, 0.75} : std::array<double, 3>{0.75, 0.7, 0.6};
        scene.add_body(body);
    };
    const auto at = [&](double i, double j) {
        return Vec3((i - 0.5 * (n - 1)) * pitch, 0, (j - 0.5 * (n - 1)) * pitch);
    };
    const Quat flat = turn(90, Vec3::UnitX());
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const bool border = i == 0 || j == 0 || i == n - 1 || j == n - 1;
            add_ring(at(i, j), flat, border);
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const bool row_border = j == 0 || j == n - 1, column_border = i == 0 || i == n - 1;
            if (i + 1 < n && !row_border) add_ring(at(i + 0.5, j), Quat::Identity(), false);
            if (j + 1 < n && !column_border) add_ring(at(i, j + 0.5), turn(90, Vec3::UnitY()), false);
        }
    if (params.flag("ball")) {
        const double radius = std::max(0.8, 0.12 * n * pitch);
        BodySpec ball =
            body_spec(scene, "ball", shape_spec("icosphere", {{"radius", radius}, {"subdivisions", 2.0}}),
                      Vec3(0, radius + 1.0, 0));
        ball.density = params.number("ball_density");
        ball.color = {0.8, 0.3, 0.25};
        scene.add_body(ball);
        scene.expect.push_back(
            expect_quantity("ball", "y", -0.5 * n * pitch, 1e300, "the net holds the ball"));
    }
    const int middle = (n / 2) * n + n / 2;
    scene.expect.push_back(
        expect_quantity("ring" + std::to_string(middle), "moved", 0.0, 0.5 * n * pitch, "rings stay linked"));
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_chain_scenes() {
    return {{"chain-net",
             "affine",
             "a net of interlocked rings, its border fixed, with or without a ball dropped on it",
             "Affine Body Dynamics, Figs. 5 and 6",
             "the ball bounces on the net; rings stay linked",
             {{"n", 5.0, "flat rings along a side", 2.0, 200.0},
              {"ball", true, "drop a ball"},
              {"ball_density", 1500.0, "density of the ball", 1.0, 1e5, {}, "kg/m^3"},
              {"segments", 12.0, "corners along a ring", 8.0, 200.0},
              {"sides", 6.0, "corners around the wire", 3.0, 100.0},
              {"friction", 0.2, "coefficient of friction", 0.0, 10.0},
              {"seconds", 1.5, "duration", 0.01, 100.0, {}, "s"}},
             {{"n", 16.0}, {"segments", 22.0}, {"sides", 10.0}},
             make_chain_net}};
}

}  // namespace tenon

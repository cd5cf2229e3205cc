// Friction at work: a spinning bar on a wedge, a stack that stands until hit, a truck that stops, a spinning basin.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/impulse_scene_parts.hpp"

namespace tenon::impulse_scene {
namespace {

Quat about(const Vec3& axis, double angle) {
    return Quat(Eigen::AngleAxisd(angle, axis));
}

// A cylinder that spins on the spot drives itself by friction up the wedge and leaves its edge.
Scene make_bar(const Params& params) {
    Scene scene = start(params, params.number("friction"));
    add_ground(scene, 20);
    BodySpec wedge = body(scene, "wedge", shape_spec("wedge", {{"size", std::vector<double>{2.0, 0.6, 1.6}}}),
                          Vec3(2.2, 0.3, 0), BodyType::static_body);
    wedge.rotation = about(Vec3::UnitY(), M_PI);  // rises towards +x
    wedge.color = {0.55, 0.6, 0.65};
    scene.add_body(wedge);
    BodySpec bar =
        body(scene, "bar", shape_spec("cylinder", {{"radius", 0.2}, {"length", 1.0}, {"segments", 64.0}}),
             Vec3(0, 0.2, 0));
    bar.rotation = about(Vec3::UnitX(), M_PI / 2);
    bar.angular_velocity = Vec3(0, 0, -params.number("spin"));
    bar.color = {0.8, 0.35, 0.2};
    scene.add_body(bar);
    expect(scene, "bar", "x", 3.4, 8, "friction drives the bar up the wedge and off its edge");
    expect(scene, "bar", "z", -0.05, 0.05, "it stays on its line");
    scene.camera = {{"eye", {2.0, 2.0, 6.5}}, {"target", {2.0, 0.5, 0}}};
    return scene;
}

// Two uprights, a board across, one upright on it, a board on top: still until the balls come down the slope.
Scene make_stack(const Params& params) {
    Scene scene = start(params, 0.5);
    add_ground(scene, 12);
    const double hold = params.number("hold");
    const double angle = 30 * M_PI / 180;
    BodySpec slope =
        body(scene, "slope", box_spec(Vec3(3.0, 0.1, 2.0)), Vec3(-1.9, 0.85, 0), BodyType::static_body);
    slope.rotation = about(Vec3::UnitZ(), -angle);
    slope.color = {0.55, 0.6, 0.65};
    scene.add_body(slope);
    const Vec3 normal(std::sin(angle), std::cos(angle), 0), down(std::cos(angle), -std::sin(angle), 0);
    const Vec3 surface = Vec3(-1.9, 0.85, 0) + 0.05 * normal;
    auto wait = [&](BodySpec& spec) {
        spec.type = BodyType::kinematic_body;
        spec.motion = {{0.0, spec.position, spec.rotation}};
        spec.kinematic_until = hold;
    };
    const double upright = 0.6, thick = 0.08, across = 0.9, width = 0.8;
    const double x = 0.9;
    const GeometrySpec post = box_spec(Vec3(thick, upright, width)),
                       board = box_spec(Vec3(across, thick, width));
    const std::array<double, 3> wood{0.72, 0.55, 0.35};
    auto add_board = [&](const std::string& name, const GeometrySpec& geometry, const Vec3& at) {
        BodySpec spec = body(scene, name, geometry, at);
        spec.color = wood;
        scene.add_body(spec);
    };
    add_board("board0", post, Vec3(x - 0.3, upright / 2, 0));
    add_board("board1", post, Vec3(x + 0.3, upright / 2, 0));
    add_board("board2", board, Vec3(x, upright + thick / 2, 0));
    add_board("board3", post, Vec3(x, 1.5 * upright + thick, 0));
    add_board("board4", board, Vec3(x, 2 * upright + 1.5 * thick, 0));
    GeometrySpec lump = shape_spec("blob", {{"detail", 6.0}});
    lump.scale = Vec3::Constant(0.25);
    BodySpec slider = body(scene, "slider", lump, Vec3::Zero());
    slider.position = surface + 0.4 * normal - 0.2 * down;
    slider.friction = 0.2;
    slider.color = {0.8, 0.75, 0.7};
    wait(slider);
    scene.add_body(slider);
    const Vec3 spins[3] = {Vec3(0, 0, -20), Vec3(0, 0, 20), Vec3(0, 30, 0)};
    for (int k = 0; k < 3; ++k) {
        BodySpec ball = body(scene, fmt::format("ball{}", k), shape_spec("icosphere", {{"radius", 0.18}}),
                             surface + 0.182 * normal - 1.1 * down + Vec3(0, 0, 0.55 * (k - 1)));
        ball.angular_velocity = spins[k];
        ball.density = 4000;
        ball.color = {0.3 + 0.2 * k, 0.3, 0.7 - 0.2 * k};
        wait(ball);
        scene.add_body(ball);
    }
    for (int k = 0; k < 5; ++k)
        if (hold > 0)
            expect(scene, fmt::format("board{}", k), "moved", 0, 1e-3, "the stack stands until it is hit",
                   hold);
    if (params.number("seconds") >= hold + 1.5)
        expect(scene, "board4", "moved", 0.2, 10, "the balls bring the stack down");
    return scene;
}

// Pieces fall on a driving truck's bed: friction drags them along, and throws them forward when it stops.
Scene make_truck(const Params& params) {
    Scene scene = start(params, 0.4);
    add_ground(scene, 30);
    const double speed = params.number("speed"), stop = params.number("stop");
    auto drive = [&](BodySpec spec, const std::array<double, 3>& color) {
        const Vec3 at = spec.position;
        spec.motion = {{0.0, at, spec.rotation}, {stop, at + Vec3(speed * stop, 0, 0), spec.rotation}};
        spec.color = color;
        scene.add_body(spec);
    };
    const auto moving = BodyType::kinematic_body;
    drive(body(scene, "bed", box_spec(Vec3(3.6, 0.2, 1.6)), Vec3(0, 0.6, 0), moving), {0.5, 0.45, 0.4});
    drive(body(scene, "cab", box_spec(Vec3(0.9, 1.3, 1.6)), Vec3(2.3, 0.95, 0), moving), {0.75, 0.2, 0.15});
    for (int k = 0; k < 4; ++k) {
        BodySpec wheel = body(scene, fmt::format("wheel{}", k),
                              shape_spec("cylinder", {{"radius", 0.35}, {"length", 0.25}}),
                              Vec3(k < 2 ? -1.2 : 1.9, 0.35, k % 2 ? 0.7 : -0.7), moving);
        wheel.rotation = about(Vec3::UnitX(), M_PI / 2);
        wheel.collides = false;
        drive(wheel, {0.15, 0.15, 0.15});
    }
    const int pieces = params.integer("pieces");
    for (int i = 0; i < pieces; ++i) {
        BodySpec piece =
            body(scene, fmt::format("piece{}", i), chess_piece(2 * i, 0.5, 24, 3),
                 Vec3(-0.7 + 1.8 * i / std::max(1, pieces - 1), 0.85 + 0.05 * (i % 3), 0.35 * ((i % 3) - 1)));
        piece.color = i % 2 ? std::array<double, 3>{0.85, 0.8, 0.7} : std::array<double, 3>{0.25, 0.2, 0.18};
        scene.add_body(piece);
    }
    for (int i = 0; i < pieces; ++i)
        expect(scene, fmt::format("piece{}", i), "moved", 0.5 * speed * stop, 20,
               "the truck takes the pieces along");
    scene.camera = {{"eye", {5.2, 2.9, 7.6}}, {"target", {4.0, 0.75, 0}}};
    return scene;
}

// Objects fall into a turning basin, are dragged round by friction, and leave over the rim when it fails.
Scene make_basin(const Params& params) {
    Scene scene = start(params, 0.5);
    add_ground(scene, 16, -1.0);
    const double speed = params.number("spin"), seconds = params.number("seconds");
    BodySpec basin =
        body(scene, "basin",
             shape_spec("lathe", {{"profile", std::vector<double>{0, -0.25, 1.0, -0.25, 1.75, 0.15, 1.65,
                                                                  0.25, 0.8, 0.0, 0.0, 0.0}},
                                  {"segments", 64.0}}),
             Vec3::Zero(), BodyType::kinematic_body);
    const double quarter = 0.5 * M_PI / speed;
    for (int k = 0; k * quarter <= seconds + 2 * quarter; ++k)
        basin.motion.push_back({k * quarter, Vec3::Zero(), about(Vec3::UnitY(), 0.5 * M_PI * k)});
    basin.color = {0.6, 0.62, 0.66};
    scene.add_body(basin);
    const int objects = params.integer("objects");
    Sequence random(11);
    for (int i = 0; i < objects; ++i) {
        const double height = 0.5 + 0.18 * i / 4.0, angle = 2.4 * i,
                     radius = 0.25 + 0.45 * std::abs(random.next());
        GeometrySpec geometry;
        if (i % 3 == 0) {
            geometry = shape_spec("icosphere", {{"radius", 0.09}, {"subdivisions", 2.0}});
        } else if (i % 3 == 1) {
            geometry = chess_piece(i, 0.3, 14, 2);
        } else {
            geometry = shape_spec("blob", {{"detail", 6.0}});
            geometry.scale = Vec3::Constant(0.12);
        }
        BodySpec spec = body(scene, fmt::format("object{}", i), geometry,
                             Vec3(radius * std::cos(angle), height, radius * std::sin(angle)));
        spec.rotation = random.rotation();
        spec.angular_velocity = 8 * random.vector();
        spec.color = {0.55 + 0.35 * random.next(), 0.55 + 0.35 * random.next(), 0.55 + 0.35 * random.next()};
        scene.add_body(spec);
    }
    expect(scene, "", "y", -1.05, 100, "nothing falls through the ground");
    expect(scene, "object1", "y", -1.05, -0.3, "objects are thrown out of the basin");
    scene.camera = {{"eye", {4.0, 3.2, 4.0}}, {"target", {0, 0, 0}}};
    return scene;
}

}  // namespace

std::vector<BuiltinScene> friction_scenes() {
    const ParamInfo dt{"dt", 0.01, "time step", 1e-6, 0.1, {}, "s"};
    auto seconds = [](double value) {
        return ParamInfo{"seconds", value, "simulated time", 0.001, 1e4, {}, "s"};
    };
    return {{"bar",
             "impulse",
             "a spinning cylinder drives itself up a wedge and flies off",
             "Impulse Decomposition Fig. 1(a), Table II",
             "sliding turns into rolling; the bar leaves the wedge on a parabola",
             {{"spin", 60.0, "angular speed at the start", 0, 1e4, {}, "rad/s"},
              {"friction", 0.6, "friction coefficient", 0, 10},
              {"dt", 0.005, "time step", 1e-6, 0.1, {}, "s"},
              seconds(2.0)},
             {},
             make_bar},
            {"stack",
             "impulse",
             "five boards stand until three spinning balls and a sliding body hit them",
             "Impulse Decomposition Fig. 1(b), Table II",
             "the stack stands still, then collapses when it is hit",
             {{"hold", 1.0, "time before the balls are let go", 0, 1e4, {}, "s"}, dt, seconds(4.0)},
             {{"hold", 20.0}, {"seconds", 24.0}},
             make_stack},
            {"truck",
             "impulse",
             "chess pieces fall on a moving truck that suddenly stops",
             "Impulse Decomposition Fig. 7, Table II",
             "pieces are dragged along, then slide and topple forward; with solver=ffd they are left behind",
             {{"pieces", 5.0, "number of pieces", 1, 1000},
              {"speed", 2.0, "of the truck", 0.01, 100, {}, "m/s"},
              {"stop", 2.0, "when it stops", 0.01, 1e4, {}, "s"},
              dt,
              seconds(3.5)},
             {},
             make_truck},
            {"basin",
             "impulse",
             "balls, chess pieces and lumps fall into a spinning basin and are thrown out",
             "Impulse Decomposition Fig. 8, Table II",
             "objects are dragged round and leave over the rim",
             {{"objects", 60.0, "number of objects", 1, 100000},
              {"spin", 5.0, "of the basin", 0.1, 100, {}, "rad/s"},
              dt,
              seconds(5.0)},
             {{"objects", 684.0}, {"seconds", 20.0}},
             make_basin}};
}

}  // namespace tenon::impulse_scene

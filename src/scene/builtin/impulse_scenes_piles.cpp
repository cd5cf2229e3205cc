// Piles: chess pieces on a floor, cubes in a box.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/impulse_scene_parts.hpp"

namespace tenon::impulse_scene {

GeometrySpec chess_piece(int number, double height, int segments, int detail) {
    static const char* const order[] = {"rook", "pawn",  "knight", "pawn", "bishop",
                                        "pawn", "queen", "pawn",   "king", "pawn"};
    static const double share[] = {0.7, 0.6, 0.75, 0.6, 0.85, 0.6, 0.95, 0.6, 1.0, 0.6};
    const int k = number % 10;
    return shape_spec(order[k], {{"height", height * share[k]},
                                 {"segments", static_cast<double>(segments)},
                                 {"detail", static_cast<double>(detail)}});
}

namespace {

Scene make_chess(const Params& params) {
    Scene scene = start(params, 0.4);
    add_ground(scene, 6);
    const int pieces = params.integer("pieces"), segments = params.integer("segments");
    const int side = std::max(1, static_cast<int>(std::ceil(std::sqrt(pieces / 5.0))));
    Sequence random(7);
    for (int i = 0; i < pieces; ++i) {
        const int layer = i / (side * side), row = i / side % side, column = i % side;
        const Vec3 place(0.32 * (column - 0.5 * (side - 1)), 0.3 + 0.36 * layer,
                         0.32 * (row - 0.5 * (side - 1)));
        BodySpec piece = body(scene, fmt::format("piece{}", i), chess_piece(i, 0.3, segments, 2),
                              place + 0.03 * random.vector());
        piece.rotation = random.rotation();
        piece.color =
            i / 10 % 2 ? std::array<double, 3>{0.85, 0.8, 0.7} : std::array<double, 3>{0.25, 0.2, 0.18};
        scene.add_body(piece);
    }
    expect(scene, "", "y", -0.02, 2, "no piece falls through the floor");
    expect(scene, "", "max_speed", 0, 1, "the pieces come to rest");
    scene.camera = {{"eye", {1.7, 1.1, 1.7}}, {"target", {0, 0.1, 0}}};
    return scene;
}

Scene make_cubes(const Params& params) {
    Scene scene = start(params, 0.5);
    add_ground(scene, 12);
    const int cubes = params.integer("cubes");
    const double size = params.number("size");
    const int side = std::max(1, static_cast<int>(std::ceil(std::cbrt(static_cast<double>(cubes)))));
    const double pitch = 1.25 * size, inner = side * pitch, wall = 0.5 * size, height = 1.1 * inner;
    for (int k = 0; k < 4; ++k) {
        const bool along_x = k < 2;
        const double sign = k % 2 ? 1 : -1, off = sign * 0.5 * (inner + wall);
        BodySpec spec =
            body(scene, fmt::format("wall{}", k),
                 box_spec(along_x ? Vec3(wall, height, inner + 2 * wall) : Vec3(inner, height, wall)),
                 along_x ? Vec3(off, 0.5 * height, 0) : Vec3(0, 0.5 * height, off), BodyType::static_body);
        spec.color = {0.6, 0.65, 0.7};
        scene.add_body(spec);
    }
    const GeometrySpec cube = box_spec(Vec3::Constant(size));
    Sequence random(5);
    for (int i = 0; i < cubes; ++i) {
        const int layer = i / (side * side), row = i / side % side, column = i % side;
        const Vec3 place(pitch * (column - 0.5 * (side - 1)), 0.8 * size + pitch * layer,
                         pitch * (row - 0.5 * (side - 1)));
        BodySpec spec = body(scene, fmt::format("cube{}", i), cube, place + 0.04 * size * random.vector());
        const Vec3 tilt = 0.1 * random.vector();
        spec.rotation = Quat(1, tilt.x(), tilt.y(), tilt.z()).normalized();
        spec.color = {0.5 + 0.4 * random.next(), 0.5 + 0.3 * random.next(), 0.6};
        scene.add_body(spec);
    }
    const double reach = 0.5 * inner + wall;
    expect(scene, "", "y", 0, 2 * inner, "no cube falls through the floor");
    expect(scene, "", "x", -reach, reach, "all cubes stay in the box");
    expect(scene, "", "z", -reach, reach, "all cubes stay in the box");
    expect(scene, "", "min_distance", -0.1 * size, 1e300,
           "no cube sinks into another by a tenth of its side");
    scene.camera = {{"eye", {0.5 * inner, 2.7 * inner, 1.1 * inner}}, {"target", {0, 0.5 * inner, 0}}};
    return scene;
}

}  // namespace

std::vector<BuiltinScene> pile_scenes() {
    const ParamInfo dt{"dt", 0.01, "time step", 1e-6, 0.1, {}, "s"};
    const ParamInfo seconds{"seconds", 3.0, "simulated time", 0.001, 1e4, {}, "s"};
    return {{"chess",
             "impulse",
             "chess pieces of all kinds fall onto the ground and come to rest",
             "Impulse Decomposition Fig. 1(c), Fig. 6, Table II",
             "pieces tumble, roll and slide; rooks stand or lie, nothing sinks into the floor",
             {{"pieces", 60.0, "number of pieces", 1, 100000},
              {"segments", 16.0, "corners around a piece", 6, 256},
              dt,
              seconds},
             {{"pieces", 320.0}, {"segments", 20.0}, {"seconds", 4.0}},
             make_chess},
            {"cubes",
             "impulse",
             "cubes are dropped into a box and pile up",
             "Impulse Decomposition Fig. 1(d), Table II",
             "the pile settles without sinking into itself or through the walls",
             {{"cubes", 216.0, "number of cubes", 1, 1000000},
              {"size", 0.2, "side of a cube", 1e-3, 100, {}, "m"},
              dt,
              seconds},
             {{"cubes", 5000.0}, {"seconds", 5.0}},
             make_cubes}};
}

}  // namespace tenon::impulse_scene

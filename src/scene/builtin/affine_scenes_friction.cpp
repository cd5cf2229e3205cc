// Friction decides: a block on a slope, an arch, a house of cards, a bolt in its nut (Figs. 7 and 8).
#include <cmath>

#include "geometry/mass_properties.hpp"
#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon {
namespace {

Scene make_incline(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    const double angle = std::atan(params.number("slope")), mu = params.number("mu");
    scene.materials[0].friction = mu;
    scene.contact.dhat = 0.001;
    scene.method_params["friction_iterations"] = 3.0;  // lagged once, friction sets in a step late
    const Quat tilt = turn(-angle * 180.0 / EIGEN_PI, Vec3::UnitZ());  // downhill is +x
    const Vec3 normal = tilt * Vec3::UnitY(), downhill = tilt * Vec3::UnitX();
    const double size = 0.4, length = 0.5 * 9.81 * scene.seconds * scene.seconds + 4.0;
    BodySpec plane = body_spec(scene, "slope", box_spec({length, 0.2, 2}),
                               (0.5 * length - 1.0) * downhill - 0.1 * normal, tilt);
    plane.type = BodyType::static_body;
    plane.color = {0.5, 0.55, 0.6};
    scene.add_body(plane);
    // It starts where the barrier carries it: a drop would count as a push.
    BodySpec block = body_spec(scene, "block", box_spec({size, 0.5 * size, size}),
                               normal * (0.25 * size + params.number("gap")), tilt);
    block.color = {0.85, 0.45, 0.25};
    scene.add_body(block);
    const double slide = std::sin(angle) - mu * std::cos(angle);
    scene.camera = {{"eye", list_of(0.7 * downhill + Vec3(1.6, 1.7, 4.6))},
                    {"target", list_of(0.7 * downhill)}};
    if (slide <= 0) {
        // It settles onto the slope within the contact range; friction creeps by less than eps_v.
        scene.expect.push_back(expect_quantity("block", "moved", 0.0, 1e-3, "friction holds it: mu > tan"));
    } else {
        const double way = 0.5 * 9.81 * slide * scene.seconds * scene.seconds;
        scene.expect.push_back(expect_quantity("block", "moved", 0.99 * way - 1e-3, 1.01 * way + 1e-3,
                                               "it slides g (sin - mu cos) t^2 / 2"));
    }
    return scene;
}

Scene make_arch(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = params.number("mu");
    const int stones = params.integer("stones");
    const double span = 180.0 / stones, inner = 2.0, outer = inner + params.number("thickness");
    // Stones are cut a little narrower than their share, so that they start apart.
    const double joint = params.number("joint"),
                 cut = span - joint / (0.5 * (inner + outer)) * 180.0 / EIGEN_PI;
    const GeometrySpec stone = shape_spec(
        "arch_stone", {{"inner_radius", inner}, {"outer_radius", outer}, {"span", cut}, {"depth", 0.6}});
    BodySpec ground = body_spec(scene, "ground", box_spec({8, 0.5, 4}), Vec3(0, -0.25 - joint, 0));
    ground.type = BodyType::static_body;
    ground.color = {0.5, 0.55, 0.5};
    scene.add_body(ground);
    for (int k = 0; k < stones; ++k) {
        const double angle = 90.0 - (k + 0.5) * span;
        BodySpec body =
            body_spec(scene, "stone" + std::to_string(k), stone, Vec3::Zero(), turn(angle, Vec3::UnitZ()));
        body.density = 2500.0;
        const double shade = 0.6 + 0.15 * (k % 2);
        body.color = {shade, 0.93 * shade, 0.8 * shade};
        scene.add_body(body);
    }
    scene.expect.push_back(
        expect_quantity("stone" + std::to_string(stones / 2), "moved", 0.0, 0.1, "the arch stands"));
    scene.expect.push_back(expect_quantity("", "max_speed", 0.0, 0.05, "and rests"));
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    return scene;
}

// Cards lean against each other in pairs; each level stands on the flat cards of the one below.
Scene make_card_house(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = params.number("mu");
    // Friction alone holds the house: with the normal forces of the step before, cards slide apart as they settle.
    scene.method_params["friction_iterations"] = 10.0;
    const int levels = params.integer("levels");
    const double width = 1.0, height = 1.6, thickness = 0.02;
    const double lean = params.number("lean") * EIGEN_PI / 180.0, gap = params.number("gap");
    const double half_foot = 0.5 * height * std::sin(lean) + 0.5 * thickness * std::cos(lean) + 0.5 * gap;
    const double rise = height * std::cos(lean) + thickness * std::sin(lean);
    const double pitch = 4.0 * half_foot + 0.1;
    const GeometrySpec upright = box_spec({thickness, height, width}),
                       flat = box_spec({pitch - 0.012, thickness, width});
    BodySpec ground = body_spec(scene, "ground", box_spec({40, 0.5, 40}), Vec3(0, -0.25, 0));
    ground.type = BodyType::static_body;
    scene.add_body(ground);
    double base = gap;
    int cards = 0;
    const auto add_card = [&](const GeometrySpec& geometry, const Vec3& position, const Quat& rotation,
                              double shade) {
        BodySpec body = body_spec(scene, "card" + std::to_string(cards++), geometry, position, rotation);
        body.density = 700.0;
        body.color = {0.9 * shade, 0.85 * shade, 0.75 * shade};
        scene.add_body(body);
    };
    const double degrees = params.number("lean");
    for (int level = 0; level < levels; ++level) {
        const int tents = levels - level;
        for (int k = 0; k < tents; ++k) {
            const double x = (k - 0.5 * (tents - 1)) * pitch;
            add_card(upright, Vec3(x - half_foot, base + 0.5 * rise, 0), turn(-degrees, Vec3::UnitZ()), 1.0);
            add_card(upright, Vec3(x + half_foot, base + 0.5 * rise, 0), turn(degrees, Vec3::UnitZ()), 0.9);
        }
        base += rise + gap;
        for (int k = 0; k + 1 < tents; ++k)
            add_card(flat, Vec3((k - 0.5 * (tents - 2)) * pitch, base + 0.5 * thickness, 0), Quat::Identity(),
                     0.7);
        if (tents > 1) base += thickness + gap;
    }
    if (params.flag("boxes")) {
        for (int k = 0; k < 2; ++k) {
            // They arrive after `quiet` seconds.
            const double quiet = params.number("quiet");
            BodySpec box = body_spec(scene, "box" + std::to_string(k), box_spec({0.8, 0.8, 0.8}),
                                     Vec3((k - 0.5) * 1.2, base + 1.0 + 0.5 * 9.81 * quiet * quiet, 0.1 * k),
                                     turn(20 + 25 * k, Vec3(1, 1, 0)));
            box.density = 300.0;
            box.color = {0.8, 0.3, 0.25};
            scene.add_body(box);
        }
    }
    ExpectSpec stands = expect_quantity("card0", "moved", 0.0, 0.05, "the house stands until the boxes hit");
    stands.at = std::min(scene.seconds, params.number("quiet"));
    scene.expect.push_back(stands);
    stands.body = "card" + std::to_string(cards - 1);
    scene.expect.push_back(stands);
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    return scene;
}

// How far a body turns from rest under a constant torque: implicit Euler takes (omega h)^2 of its spin in a step.
double angle_of_helix(double alpha, double seconds, double h) {
    double spin = 0.0, angle = 0.0;
    for (double time = 0.0; time < seconds - 0.5 * h; time += h) {
        spin = (spin + h * alpha) / (1.0 + spin * spin * h * h);
        angle += h * spin;
    }
    return angle;
}

Scene make_screw(const Params& params) {
    Scene scene;
    scene.dt = params.number("dt");
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = 0.0;
    const double pitch = 0.25;
    const std::map<std::string, ParamValue> common = {{"segments", params.number("segments")},
                                                      {"rows", params.number("rows")}};
    auto bolt_values = common, nut_values = common;
    nut_values["clearance"] = params.number("clearance");
    bolt_values["length"] = 2.0;
    BodySpec nut = body_spec(scene, "nut", shape_spec("nut", nut_values), Vec3::Zero());
    nut.type = BodyType::static_body;
    nut.color = {0.7, 0.6, 0.3};
    scene.add_body(nut);
    // Raised by d it fits when turned by d / pitch: it starts near the top of its way.
    const double raised = 0.6;
    BodySpec bolt = body_spec(scene, "bolt", shape_spec("bolt", bolt_values), Vec3(0, raised, 0),
                              turn(360.0 * raised / pitch, Vec3::UnitY()));
    bolt.density = 7850.0;
    bolt.color = {0.6, 0.63, 0.67};
    scene.add_body(bolt);
    // Without friction the nut is a helix: the bolt turns with alpha = g k / (1 + k^2 I / m), k = 2 pi / pitch, and
    // sinks by the pitch in a turn. The play between the threads lets it start late, and fall a little first.
    const double k = 2.0 * EIGEN_PI / pitch, play = params.number("clearance"),
                 late = std::sqrt(2.0 * play / 9.81);
    const auto mass = geometry::mass_properties(shape_mesh("bolt", bolt_values), 0.0);
    const double inertia = (mass.second(0, 0) + mass.second(2, 2)) / mass.volume;
    const double alpha = 9.81 * k / (1.0 + k * k * inertia);
    const double most = angle_of_helix(alpha, scene.seconds, scene.dt),
                 least = angle_of_helix(alpha, scene.seconds - late, scene.dt);
    scene.expect.push_back(expect_quantity("bolt", "turned_y", -1.02 * most, -0.97 * least,
                                           "it turns itself down as a helix does"));
    scene.expect.push_back(expect_quantity("bolt", "y", raised - 1.02 * most / k - play,
                                           raised - 0.97 * least / k, "it advances by its pitch"));
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_friction_scenes() {
    const ParamInfo mu{"mu", 0.5, "coefficient of friction", 0.0, 10.0};
    return {{"incline",
             "affine",
             "a block on a slope of tangent `slope`",
             "friction test; Sec. 5.1",
             "it sticks for mu > slope and slides with g (sin - mu cos) otherwise",
             {{"slope", 0.5, "tangent of the slope's angle", 0.0, 5.0},
              {"mu", 0.4, "coefficient of friction", 0.0, 10.0},
              {"gap", 0.0009, "distance from the slope at the start", 1e-6, 1.0, {}, "m"},
              {"seconds", 2.0, "duration", 0.01, 100.0, {}, "s"}},
             {},
             make_incline},
            {"arch",
             "affine",
             "an arch of stones without mortar",
             "Affine Body Dynamics, Fig. 8 right",
             "it stands",
             {{"stones", 25.0, "number of stones", 3.0, 400.0},
              mu,
              {"thickness", 0.6, "of the stones, along the radius; the inner one is 2 m", 0.01, 2.0, {}, "m"},
              {"joint", 0.004, "gap between stones at the start", 1e-6, 0.1, {}, "m"},
              {"seconds", 2.0, "duration", 0.01, 100.0, {}, "s"}},
             {{"stones", 100.0}},
             make_arch},
            {"card-house",
             "affine",
             "a house of cards that two boxes bring down",
             "Affine Body Dynamics, Fig. 7",
             "it stands still until the boxes hit, then it falls",
             {{"levels", 4.0, "levels of tents", 1.0, 30.0},
              mu,
              {"lean", 20.0, "angle of the cards from upright", 5.0, 45.0, {}, "deg"},
              {"gap", 0.001, "distance between cards at the start", 1e-6, 0.1, {}, "m"},
              {"boxes", true, "drop the two boxes"},
              {"quiet", 1.0, "time before they arrive", 0.0, 100.0, {}, "s"},
              {"seconds", 2.0, "duration", 0.01, 100.0, {}, "s"}},
             {{"levels", 10.0}},
             make_card_house},
            {"screw",
             "affine",
             "a bolt turns down into a fixed nut under its own weight, without friction",
             "Affine Body Dynamics, Fig. 8 left",
             "it turns and advances by its pitch",
             {{"segments", 24.0, "corners around the threads", 12.0, 200.0},
              {"rows", 8.0, "rows of corners per pitch", 6.0, 100.0},
              {"clearance", 0.03, "gap between the threads", 1e-4, 0.2, {}, "m"},
              {"dt", 0.01, "time step, whose loss of spin the expectation allows for", 1e-4, 0.1, {}, "s"},
              {"seconds", 1.0, "duration", 0.01, 100.0, {}, "s"}},
             {{"segments", 48.0}, {"rows", 16.0}, {"clearance", 0.02}, {"seconds", 3.0}},
             make_screw}};
}

}  // namespace tenon

// Soft parts, stiff frames, joints and contact together (Affine Body Dynamics, Sec. 5.5, and what M-ABD leaves open).
#include <cmath>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/affine_scene_parts.hpp"
#include "tenon/error.hpp"

namespace tenon {
namespace {

int soft_material(Scene& scene, const std::string& name, double density, double young, double damping) {
    MaterialSpec soft;
    soft.name = name;
    soft.density = density;
    soft.young = young;
    soft.poisson = 0.4;
    soft.rayleigh_stiffness = damping;
    return scene.add_material(soft);
}

ElasticSpec soft_part(Scene& scene, const std::string& name, const GeometrySpec& geometry, int material,
                      double cell, const Vec3& at, const Vec3& pin_lo, const Vec3& pin_hi,
                      const std::string& body) {
    ElasticSpec part;
    part.name = name;
    part.geometry = scene.add_geometry(geometry);
    part.material = material;
    part.cell_size = cell;
    part.position = at;
    if (!body.empty()) part.pins.push_back({pin_lo, pin_hi, {}, body});
    return part;
}

// ---- hybrid drop -------------------------------------------------------------------------------------------

constexpr double ship_length = 0.6, ship_spacing = 1.24, helicopter_spacing = 0.62;

// A hull, a mast fixed on it, a sail pinned to the mast. Both kinds of craft have about `detail`^2 triangles.
void add_ship(Scene& scene, int k, const Vec3& at, double cell, int detail, int cloth) {
    const std::string name = fmt::format("ship{}", k);
    BodySpec hull = body_spec(scene, name,
                              shape_spec("hull", {{"size", list_of({ship_length, 0.12, 0.2})},
                                                  {"segments", static_cast<double>(detail)}}),
                              at);
    hull.color = {0.5, 0.35, 0.2};
    BodySpec mast =
        body_spec(scene, name + "-mast", shape_spec("cylinder", {{"radius", 0.015}, {"length", 0.5}}),
                  at + Vec3(0, 0.32, 0));
    mast.color = {0.6, 0.45, 0.3};
    const int hull_body = scene.add_body(hull), mast_body = scene.add_body(mast);
    add_joint(scene, name + "-step", JointType::fixed, hull_body, mast_body, at + Vec3(0, 0.065, 0),
              Vec3::UnitY());
    ElasticSpec sail =
        soft_part(scene, name + "-sail", box_spec({0.28, 0.3, 0.012}), cloth, cell, at + Vec3(0.16, 0.36, 0),
                  Vec3(-0.141, -1, -1), Vec3(-0.139, 1, 1), name + "-mast");
    sail.color = {0.9, 0.88, 0.8};
    scene.elastic.push_back(sail);
}

// A cabin and a tail, turned about the long axis.
std::vector<double> fuselage_profile(int points) {
    const double cabin = 0.12, tail = 0.02, length = 0.44;
    std::vector<double> profile;
    for (int i = 0; i <= points; ++i) {
        const double y = 0.5 * length * (1.0 - std::cos(EIGEN_PI * i / points)) - cabin;
        const double round = std::sqrt(std::max(0.0, cabin * cabin - y * y));
        const double rear =
            (y > 0.0 ? tail : 0.0) * std::sqrt(std::max(0.0, 1.0 - std::pow(y / (length - cabin), 8.0)));
        profile.push_back(i % points ? std::max(round, rear) : 0.0);
        profile.push_back(y);
    }
    return profile;
}

// A fuselage, a hub that turns on it, a soft rotor across the hub, soft wheels below.
void add_helicopter(Scene& scene, int k, const Vec3& at, double cell, int detail, int rubber) {
    const std::string name = fmt::format("helicopter{}", k);
    BodySpec fuselage = body_spec(scene, name,
                                  shape_spec("lathe", {{"profile", fuselage_profile(detail / 2)},
                                                       {"segments", static_cast<double>(detail)}}),
                                  at, turn(-90.0, Vec3::UnitZ()));
    fuselage.color = {0.3, 0.5, 0.7};
    BodySpec hub =
        body_spec(scene, name + "-hub", shape_spec("cylinder", {{"radius", 0.02}, {"length", 0.06}}),
                  at + Vec3(0, 0.155, 0));
    const int fuselage_body = scene.add_body(fuselage), hub_body = scene.add_body(hub);
    add_joint(scene, name + "-shaft", JointType::hinge, fuselage_body, hub_body, at + Vec3(0, 0.13, 0),
              Vec3::UnitY(), spinning(8.0));
    scene.elastic.push_back(soft_part(scene, name + "-rotor", box_spec({0.56, 0.015, 0.05}), rubber, cell,
                                      at + Vec3(0, 0.2, 0), Vec3(-0.03, -1, -1), Vec3(0.03, 1, 1),
                                      name + "-hub"));
    for (const int side : {-1, 1})
        scene.elastic.push_back(soft_part(
            scene, fmt::format("{}-wheel{}", name, side > 0 ? 1 : 0), box_spec({0.08, 0.05, 0.03}), rubber,
            cell, at + Vec3(0, -0.15, 0.06 * side), Vec3(-1, 0.024, -1), Vec3(1, 0.026, 1), name));
}

Scene make_hybrid_drop(const Params& params) {
    Scene scene;
    scene.name = "hybrid-drop";
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    const int ships = params.integer("ships"), helicopters = params.integer("helicopters");
    const int detail = params.integer("detail");
    const double cell = params.number("cell"),
                 width = 0.6 +
                         std::max(ship_length + ship_spacing * (ships - 1), helicopter_spacing * helicopters);
    const int cloth = soft_material(scene, "cloth", 400.0, 2e5, 0.002),
              rubber = soft_material(scene, "rubber", 900.0, 1e6, 0.002);
    add_static(scene, "floor", box_spec({width, 0.1, 1.4}), Vec3(0, -0.05, 0));
    for (const int side : {-1, 1}) {
        add_static(scene, side < 0 ? "left" : "right", box_spec({0.05, 0.5, 1.4}),
                   Vec3(side * (0.5 * width + 0.03), 0.25, 0));
        add_static(scene, side < 0 ? "back" : "front", box_spec({width, 0.5, 0.05}),
                   Vec3(0, 0.25, side * 0.73));
    }
    for (int k = 0; k < ships; ++k)
        add_ship(scene, k, Vec3(ship_spacing * (k - 0.5 * (ships - 1)), 0.08, -0.3), cell, detail, cloth);
    // A wheel comes down on the sail below it.
    for (int k = 0; k < helicopters; ++k)
        add_helicopter(scene, k, Vec3(0.16 + helicopter_spacing * (k - 0.5 * (helicopters - 1)), 0.79, -0.24),
                       cell, detail, rubber);
    expect_sound(scene);
    scene.camera = {{"eye", {0.9, 2.0, 1.7}}, {"target", {0.0, 0.15, 0.0}}};
    return scene;
}

// ---- soft figure on a net ----------------------------------------------------------------------------------

Scene make_net_soft(const Params& params) {
    Scene scene;
    scene.name = "net-soft";
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    const int along = params.integer("length"), across = params.integer("n");
    const double spacing = 0.15, slack = 0.045, thick = 0.016;
    const double length = spacing * (along - 1), width = spacing * (across - 1);
    const auto corner = [&](int i, int j) {
        return Vec3(spacing * i - 0.5 * length, (i + j) % 2 ? slack : -slack, spacing * j - 0.5 * width);
    };
    std::vector<std::vector<int>> at(along * across);  // rods that meet in a knot
    const auto add_rod = [&](int i, int j, int k, int l) {
        const Vec3 from = corner(i, j), to = corner(k, l);
        BodySpec rod = body_spec(scene, fmt::format("rod{}", scene.bodies.size()),
                                 box_spec({0.7 * (to - from).norm(), thick, thick}), 0.5 * (from + to),
                                 shortest_turn(Vec3::UnitX(), to - from));
        rod.color = {0.8, 0.6, 0.3};
        const int body = scene.add_body(rod);
        for (const int knot : {across * i + j, across * k + l}) {
            const Vec3 point = knot == across * i + j ? from : to;
            if (!at[knot].empty())
                add_joint(scene, "", JointType::ball, at[knot][0], body, point, Vec3::UnitY());
            at[knot].push_back(body);
        }
    };
    for (int i = 0; i < along; ++i)
        for (int j = 0; j < across; ++j) {
            if (i + 1 < along) add_rod(i, j, i + 1, j);
            if (j + 1 < across) add_rod(i, j, i, j + 1);
        }
    // One side is held; the other turns about the net's middle line and comes nearer: its edges become helices, whose
    // length stays below that of their rods.
    const double turns = params.number("turns"), turned = 2.0 * EIGEN_PI * turns;
    const double rods = (along - 1) * std::hypot(spacing, 2.0 * slack), helix = 0.5 * width * turned;
    if (helix > 0.9 * rods)
        throw InputError("net-soft", "turns",
                         fmt::format("{:g} turns are more than the net can follow", turns),
                         "make it longer: length");
    BodySpec turner =
        body_spec(scene, "turner", box_spec({0.05, 0.05, width + 0.1}), Vec3(0.5 * length + 0.1, 0, 0));
    turner.type = BodyType::kinematic_body;
    const int keys = std::max(2, static_cast<int>(std::ceil(24 * turns)));
    const double nearest = std::sqrt(rods * rods - helix * helix);
    const double rest = std::min(0.3, 0.3 * scene.seconds);  // first the figure settles
    for (int k = 0; k <= keys; ++k) {
        const double part = static_cast<double>(k) / keys;
        const double room = std::sqrt(rods * rods - std::pow(part * helix, 2)) / rods;
        Keyframe key;
        key.time = rest + (scene.seconds - rest) * part;
        key.position = turner.position - Vec3((1.0 - room) * length + 0.05 * part * nearest, 0, 0);
        key.rotation = turn(360.0 * turns * part, Vec3::UnitX());
        turner.motion.push_back(key);
    }
    const int turner_body = scene.add_body(turner);
    for (int j : {0, across - 1}) {
        add_joint(scene, "", JointType::ball, -1, at[j][0], corner(0, j), Vec3::UnitY());
        add_joint(scene, "", JointType::ball, turner_body, at[across * (along - 1) + j][0],
                  corner(along - 1, j), Vec3::UnitY());
    }
    const int rubber = soft_material(scene, "rubber", 300.0, 5e4, 0.002);
    ElasticSpec figure =
        soft_part(scene, "figure", shape_spec("icosphere", {{"radius", 0.11}, {"subdivisions", 2.0}}), rubber,
                  params.number("cell"), Vec3(0.01, 0.2, 0.01), Vec3::Zero(), Vec3::Zero(), "");
    figure.color = {0.8, 0.3, 0.3};
    scene.elastic.push_back(figure);
    expect_sound(scene);
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_coupled_scenes() {
    return {
        {"hybrid-drop",
         "affine",
         "ships with soft sails and helicopters with soft rotors drop into a tank",
         "Affine Body Dynamics, Sec. 5.5",
         "hulls stay rigid, sails and rotors bend, nothing intersects",
         {{"ships", 1.0, "number of ships", 0.0, 20.0},
          {"helicopters", 1.0, "number of helicopters", 0.0, 20.0},
          {"cell", 0.05, "edge length of the tetrahedra", 1e-3, 1.0, {}, "m"},
          {"detail", 16.0, "corners around hulls and cabins: each has about its square of triangles", 8.0,
           2000.0},
          {"seconds", 0.4, "duration", 0.01, 100.0, {}, "s"}},
         {{"ships", 2.0}, {"helicopters", 5.0}, {"cell", 0.006}, {"detail", 380.0}, {"seconds", 2.0}},
         make_hybrid_drop},
        {"net-soft",
         "affine",
         "a soft ball on a net of jointed rods, one side of which turns",
         "M-ABD, Fig. 18",
         "joints stay closed, nothing intersects",
         {{"n", 3.0, "knots across", 2.0, 60.0},
          {"length", 4.0, "knots along", 3.0, 200.0},
          {"turns", 0.25, "of the moving side", 0.0, 10.0},
          {"cell", 0.08, "edge length of the tetrahedra", 1e-3, 1.0, {}, "m"},
          {"seconds", 1.0, "duration", 0.01, 100.0, {}, "s"}},
         {{"n", 3.0}, {"length", 20.0}, {"turns", 2.0}, {"cell", 0.03}, {"seconds", 4.0}},
         make_net_soft},
    };
}

}  // namespace tenon

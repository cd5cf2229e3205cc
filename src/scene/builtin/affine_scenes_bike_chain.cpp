// A roller chain over two sprockets: every link is an exact joint, every tooth drives by contact.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/affine_scene_parts.hpp"

namespace tenon {
namespace {

struct RollerChain {
    int teeth = 8, span = 4;  // of a sprocket; links of each straight run
    double pitch = 0.05, roller = 0.012,
           clearance = 0.0006;  // m: between pins; radius; of a roller in its seat
    double width = 0.016, plate = 0.004,
           side_gap = 0.001;  // m: between inner plates; their thickness; beside them

    double radius() const { return 0.5 * pitch / std::sin(EIGEN_PI / teeth); }
    double distance() const { return span * pitch; }  // between the sprockets' axes
    int links() const { return teeth + 2 * span; }
};

// A prism along z over an outline around the origin.
Mesh prism(const std::vector<Vec2>& outline, double width) {
    Mesh mesh;
    const int count = static_cast<int>(outline.size());
    for (const double z : {-0.5 * width, 0.5 * width}) {
        for (const Vec2& corner : outline) mesh.vertices.emplace_back(corner.x(), corner.y(), z);
        mesh.vertices.emplace_back(0, 0, z);
    }
    const int upper = count + 1;
    for (int i = 0; i < count; ++i) {
        const int next = (i + 1) % count;
        mesh.triangles.push_back({count, next, i});
        mesh.triangles.push_back({upper + count, upper + i, upper + next});
        mesh.triangles.push_back({i, next, upper + next});
        mesh.triangles.push_back({i, upper + next, upper + i});
    }
    return mesh;
}

// Seats at the corners of a polygon whose sides are one pitch long. A seat has a flat bottom and flanks at 30 degrees to the
// radius that a roller touches at once; teeth end below the path of a roller that leaves, a circle around its neighbour.
Mesh sprocket(const RollerChain& chain) {
    constexpr double flank = EIGEN_PI / 6.0;
    const double seat = chain.roller + chain.clearance, tip = chain.roller / 3.0;
    const double bottom = seat * (1.0 - std::sin(flank)) / std::cos(flank);
    const double top = bottom + (seat + tip) * std::tan(flank);
    std::vector<Vec2> outline;
    for (int k = 0; k < chain.teeth; ++k) {
        const double angle = EIGEN_PI / 2.0 + 2.0 * EIGEN_PI * k / chain.teeth;
        const Vec2 out(std::cos(angle), std::sin(angle)), along(-out.y(), out.x());
        const auto corner = [&](double outward, double sideways) {
            outline.push_back((chain.radius() + outward) * out + sideways * along);
        };
        corner(tip, -top);
        corner(-seat, -bottom);
        corner(-seat, bottom);
        corner(tip, top);
    }
    return prism(outline, 0.75 * chain.width);
}

// Along x from pin to pin. Inner links carry the rollers, outer ones go around them.
Mesh link(const RollerChain& chain, bool inner) {
    Mesh mesh;
    const double at = 0.5 * (chain.width + chain.plate) + (inner ? 0.0 : chain.plate + chain.side_gap);
    for (const double side : {-1.0, 1.0})
        append_mesh(mesh,
                    shape_mesh("box", {{"size", list_of({chain.pitch + 0.8 * chain.roller, 1.2 * chain.roller,
                                                         chain.plate})}}),
                    Vec3(0, 0, side * at), Quat::Identity());
    if (!inner) return mesh;
    for (const double end : {-0.5, 0.5})
        append_mesh(
            mesh,
            shape_mesh("cylinder",
                       {{"radius", chain.roller}, {"length", chain.width - 2e-5}, {"segments", 12.0}}),
            Vec3(end * chain.pitch, 0, 0), turn(90, Vec3::UnitX()));
    return mesh;
}

// Pin k: over the left sprocket, whose axis is the origin, along the bottom, around the right one and back on top.
Vec3 pin(const RollerChain& chain, int k) {
    const int half = chain.teeth / 2, links = chain.links();
    k %= links;
    const double step = 2.0 * EIGEN_PI / chain.teeth;
    const auto around = [&](double x, double angle) {
        return Vec3(x + chain.radius() * std::cos(angle), chain.radius() * std::sin(angle), 0);
    };
    if (k <= half) return around(0, EIGEN_PI / 2.0 + step * k);
    if (k < half + chain.span) return Vec3(chain.pitch * (k - half), -chain.radius(), 0);
    if (k <= chain.teeth + chain.span)
        return around(chain.distance(), -EIGEN_PI / 2.0 + step * (k - half - chain.span));
    return Vec3(chain.distance() - chain.pitch * (k - chain.teeth - chain.span), chain.radius(), 0);
}

// Of a pin, both sprockets turning by 1 rad/s.
Vec3 pin_velocity(const RollerChain& chain, int k) {
    const Vec3 at = pin(chain, k);
    const double axis = std::clamp(at.x(), 0.0, chain.distance());
    return Vec3::UnitZ().cross(at - Vec3(axis, 0, 0));
}

Scene make_bike_chain(const Params& params) {
    Scene scene;
    scene.name = "bike-chain";
    scene.dt = params.number("step");
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = 0.1;
    scene.contact.jointed_bodies_collide = true;
    RollerChain chain;
    chain.teeth = 2 * params.integer("half_teeth");
    chain.span = 2 * params.integer("half_span");
    const double speed = 2.0 * EIGEN_PI * params.number("turns_per_second");
    const int wheel = scene.add_geometry(mesh_spec(sprocket(chain)));
    const auto add_sprocket = [&](const std::string& name, double x, const DriveSpec& drive) {
        BodySpec body;
        body.name = name;
        body.geometry = wheel;
        body.position = Vec3(x, 0, 0);
        body.color = {0.75, 0.45, 0.2};
        body.angular_velocity = Vec3(0, 0, speed);
        add_joint(scene, name + "-axle", JointType::hinge, -1, scene.add_body(body), body.position,
                  Vec3::UnitZ(), drive);
    };
    add_sprocket("driver", 0, spinning(speed));
    DriveSpec load;
    load.spring = SpringSpec{};
    load.spring->damping = params.number("load") / speed;
    add_sprocket("driven", chain.distance(), load);
    const int shapes[2] = {scene.add_geometry(mesh_spec(link(chain, true))),
                           scene.add_geometry(mesh_spec(link(chain, false)))};
    const int first = static_cast<int>(scene.bodies.size());
    for (int k = 0; k < chain.links(); ++k) {
        const Vec3 from = pin(chain, k), to = pin(chain, k + 1);
        BodySpec body;
        body.name = fmt::format("link{}", k);
        body.geometry = shapes[k % 2];
        body.position = 0.5 * (from + to);
        body.rotation =
            turn(std::atan2(to.y() - from.y(), to.x() - from.x()) * 180.0 / EIGEN_PI, Vec3::UnitZ());
        body.color = k % 2 ? std::array<double, 3>{0.35, 0.4, 0.5} : std::array<double, 3>{0.7, 0.72, 0.75};
        const Vec3 start = speed * pin_velocity(chain, k), end = speed * pin_velocity(chain, k + 1);
        body.linear_velocity = 0.5 * (start + end);
        body.angular_velocity = (to - from).cross(end - start) / (to - from).squaredNorm();
        scene.add_body(body);
    }
    for (int k = 0; k < chain.links(); ++k)
        add_joint(scene, fmt::format("pin{}", k), JointType::hinge,
                  first + (k + chain.links() - 1) % chain.links(), first + k, pin(chain, k), Vec3::UnitZ());
    expect_sound(scene);
    const double turned = speed * scene.seconds, play = 4.0 * chain.clearance / chain.radius();
    scene.expect.push_back(expect_quantity("driven", "turned_z", turned - play, turned + play,
                                           "the driven sprocket turns as the driver does, but for the play"));
    const double middle = 0.5 * chain.distance(), size = chain.distance() + 2.0 * chain.radius();
    scene.camera = {{"eye", {middle + 0.6 * size, 0.5 * size, 1.25 * size}}, {"target", {middle, 0.0, 0.0}}};
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_bike_chain_scenes() {
    return {
        {"bike-chain",
         "affine",
         "a roller chain of exact joints runs over two sprockets that it touches only by its rollers",
         "exact joints and barrier contact together",
         "joints stay closed, nothing intersects, the driven sprocket turns with the driver",
         {{"half_teeth", 4.0, "half the teeth of a sprocket", 4.0, 40.0},
          {"half_span", 2.0, "half the links of each straight run", 1.0, 100.0},
          {"turns_per_second", 0.5, "of the driver", 0.01, 20.0},
          {"load", 0.2, "torque on the driven sprocket at full speed", 0.0, 1000.0, {}, "N m"},
          {"step", 0.01, "time step", 1e-5, 0.1, {}, "s"},
          {"seconds", 1.0, "duration", 0.01, 100.0, {}, "s"}},
         {{"half_teeth", 9.0}, {"half_span", 12.0}, {"seconds", 4.0}},
         make_bike_chain},
    };
}

}  // namespace tenon

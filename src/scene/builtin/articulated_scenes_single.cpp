// One body against what is known in closed form or by Runge and Kutta: Figs. 2 and 7-10.
#include <cmath>

#include "math/rotation.hpp"
#include "scene/builtin/articulated_scene_families.hpp"

namespace tenon {
namespace {

std::vector<ParamInfo> step_parameters(double dt, double seconds) {
    return {{"dt", dt, "time step", 1e-6, 0.1, {}, "s"},
            {"seconds", seconds, "simulated time", 1e-3, 1e4, {}, "s"}};
}

std::vector<ParamInfo> with(std::vector<ParamInfo> list, std::vector<ParamInfo> more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
}

int steel_free(Scene& scene) {
    return scene.add_material(rigid_material("stiff", 1000.0));
}

// A cylinder of radius 0.5 m that rolls along x without sliding: its centre keeps v = omega r.
Scene make_rolling_cylinder(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const int material = steel_free(scene);
    const double radius = 0.5, speed = params.number("speed");
    BodySpec ground = body_spec(
        scene, "ground", shape_spec("plane", {{"size", std::vector<double>{400.0, 20.0}}}), Vec3::Zero());
    ground.type = BodyType::static_body;
    ground.friction = 0.6;
    scene.add_body(ground);
    BodySpec cylinder = body_spec(
        scene, "cylinder", shape_spec("cylinder", {{"radius", radius}, {"length", 1.0}, {"segments", 64.0}}),
        Vec3(0, radius, 0), turn(90, Vec3::UnitX()));
    cylinder.material = material;
    cylinder.friction = 0.6;
    cylinder.linear_velocity = Vec3(speed, 0, 0);
    cylinder.angular_velocity = Vec3(0, 0, -speed / radius);
    scene.add_body(cylinder);
    Mesh marks;  // one a metre
    for (int k = -1; k <= std::min(200.0, speed * scene.seconds + 2.0); ++k)
        append_mesh(marks, shape_mesh("box", {{"size", list_of({0.06, 0.004, 2.0})}}), Vec3(k, 0.0, 0),
                    Quat::Identity());
    add_prop(scene, "marks", mesh_spec(marks), Vec3::Zero()).color = {0.32, 0.34, 0.38};
    const double way = speed * scene.seconds;
    scene.expect.push_back(
        expect_quantity("cylinder", "x", 0.93 * way, 1.01 * way, "rolls on at v = omega r"));
    return scene;
}

// The paper's cube has a side of 0.1 m and would spin at 60,000 rad/s; with 1 m the same momenta are a slow turn.
Scene make_spinning_box(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    scene.gravity.setZero();
    const double side = params.number("side"), mass = 1000.0 * side * side * side;
    BodySpec box = body_spec(scene, "box", box_spec(Vec3::Constant(side)), Vec3::Zero());
    box.material = steel_free(scene);
    box.linear_velocity = Vec3(100.0 / mass, 0, 0);
    box.angular_velocity = Vec3(0, 100.0 / (mass * side * side / 6.0), 0);
    scene.add_body(box);
    // a hoop that it drifts through
    add_prop(scene, "hoop",
             shape_spec("torus", {{"major", 1.1 * side}, {"minor", 0.04 * side}, {"segments", 96.0}}),
             Vec3(0.5 * box.linear_velocity.x() * scene.seconds, 0, 0), turn(90, Vec3::UnitZ()));
    scene.expect.push_back(expect_quantity("box", "x", 100.0 / mass * scene.seconds - 1e-6,
                                           100.0 / mass * scene.seconds + 1e-6,
                                           "linear momentum is kept exactly"));
    scene.expect.push_back(expect_quantity("box", "turned_y", 0.99 * box.angular_velocity.y() * scene.seconds,
                                           1.01 * box.angular_velocity.y() * scene.seconds,
                                           "the spin goes on"));
    return scene;
}

// Closed boxes that abut, as one mesh: their volumes add.
GeometrySpec boxes_spec(const std::vector<std::array<Vec3, 2>>& boxes) {
    GeometrySpec geometry;
    for (const auto& [center, size] : boxes) {
        const int first = static_cast<int>(geometry.vertices.size());
        for (int k = 0; k < 8; ++k)
            geometry.vertices.push_back(
                center + 0.5 * size.cwiseProduct(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
        constexpr int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
        for (const auto& q : quads) {
            geometry.triangles.push_back({first + q[0], first + q[1], first + q[2]});
            geometry.triangles.push_back({first + q[0], first + q[2], first + q[3]});
        }
    }
    return geometry;
}

Scene make_t_handle(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    scene.gravity.setZero();
    const GeometrySpec handle =
        boxes_spec({{Vec3(0, 0, 0), Vec3(1.0, 0.2, 0.2)}, {Vec3(0, -0.35, 0), Vec3(0.2, 0.5, 0.2)}});
    BodySpec body = body_spec(scene, "handle", handle, Vec3::Zero());
    body.material = steel_free(scene);
    // The stem's direction is the middle axis; the small tilt starts the flip.
    body.angular_velocity = params.number("spin") * Vec3(0.01, 1.0, 0.01).normalized();
    body.color = {0.9, 0.6, 0.2};
    scene.add_body(body);
    scene.expect.push_back(expect_quantity("handle", "moved", 0.0, 1e-6, "the centre of mass stays"));
    scene.expect.push_back(expect_quantity("handle", "spin", 0.9 * params.number("spin"),
                                           2.5 * params.number("spin"), "it goes on turning"));
    return scene;
}

// What a pivot at the origin stands on; it touches nothing.
void add_stand(Scene& scene, double height, double radius) {
    BodySpec stand = body_spec(
        scene, "stand", shape_spec("cone", {{"radius", radius}, {"length", height}, {"segments", 48.0}}),
        Vec3(0, -0.5 * height, 0));
    stand.type = BodyType::static_body;
    stand.collides = false;
    stand.color = {0.45, 0.47, 0.5};
    scene.add_body(stand);
}

// A disc 0.1 m above the point it stands on: a fast ("sleeping") top, for which precession is m g l / (I omega).
Scene make_heavy_top(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const double tilt = params.number("tilt") * M_PI / 180, l = 0.1, radius = 0.5;
    const Vec3 axis(std::sin(tilt), std::cos(tilt), 0);
    BodySpec top = body_spec(
        scene, "top", shape_spec("cylinder", {{"radius", radius}, {"length", 0.05}, {"segments", 64.0}}),
        l * axis, shortest_turn(Vec3::UnitY(), axis));
    top.material = steel_free(scene);
    top.angular_velocity = params.number("spin") * axis;
    top.linear_velocity = top.angular_velocity.cross(Vec3(l * axis));
    top.collides = false;
    const int body = scene.add_body(top);
    scene.joints.push_back(joint_spec("pivot", JointType::ball, -1, body, Vec3::Zero()));
    add_stand(scene, 0.6, 0.25);
    scene.expect.push_back(expect_closed_joints(1e-9));
    scene.expect.push_back(expect_quantity("top", "y", 0.09, 0.1, "stays up while it spins"));
    return scene;
}

// A rod hinged at its end, released from horizontal: theta(t) is an elliptic function.
Scene make_physical_pendulum(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    BodySpec rod = body_spec(scene, "rod", box_spec({1.0, 0.05, 0.05}), Vec3(0.5, 0, 0));
    rod.material = steel_free(scene);
    rod.collides = false;
    const int body = scene.add_body(rod);
    scene.joints.push_back(joint_spec("pivot", JointType::hinge, -1, body, Vec3::Zero(), Vec3::UnitZ()));
    Mesh frame = shape_mesh("box", {{"size", list_of({0.08, 1.34, 0.08})}});
    append_mesh(frame, shape_mesh("box", {{"size", list_of({0.6, 0.05, 0.4})}}), Vec3(0, -0.64, 0),
                Quat::Identity());
    append_mesh(frame, shape_mesh("cylinder", {{"radius", 0.018}, {"length", 0.2}}), Vec3(0, 0.6, 0.08),
                turn(90, Vec3::UnitX()));
    add_prop(scene, "frame", mesh_spec(frame), Vec3(0, -0.6, -0.1));
    scene.expect.push_back(expect_closed_joints(1e-8));
    ExpectSpec bottom =
        expect_quantity("rod", "x", -0.02, 0.02, "hangs straight down after a quarter period");
    // T/4 = K(1/sqrt 2) sqrt(I / (m g d)), I = m (1 + 0.05^2)/12 + m/4, d = 1/2
    bottom.at = 1.854074677 * std::sqrt(((1.0 + 0.0025) / 12.0 + 0.25) / (9.81 * 0.5));
    if (bottom.at <= scene.seconds) scene.expect.push_back(bottom);
    return scene;
}

// A rotor on an arm that stands on a ball joint: it precesses at M g l / (I omega) instead of falling.
Scene make_gyroscope(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const double spin = params.number("spin"), l = 0.2, radius = 0.15, width = 0.04;
    const int material = scene.add_material(rigid_material("steel", 7850.0));
    const double mass = 7850.0 * M_PI * radius * radius * width;
    const double precession = mass * 9.81 * l / (0.5 * mass * radius * radius * spin);
    BodySpec rotor = body_spec(
        scene, "rotor", shape_spec("cylinder", {{"radius", radius}, {"length", width}, {"segments", 64.0}}),
        Vec3(l, 0, 0), turn(90, Vec3::UnitZ()));
    rotor.material = material;
    rotor.group = "gyroscope";
    rotor.angular_velocity = Vec3(spin, precession, 0);
    rotor.linear_velocity = Vec3(0, precession, 0).cross(Vec3(l, 0, 0));
    BodySpec arm = body_spec(scene, "arm", box_spec({l, 0.01, 0.01}), Vec3(0.5 * l, 0, 0));
    arm.density = 100.0;  // light: the formula knows the rotor only
    arm.material = material;
    arm.group = "gyroscope";
    arm.angular_velocity = Vec3(0, precession, 0);
    arm.linear_velocity = Vec3(0, precession, 0).cross(Vec3(0.5 * l, 0, 0));
    const int r = scene.add_body(rotor), a = scene.add_body(arm);
    scene.joints.push_back(joint_spec("foot", JointType::ball, -1, a, Vec3::Zero()));
    scene.joints.push_back(joint_spec("axle", JointType::hinge, a, r, Vec3(l, 0, 0), Vec3::UnitX()));
    add_stand(scene, 0.3, 0.1);
    scene.expect.push_back(expect_closed_joints(1e-8));
    scene.expect.push_back(expect_quantity("arm", "turned_y", 0.95 * precession * scene.seconds,
                                           1.05 * precession * scene.seconds,
                                           "precesses at M g l / (I omega)"));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> articulated_single_scenes() {
    return {
        {"rolling-cylinder",
         "articulated",
         "a cylinder rolls along the ground",
         "M-ABD Fig. 2",
         "it rolls on without slipping and hardly slows down",
         with(step_parameters(0.01, 3.0), {{"speed", 2.0, "speed", 0.1, 20, {}, "m/s"}}),
         {{"seconds", 100.0}},
         make_rolling_cylinder},
        {"spinning-box",
         "articulated",
         "a free cube with linear and angular momentum",
         "M-ABD Fig. 7",
         "it drifts and turns evenly",
         with(step_parameters(0.01, 5.0), {{"side", 1.0, "side of the cube", 0.5, 10, {}, "m"}}),
         {{"seconds", 10.0}},
         make_spinning_box},
        {"t-handle",
         "articulated",
         "a T-shaped handle spun about its middle axis in free fall",
         "M-ABD Fig. 8",
         "it flips over again and again",
         with(step_parameters(0.01, 20.0), {{"spin", 3.0, "spin", 0.1, 100, {}, "rad/s"}}),
         {{"seconds", 60.0}},
         make_t_handle},
        {"heavy-top",
         "articulated",
         "a spinning top on a fixed point",
         "M-ABD Fig. 9",
         "it precesses and nods instead of falling",
         with(step_parameters(0.01, 5.0),
              {{"spin", 10.0, "spin", 0.1, 1000, {}, "rad/s"}, {"tilt", 5.0, "tilt", 0, 80, {}, "deg"}}),
         {{"dt", 0.001}},
         make_heavy_top},
        {"physical-pendulum",
         "articulated",
         "a hinged rod released from horizontal",
         "M-ABD Fig. 10",
         "it swings to the same height on the other side",
         step_parameters(0.005, 3.0),
         {{"dt", 0.001}, {"seconds", 10.0}},
         make_physical_pendulum},
        {"gyroscope",
         "articulated",
         "a spinning rotor on an arm that stands on one end",
         "textbook",
         "the arm stays level and walks around its foot",
         with(step_parameters(0.0005, 2.0), {{"spin", 150.0, "spin", 10, 1000, {}, "rad/s"}}),
         {{"seconds", 5.0}},
         make_gyroscope},
    };
}

}  // namespace tenon

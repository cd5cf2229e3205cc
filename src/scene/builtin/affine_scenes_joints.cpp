// Jointed bodies that also collide (Fig. 13), and balls whose bounce comes from the integrator.
#include <cmath>

#include "scene/builtin/affine_scene_families.hpp"
#include "scene/builtin/scene_parts.hpp"

namespace tenon {
namespace {

void add_hinge(Scene& scene, int a, int b, const Vec3& point, const Vec3& axis) {
    JointSpec hinge;
    hinge.name = "hinge" + std::to_string(scene.joints.size());
    hinge.type = JointType::hinge;
    hinge.bodies = {a, b};
    hinge.point = point;
    hinge.axis = axis;
    scene.joints.push_back(hinge);
}

Scene make_pendulum(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.method_params["integrator"] = std::string("bdf2");
    const int links = params.integer("links");
    const double length = 0.8;
    int last = -1;
    for (int k = 0; k < links; ++k) {
        BodySpec link = body_spec(scene, "link" + std::to_string(k), box_spec({length, 0.1, 0.08}),
                                  Vec3((k + 0.5) * (length + 0.1), 3, 0));
        link.color = {0.8 - 0.15 * (k % 2), 0.5, 0.3 + 0.2 * (k % 2)};
        const int body = scene.add_body(link);
        add_hinge(scene, last, body, Vec3(k * (length + 0.1) - (k ? 0.05 : 0.0), 3, 0), Vec3::UnitZ());
        last = body;
    }
    scene.expect.push_back(expect_quantity("", "joint_residual", 0.0, 1e-9, "joints stay closed"));
    scene.expect.push_back(expect_quantity("link0", "moved", 0.05, 1e300, "it swings"));
    return scene;
}

Scene make_octopus(const Params& params) {
    Scene scene;
    scene.dt = 0.01;
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = 0.3;
    const int arms = params.integer("arms"), segments = params.integer("segments");
    const double radius = 0.6, length = 0.45, start = radius + 0.12;
    BodySpec floor = body_spec(scene, "floor", box_spec({14, 0.4, 14}), Vec3(0, -0.2, 0));
    floor.type = BodyType::static_body;
    floor.color = {0.5, 0.55, 0.6};
    scene.add_body(floor);
    const double height = params.number("height");
    BodySpec head =
        body_spec(scene, "head", shape_spec("icosphere", {{"radius", radius}, {"subdivisions", 2.0}}),
                  Vec3(0, height, 0));
    head.color = {0.75, 0.35, 0.45};
    const int head_body = scene.add_body(head);
    for (int arm = 0; arm < arms; ++arm) {
        const double degrees = 360.0 * arm / arms;
        const Quat around = turn(degrees, Vec3::UnitY());
        int last = head_body;
        for (int k = 0; k < segments; ++k) {
            const double thick = 0.16 - 0.02 * k;
            BodySpec link =
                body_spec(scene, "arm" + std::to_string(arm) + "_" + std::to_string(k),
                          box_spec({length - 0.08, thick, thick}),
                          Vec3(0, height, 0) + around * Vec3(start + (k + 0.5) * length, 0, 0), around);
            link.color = {0.8, 0.45 + 0.05 * k, 0.5};
            const int body = scene.add_body(link);
            add_hinge(scene, last, body, Vec3(0, height, 0) + around * Vec3(start + k * length, 0, 0),
                      around * Vec3::UnitZ());
            last = body;
        }
    }
    scene.expect.push_back(expect_quantity("", "joint_residual", 0.0, 1e-8, "joints stay closed"));
    scene.expect.push_back(expect_quantity("head", "y", 0.5 * radius, height, "it lands on the floor"));
    scene.expect.push_back(expect_quantity("", "intersections", 0, 0, "nothing ever intersects"));
    return scene;
}

Scene make_newtons_cradle(const Params& params) {
    Scene scene;
    scene.dt = 0.0005;
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = 0.0;
    scene.contact.dhat = 0.002;
    const int balls = params.integer("balls");
    const double radius = 0.1, length = 1.0, spacing = 2 * radius + 0.006;  // one strike after the other
    const double lifted = params.number("angle") * EIGEN_PI / 180.0;
    scene.materials[0].restitution = 1.0;
    const GeometrySpec ball = shape_spec("icosphere", {{"radius", radius}, {"subdivisions", 2.0}});
    for (int k = 0; k < balls; ++k) {
        // Each turned its own way: corner on corner would count once for every pair of edges there.
        const Vec3 pivot((k - 0.5 * (balls - 1)) * spacing, length, 0);
        const double lift = k == 0 ? lifted : 0.0;
        BodySpec body =
            body_spec(scene, "ball" + std::to_string(k), ball,
                      pivot + length * Vec3(-std::sin(lift), -std::cos(lift), 0),
                      turn(-lift * 180.0 / EIGEN_PI, Vec3::UnitZ()) * turn(25.0 * k + 8.0, Vec3(1, 2, 3)));
        body.density = 7850.0;
        body.color = {0.7, 0.72, 0.75};
        add_hinge(scene, -1, scene.add_body(body), pivot, Vec3::UnitZ());
    }
    // Half a period later the last ball is where the first began, on the other side; the others hang still.
    const double chord = 2.0 * length * std::sin(0.5 * lifted);
    const double gyration = length * length + 0.4 * radius * radius;
    const double period =
        2.0 * EIGEN_PI * std::sqrt(gyration / (9.81 * length)) * (1.0 + lifted * lifted / 16.0);
    ExpectSpec out = expect_quantity("ball" + std::to_string(balls - 1), "moved", 0.93 * chord, 1.02 * chord,
                                     "the last ball swings out as far");
    out.at = 0.5 * period;
    scene.expect.push_back(out);
    out = expect_quantity("ball0", "x", -0.5 * (balls - 1) * spacing - 0.1 * chord,
                          -0.5 * (balls - 1) * spacing + 0.1 * chord, "the first one stays behind");
    out.at = 0.5 * period;
    scene.expect.push_back(out);
    scene.expect.push_back(expect_quantity("", "joint_residual", 0.0, 1e-9, "joints stay closed"));
    return scene;
}

Scene make_bouncing_ball(const Params& params) {
    Scene scene;
    scene.dt = params.number("step");
    scene.seconds = params.number("seconds");
    scene.materials[0].friction = 0.0;
    const double wanted = params.number("restitution");
    if (wanted > 0) {
        scene.materials[0].restitution = wanted;
    } else {
        scene.method_params["integrator"] = params.text("integrator");
        scene.contact.dhat = params.number("dhat");
    }
    BodySpec floor = body_spec(scene, "floor", box_spec({6, 0.4, 6}), Vec3(0, -0.2, 0));
    floor.type = BodyType::static_body;
    scene.add_body(floor);
    const double radius = 0.2, drop = params.number("drop");
    BodySpec ball =
        body_spec(scene, "ball", shape_spec("icosphere", {{"radius", radius}, {"subdivisions", 2.0}}),
                  Vec3(0.37, radius + drop, 0.11));  // one point of contact: not over an edge of the floor
    ball.color = {0.85, 0.4, 0.2};
    scene.add_body(ball);
    if (wanted > 0 || params.text("integrator") == "newmark") {
        // It comes back with `bounce` of its speed, to bounce^2 of its height, as long after as it is fast.
        const double bounce = wanted > 0 ? wanted : 1.0, fall = std::sqrt(2.0 * drop / 9.81);
        const double least = std::pow(0.95 * bounce, 2) * drop, most = std::pow(1.05 * bounce, 2) * drop;
        ExpectSpec back = expect_quantity("ball", "y", radius + least, radius + most, "it bounces back up");
        back.at = (1.0 + bounce) * fall;
        scene.expect.push_back(back);
    } else {
        scene.expect.push_back(
            expect_quantity("ball", "y", 0.9 * radius, 1.1 * radius + 0.1, "it comes to rest"));
    }
    return scene;
}

}  // namespace

std::vector<BuiltinScene> affine_joint_scenes() {
    return {
        {"pendulum",
         "affine",
         "links hinged to each other swing down",
         "Affine Body Dynamics, Fig. 13 left",
         "hinges stay closed to round-off",
         {{"links", 2.0, "number of links", 1.0, 200.0}, {"seconds", 2.0, "duration", 0.01, 100.0, {}, "s"}},
         {},
         make_pendulum},
        {"octopus",
         "affine",
         "a head with hinged arms falls on the floor",
         "Affine Body Dynamics, Fig. 13 right",
         "joints hold, parts collide",
         {{"arms", 8.0, "number of arms", 1.0, 100.0},
          {"segments", 3.0, "joints of each arm", 1.0, 50.0},
          {"height", 1.2, "of the head above the floor", 0.8, 100.0, {}, "m"},
          {"seconds", 1.0, "duration", 0.01, 100.0, {}, "s"}},
         {{"segments", 5.0}, {"seconds", 3.0}},
         make_octopus},
        {"newtons-cradle",
         "affine",
         "hanging balls in a row, the first one lifted",
         "restitution, end of Sec. 4",
         "the last ball swings out nearly as high",
         {{"balls", 4.0, "number of balls", 2.0, 50.0},
          {"angle", 25.0, "how far the first is lifted", 1.0, 80.0, {}, "deg"},
          {"seconds", 1.05, "duration", 0.01, 100.0, {}, "s"}},
         {},
         make_newtons_cradle},
        {"bouncing-ball",
         "affine",
         "a ball dropped on the floor; a restitution, or the integrator, decides how it bounces",
         "restitution through the integrator, end of Sec. 4",
         "with newmark it comes back up, with implicit Euler it stays down; restitution=0.6 bounces with 0.6",
         {{"integrator",
           std::string("newmark"),
           "time integration",
           0,
           0,
           {"implicit-euler", "bdf2", "newmark"}},
          {"restitution", 0.0, "of the floor and the ball; 0: see integrator", 0.0, 1.0},
          {"drop", 0.5, "height it falls", 0.01, 100.0, {}, "m"},
          {"dhat", 0.01, "contact range", 1e-5, 1.0, {}, "m"},
          {"step", 0.0005, "time step", 1e-6, 0.1, {}, "s"},
          {"seconds", 0.8, "duration", 0.01, 100.0, {}, "s"}},
         {},
         make_bouncing_ball}};
}

}  // namespace tenon

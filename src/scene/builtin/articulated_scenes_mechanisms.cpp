// Textbook mechanisms with closed-form motion: four-bar, slider-crank, coupled gears.
#include <cmath>

#include "scene/builtin/articulated_scene_families.hpp"

namespace tenon {
namespace {

MotorSpec speed_motor(double speed) {
    MotorSpec motor;
    motor.type = MotorSpec::Type::velocity;
    motor.target = speed;
    return motor;
}

int add_bar(Scene& scene, const std::string& name, const Vec3& a, const Vec3& b, double z,
            const Vec3& color) {
    const Vec3 lift(0, 0, z);
    BodySpec bar =
        body_spec(scene, name, box_spec({(b - a).norm(), 0.06, 0.03}), 0.5 * (a + b) + lift, along(b - a));
    bar.group = "linkage";
    bar.color = {color.x(), color.y(), color.z()};
    return scene.add_body(bar);
}

// A foot with posts that carry the given bearings, behind the bars.
void add_frame(Scene& scene, const std::vector<Vec3>& bearings, double floor) {
    Mesh frame;
    Vec3 low = bearings.front(), high = low;
    for (const Vec3& at : bearings) {
        low = low.cwiseMin(at);
        high = high.cwiseMax(at);
        const double height = at.y() + 0.05 - floor;
        append_mesh(frame, shape_mesh("box", {{"size", list_of({0.08, height, 0.04})}}),
                    Vec3(at.x(), floor + 0.5 * height, -0.06), Quat::Identity());
        append_mesh(frame, shape_mesh("cylinder", {{"radius", 0.02}, {"length", 0.12}}),
                    Vec3(at.x(), at.y(), -0.02), turn(90, Vec3::UnitX()));
    }
    append_mesh(frame, shape_mesh("box", {{"size", list_of({high.x() - low.x() + 0.4, 0.05, 0.3})}}),
                Vec3(0.5 * (low.x() + high.x()), floor - 0.025, -0.02), Quat::Identity());
    add_prop(scene, "frame", mesh_spec(frame), Vec3::Zero());
}

// The rocker's pin of a four-bar: a circle about the ground pivot meets one about the crank's pin.
Vec3 rocker_pin(const Vec3& crank_pin, const Vec3& pivot, double coupler, double rocker) {
    const Vec3 d = pivot - crank_pin;
    const double length = d.norm();
    const double along_d = (coupler * coupler - rocker * rocker + length * length) / (2 * length);
    const double across = std::sqrt(std::max(0.0, coupler * coupler - along_d * along_d));
    const Vec3 e = d / length;
    return crank_pin + along_d * e + across * Vec3(-e.y(), e.x(), 0);
}

// One joint of a Bennett linkage to the next (Denavit and Hartenberg): turn about z, go along x, tilt about x.
Pose bennett_step(double turned, double length, double tilt) {
    const Quat spin(Eigen::AngleAxisd(turned, Vec3::UnitZ()));
    return {spin * Vec3(length, 0, 0), spin * Quat(Eigen::AngleAxisd(tilt, Vec3::UnitX()))};
}

// Four hinges whose axes are neither parallel nor meet: overconstrained, but mobile where the lengths are as the sines of
// the tilts; then tan(theta_1/2) tan(theta_2/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2).
void add_bennett(Scene& scene, double speed) {
    const double alpha = M_PI / 6, beta = M_PI / 3, a = 0.5, b = a * std::sin(beta) / std::sin(alpha);
    const double theta = 1.0;
    const double other = 2 * std::atan(std::sin(0.5 * (beta + alpha)) / std::sin(0.5 * (beta - alpha)) /
                                       std::tan(0.5 * theta));
    Pose frames[4];
    const Pose steps[3] = {bennett_step(theta, a, alpha), bennett_step(other, b, beta),
                           bennett_step(-theta, a, alpha)};
    for (int k = 0; k < 3; ++k) {
        frames[k + 1].rotation = frames[k].rotation * steps[k].rotation;
        frames[k + 1].position = frames[k].position + frames[k].rotation * steps[k].position;
    }
    const char* names[3] = {"crank", "coupler", "rocker"};
    const Vec3 colors[3] = {{0.85, 0.35, 0.25}, {0.95, 0.7, 0.2}, {0.3, 0.6, 0.85}};
    int bars[3];
    for (int k = 0; k < 3; ++k)
        bars[k] = add_bar(scene, names[k], frames[k].position, frames[k + 1].position, 0.0, colors[k]);
    const char* joints[4] = {"drive", "pin1", "pin2", "pivot"};
    for (int k = 0; k < 4; ++k)
        scene.joints.push_back(joint_spec(joints[k], JointType::hinge, k == 0 ? -1 : bars[k - 1],
                                          k == 3 ? -1 : bars[k], frames[k].position,
                                          frames[k].rotation * Vec3::UnitZ()));
    DriveSpec motor;
    motor.motor = speed_motor(speed);
    scene.joints[0].drives.push_back(motor);
    scene.bodies[bars[0]].angular_velocity = Vec3(0, 0, speed);
    scene.bodies[bars[0]].linear_velocity = Vec3(0, 0, speed).cross(Vec3(0.5 * frames[1].position));
}

Scene make_four_bar(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const double speed = params.number("speed");
    scene.materials[0] = rigid_material("steel", 7850.0);
    scene.expect.push_back(expect_closed_joints(1e-7));
    scene.expect.push_back(expect_quantity("crank", "turned_z", 0.999 * speed * scene.seconds,
                                           1.001 * speed * scene.seconds, "the crank turns round and round"));
    if (params.text("linkage") == "bennett") {
        add_bennett(scene, speed);
        return scene;
    }
    const bool parallelogram = params.text("linkage") == "parallelogram";
    const double ground = 1.2, crank = parallelogram ? 0.4 : 0.3, coupler = parallelogram ? 1.2 : 1.0,
                 rocker = parallelogram ? 0.4 : 0.8;
    const Vec3 O(0, 0, 0), C(ground, 0, 0);
    const Vec3 A = O + crank * Vec3(0, 1, 0);
    const Vec3 B = parallelogram ? Vec3(C + A) : rocker_pin(A, C, coupler, rocker);
    const int a = add_bar(scene, "crank", O, A, 0.0, {0.85, 0.35, 0.25});
    const int b = add_bar(scene, "coupler", A, B, 0.04, {0.95, 0.7, 0.2});
    const int c = add_bar(scene, "rocker", C, B, 0.0, {0.3, 0.6, 0.85});
    JointSpec drive = joint_spec("drive", JointType::hinge, -1, a, O);
    DriveSpec motor;
    motor.motor = speed_motor(speed);
    drive.drives.push_back(motor);
    scene.joints.push_back(drive);
    scene.joints.push_back(joint_spec("pin1", JointType::hinge, a, b, A));
    scene.joints.push_back(joint_spec("pin2", JointType::hinge, b, c, B));
    scene.joints.push_back(joint_spec("pivot", JointType::hinge, -1, c, C));
    // bars start with the motor's speed only where it is known; the rest follows within the first steps
    scene.bodies[a].angular_velocity = Vec3(0, 0, speed);
    scene.bodies[a].linear_velocity = Vec3(0, 0, speed).cross(Vec3(0.5 * A));
    add_frame(scene, {O, C}, -0.4);
    return scene;
}

// x = r cos(theta) + sqrt(l^2 - r^2 sin(theta)^2)
Scene make_slider_crank(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    scene.materials[0] = rigid_material("steel", 7850.0);
    const double r = 0.3, l = 0.9, speed = params.number("speed");
    const Vec3 A(r, 0, 0), B(r + l, 0, 0);
    const int crank = add_bar(scene, "crank", Vec3::Zero(), A, 0.0, {0.85, 0.35, 0.25});
    const int rod = add_bar(scene, "rod", A, B, 0.04, {0.95, 0.7, 0.2});
    BodySpec slider = body_spec(scene, "slider", box_spec({0.2, 0.15, 0.1}), B);
    slider.group = "linkage";
    slider.color = {0.3, 0.6, 0.85};
    const int block = scene.add_body(slider);
    scene.bodies[crank].angular_velocity = Vec3(0, 0, speed);
    scene.bodies[crank].linear_velocity = Vec3(0, 0.5 * r * speed, 0);
    scene.bodies[rod].angular_velocity = Vec3(0, 0, -speed * r / l);
    scene.bodies[rod].linear_velocity = Vec3(0, 0.5 * r * speed, 0);
    JointSpec drive = joint_spec("drive", JointType::hinge, -1, crank, Vec3::Zero());
    DriveSpec motor;
    motor.motor = speed_motor(speed);
    drive.drives.push_back(motor);
    scene.joints.push_back(drive);
    scene.joints.push_back(joint_spec("crank-pin", JointType::hinge, crank, rod, A));
    scene.joints.push_back(joint_spec("wrist-pin", JointType::hinge, rod, block, B));
    scene.joints.push_back(joint_spec("guide", JointType::prismatic, -1, block, B, Vec3::UnitX()));
    add_frame(scene, {Vec3::Zero()}, -0.45);
    Mesh rails;
    for (const double y : {-0.1, 0.1})
        append_mesh(rails, shape_mesh("box", {{"size", list_of({1.0, 0.04, 0.1})}}), Vec3(0, y, 0),
                    Quat::Identity());
    add_prop(scene, "rails", mesh_spec(rails), Vec3(l, 0, 0));
    scene.expect.push_back(expect_closed_joints(1e-7));
    const double theta = speed * scene.seconds;
    const double x = r * std::cos(theta) + std::sqrt(l * l - r * r * std::sin(theta) * std::sin(theta));
    scene.expect.push_back(expect_quantity("slider", "x", x - 2e-3, x + 2e-3,
                                           "x = r cos(theta) + sqrt(l^2 - r^2 sin(theta)^2)"));
    return scene;
}

Scene make_gear_pair_coupled(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    scene.materials[0] = rigid_material("steel", 7850.0);
    const double module = 0.02, ratio = params.number("ratio"), speed = params.number("speed");
    const double small = 15, large = std::round(15 * ratio);
    const auto gear = [&](double teeth) {
        return shape_spec("gear", {{"teeth", teeth}, {"module", module}, {"bore", 0.03}});
    };
    const double distance = 0.5 * module * (small + large);
    const auto add = [&](const std::string& name, double teeth, const Vec3& at, double spin,
                         const Vec3& color) {
        BodySpec body = body_spec(scene, name, gear(teeth), at, turn(90, Vec3::UnitX()));
        body.group = "gears";
        body.angular_velocity = Vec3(0, 0, spin);
        body.color = {color.x(), color.y(), color.z()};
        return scene.add_body(body);
    };
    const int a = add("pinion", small, Vec3::Zero(), speed, {0.85, 0.35, 0.25});
    const int b = add("wheel", large, Vec3(distance, 0, 0), -speed * small / large, {0.3, 0.6, 0.85});
    JointSpec drive = joint_spec("drive", JointType::hinge, -1, a, Vec3::Zero());
    DriveSpec motor;
    motor.motor = speed_motor(speed);
    drive.drives.push_back(motor);
    scene.joints.push_back(drive);
    scene.joints.push_back(joint_spec("axle", JointType::hinge, -1, b, Vec3(distance, 0, 0)));
    JointSpec mesh;
    mesh.name = "teeth";
    mesh.type = JointType::coupling;
    mesh.joints = {0, 1};
    mesh.ratio = -small / large;
    scene.joints.push_back(mesh);
    const double turned = -speed * scene.seconds * small / large;
    scene.expect.push_back(expect_quantity("wheel", "turned_z", turned - 1e-3 * std::abs(turned),
                                           turned + 1e-3 * std::abs(turned),
                                           "turns back at the ratio of the teeth"));
    scene.expect.push_back(expect_closed_joints(1e-8));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> articulated_mechanism_scenes() {
    const std::vector<ParamInfo> common = {
        {"dt", 0.005, "time step", 1e-6, 0.1, {}, "s"},
        {"seconds", 3.0, "simulated time", 1e-3, 1e4, {}, "s"},
        {"speed", 4.0, "speed of the driven crank", -100, 100, {}, "rad/s"}};
    std::vector<ParamInfo> four_bar = common, gears = common;
    four_bar.push_back({"linkage",
                        std::string("crank-rocker"),
                        "bars: plane ones, or four hinges in space",
                        0,
                        0,
                        {"crank-rocker", "parallelogram", "bennett"}});
    gears.push_back({"ratio", 3.0, "teeth of the wheel over teeth of the pinion", 1, 10});
    return {{"four-bar",
             "articulated",
             "a driven four-bar linkage of hinges",
             "textbook (Grashof crank-rocker)",
             "the crank turns fully, the rocker swings to and fro",
             four_bar,
             {{"seconds", 10.0}},
             make_four_bar},
            {"slider-crank",
             "articulated",
             "a crank drives a sliding block",
             "textbook",
             "the block goes to and fro, a little faster on one side",
             common,
             {{"seconds", 10.0}},
             make_slider_crank},
            {"gear-pair-coupled",
             "articulated",
             "two gears bound by a coupling, without contact",
             "textbook",
             "the wheel turns against the pinion at the ratio of their teeth",
             gears,
             {{"seconds", 10.0}},
             make_gear_pair_coupled}};
}

}  // namespace tenon

// closed-loop-leg: a five-bar leg whose two hip motors take the foot round a path under load.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "scene/builtin/articulated_scene_families.hpp"
#include "scene/builtin/robots_scenes.hpp"

namespace tenon {
namespace {

constexpr double hip_height = 0.6, hip_half = 0.06, thigh = 0.25, shin = 0.30;
constexpr double stride = 0.10, lift = 0.05, foot_height = 0.20;  // the path's half axes and its middle
constexpr double ramp = 0.5;                                      // s, to full speed

// Where the path is at a time: an ellipse, run through faster and faster until `ramp`.
double phase_at(double time, double speed) {
    return speed * (time < ramp ? 0.5 * time * time / ramp : time - 0.5 * ramp);
}

Vec3 foot_at(double phase) {
    return {stride * std::cos(phase), foot_height + lift * std::sin(phase), 0};
}

Vec3 hip(int side) {
    return {side == 0 ? -hip_half : hip_half, hip_height, 0};
}

// The knee: a circle about the hip meets one about the foot, on the outer side.
Vec3 knee_of(int side, const Vec3& foot) {
    const Vec3 d = foot - hip(side);
    const double length = d.norm();
    const double along_d = (thigh * thigh - shin * shin + length * length) / (2 * length);
    const double across = std::sqrt(thigh * thigh - along_d * along_d);
    const Vec3 e = d / length, out(side == 0 ? Vec3(e.y(), -e.x(), 0) : Vec3(-e.y(), e.x(), 0));
    return hip(side) + along_d * e + across * out;
}

double angle_of(const Vec3& v) {
    return std::atan2(v.y(), v.x());
}

double turned(double from, double to) {  // the shortest way round
    return std::remainder(to - from, 2 * M_PI);
}

int add_bar(Scene& scene, const std::string& name, const Vec3& a, const Vec3& b, double z,
            const Vec3& color) {
    BodySpec bar = body_spec(scene, name, box_spec({(b - a).norm(), 0.03, 0.02}),
                             0.5 * (a + b) + Vec3(0, 0, z), along(b - a));
    bar.group = "leg";
    bar.color = {color.x(), color.y(), color.z()};
    return scene.add_body(bar);
}

DriveSpec limited(double low, double high) {
    DriveSpec drive;
    drive.limits = {{low, high}};
    drive.friction = 0.05;
    return drive;
}

// Coordinates of hips and knees along the path, counted from the start.
struct Angles {
    std::array<double, 2> hips, knees;
};
Angles angles_at(double phase) {
    const Vec3 start = foot_at(0), now = foot_at(phase);
    Angles all;
    for (int side = 0; side < 2; ++side) {
        const Vec3 knee0 = knee_of(side, start), knee = knee_of(side, now);
        const double thigh_turn = turned(angle_of(knee0 - hip(side)), angle_of(knee - hip(side)));
        all.hips[side] = thigh_turn;
        all.knees[side] = turned(angle_of(start - knee0), angle_of(now - knee)) - thigh_turn;
    }
    return all;
}

void add_drives(Scene& scene, const std::array<int, 2>& hips, const std::array<int, 2>& knees, double speed,
                double torque) {
    std::array<double, 4> low{}, high{};
    for (int k = 0; k < 360; ++k) {
        const Angles at = angles_at(k * M_PI / 180);
        const double all[4] = {at.hips[0], at.hips[1], at.knees[0], at.knees[1]};
        for (int j = 0; j < 4; ++j) {
            low[j] = std::min(low[j], all[j]);
            high[j] = std::max(high[j], all[j]);
        }
    }
    for (int side = 0; side < 2; ++side) {
        scene.joints[hips[side]].drives.push_back(limited(low[side] - 0.3, high[side] + 0.3));
        scene.joints[hips[side]].drives[0].armature = 0.01;
        scene.joints[knees[side]].drives.push_back(limited(low[2 + side] - 0.3, high[2 + side] + 0.3));
        ActuatorSpec motor;
        motor.name = side == 0 ? "hip-left" : "hip-right";
        motor.type = ActuatorSpec::Type::position;
        motor.joint = hips[side];
        motor.force_limits = {-torque, torque};
        for (double time = 0; time < scene.seconds + 0.02; time += 0.01)
            motor.profile.push_back({time, angles_at(phase_at(time, speed)).hips[side]});
        scene.actuators.push_back(motor);
    }
}

Scene make_leg(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    scene.materials[0].name = "aluminium";
    scene.materials[0].density = 2700;
    const double period = params.number("period"), speed = 2 * M_PI / period;
    BodySpec block = body_spec(scene, "body", box_spec({0.24, 0.08, 0.12}), Vec3(0, hip_height + 0.06, 0));
    block.type = BodyType::static_body;
    block.group = "leg";
    block.color = {0.3, 0.32, 0.36};
    scene.add_body(block);

    const Vec3 foot = foot_at(0);
    std::array<int, 2> hips{}, knees{}, shins{};
    const Vec3 colors[2] = {{0.9, 0.5, 0.15}, {0.25, 0.5, 0.85}};
    for (int side = 0; side < 2; ++side) {
        const std::string name = side == 0 ? "left" : "right";
        const Vec3 knee = knee_of(side, foot);
        const double z = side == 0 ? 0.012 : -0.012;
        const int upper = add_bar(scene, "thigh-" + name, hip(side), knee, z, colors[side]);
        shins[side] = add_bar(scene, "shin-" + name, knee, foot, -z, 0.7 * colors[side]);
        hips[side] = static_cast<int>(scene.joints.size());
        scene.joints.push_back(joint_spec("hip-" + name, JointType::hinge, 0, upper, hip(side)));
        knees[side] = static_cast<int>(scene.joints.size());
        scene.joints.push_back(joint_spec("knee-" + name, JointType::hinge, upper, shins[side], knee));
    }
    BodySpec pad =
        body_spec(scene, "foot", shape_spec("icosphere", {{"radius", 0.025}, {"subdivisions", 2.0}}), foot);
    pad.group = "leg";
    pad.color = {0.2, 0.2, 0.22};
    const int toe = scene.add_body(pad);
    scene.joints.push_back(
        joint_spec("ankle", JointType::hinge, shins[0], shins[1], foot));  // closes the loop
    scene.joints.push_back(joint_spec("sole", JointType::fixed, shins[0], toe, foot));
    add_drives(scene, hips, knees, speed, params.number("torque"));

    // the ground carries the load while the foot is on the lower half of its path
    const double load = params.number("load");
    for (int cycle = 0; load > 0; ++cycle) {
        const auto time_of = [&](double phase) { return phase / speed + 0.5 * ramp; };
        ForceSpec push;
        push.body = toe;
        push.force = Vec3(0, load, 0);
        push.from = time_of(M_PI * (2 * cycle + 1));
        push.to = time_of(M_PI * (2 * cycle + 2));
        if (push.from >= scene.seconds) break;
        if (push.from > ramp) scene.forces.push_back(push);
    }
    for (int k = 1; k <= 8; ++k) {
        ExpectSpec on_path;
        on_path.body = "foot";
        on_path.at = scene.seconds - period * (8 - k) / 8;
        if (on_path.at < ramp) continue;
        on_path.position = foot_at(phase_at(on_path.at, speed));
        on_path.within = 1e-3;
        on_path.note = "the foot is on its path";
        scene.expect.push_back(on_path);
    }
    scene.expect.push_back(expect_closed_joints(1e-8));
    return scene;
}

}  // namespace

BuiltinScene leg_scene() {
    return {"closed-loop-leg",
            "articulated",
            "a leg of five bars, driven at both hips, takes its foot round an ellipse under load",
            "a closed loop with limits and bounded motors, as legged robots have it",
            "the foot goes round; nothing shows when the load comes on and goes off",
            {{"dt", 0.005, "time step", 1e-6, 0.1, {}, "s"},
             {"seconds", 3.0, "simulated time", 0.1, 1e4, {}, "s"},
             {"period", 1.0, "time of one round", 0.1, 100, {}, "s"},
             {"load", 200.0, "on the foot while it is on the lower half of its path", 0, 1e5, {}, "N"},
             {"torque", 60.0, "bound of each hip motor", 0.1, 1e5, {}, "N m"}},
            {{"seconds", 10.0}},
            make_leg};
}

}  // namespace tenon

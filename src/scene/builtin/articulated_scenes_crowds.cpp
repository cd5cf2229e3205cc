// Many bodies: pulley, cloak, ragdolls, falling joints (M-ABD Figs. 1, 15 and 17-20).
#include <cmath>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "scene/builtin/articulated_scene_families.hpp"

namespace tenon {
namespace {

// ---- pulley ------------------------------------------------------------------------------------------------

// The path of a chain up and down over drums in two rows: vertical spans joined by half circles.
class DrumPath {
  public:
    DrumPath(int drums, double radius, double span, double first, double last)
        : drums_(drums), radius_(radius), span_(span), first_(first), last_(last) {}

    double length() const { return first_ + last_ + drums_ * M_PI * radius_ + (drums_ - 1) * span_; }

    // Starts below the first upper drum, on its left. Each leg is a straight part and the half circle behind it.
    Vec3 at(double s) const {
        const double arc = M_PI * radius_;
        const int leg =
            s < first_ + arc ? 0 : std::min(drums_, 1 + static_cast<int>((s - first_ - arc) / (span_ + arc)));
        if (leg > 0) s -= first_ + arc + (leg - 1) * (span_ + arc);
        const double straight = leg == 0 ? first_ : leg == drums_ ? last_ : span_;
        const bool up = leg % 2 == 0;
        const double sign = up ? 1.0 : -1.0, x = radius_ * (2 * leg - 1);
        const double y = leg == 0 ? -first_ : up ? -span_ : 0.0;  // where the straight part begins
        if (s <= straight || leg == drums_) return {x, y + sign * s, 0};
        const double angle = (s - straight) / radius_;
        return {x + radius_ - radius_ * std::cos(angle), y + sign * (straight + radius_ * std::sin(angle)),
                0};
    }
    Vec3 drum_center(int k) const { return {2.0 * radius_ * k, k % 2 == 0 ? 0.0 : -span_, 0}; }

  private:
    int drums_;
    double radius_, span_, first_, last_;
};

// Points on the path whose straight distances are one link each.
std::vector<Vec3> points_along(const DrumPath& path, double link, int most) {
    std::vector<Vec3> points{path.at(0)};
    double s = 0;
    while (static_cast<int>(points.size()) <= most && s + 2 * link < path.length()) {
        double low = s, high = s + 1.6 * link;
        for (int k = 0; k < 50; ++k) {
            const double middle = 0.5 * (low + high);
            ((path.at(middle) - points.back()).norm() < link ? low : high) = middle;
        }
        s = high;
        points.push_back(path.at(s));
    }
    return points;
}

Scene make_pulley(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const double link = params.number("link"), width = 0.3 * link;
    const int drums = 2 * params.integer("pulleys") - 1, links = params.integer("links");
    const int material = scene.add_material(material_spec("chain", 1000.0, 1e8, 0.0, 0.3));
    const double drum_radius = params.number("radius"), lift = params.number("lift");
    // a link's middle is nearer to the drum than its ends
    const double radius =
        std::sqrt(std::pow(drum_radius + 0.5 * width + 0.01 * link, 2) + 0.25 * link * link);
    const double hanging = 1.5 * lift + 4 * radius;
    const double rest = links * link - drums * M_PI * radius - 2 * hanging;
    const double span = drums > 1 ? std::max(3 * radius, rest / (drums - 1)) : 0.0;
    const double last = drums > 1 ? hanging : std::max(hanging, hanging + rest);
    const DrumPath path(drums, radius, span, hanging, last);
    const std::vector<Vec3> points = points_along(path, link, links);
    for (int k = 0; k < drums; ++k) {
        BodySpec drum = body_spec(
            scene, fmt::format("drum{}", k),
            shape_spec("cylinder", {{"radius", drum_radius}, {"length", 8 * width}, {"segments", 48.0}}),
            path.drum_center(k), turn(90, Vec3::UnitX()));
        drum.type = BodyType::static_body;
        drum.friction = 0.0;
        drum.color = {0.5, 0.5, 0.55};
        scene.add_body(drum);
    }
    // round links: edges would make them roll about their own axis wherever they meet a drum
    const GeometrySpec shape =
        shape_spec("capsule", {{"radius", 0.5 * width}, {"length", link}, {"segments", 12.0}});
    int before = -1;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        BodySpec body = body_spec(scene, fmt::format("l{}", i), shape, 0.5 * (points[i] + points[i + 1]),
                                  shortest_turn(Vec3::UnitY(), points[i + 1] - points[i]));
        body.material = material;
        body.group = "chain";
        const int index = scene.add_body(body);
        if (i > 0) scene.joints.push_back(joint_spec("", JointType::ball, before, index, points[i]));
        before = index;
    }
    const int first_link = drums;
    const double section = 0.25 * M_PI * width * width,
                 per_metre = 1000.0 * (section + M_PI / 6 * std::pow(width, 3) / link);
    const double chain_mass = per_metre * link * static_cast<double>(points.size() - 1);
    // The anchor outweighs what hangs on the winch's side, so that a released chain runs back, but strains it by no more
    // than 1 %; and it outweighs a whole span, or the chain would go slack below the lower drums.
    const double strong = 0.01 * 1e8 * section / 9.81;
    const double chosen =
        std::max(std::min(0.3 * chain_mass + 50 * per_metre * link, strong), 1.3 * per_metre * span);
    const double weight = params.number("anchor_mass") > 0 ? params.number("anchor_mass") : chosen;
    const double side = std::cbrt(weight / 7850.0);
    BodySpec anchor =
        body_spec(scene, "anchor", box_spec(Vec3::Constant(side)), points.front() - Vec3(0, 0.5 * side, 0));
    anchor.material = material;
    anchor.mass = weight;
    anchor.group = "chain";
    anchor.color = {0.8, 0.3, 0.2};
    const int anchor_index = scene.add_body(anchor);
    scene.joints.push_back(joint_spec("shackle", JointType::ball, anchor_index, first_link, points.front()));
    // It stands on a platform until it is lifted, so that tension grows with the winch's pull: dropped, it would stretch the
    // chain, spring back and leave it slack on the drums. The platform then makes way.
    const double third = scene.seconds / 3;
    const Vec3 below = points.front() - Vec3(0, 1.1 * side, 0);
    BodySpec platform = body_spec(scene, "platform", box_spec({2 * side, 0.2 * side, 2 * side}), below);
    platform.type = BodyType::kinematic_body;
    platform.color = {0.5, 0.5, 0.55};
    platform.motion = {{0.0, below, Quat::Identity()},
                       {third, below, Quat::Identity()},
                       {1.5 * third, below - Vec3(0, 20 * lift + 10, 0), Quat::Identity()}};
    scene.add_body(platform);
    // the winch pulls its end down, holds, and lets go
    BodySpec winch = body_spec(scene, "winch", box_spec(Vec3::Constant(2 * width)), points.back());
    winch.material = material;
    winch.type = BodyType::kinematic_body;
    winch.group = "chain";
    winch.color = {0.2, 0.5, 0.8};
    const Vec3 down = points.back() - Vec3(0, lift, 0);
    // gently, or the jerk would run along the chain and leave it slack where it is thrown back
    for (int k = 0; k <= 40; ++k) {
        const double part = k / 40.0, way = 0.5 - 0.5 * std::cos(M_PI * part);
        winch.motion.push_back(
            {part * third, points.back() + way * (down - points.back()), Quat::Identity()});
    }
    winch.motion.push_back({1.5 * third, down, Quat::Identity()});
    winch.kinematic_until = 1.5 * third;
    const int winch_index = scene.add_body(winch);
    scene.joints.push_back(joint_spec("rope-end", JointType::ball, before, winch_index, points.back()));
    scene.expect.push_back(expect_closed_joints(1e-8));
    if (params.flag("check")) {
        const double start = anchor.position.y();
        ExpectSpec lifted =
            expect_quantity("anchor", "y", start + 0.6 * lift, start + 1.3 * lift, "the anchor is lifted");
        lifted.at = 1.4 * third;
        scene.expect.push_back(lifted);
        scene.expect.push_back(expect_quantity("anchor", "y", -1e9, start + 0.5 * lift,
                                               "released, it falls and the chain slides back"));
    }
    return scene;
}

// ---- cloak -------------------------------------------------------------------------------------------------

// Where a walking figure is over time: along a winding path, with a bob in every step.
struct Walk {
    struct Moment {
        double time;
        Vec3 at;
        double heading, stride;  // stride: phase of the legs, radians
    };
    std::vector<Moment> moments;

    explicit Walk(double seconds) {
        const double dt = 1.0 / 30.0;
        Vec3 at = Vec3::Zero();
        double stride = 0.0;
        for (int k = 0; k * dt <= seconds + dt; ++k) {
            const double t = k * dt, ramp = 1.0 - std::exp(-2.0 * t);
            const double heading = 0.9 * ramp * std::sin(2 * M_PI * t / 5.0);
            moments.push_back(
                {t, at + Vec3(0, 0.02 * ramp * (1 - std::cos(2 * stride)), 0), heading, stride});
            at += 0.7 * ramp * dt * Vec3(std::cos(heading), 0, -std::sin(heading));
            stride += 2 * M_PI * 0.8 * ramp * dt;
        }
    }
    // A part that hangs from `pivot` and swings by `swing` sin(stride).
    std::vector<Keyframe> part(const Vec3& pivot, const Vec3& center, double swing) const {
        std::vector<Keyframe> keys;
        for (const Moment& m : moments) {
            const Quat facing(Eigen::AngleAxisd(m.heading, Vec3::UnitY()));
            const Quat swung = facing * Quat(Eigen::AngleAxisd(swing * std::sin(m.stride), Vec3::UnitZ()));
            keys.push_back({m.time, m.at + facing * pivot + swung * (center - pivot), swung});
        }
        return keys;
    }
};

// Returns the part that carries the cloak.
int add_walker(Scene& scene) {
    const Walk walk(scene.seconds);
    const auto part = [&](const std::string& name, const GeometrySpec& geometry, const Vec3& pivot,
                          const Vec3& center, double swing) {
        BodySpec body = body_spec(scene, name, geometry, center);
        body.type = BodyType::kinematic_body;
        body.group = "figure";
        body.friction = 0.0;
        body.color = {0.75, 0.6, 0.5};
        body.motion = walk.part(pivot, center, swing);
        body.position = body.motion.front().position;
        body.rotation = body.motion.front().rotation;
        return scene.add_body(body);
    };
    const auto capsule = [](double radius, double length) {
        return shape_spec("capsule", {{"radius", radius}, {"length", length}});
    };
    const int torso = part("torso", capsule(0.16, 0.34), Vec3(0, 1.15, 0), Vec3(0, 1.15, 0), 0);
    part("neck", capsule(0.06, 0.12), Vec3(0, 1.52, 0), Vec3(0, 1.52, 0), 0);
    part("head", shape_spec("sphere", {{"radius", 0.12}}), Vec3(0, 1.7, 0), Vec3(0, 1.7, 0), 0);
    for (int side : {-1, 1}) {
        const std::string which = side < 0 ? "_l" : "_r";
        part("shoulder" + which, shape_spec("sphere", {{"radius", 0.09}}), Vec3(0, 1.38, 0.17 * side),
             Vec3(0, 1.38, 0.17 * side), 0);
        part("arm" + which, capsule(0.05, 0.45), Vec3(0, 1.38, 0.23 * side), Vec3(0, 1.1, 0.23 * side),
             -0.4 * side);
        part("leg" + which, capsule(0.08, 0.66), Vec3(0, 0.88, 0.1 * side), Vec3(0, 0.45, 0.1 * side),
             0.45 * side);
    }
    return torso;
}

Scene make_cloak(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const int around = params.integer("around"), down = params.integer("down");
    const int material = scene.add_material(material_spec("thread", 600.0, 1e9, 0.0, 0.1));
    const int torso = add_walker(scene);
    // three quarters of an oval tube around the shoulders, open in front (+x), a little wider at the hem
    const double reach = 1.4 * M_PI, height = 1.46, half_x = 0.19, half_z = 0.31;
    const double spacing = 1.12 / (down - 1);
    const double thick = 0.12 * spacing;
    const GeometrySpec node = box_spec(Vec3::Constant(1.5 * thick));
    std::vector<int> nodes;
    const auto at = [&](int i, int j) -> Vec3 {
        const double angle = reach * (static_cast<double>(i) / (around - 1) - 0.5) + M_PI;
        const double flare = 1.0 + 0.25 * j / (down - 1);
        return {flare * half_x * std::cos(angle), height - spacing * j, flare * half_z * std::sin(angle)};
    };
    const auto style = [&](BodySpec& body) {
        body.material = material;
        body.group = "cloak";
        body.friction = 0.0;
        body.color = {0.6, 0.15, 0.2};
    };
    for (int j = 0; j < down; ++j)
        for (int i = 0; i < around; ++i) {
            BodySpec body = body_spec(scene, fmt::format("n{}_{}", i, j), node, at(i, j));
            style(body);
            nodes.push_back(scene.add_body(body));
        }
    const auto link = [&](int i0, int j0, int i1, int j1) {
        const Vec3 a = at(i0, j0), b = at(i1, j1);
        BodySpec body = body_spec(scene, fmt::format("r{}_{}_{}", i0, j0, j1 > j0),
                                  box_spec({(b - a).norm(), thick, thick}), 0.5 * (a + b), along(b - a));
        style(body);
        const int index = scene.add_body(body);
        scene.joints.push_back(joint_spec("", JointType::ball, nodes[j0 * around + i0], index, a));
        scene.joints.push_back(joint_spec("", JointType::ball, index, nodes[j1 * around + i1], b));
    };
    for (int j = 0; j < down; ++j)
        for (int i = 0; i < around; ++i) {
            if (i + 1 < around) link(i, j, i + 1, j);
            if (j + 1 < down) link(i, j, i, j + 1);
        }
    for (int i = 0; i < around; ++i)
        scene.joints.push_back(joint_spec("", JointType::ball, torso, nodes[i], at(i, 0)));
    scene.expect.push_back(expect_closed_joints(1e-6));
    scene.expect.push_back(
        expect_quantity("", "max_speed", 0.0, 15.0, "follows like cloth and does not blow up"));
    return scene;
}

// ---- ragdolls ----------------------------------------------------------------------------------------------

void add_ragdoll(Scene& scene, const std::string& name, const Vec3& at, const Quat& rotation, int material) {
    const auto place = [&](const Vec3& local) -> Vec3 { return at + rotation * local; };
    const auto limb = [&](const std::string& part, double radius, double length, const Vec3& center,
                          const Vec3& axis) {
        BodySpec body =
            body_spec(scene, name + part,
                      shape_spec("capsule", {{"radius", radius}, {"length", length}, {"segments", 12.0}}),
                      place(center), rotation * shortest_turn(Vec3::UnitY(), axis));
        body.material = material;
        body.group = name;
        return scene.add_body(body);
    };
    const auto join = [&](int a, int b, const Vec3& point, const Vec3& axis, double bend) {
        JointSpec joint = joint_spec("", JointType::ball, a, b, place(point), rotation * axis);
        SpringSpec spring;
        spring.stiffness = bend;
        spring.damping = 0.05 * bend;
        joint.bend = joint.twist = spring;
        scene.joints.push_back(joint);
    };
    const Vec3 X = Vec3::UnitX(), Y = Vec3::UnitY();
    const int pelvis = limb("pelvis", 0.09, 0.14, {0, 0, 0}, X);
    const int torso = limb("torso", 0.1, 0.28, {0, 0.3, 0}, Y);
    const int head = limb("head", 0.09, 0.06, {0, 0.68, 0}, Y);
    join(pelvis, torso, {0, 0.09, 0}, Y, 20);
    join(torso, head, {0, 0.55, 0}, Y, 5);
    for (int side : {-1, 1}) {
        const std::string which = side < 0 ? "_l" : "_r";
        const int upper = limb("upper_arm" + which, 0.045, 0.22, {side * 0.29, 0.45, 0}, X);
        const int lower = limb("lower_arm" + which, 0.04, 0.22, {side * 0.6, 0.45, 0}, X);
        const int thigh = limb("thigh" + which, 0.06, 0.3, {side * 0.1, -0.28, 0}, Y);
        const int shin = limb("shin" + which, 0.05, 0.3, {side * 0.1, -0.68, 0}, Y);
        join(torso, upper, {side * 0.14, 0.45, 0}, X, 4);
        join(upper, lower, {side * 0.445, 0.45, 0}, X, 3);
        join(pelvis, thigh, {side * 0.1, -0.08, 0}, Y, 8);
        join(thigh, shin, {side * 0.1, -0.48, 0}, Y, 5);
    }
}

Scene make_ragdolls(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const int count = params.integer("ragdolls"), n = params.integer("n");
    const int net_material =
        scene.add_material(material_spec("net", 150.0, params.number("young"), 0.3, 0.3));
    const int flesh = scene.add_material(material_spec("foam", 150.0, 1e6, 0.5, 0.3));
    const double width = params.number("width"), spacing = width / (n - 1);
    const std::vector<int> nodes =
        add_joint_net(scene, n, spacing, Vec3(-0.5 * width, 0, -0.5 * width), net_material, "net_", 0.05);
    for (int corner : {0, n - 1, n * (n - 1), n * n - 1})
        scene.joints.push_back(
            joint_spec("", JointType::ball, -1, nodes[corner], scene.bodies[nodes[corner]].position));
    const int per_layer = std::max(1, static_cast<int>(std::floor(width / 1.7)));
    for (int k = 0; k < count; ++k) {
        const int layer = k / (per_layer * per_layer), cell = k % (per_layer * per_layer);
        const double step = width / (per_layer + 1);
        const Vec3 at(-0.5 * width + step * (1 + cell % per_layer), 1.0 + 0.8 * layer,
                      -0.5 * width + step * (1 + cell / per_layer));
        add_ragdoll(scene, fmt::format("doll{}", k), at,
                    turn(90, Vec3::UnitX()) * turn(40.0 * k, Vec3::UnitZ()), flesh);
    }
    scene.expect.push_back(expect_closed_joints(1e-6));
    scene.expect.push_back(expect_quantity("", "max_speed", 0.0, 40.0, "nothing blows up"));
    return scene;
}

// ---- falling joints ----------------------------------------------------------------------------------------

Scene make_falling_joints(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const int pairs = params.integer("pairs");
    const int material = scene.add_material(material_spec("wood", 1000.0, 1e9, 0.3));
    const double size = 0.1, cell = 0.36;
    const int side = std::max(2, static_cast<int>(std::ceil(std::sqrt(pairs / 6.0))));
    const double bowl_radius = 0.75 * side * cell + 0.3;
    BodySpec bowl = body_spec(scene, "bowl",
                              shape_spec("bowl", {{"radius", bowl_radius}, {"thickness", 0.2 * bowl_radius}}),
                              Vec3(0, 0, 0));
    bowl.type = BodyType::static_body;
    bowl.friction = 0.3;
    bowl.color = {0.7, 0.7, 0.75};
    scene.add_body(bowl);
    constexpr JointType types[] = {JointType::ball, JointType::universal, JointType::hinge,
                                   JointType::prismatic};
    constexpr double colors[4][3] = {
        {0.85, 0.35, 0.25}, {0.95, 0.7, 0.2}, {0.3, 0.6, 0.85}, {0.45, 0.75, 0.4}};
    for (int k = 0; k < pairs; ++k) {
        const int layer = k / (side * side), i = k % side, j = (k / side) % side;
        const Vec3 at((i - 0.5 * (side - 1)) * cell + 0.03 * (layer % 3), 0.1 + 0.2 * layer,
                      (j - 0.5 * (side - 1)) * cell + 0.02 * (layer % 2));
        const Vec3 half(0.55 * size, 0, 0);
        int bodies[2];
        for (int b = 0; b < 2; ++b) {
            BodySpec body = body_spec(scene, fmt::format("p{}_{}", k, b),
                                      box_spec({size, 0.6 * size, 0.6 * size}), at + (b == 0 ? -half : half));
            body.material = material;
            body.color = {colors[k % 4][0], colors[k % 4][1], colors[k % 4][2]};
            body.angular_velocity = Vec3(0.3 * (k % 5), 0.2 * (k % 7), 0.0);
            bodies[b] = scene.add_body(body);
        }
        for (int b = 0; b < 2; ++b)
            scene.bodies[bodies[b]].linear_velocity =
                scene.bodies[bodies[b]].angular_velocity.cross(b == 0 ? Vec3(-half) : half);
        JointSpec joint = joint_spec("", types[k % 4], bodies[0], bodies[1], at,
                                     k % 4 == 3 ? Vec3(Vec3::UnitX()) : Vec3(Vec3::UnitZ()));
        if (joint.type == JointType::universal) joint.axis_b = Vec3::UnitY();
        if (joint.type == JointType::prismatic) {
            DriveSpec drive;
            drive.limits = {{-0.05 * size, 0.5 * size}};
            joint.drives.push_back(drive);
        }
        scene.joints.push_back(joint);
    }
    scene.expect.push_back(expect_closed_joints(1e-6));
    scene.expect.push_back(expect_quantity("", "max_speed", 0.0, 30.0, "nothing blows up"));
    scene.camera = {{"eye", {1.6 * bowl_radius, 2.2 * bowl_radius, 1.6 * bowl_radius}},
                    {"target", {0.0, -0.5 * bowl_radius, 0.0}}};
    return scene;
}

std::vector<ParamInfo> timing(double dt, double seconds, std::vector<ParamInfo> more) {
    std::vector<ParamInfo> list = {{"dt", dt, "time step", 1e-6, 0.1, {}, "s"},
                                   {"seconds", seconds, "simulated time", 1e-3, 1e4, {}, "s"}};
    list.insert(list.end(), more.begin(), more.end());
    return list;
}

}  // namespace

std::vector<BuiltinScene> articulated_crowd_scenes() {
    return {
        {"pulley",
         "articulated",
         "a winch hauls an anchor on a long chain over drums, holds it and lets go",
         "M-ABD Figs. 1, 15",
         "the anchor rises, hangs, falls when the winch lets go; the chain runs over the drums and no joint "
         "opens",
         timing(0.01, 4.0,
                {{"links", 300.0, "links of the chain", 50, 5e6},
                 {"pulleys", 2.0, "upper drums; lower ones lie between them", 1, 10000},
                 {"link", 0.05, "length of a link", 1e-3, 1, {}, "m"},
                 {"radius", 0.3, "radius of the drums", 0.01, 10, {}, "m"},
                 {"lift", 1.0, "how far the winch pulls", 0, 100, {}, "m"},
                 {"anchor_mass", 0.0, "mass of the anchor; 0: chosen", 0, 1e9, {}, "kg"},
                 {"check", true, "expect the anchor to rise and fall"}}),
         {{"links", 1500.0}, {"pulleys", 6.0}, {"lift", 2.0}, {"seconds", 6.0}},
         make_pulley},
        {"cloak",
         "articulated",
         "a cloak of jointed links on a walking, turning figure",
         "M-ABD Fig. 17",
         "it follows the figure like cloth and slides over it",
         timing(0.01, 2.0,
                {{"around", 20.0, "nodes around the figure", 4, 400},
                 {"down", 20.0, "nodes from neck to hem", 3, 400}}),
         {{"around", 64.0}, {"down", 62.0}, {"seconds", 8.0}},
         make_cloak},
        {"ragdolls",
         "articulated",
         "ragdolls of 11 links fall on a net that hangs by its corners",
         "M-ABD Fig. 19",
         "the net gives and catches them; limbs bend but no joint opens",
         timing(0.005, 1.0,
                {{"ragdolls", 2.0, "how many", 1, 1000},
                 {"n", 8.0, "nodes along each side of the net", 3, 200},
                 {"young", 1e7, "Young's modulus of the net", 1e4, 1e12, {}, "Pa"},
                 {"width", 3.0, "width of the net", 0.5, 50, {}, "m"}}),
         {{"ragdolls", 27.0}, {"n", 20.0}, {"width", 6.0}, {"seconds", 4.0}, {"young", 1e6}},
         make_ragdolls},
        {"falling-joints",
         "articulated",
         "pairs of blocks, jointed in four ways, fall into a bowl",
         "M-ABD Fig. 20",
         "they pile up in the bowl; every pair stays joined",
         timing(0.01, 1.0,
                {{"pairs", 24.0, "jointed pairs: ball, universal, hinge and prismatic in turn", 1, 20000}}),
         {{"pairs", 720.0}, {"seconds", 4.0}},
         make_falling_joints},
    };
}

}  // namespace tenon

// A tree of jointed links in the wind (M-ABD Fig. 16).
#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "scene/builtin/articulated_scene_families.hpp"

namespace tenon {
namespace {

struct Segment {
    Vec3 from, to;
    int parent = -1;
    double tips = 0.0;  // that it carries
};

// Grown breadth-first: every tip makes a few segments, then splits, until the segments are used up.
std::vector<Segment> grow(int most, bool willow) {
    std::mt19937 engine(12345);
    const auto uniform = [&](double lo, double hi) {
        return lo + (hi - lo) * static_cast<double>(engine() - std::mt19937::min()) /
                        static_cast<double>(std::mt19937::max() - std::mt19937::min());
    };
    struct Tip {
        Vec3 at, direction;
        int parent, order;
    };
    std::vector<Segment> segments;
    std::vector<Tip> tips{{Vec3::Zero(), Vec3::UnitY(), -1, 0}};
    const auto full = [&] { return static_cast<int>(segments.size()) >= most; };
    for (std::size_t head = 0; head < tips.size() && !full(); ++head) {
        Tip tip = tips[head];
        const int count = willow && tip.order >= 4 ? 12 : 4;
        for (int k = 0; k < count && !full(); ++k) {
            const double length = std::max(0.12, 0.45 * std::pow(0.85, tip.order));
            const Vec3 to = tip.at + length * tip.direction;
            segments.push_back({tip.at, to, tip.parent});
            tip.parent = static_cast<int>(segments.size()) - 1;
            tip.at = to;
            const double droop = willow && tip.order >= 3 ? 0.25 : 0.0;
            tip.direction =
                (tip.direction + Vec3(uniform(-0.1, 0.1), uniform(-0.1, 0.1) - droop, uniform(-0.1, 0.1)))
                    .normalized();
        }
        const int children = tip.order < 2 ? 3 : 2;
        for (int c = 0; c < children; ++c) {
            const double angle = 2 * M_PI * (c + uniform(0, 0.5)) / children, spread = willow ? 0.8 : 0.6;
            const Vec3 side = tip.direction.unitOrthogonal();
            const Vec3 other = tip.direction.cross(side);
            const Vec3 direction =
                (tip.direction + spread * (std::cos(angle) * side + std::sin(angle) * other)).normalized();
            tips.push_back({tip.at, direction, tip.parent, tip.order + 1});
        }
    }
    for (std::size_t i = segments.size(); i-- > 0;) {  // children come after their parents
        segments[i].tips = std::max(1.0, segments[i].tips);
        if (segments[i].parent >= 0) segments[segments[i].parent].tips += segments[i].tips;
    }
    return segments;
}

// Boughs are as thick as what they carry asks for: thickness^2.4 grows with the number of tips (pipe model).
double thickness(const Segment& segment) {
    return 0.014 * std::pow(segment.tips, 1.0 / 2.4);
}

// Bending stiffness of a beam of that section over a link's length, E I / l.
SpringSpec branch_spring(double young, double thick, double length) {
    SpringSpec spring;
    spring.stiffness = young * std::pow(thick, 4) / (12.0 * length);
    spring.damping = 0.02 * spring.stiffness;
    return spring;
}

Scene make_tree(const Params& params) {
    Scene scene = articulated_scene(params.number("dt"), params.number("seconds"));
    const int wood = scene.add_material(material_spec("wood", 600.0, 1e8, 0.3, 0.1));
    const std::vector<Segment> segments = grow(params.integer("links"), params.text("kind") == "willow");
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const Segment& segment = segments[i];
        const Vec3 way = segment.to - segment.from;
        const double thick = thickness(segment), share = std::min(1.0, 3.0 / segment.tips);
        BodySpec body = body_spec(scene, fmt::format("b{}", i), box_spec({way.norm(), thick, thick}),
                                  0.5 * (segment.from + segment.to), along(way));
        body.material = wood;
        body.group = "tree";
        body.color = {0.35 - 0.1 * share, 0.25 + 0.3 * share, 0.15};
        const int index = scene.add_body(body);
        const bool root = segment.parent < 0;
        JointSpec joint = joint_spec("", root ? JointType::fixed : JointType::ball, segment.parent, index,
                                     segment.from, way);
        if (!root) {
            // the thinner of the two gives way
            joint.bend = joint.twist = branch_spring(params.number("stiffness"), thick, way.norm());
        }
        scene.joints.push_back(joint);
    }
    scene.wind.velocity = Vec3(params.number("wind"), 0, 0.2 * params.number("wind"));
    scene.wind.drag = 4.0;
    scene.wind.gust = 0.6;
    scene.wind.gust_period = 2.5;
    scene.expect.push_back(expect_closed_joints(1e-8));
    scene.expect.push_back(expect_quantity("", "max_speed", 0.0, 20.0, "it sways and does not blow up"));
    // the trunk's top stays up
    const int fork = std::min<int>(3, static_cast<int>(segments.size()) - 1);
    const double top = 0.5 * (segments[fork].from + segments[fork].to).y();
    scene.expect.push_back(
        expect_quantity(fmt::format("b{}", fork), "y", 0.9 * top, 1.02 * top, "the trunk carries its crown"));
    return scene;
}

}  // namespace

std::vector<BuiltinScene> articulated_tree_scenes() {
    return {{"tree",
             "articulated",
             "a tree of jointed links in the wind",
             "M-ABD Fig. 16",
             "it sways, twigs more than boughs",
             {{"dt", 0.01, "time step", 1e-6, 0.1, {}, "s"},
              {"seconds", 3.0, "simulated time", 1e-3, 1e4, {}, "s"},
              {"links", 400.0, "links", 10, 1e6},
              {"kind", std::string("pear"), "how it grows", 0, 0, {"pear", "willow"}},
              {"stiffness",
               4e9,
               "stiffness of joints (Young's modulus of the beam they stand for)",
               1e3,
               1e12,
               {},
               "Pa"},
              {"wind", 8.0, "wind speed", 0, 60, {}, "m/s"}},
             {{"links", 29000.0}},
             make_tree}};
}

}  // namespace tenon

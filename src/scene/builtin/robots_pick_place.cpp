// arm-pick-place: a seven-joint arm stacks three blocks by friction alone.
#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "scene/builtin/articulated_scene_families.hpp"
#include "scene/builtin/robots_arm.hpp"
#include "scene/builtin/robots_scenes.hpp"

namespace tenon {
namespace {

constexpr double block_side = 0.04;   // m, of a block
constexpr double above = 0.16;        // height of the grip between moves
constexpr double grip_depth = 0.026;  // height of the grip over a block's bottom; finger tips are 20 mm lower
constexpr double fit = 2e-4;          // blocks are let go this far above what they are put on
constexpr double air = 1e-5;          // under the blocks at the start: affine wants bodies that do not touch

struct Place {
    Vec3 at;
    double yaw;
};

// Where the blocks start: by hand for seed 0, else anywhere on the table's near half that leaves room for the fingers.
std::vector<Place> starts(int seed) {
    if (seed == 0) return {{{0.42, 0, -0.20}, 0.0}, {{0.50, 0, -0.02}, 0.5}, {{0.34, 0, -0.02}, -0.3}};
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto uniform = [&](double low, double high) {  // the same on every platform
        return low + (high - low) * static_cast<double>(random()) / 4294967295.0;
    };
    std::vector<Place> places;
    while (places.size() < 3) {
        const Place place{{uniform(0.32, 0.54), 0, uniform(-0.30, 0.08)}, uniform(-0.7, 0.7)};
        const auto near = [&](const Place& other) { return (other.at - place.at).norm() < 0.11; };
        if (std::none_of(places.begin(), places.end(), near)) places.push_back(place);
    }
    return places;
}

Scene make_pick_place(const Params& params) {
    Scene scene;
    scene.method = "articulated";
    scene.dt = params.number("dt");
    scene.method_params["slide_speed"] = 1e-5;  // a held block creeps by less than this
    // Blocks on soft contacts rock by as much as they overlap, without end: 0.1 mm in a stack of three at the default.
    scene.method_params["contact_stiffness"] = 30.0;
    MaterialSpec plastic, metal;
    plastic.name = "plastic";
    plastic.density = 1200;
    plastic.friction = params.number("friction");
    metal.name = "aluminium";
    metal.density = 2700;
    metal.friction = params.number("friction");
    scene.materials[0] = plastic;
    const int aluminium = scene.add_material(metal);

    BodySpec table = body_spec(scene, "table", box_spec({1.4, 0.1, 1.4}), Vec3(0.3, -0.05, 0));
    table.type = BodyType::static_body;
    table.color = {0.72, 0.68, 0.62};
    scene.add_body(table);
    ArmOptions options;
    options.grip_force = params.number("grip_force");
    const Arm arm = add_arm(scene, options);
    scene.contact.ignore.push_back({scene.body_index("table"), scene.body_index("base")});

    const std::vector<Place> blocks = starts(params.integer("seed"));
    const Vec3 colors[] = {{0.85, 0.25, 0.2}, {0.2, 0.6, 0.3}, {0.2, 0.4, 0.85}};
    for (int k = 0; k < 3; ++k) {
        BodySpec block =
            body_spec(scene, fmt::format("block-{}", k + 1), box_spec({block_side, block_side, block_side}),
                      blocks[k].at + Vec3(0, 0.5 * block_side + air, 0),
                      turn(blocks[k].yaw * 180 / M_PI, Vec3::UnitY()));
        block.material = aluminium;
        block.color = {colors[k].x(), colors[k].y(), colors[k].z()};
        scene.add_body(block);
    }

    const bool hold = params.text("task") == "hold";
    const Place stack{{0.42, 0, 0.26}, 0.0};
    ArmPlan plan(arm, arm.home, options.opening);
    const double closed = 0.5 * block_side - 0.01;  // where the fingers would be if there were no block
    for (int k = 0; k < (hold ? 1 : 3); ++k) {
        const Place& from = blocks[k];
        const Vec3 up(0, above, 0), grip(0, grip_depth, 0);
        plan.move_to(from.at + up, from.yaw);
        plan.line_to(from.at + grip, from.yaw);
        plan.grip(closed, 0.3);
        plan.wait(0.2);
        plan.line_to(from.at + up, from.yaw);
        if (hold) break;
        const Vec3 to = stack.at + Vec3(0, k * block_side + fit, 0);
        plan.move_to(stack.at + up + Vec3(0, k * block_side, 0), stack.yaw);
        plan.line_to(to + grip, stack.yaw);
        plan.wait(0.1);
        plan.grip(options.opening, 0.3);
        plan.line_to(stack.at + up + Vec3(0, k * block_side, 0), stack.yaw);
    }
    if (!hold) plan.move_to(arm.home);
    const double done = plan.time();
    plan.wait(params.number("rest"));
    plan.write(scene);
    scene.seconds = std::ceil(plan.time() / scene.dt) * scene.dt;

    if (hold) {
        const double height = above + 0.5 * block_side - grip_depth;
        ExpectSpec lifted =
            expect_quantity("block-1", "y", height - 2e-3, height + 2e-3, "is held by friction");
        scene.expect.push_back(lifted);
        lifted.at = done + 0.1;
        scene.expect.push_back(lifted);
    }
    for (int k = 0; k < 3 && !hold; ++k) {
        ExpectSpec put;
        put.body = fmt::format("block-{}", k + 1);
        put.position = stack.at + Vec3(0, (k + 0.5) * block_side, 0);
        put.within = 4e-3;
        put.note = "is in its place in the stack";
        scene.expect.push_back(put);
        scene.expect.push_back(expect_quantity(put.body, "tilt", 0, 0.03, "lies flat"));
        scene.expect.push_back(expect_quantity(put.body, "speed", 0, 2e-3, "rests"));
    }
    scene.expect.push_back(expect_closed_joints(1e-7));
    scene.camera["eye"] = {1.7, 0.8, 1.6};
    scene.camera["target"] = {0.3, 0.25, 0.1};
    return scene;
}

}  // namespace

BuiltinScene pick_place_scene() {
    return {"arm-pick-place",
            "articulated",
            "a seven-joint arm with two fingers reaches, grasps, lifts, carries and stacks three blocks",
            "003, Fig. 21 (an arm of our own)",
            "each block is picked up by friction alone and put on the stack, which stays when the arm leaves",
            {{"dt", 0.005, "time step", 1e-6, 0.1, {}, "s"},
             {"seed", 0.0, "where the blocks start: 0, or any number for random places", 0, 1e9},
             {"task", std::string("stack"), "stack three blocks, or hold one up", 0, 0, {"stack", "hold"}},
             {"friction", 0.8, "of fingers, blocks and table", 0, 10},
             {"grip_force",
              24.0,
              "of the gripper's motor; each finger presses with half of it",
              0.1,
              1e4,
              {},
              "N"},
             {"rest", 1.0, "time at the end", 0, 1e4, {}, "s"}},
            {},
            make_pick_place};
}

}  // namespace tenon

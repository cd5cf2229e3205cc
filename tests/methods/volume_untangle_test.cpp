#include "methods/volume/untangle.hpp"

#include <gtest/gtest.h>

#include <random>

#include <fmt/format.h>

#include "geometry/initial_check.hpp"
#include "scene/builtin/scene_parts.hpp"
#include "tenon/simulation.hpp"

namespace tenon::volume {
namespace {

Scene random_pile(int bodies, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(-1, 1);
    Scene scene;
    const GeometrySpec shapes[] = {
        box_spec({0.4, 0.3, 0.5}),
        shape_spec("torus", {{"major", 0.25}, {"minor", 0.08}, {"segments", 16.0}}),
        shape_spec("gear", {{"teeth", 12.0}, {"module", 0.04}, {"width", 0.15}, {"bore", 0.06}})};
    const double room = 0.35 * std::cbrt(bodies);
    for (int i = 0; i < bodies; ++i)
        scene.add_body(body_spec(scene, fmt::format("body-{}", i), shapes[i % 3],
                                 room * Vec3(unit(random), unit(random), unit(random)),
                                 turn(180 * unit(random), Vec3(unit(random), unit(random), 1.01))));
    return scene;
}

TEST(Untangle, MakesRandomPilesAcceptable) {
    for (unsigned seed : {1u, 2u, 3u, 4u}) {
        Scene scene = random_pile(5 + 3 * static_cast<int>(seed), seed);
        ASSERT_FALSE(geometry::check_initial_state(build_world(scene)).problems.empty());
        const UntangleReport report = untangle(scene, {});
        // rings may be linked, which no motion undoes; everything else must come apart
        const geometry::InitialCheck after = geometry::check_initial_state(build_world(scene));
        EXPECT_EQ(after.problems.empty(), report.clean()) << seed;
        EXPECT_TRUE(report.clean()) << seed << ": " << (report.remaining.empty() ? "" : report.remaining[0]);
        ASSERT_FALSE(report.moved.empty());
        EXPECT_LT(report.moved.front().distance, 1.5) << seed;
        for (const BodySpec& body : scene.bodies)
            EXPECT_EQ(body.linear_velocity.norm() + body.angular_velocity.norm(), 0.0);
    }
}

TEST(Untangle, LeavesSeparateBodiesAlone) {
    Scene scene;
    scene.add_body(body_spec(scene, "a", box_spec({1, 1, 1}), {0, 0, 0}));
    scene.add_body(body_spec(scene, "b", box_spec({1, 1, 1}), {2, 0, 0}));
    const UntangleReport report = untangle(scene, {});
    EXPECT_TRUE(report.clean());
    EXPECT_TRUE(report.moved.empty());
    EXPECT_EQ(scene.bodies[1].position, Vec3(2, 0, 0));
}

// Two boxes that overlap by 0.1 along x move apart by about that much and keep the margin.
TEST(Untangle, MovesBodiesByAboutTheOverlap) {
    Scene scene;
    scene.add_body(body_spec(scene, "a", box_spec({1, 1, 1}), {0, 0, 0}));
    scene.add_body(body_spec(scene, "b", box_spec({1, 1, 1}), {0.9, 0, 0}));
    UntangleOptions options;
    options.margin = 0.01;
    const UntangleReport report = untangle(scene, options);
    ASSERT_TRUE(report.clean());
    const double gap = scene.bodies[1].position.x() - scene.bodies[0].position.x() - 1;
    EXPECT_GT(gap, 0.0);
    EXPECT_LT(gap, 0.2);
}

}  // namespace
}  // namespace tenon::volume

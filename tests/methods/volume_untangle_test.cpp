#include "methods/volume/untangle.hpp"

#include <gtest/gtest.h>

#include "model/initial_check.hpp"
#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon::volume {
namespace {

model::InitialCheck check_start(const Scene& scene) {
    const Model model = compile(scene);
    return model::check_initial_state(model, initial_state(model));
}

TEST(Untangle, MakesRandomPilesAcceptable) {
    for (int seed = 1; seed <= 6; ++seed) {
        Scene scene = make_builtin(*find_builtin("overlapping-pile"),
                                   {{"bodies", 2.0 + 3 * seed}, {"seed", static_cast<double>(seed)}});
        ASSERT_FALSE(check_start(scene).problems.empty());
        const UntangleReport report = untangle(scene, {});
        const model::InitialCheck after = check_start(scene);
        EXPECT_TRUE(after.problems.empty()) << seed;
        EXPECT_TRUE(report.clean()) << seed << ": " << (report.remaining.empty() ? "" : report.remaining[0]);
        ASSERT_FALSE(report.moved.empty());
        EXPECT_LT(report.moved.front().distance, 5 * report.overlap_depth) << seed;
        for (const BodySpec& body : scene.bodies)
            EXPECT_EQ(body.linear_velocity.norm() + body.angular_velocity.norm(), 0.0);
    }
}

// A body that may not move stays in the way of one that cannot either; the rest comes apart.
TEST(Untangle, SaysWhatCannotBeUndone) {
    Scene scene;
    BodySpec post = body_spec(scene, "post", box_spec({0.2, 4, 0.2}), {0, 0, 0});
    post.type = BodyType::static_body;
    scene.add_body(post);
    BodySpec ring =
        body_spec(scene, "ring", shape_spec("torus", {{"major", 0.17}, {"minor", 0.08}}), {0.02, 0, 0});
    ring.fixed = {true, true, true, true, true, true};
    scene.add_body(ring);
    scene.add_body(body_spec(scene, "ball", shape_spec("icosphere", {{"radius", 0.3}}), {0.3, 1, 0}));
    const UntangleReport report = untangle(scene, {});
    ASSERT_EQ(report.remaining.size(), 1u);
    EXPECT_NE(report.remaining[0].find("ring"), std::string::npos);
    EXPECT_NE(report.remaining[0].find("post"), std::string::npos);
    ASSERT_EQ(report.moved.size(), 1u);
    EXPECT_EQ(report.moved[0].body, "ball");
}

// Two rings through each other that overlap: the overlap goes, the link stays and is named. Beside each other they are
// not linked, nor is a ring around a pin, which slides off.
TEST(Untangle, NamesLinkedRings) {
    const auto ring = [](Scene& scene, const char* name, const Vec3& at, const Quat& turned) {
        scene.add_body(
            body_spec(scene, name, shape_spec("torus", {{"major", 0.3}, {"minor", 0.06}}), at, turned));
    };
    Scene linked;
    ring(linked, "ring-1", {0, 0, 0}, Quat::Identity());
    ring(linked, "ring-2", {0.08, 0, 0}, turn(90, Vec3::UnitX()));
    ASSERT_FALSE(check_start(linked).problems.empty());
    const UntangleReport report = untangle(linked, {});
    EXPECT_TRUE(report.clean());
    ASSERT_EQ(report.linked.size(), 1u);
    EXPECT_EQ(report.linked[0], std::pair(std::string("ring-1"), std::string("ring-2")));
    EXPECT_LT(report.moved.front().distance, 2 * report.overlap_depth);

    Scene loose;
    ring(loose, "ring-1", {0, 0, 0}, Quat::Identity());
    ring(loose, "ring-2", {0.65, 0, 0}, turn(90, Vec3::UnitX()));
    loose.add_body(body_spec(loose, "pin", box_spec({0.1, 0.5, 0.1}), {0.15, 0, 0.12}));
    const UntangleReport apart = untangle(loose, {});
    EXPECT_TRUE(apart.clean());
    EXPECT_TRUE(apart.linked.empty());
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

// A box that just touches the floor overlaps it by nothing and moves by the margin alone.
TEST(Untangle, MovesABoxThatTouchesTheFloorByTheMargin) {
    Scene scene;
    BodySpec floor = body_spec(scene, "floor", box_spec({4, 0.5, 4}), {0, -0.25, 0});
    floor.type = BodyType::static_body;
    scene.add_body(floor);
    scene.add_body(body_spec(scene, "box", box_spec({1, 1, 1}), {0, 0.5, 0}));
    scene.add_body(body_spec(scene, "far", box_spec({1, 1, 1}), {1.2, 0.52, 0}));  // 20 mm of air under it
    UntangleOptions options;
    options.margin = 0.002;
    const UntangleReport report = untangle(scene, options);
    ASSERT_TRUE(report.clean());
    EXPECT_EQ(report.overlap_depth, 0);
    ASSERT_EQ(report.moved.size(), 1u);
    EXPECT_EQ(report.moved[0].body, "box");
    EXPECT_GE(scene.bodies[1].position.y(), 0.502 * (1 - 1e-9));
    EXPECT_LT(scene.bodies[1].position.y(), 0.5022);
    EXPECT_EQ(scene.bodies[2].position, Vec3(1.2, 0.52, 0));
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
    EXPECT_GT(gap, 0.999 * options.margin);
    EXPECT_LT(gap, 1.01 * options.margin);
}

}  // namespace
}  // namespace tenon::volume

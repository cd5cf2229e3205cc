#include "verify/verify.hpp"

#include <cmath>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tenon/error.hpp"
#include "verify/made_run.hpp"

namespace tenon::verify {
namespace {

using test::has_kind;
using test::MadeRun;
using test::scene_from;
using test::set_motion;

constexpr int slider = 1, arm = 2;

// A block slides 1 mm above a floor; an arm swings on a ball joint.
MadeRun good_run() {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "name": "made", "gravity": [0, 0, 0], "seconds": 0.2,
        "bodies": [
          {"name": "floor", "type": "static", "shape": {"type": "box", "size": [10, 1, 10]}, "position": [0, -0.5, 0]},
          {"name": "slider", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [-1, 0.501, 0]},
          {"name": "arm", "shape": {"type": "box", "size": [1, 0.1, 0.1]}, "position": [0.5, 3, 0]}],
        "joints": [{"name": "pin", "type": "ball", "bodies": ["world", "arm"], "point": [0, 3, 0]}]})");
    made.pose = [](const Model& model, State& state, double t) {
        set_motion(model, state, slider, Vec3(-1 + 2 * t, 0.501, 0), Vec3(2, 0, 0), Vec3::UnitY(), 0, 0);
        const double rate = 3, angle = rate * t;
        const Vec3 along(std::cos(angle), std::sin(angle), 0), across(-std::sin(angle), std::cos(angle), 0);
        set_motion(model, state, arm, Vec3(0, 3, 0) + 0.5 * along, 0.5 * rate * across, Vec3::UnitZ(), angle,
                   rate);
    };
    return made;
}

// An elastic block rises from a floor.
MadeRun elastic_run() {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "box", "size": [10, 1, 10]}, "position": [0, -0.5, 0]}],
        "elastic": [{"name": "pad", "shape": {"type": "box", "size": [1, 1, 1]}, "cell_size": 0.5,
                     "position": [0, 1, 0], "linear_velocity": [0, 1, 0]}]})");
    const std::vector<Vec3> rest = compile(made.scene).elastic[0].start_x;
    made.pose = [rest](const Model&, State& state, double t) {
        ElasticState& body = state.elastic[0];
        for (std::size_t i = 0; i < rest.size(); ++i) {
            body.x[i] = rest[i] + t * Vec3(0, 1, 0);
            body.v[i] = Vec3(0, 1, 0);
        }
    };
    return made;
}

TEST(Verify, CleanRunIsClean) {
    const Result result = good_run().verify();
    EXPECT_TRUE(result.clean()) << result.to_json();
    EXPECT_TRUE(result.proven());
    EXPECT_EQ(result.frames, 21);
    EXPECT_EQ(result.steps_between_min, 1);
    EXPECT_EQ(result.steps_between_max, 1);
    EXPECT_LT(result.joint_residual_max, 1e-12);
    EXPECT_LT(result.momentum_mismatch, 1e-12);
    EXPECT_LT(result.momentum_drift, 0);  // a joint to the world: not a closed scene
    const auto json = nlohmann::json::parse(result.to_json());
    EXPECT_TRUE(json["clean"].get<bool>());
    EXPECT_TRUE(json["momentum_drift"].is_null());
    EXPECT_EQ(json["steps_between_frames"]["max"], 1);
    EXPECT_TRUE(elastic_run().verify().clean());
}

// The smallest dent that reaches through: the block's lower corners are 1 mm above the floor.
TEST(Verify, OneVertexPushedThroughTheFloorIsFound) {
    const auto dented = [](double dent) {
        MadeRun made = good_run();
        made.corrupt = [dent](State& state, long step) {
            if (step == 7) state.q[slider](1, 1) *= 1.0 + 2 * dent;  // half the height is 0.5 m
        };
        return made.verify();
    };
    const Result result = dented(0.00101);
    EXPECT_FALSE(result.clean());
    ASSERT_TRUE(has_kind(result, "surface"));
    EXPECT_EQ(result.findings[0].frame, 7);
    EXPECT_EQ(result.findings[0].a, "floor");
    EXPECT_EQ(result.findings[0].b, "slider");
    EXPECT_GE(result.findings[0].triangle_a, 0);
    EXPECT_EQ(dented(0.00099).intersections, 0);
}

TEST(Verify, OneElasticVertexPushedThroughIsFound) {
    MadeRun made = elastic_run();
    made.corrupt = [](State& state, long step) {
        if (step != 3) return;
        std::vector<Vec3>& x = state.elastic[0].x;
        const auto lower = [](const Vec3& a, const Vec3& b) { return a.y() < b.y(); };
        std::min_element(x.begin(), x.end(), lower)->y() = -1e-9;
    };
    const Result result = made.verify();
    EXPECT_FALSE(result.clean());
    EXPECT_TRUE(has_kind(result, "surface"));
}

// A small block rises beside a thin wall.
MadeRun wall_run(long every) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "wall", "type": "static", "shape": {"type": "box", "size": [0.02, 10, 10]}},
        {"name": "block", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "position": [-0.3, 0, 0]}]})");
    made.every = every;
    made.pose = [](const Model& model, State& state, double t) {
        set_motion(model, state, 1, Vec3(-0.3, 0.5 * t, 0), Vec3(0, 0.5, 0), Vec3::UnitZ(), 0, 0);
    };
    return made;
}

// In one frame the block stands on the other side.
TEST(Verify, SwappedFrameThroughAWallIsFound) {
    for (const long every : {1L, 2L}) {
        MadeRun made = wall_run(every);
        EXPECT_TRUE(made.verify().proven());
        made.corrupt = [](State& state, long step) {
            if (step == 10) state.q[1](0, 3) = 0.3;
        };
        const Result result = made.verify();
        EXPECT_FALSE(result.clean());
        EXPECT_TRUE(has_kind(result, "motion")) << result.to_json();  // not only by its momenta
        EXPECT_EQ(result.unexplained, 2);                             // there and back
        EXPECT_EQ(result.intersections, 0);                           // no exact test found one
    }
}

// A bullet passes through a card between two frames, at a speed that fits its positions.
TEST(Verify, BulletThroughACardIsFound) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "card", "type": "static", "thickness": 0.001,
         "vertices": [[0, -1, -1], [0, 1, -1], [0, 1, 1], [0, -1, 1]], "triangles": [[0, 1, 2], [0, 2, 3]]},
        {"name": "bullet", "shape": {"type": "box", "size": [0.02, 0.02, 0.02]}, "position": [-5.5, 0.3, 0.2]}]})");
    made.pose = [](const Model& model, State& state, double t) {
        set_motion(model, state, 1, Vec3(-5.5 + 100 * t, 0.3, 0.2), Vec3(100, 0, 0), Vec3::UnitZ(), 0, 0);
    };
    for (const long every : {1L, 5L}) {
        made.every = every;
        const Result result = made.verify();
        EXPECT_FALSE(result.clean()) << every;
        EXPECT_TRUE(has_kind(result, "motion"));
        EXPECT_EQ(result.unexplained, 1);
        EXPECT_EQ(result.intersections, 0);
    }
}

TEST(Verify, OpenedJointIsFound) {
    MadeRun made = good_run();
    made.corrupt = [](State& state, long step) {
        if (step == 12) state.q[arm](2, 3) += 1e-6;
    };
    const Result result = made.verify();
    EXPECT_FALSE(result.clean());
    EXPECT_EQ(result.joints_open, 1);
    ASSERT_TRUE(has_kind(result, "joint"));
    EXPECT_NEAR(result.joint_residual_max, 1e-6, 1e-12);
}

TEST(Verify, ChangedMomentumIsFound) {
    for (const int column : {3, 1}) {  // velocity of the centre; spin
        MadeRun made = good_run();
        made.corrupt = [column](State& state, long step) {
            if (step == 5) state.rate[slider](0, column) += 1e-4;
        };
        const Result result = made.verify();
        EXPECT_FALSE(result.clean());
        EXPECT_TRUE(has_kind(result, "momentum"));
        EXPECT_EQ(result.intersections, 0);
    }
}

// The same in a closed scene whose own records were made after the change: only conservation can tell.
TEST(Verify, MomentumFromNowhereIsFoundInAClosedScene) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, -9.81, 0], "bodies": [
        {"name": "a", "shape": {"type": "box", "size": [1, 1, 1]}},
        {"name": "b", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [3, 0, 0]}]})");
    const auto flight = [](const Model& model, State& state, double t, double kick) {
        const double fall = -0.5 * 9.81 * t * t, speed = -9.81 * t;
        set_motion(model, state, 0, Vec3(t, fall, 0), Vec3(1, speed, 0), Vec3::UnitZ(), 0, 0);
        set_motion(model, state, 1, Vec3(3 - t, fall, 0), Vec3(-1 + kick, speed, 0), Vec3::UnitZ(), 0, 0);
    };
    made.pose = [&](const Model& model, State& state, double t) { flight(model, state, t, 0); };
    const Result good = made.verify();
    EXPECT_TRUE(good.clean()) << good.to_json();
    EXPECT_GE(good.momentum_drift, 0);
    EXPECT_LT(good.momentum_drift, 1e-12);
    made.pose = [&](const Model& model, State& state, double t) {
        flight(model, state, t, t > 0.1 ? 0.01 : 0.0);
    };
    EXPECT_FALSE(made.verify().clean());
}

// BDF2 hands on a third of a push a step: a body that leaves what pushed it keeps to that, or to gravity alone.
TEST(Verify, AMultistepMethodHandsOnAThirdOfAPushAndNoMore) {
    MadeRun made;
    made.scene =
        scene_from(R"({"tenon": 1, "gravity": [0, -9.81, 0], "method": {"type": "articulated", "dt": 0.01},
        "bodies": [
        {"name": "post", "type": "static", "shape": {"type": "box", "size": [0.2, 4, 0.2]}, "position": [0, 8, 0]},
        {"name": "ball", "shape": {"type": "icosphere", "radius": 0.1, "subdivisions": 1}, "position": [0.22, 8, 0]}]})");
    // Pushed by 0.05 m/s in step 2, beside the post; free of it from step 3 on. `kick` in step 6 comes from nowhere.
    const auto leave = [&](double share, double kick) {
        made.pose = [=](const Model& model, State& state, double t) {
            const int step = static_cast<int>(std::lround(t / 0.01));
            Vec3 velocity(2, -9.81 * t, step >= 6 ? kick : 0.0);
            for (int k = 2; k <= step; ++k) velocity.z() += 0.05 * std::pow(share, k - 2);
            const Vec3 at(0.22 + 2 * t, 8 - 0.5 * 9.81 * t * t, velocity.z() * t);
            set_motion(model, state, 1, at, velocity, Vec3::UnitZ(), 0, 0);
        };
        return made.verify();
    };
    EXPECT_TRUE(leave(1.0 / 3.0, 0).clean()) << leave(1.0 / 3.0, 0).to_json();
    EXPECT_TRUE(leave(0, 0).clean());
    EXPECT_TRUE(has_kind(leave(0.5, 0), "flight"));
    EXPECT_TRUE(has_kind(leave(1.0 / 3.0, 0.01), "flight"));
    made.every = 2;  // a ninth from frame to frame
    EXPECT_TRUE(leave(1.0 / 3.0, 0).clean()) << leave(1.0 / 3.0, 0).to_json();
    EXPECT_TRUE(has_kind(leave(0.5, 0), "flight"));
}

// A ring turns by more than half a turn between frames about a post that stands in it: the chords of its vertices
// cut through the post, its true motion does not. A stick turns as fast beside a wall that it just misses.
TEST(Verify, FastSpinIsNoFalseAlarm) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, -9.81, 0], "bodies": [
        {"name": "post", "type": "static", "shape": {"type": "cylinder", "radius": 0.3, "length": 20}},
        {"name": "ring", "shape": {"type": "torus", "segments": 24}, "position": [0, 5, 0]},
        {"name": "stick", "shape": {"type": "box", "size": [2, 0.1, 0.1]}, "position": [4, 5, 0]},
        {"name": "near", "type": "static", "shape": {"type": "box", "size": [0.2, 20, 4]}, "position": [5.2, 0, 0]}]})");
    const double spin = 200;
    made.every = 2;  // 4 rad a frame
    made.steps = 6;
    made.pose = [spin](const Model& model, State& state, double t) {
        const double fall = 5 - 0.5 * 9.81 * t * t, speed = -9.81 * t;
        set_motion(model, state, 1, Vec3(0, fall, 0), Vec3(0, speed, 0), Vec3::UnitY(), spin * t, spin);
        set_motion(model, state, 2, Vec3(4, fall, 0), Vec3(0, speed, 0), Vec3::UnitZ(), spin * t, spin);
    };
    const Result result = made.verify();
    EXPECT_TRUE(result.clean()) << result.to_json();
    EXPECT_GT(result.chord_hits, 0);  // the test is worth something
    EXPECT_EQ(result.unproven, result.chord_hits);
    EXPECT_EQ(result.steps_between_max, 2);
}

// A block goes round the corner of a table between two frames: the chord cuts the corner, a motion that fits the
// velocities before and after does not. Nothing speaks against it, but nothing proves it either.
TEST(Verify, RoundTheCornerIsUnprovenButClean) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "table", "type": "static", "shape": {"type": "box", "size": [4, 4, 4]}, "position": [-2, -2, 0]},
        {"name": "block", "shape": {"type": "box", "size": [0.1, 0.1, 0.1]}, "position": [-0.1, 0.1, 0]}]})");
    made.steps = 1;
    made.dt = 0.1;
    double speed = 3.0;
    made.pose = [&](const Model& model, State& state, double t) {
        if (t == 0)
            set_motion(model, state, 1, Vec3(-0.1, 0.1, 0), Vec3(speed, 0, 0), Vec3::UnitZ(), 0, 0);
        else
            set_motion(model, state, 1, Vec3(0.1, -0.1, 0), Vec3(0, -speed, 0), Vec3::UnitZ(), 0, 0);
    };
    const Result round = made.verify();
    EXPECT_TRUE(round.clean()) << round.to_json();
    EXPECT_EQ(round.chord_hits, 1);
    EXPECT_EQ(round.unproven, 1);
    EXPECT_FALSE(round.proven());
    speed = 0.0;  // at rest before and after: it cannot have got there
    EXPECT_FALSE(made.verify().clean());
}

// With the path, what really happened decides: round the wall or through it.
TEST(Verify, RecordedPathDecides) {
    MadeRun made = wall_run(5);
    made.scene.bodies[0].position = Vec3(0, -5, 0);  // the wall ends at y = 0
    const Mat34 still = to_matrix({Vec3(0, -5, 0), Quat::Identity()});
    const auto at = [](double x, double y) { return to_matrix({Vec3(x, y, 0), Quat::Identity()}); };
    made.steps = 5;
    made.pose = [](const Model& model, State& state, double t) {
        set_motion(model, state, 1, Vec3(t > 0.025 ? 0.3 : -0.3, -1, 0), Vec3::Zero(), Vec3::UnitZ(), 0, 0);
    };
    EXPECT_FALSE(made.verify().clean());
    made.path = [&](long step) -> std::vector<std::vector<Mat34>> {
        if (step == 1) return {{still, at(-0.3, 0.2)}};
        if (step == 2) return {{still, at(0.3, 0.2)}};
        return {{still, at(0.3, -1)}};
    };
    const Result round = made.verify();
    // it is not a motion that the velocities tell, but nothing is in its way
    for (const Finding& finding : round.findings) EXPECT_EQ(finding.kind, "velocity") << round.to_json();
    EXPECT_TRUE(round.path_recorded);
    made.path = [&](long step) -> std::vector<std::vector<Mat34>> {
        return {{still, at(step < 3 ? -0.3 : 0.3, -1)}};
    };
    const Result through = made.verify();
    EXPECT_FALSE(through.clean());
    EXPECT_TRUE(has_kind(through, "path"));
}

// A body that appears inside a closed one crosses nothing in any frame.
TEST(Verify, ContainmentCannotChange) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "rock", "type": "static", "shape": {"type": "box", "size": [4, 4, 4]}},
        {"name": "pebble", "shape": {"type": "box", "size": [0.1, 0.1, 0.1]}, "position": [3, 0, 0]}]})");
    made.pose = [](const Model& model, State& state, double t) {
        set_motion(model, state, 1, Vec3(t > 0.095 ? 0.5 : 3, 0, 0), Vec3::Zero(), Vec3::UnitZ(), 0, 0);
    };
    Options options;
    options.motion = false;
    const Result result = made.verify(options);
    EXPECT_FALSE(result.clean());
    EXPECT_TRUE(has_kind(result, "contained"));
    made.pose = [](const Model& model, State& state, double) {
        set_motion(model, state, 1, Vec3(0.5, 0, 0), Vec3::Zero(), Vec3::UnitZ(), 0, 0);
    };
    const Result always = made.verify(options);
    EXPECT_TRUE(always.clean());
    EXPECT_EQ(always.contained_at_start, 1);
}

TEST(Verify, PairsThatMayTouchAreLeftOut) {
    const auto intersections = [&](const std::string& extra, const std::string& more) {
        MadeRun made;
        made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
            {"name": "a", "shape": {"type": "box", "size": [1, 1, 1]})" +
                                extra + R"(}, {"name": "b", "shape": {"type": "box", "size": [1, 1, 1]},
            "position": [0.5, 0.1, 0.2])" +
                                extra + "}]" + more + "}");
        made.steps = 1;
        made.pose = [](const Model&, State&, double) {};
        return made.verify().intersections;
    };
    EXPECT_GT(intersections("", ""), 0);
    EXPECT_EQ(intersections(R"(, "group": "g")", ""), 0);
    EXPECT_EQ(intersections(R"(, "type": "static")", ""), 0);
    EXPECT_EQ(intersections(R"(, "collides": false)", ""), 0);
    EXPECT_EQ(intersections("", R"(, "contact": {"ignore": [["a", "b"]]})"), 0);
    const std::string joint = R"(, "joints": [{"type": "fixed", "bodies": ["a", "b"], "point": [0, 0, 0]}])";
    EXPECT_EQ(intersections("", joint), 0);
    EXPECT_GT(intersections("", joint + R"(, "contact": {"jointed_bodies_collide": true})"), 0);
}

// Whatever bytes of a run file are damaged, the outcome is a result or an InputError.
TEST(Verify, DamagedFilesAreRefusedOrRead) {
    test::TemporaryFolder folder;
    const std::string good = folder / "good.tenon", bad = folder / "bad.tenon";
    MadeRun made = good_run();
    const Model model = compile(made.scene);
    State state = initial_state(model);
    const Outputs outputs(model);
    {
        run::RunWriter writer(good, made.scene, model, state);
        for (state.step = 0; state.step < 4; ++state.step) {
            state.time = 0.01 * static_cast<double>(state.step);
            made.pose(model, state, state.time);
            writer.add_step(run::measure(model, state, StepReport{}, 0.0));
            writer.add_frame(state, outputs);
        }
        writer.close();
    }
    std::ifstream in(good, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::mt19937 random(42);
    int refused = 0;
    for (int round = 0; round < 150; ++round) {
        std::string damaged = bytes;
        for (int k = 0; k < 8; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
        std::ofstream(bad, std::ios::binary) << damaged;
        try {
            const run::RunReader reader(bad);
            reader.steps();
            verify_run(reader);
        } catch (const InputError&) {
            ++refused;
        }
        for (const char* ending : {"-wal", "-shm", "-journal"}) std::filesystem::remove(bad + ending);
    }
    EXPECT_GT(refused, 10);
    EXPECT_LT(refused, 150);
}

// The scene everybody writes first: a box that lies on the ground to the last bit. The method opens the gap; a scene that overlaps
// by a hair is another matter.
TEST(Verify, ATouchingStartIsTheScenesAndNotAnIntersection) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "method": "affine", "gravity": [0, -9.81, 0], "bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "box", "size": [4, 1, 4]}, "position": [0, -0.5, 0]},
        {"name": "a", "shape": {"type": "box"}, "position": [0, 0.5, 0]}]})");
    const auto resting = [](double start, double later) {
        return [=](const Model& of, State& state, double t) {
            set_motion(of, state, 1, Vec3(0, t > 0 ? later : start, 0), Vec3::Zero(), Vec3::UnitX(), 0, 0);
        };
    };
    made.pose = resting(0.5, 0.500001);
    const Result touching = made.verify();
    EXPECT_TRUE(touching.clean()) << touching.to_json();
    EXPECT_EQ(touching.touching_at_start, 1);
    EXPECT_FALSE(touching.proven());
    made.pose = resting(0.499999, 0.500001);
    EXPECT_FALSE(made.verify().clean());
    made.pose = resting(0.5, 0.5);  // it has to be moved apart
    EXPECT_FALSE(made.verify().clean());
}

// A body at rest whose centre moves in its last digit, and one that is pushed out of an overlap without a velocity.
TEST(Verify, PathsThatMeanNothingAreNotHeldAgainstTheVelocities) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "method": "impulse", "gravity": [0, 0, 0], "bodies": [
        {"name": "a", "shape": {"type": "box"}}]})");
    const auto creep = [](double to) {
        return [=](const Model& of, State& state, double t) {
            set_motion(of, state, 0, Vec3(to * t / 0.2, 0, 0), Vec3::Zero(), Vec3::UnitX(), 0, 0);
        };
    };
    made.pose = creep(0.005);
    EXPECT_FALSE(has_kind(made.verify(), "velocity"));
    made.pose = creep(0.05);
    EXPECT_TRUE(has_kind(made.verify(), "velocity"));
    made.scene.method = "affine";
    made.pose = creep(0.005);
    EXPECT_TRUE(has_kind(made.verify(), "velocity"));
    made.pose = creep(1e-12);
    EXPECT_FALSE(has_kind(made.verify(), "velocity"));
}

// Two spheres of 10,000 triangles, a micrometre apart.
TEST(Verify, TenThousandTrianglesAgainstTenThousandTakeUnderASecond) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "gravity": [0, 0, 0], "bodies": [
        {"name": "a", "shape": {"type": "icosphere", "radius": 1, "subdivisions": 5}},
        {"name": "b", "shape": {"type": "icosphere", "radius": 1, "subdivisions": 5}, "position": [2, 0, 0]}]})");
    const Model model = compile(made.scene);
    ASSERT_GE(model.shapes[0]->mesh.triangles.size(), 10000u);
    made.steps = 1;
    made.pose = [](const Model& of, State& state, double t) {
        set_motion(of, state, 1, Vec3(2 + 1e-6 - 1e-5 * t, 0, 0), Vec3(-1e-5, 0, 0), Vec3::UnitX(), 3 * t, 3);
    };
    const Result result = made.verify();
    EXPECT_TRUE(result.clean()) << result.to_json();
    EXPECT_LT(result.seconds, 1.0);  // two frames and the way between them
    EXPECT_EQ(count_intersections(model, initial_state(model)), 0);
    made.scene.bodies[1].position = Vec3(1.99, 0, 0);
    const Model closer = compile(made.scene);
    EXPECT_EQ(count_intersections(closer, initial_state(closer)), 1);
}

}  // namespace
}  // namespace tenon::verify

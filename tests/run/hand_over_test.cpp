// A run that goes on from the recorded state of another one.
#include <gtest/gtest.h>

#include <filesystem>

#include "model/initial_check.hpp"
#include "run/hand_over.hpp"
#include "run/replay.hpp"
#include "run/run_loop.hpp"
#include "run/sqlite.hpp"
#include "temporary_folder.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"
#include "verify/verify.hpp"

namespace tenon {
namespace {

// A wall that `impulse` has hit: its bodies rest in each other by fractions of a millimetre and more.
Scene wall(const std::string& method, double seconds) {
    Scene scene = make_builtin(*find_builtin("wrecking-ball"), {{"chain", false}, {"blocks", 6.0}});
    if (scene.method != method) scene.method_params.clear();
    scene.method = method;
    scene.seconds = seconds;
    scene.expect.clear();
    return scene;
}

class HandOver : public testing::Test {
  protected:
    void SetUp() override {
        run::RunOptions options;
        options.output = preview_ = folder_ / "preview.tenon";
        run::run_scene(wall("impulse", 0.3), options);
    }

    run::Report go_on(const std::string& method, double from, double seconds) {
        run::RunOptions options;
        options.output = output_ = folder_ / "final.tenon";
        options.hand_over = preview_;
        options.from = from;
        return run::run_scene(wall(method, seconds), options);
    }

    const test::TemporaryFolder folder_;
    std::string preview_, output_;
};

TEST_F(HandOver, AnImpulsePreviewGoesOnUnderAffineAndVerifiesClean) {
    const run::Report report = go_on("affine", 0.25, 0.35);
    EXPECT_EQ(report.status, "done");
    EXPECT_EQ(report.steps, 10);
    EXPECT_EQ(report.unconverged_steps, 0);
    const run::RunReader reader(output_);
    EXPECT_EQ(reader.frame_step(0), 25);
    const verify::Result verdict = verify::verify_run(reader, {});
    EXPECT_EQ(verdict.intersections, 0);
    EXPECT_EQ(verdict.record_errors, 0);
    // Untangling moves poses, never velocities of the ball that flies free.
    const run::RunReader before(preview_);
    const int ball = wall("affine", 0.3).body_index("ball");
    for (const run::FrameEntry& frame : before.frame_list())
        if (frame.step == 25) {
            EXPECT_LT((before.frame(frame.id).rate[ball] - reader.frame(0).rate[ball]).norm(), 1e-12);
        }
}

TEST_F(HandOver, ARunThatWasHandedOverIsReplayedBitForBit) {
    go_on("affine", 0.25, 0.28);
    const run::RunReader reader(output_);
    const run::ReplayResult again = run::replay_run(wall("affine", 0.28), reader);
    EXPECT_EQ(again.status, "same") << again.difference;
    EXPECT_EQ(again.steps, 3);
}

// A frame of a step that was never made would keep a replay busy for ever.
TEST_F(HandOver, AFrameOfAStepBeyondTheRunIsNotReplayed) {
    go_on("affine", 0.25, 0.28);
    for (const char* step : {"4611686018427387904", "29", "-1"}) {
        run::Database(output_, run::Database::Mode::read_write)
            .execute((std::string("UPDATE frames SET step=") + step + " WHERE id=1").c_str());
        const run::RunReader reader(output_);
        EXPECT_THROW(run::replay_run(wall("affine", 0.28), reader), InputError) << step;
    }
}

TEST_F(HandOver, WithoutAnotherMethodItStartsAgainFromThere) {
    const run::Report report = go_on("impulse", 0.2, 0.3);
    EXPECT_EQ(report.steps, 10);
    const run::RunReader again(output_), before(preview_);
    EXPECT_EQ(again.frame(0).step, 20);
    for (const run::FrameEntry& frame : before.frame_list())
        if (frame.step == 20) {
            EXPECT_EQ(before.frame(frame.id).q, again.frame(0).q);
        }
}

// Anchors are where the scene has them, not where a run that starts in the middle finds its bodies.
TEST_F(HandOver, JointsOfAPreviewStayClosedAndVerifyClean) {
    Scene scene = make_builtin(*find_builtin("four-bar"), {});
    scene.method = "articulated";
    scene.method_params.clear();
    scene.expect.clear();
    scene.seconds = 0.3;
    run::RunOptions options;
    options.output = folder_ / "four-bar.tenon";
    run::run_scene(scene, options);
    options.hand_over = options.output;
    options.output = folder_ / "four-bar-affine.tenon";
    options.from = 0.2;
    scene.method = "affine";
    EXPECT_EQ(run::run_scene(scene, options).unconverged_steps, 0);
    const verify::Result verdict = verify::verify_run(run::RunReader(options.output), {});
    EXPECT_EQ(verdict.joints_open, 0);
    EXPECT_LT(verdict.joint_residual_max, 1e-9);
    EXPECT_EQ(verdict.record_errors, 0);
}

TEST_F(HandOver, TimesOutsideTheRunAndOtherScenesAreRefused) {
    EXPECT_THROW(go_on("affine", 2.0, 3.0), InputError);
    EXPECT_THROW(go_on("affine", 0.3, 0.3), InputError);  // nothing is left to run
    run::RunOptions options;
    options.hand_over = preview_;
    options.from = 0.2;
    EXPECT_THROW(run::run_scene(make_builtin(*find_builtin("incline"), {}), options), InputError);
}

}  // namespace
}  // namespace tenon

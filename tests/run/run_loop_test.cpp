#include "run/run_loop.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/report_builder.hpp"
#include "run/small_world.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::run {
namespace {

using test::TemporaryFolder;

// A box thrown sideways in a constant field, turning about y.
Scene thrown_box(const std::string& more = "") {
    return parse_scene(R"({"tenon": 1, "name": "thrown", "gravity": [0, -10, 0], "seconds": 0.5,
        "method": {"type": "affine", "dt": 0.01, "integrator": "implicit-euler"},
        "bodies": [{"name": "box", "shape": {"type": "box", "size": [0.4, 0.2, 0.4]}, "position": [0, 5, 0],
                    "linear_velocity": [2, 0, 0], "angular_velocity": [0, 3, 0]}])" +
                           more + "}",
                       "test", ".");
}

TEST(RunLoop, RunsRecordsAndReports) {
    TemporaryFolder folder;
    RunOptions options;
    options.output = folder / "a.tenon";
    options.report = folder / "a.json";
    options.record_every = 10;
    long calls = 0;
    double eta = -1;
    const Report report = run_scene(thrown_box(), options, [&](const Progress& now) {
        ++calls;
        EXPECT_EQ(now.step, calls);
        EXPECT_EQ(now.steps, 50);
        eta = now.eta_seconds;
    });
    EXPECT_EQ(calls, 50);
    EXPECT_EQ(eta, 0);
    EXPECT_EQ(report.status, "done");
    EXPECT_EQ(report.steps, 50);
    EXPECT_NEAR(report.simulated_seconds, 0.5, 1e-12);
    EXPECT_EQ(report.bodies, 1);
    EXPECT_EQ(report.dofs, 12);
    EXPECT_EQ(report.triangles, 12);
    EXPECT_GE(report.ms_max, report.ms_p95);
    EXPECT_GE(report.ms_p95, report.ms_p50);
    EXPECT_GT(report.peak_memory_mb, 1);
    EXPECT_LT(report.momentum_drift, 1e-9);  // closed: gravity is accounted for
    // m = 32 kg: kinetic (1/2) m v^2 + (1/2) I w^2 with I = m (0.4^2 + 0.4^2) / 12, and m g y.
    EXPECT_NEAR(report.energy_start, 64 + 0.5 * 32 * 0.32 / 12 * 9 + 32 * 10 * 5, 1e-9);

    const auto json = nlohmann::json::parse(std::ifstream(folder / "a.json"));
    for (const char* key : {"scene",        "method",         "status",
                            "dt",           "steps",          "simulated_seconds",
                            "wall_seconds", "threads",        "bodies",
                            "triangles",    "tets",           "joints",
                            "dofs",         "ms_per_step",    "iterations_per_step",
                            "contacts",     "min_distance",   "joint_residual_max",
                            "energy",       "momentum_drift", "phases_ms",
                            "figures",      "peak_memory_mb", "unconverged_steps",
                            "solver",       "warnings",       "expect"})
        EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json["min_distance"].is_null());

    const RunReader reader(folder / "a.tenon");
    EXPECT_EQ(reader.meta("status"), "done");
    EXPECT_EQ(nlohmann::json::parse(reader.meta("report")), json);
    ASSERT_EQ(reader.frame_count(), 6);
    EXPECT_EQ(reader.frame_step(5), 50);
    EXPECT_EQ(reader.steps().size(), 51u);  // with the start
    // Implicit Euler: x = v t exactly; y falls by g h^2 n (n + 1) / 2.
    const Frame end = reader.frame(5);
    EXPECT_NEAR(end.q[0](0, 3), 1.0, 1e-9);
    EXPECT_NEAR(end.q[0](1, 3), 5 - 10 * 1e-4 * 50 * 51 / 2, 1e-9);
    EXPECT_EQ(folder.entries(), 2u);
}

TEST(RunLoop, FramesFollowTheRecordingRate) {
    TemporaryFolder folder;
    RunOptions options;
    options.output = folder / "a.tenon";
    options.fps = 30;
    run_scene(thrown_box(), options);
    const RunReader reader(folder / "a.tenon");
    // The first step at or after each thirtieth of a second: 0, 4, 7, 10, 14, ... and the end.
    ASSERT_EQ(reader.frame_count(), 16);
    for (long i = 0; i <= 15; ++i)
        EXPECT_EQ(reader.frame_step(i),
                  static_cast<long>(std::ceil(static_cast<double>(i) / 30 / 0.01 - 1e-9)));
}

TEST(RunLoop, StepsThatDoNotDivideAreSaidAloud) {
    Scene scene = thrown_box();
    scene.seconds = 0.104;
    const Report report = run_scene(scene, {});
    EXPECT_EQ(report.steps, 10);
    const auto says = [](const std::string& warning) {
        return warning.find("10 steps end at 0.1 s") != std::string::npos;
    };
    EXPECT_EQ(std::count_if(report.warnings.begin(), report.warnings.end(), says), 1);
}

// Implicit Euler is behind by h dv / 2: thrown up at 3 m/s for 0.5 s at 10 ms under 10 m/s^2, by 0.025 m of the 0.435 m that the box
// rises in these steps: 5.7 %.
TEST(RunLoop, ImplicitEulersLagIsTold) {
    for (const char* integrator : {"implicit-euler", "bdf2"}) {
        Scene scene = thrown_box();
        scene.bodies.back().linear_velocity = Vec3(1, 3, 0);
        scene.bodies.back().position = Vec3(0, 5, 0);
        scene.method = "affine";
        scene.method_params = {{"integrator", std::string(integrator)}};
        scene.dt = 0.01;
        scene.seconds = 0.5;
        const Report report = run_scene(scene, {});
        bool told = false;
        for (const std::string& warning : report.warnings)
            told = told || warning.find("implicit Euler is behind by 6 %") != std::string::npos;
        EXPECT_EQ(told, std::string(integrator) == "implicit-euler") << integrator;
    }
}

TEST(RunLoop, StopsCleanlyAndResumesBitForBit) {
    TemporaryFolder folder;
    RunOptions options;
    options.record_every = 5;
    options.output = folder / "whole.tenon";
    const Report whole = run_scene(thrown_box(), options);

    std::atomic<bool> stop{false};
    options.output = folder / "part.tenon";
    options.stop = &stop;
    const Report stopped =
        run_scene(thrown_box(), options, [&](const Progress& now) { stop = now.step == 23; });
    EXPECT_EQ(stopped.status, "stopped");
    EXPECT_EQ(stopped.steps, 23);
    EXPECT_EQ(RunReader(folder / "part.tenon").frame_step(5), 23);  // the last state is kept
    stop = false;

    // Into a copy, then into the file itself.
    for (const char* output : {"copy.tenon", ""}) {
        RunOptions again = options;
        again.resume = folder / "part.tenon";
        again.output = *output ? folder / output : "";
        const Report resumed = run_scene(thrown_box(), again);
        EXPECT_EQ(resumed.status, "done");
        EXPECT_EQ(resumed.steps, 50);
        EXPECT_EQ(resumed.energy_end, whole.energy_end);
        const RunReader a(folder / "whole.tenon"), b(*output ? folder / output : folder / "part.tenon");
        EXPECT_EQ(a.frame(a.frame_count() - 1).q, b.frame(b.frame_count() - 1).q);
        EXPECT_EQ(a.frame(a.frame_count() - 1).rate, b.frame(b.frame_count() - 1).rate);
        EXPECT_EQ(b.steps().size(), 51u);
        EXPECT_EQ(b.meta("status"), "done");
    }
    RunOptions wrong = options;
    wrong.resume = folder / "part.tenon";
    wrong.output = "";
    Scene other = thrown_box();
    other.dt = 0.02;
    EXPECT_THROW(run_scene(other, wrong), InputError);
    other = thrown_box();
    other.bodies[0].name = "crate";
    EXPECT_THROW(run_scene(other, wrong), InputError);
}

// Coordinates that overflow within one step: nothing of the step may stay, and the next one starts from what was.
TEST(Simulation, AFailedStepLeavesTheWorldAsItWas) {
    Scene scene = thrown_box();
    scene.dt = 1.0;
    Simulation simulation(scene);
    simulation.step();
    State& state = simulation.state();
    state.q[0](0, 3) = state.rate[0](0, 3) = 1.7e308;  // together past the largest double
    const Mat34 q = state.q[0], rate = state.rate[0];
    EXPECT_THROW(simulation.step(), StepFailure);
    EXPECT_EQ(state.q[0], q);
    EXPECT_EQ(state.rate[0], rate);
    EXPECT_EQ(state.step, 1);
    state.q[0].col(3) = Vec3(0, 5, 0);
    state.rate[0].setZero();
    state.rate[0](0, 3) = 2;
    simulation.step();
    EXPECT_NEAR(state.q[0](0, 3), 2, 1e-9);
}

TEST(RunLoop, ResumesAfterAKillFromACheckpoint) {
    TemporaryFolder folder;
    RunOptions options;
    options.output = folder / "a.tenon";
    options.record_every = 5;
    options.checkpoint_every = 0.1;
    struct Killed {};
    EXPECT_THROW(run_scene(thrown_box(), options,
                           [](const Progress& now) {
                               if (now.step == 37) throw Killed{};
                           }),
                 Killed);
    const RunReader killed(folder / "a.tenon");
    EXPECT_EQ(killed.meta("status"), "running");
    long step = 0;
    EXPECT_FALSE(killed.checkpoint(step).empty());
    EXPECT_EQ(step, 30);
    RunOptions again = options;
    again.resume = options.output;
    EXPECT_EQ(run_scene(thrown_box(), again).steps, 50);
    options.output = folder / "b.tenon";
    run_scene(thrown_box(), options);
    const RunReader a(folder / "a.tenon"), b(folder / "b.tenon");
    ASSERT_EQ(a.frame_count(), b.frame_count());
    for (long i = 0; i < a.frame_count(); ++i) EXPECT_EQ(a.frame(i).q, b.frame(i).q);
}

// A state that an older or newer program saved, and some that were cut off: refused, and the file keeps what it has.
TEST(RunLoop, RefusesCheckpointsItCannotRead) {
    TemporaryFolder folder;
    RunOptions options;
    options.output = folder / "a.tenon";
    run_scene(thrown_box(), options);
    long step = 0;
    const std::string good = RunReader(options.output).checkpoint(step);
    std::string other = good;
    ++other[0];
    const std::pair<std::string, const char*> cases[] = {{other, "another version"},
                                                         {good.substr(0, good.size() / 2), "ends too early"},
                                                         {good.substr(0, 3), "ends too early"}};
    RunOptions again = options;
    again.resume = options.output;
    for (const auto& [state, problem] : cases) {
        RunWriter::reopen(options.output, step)->add_checkpoint(step, state);
        const long frames = RunReader(options.output).frame_count();
        Scene longer_run = thrown_box();
        longer_run.seconds += 0.1;
        try {
            run_scene(longer_run, again);
            ADD_FAILURE() << problem;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
        }
        EXPECT_EQ(RunReader(options.output).frame_count(), frames);
    }
}

TEST(RunLoop, RefusesBadOptionsBeforeAnythingIsWritten) {
    TemporaryFolder folder;
    RunOptions options;
    options.output = folder / "a.tenon";
    options.report = "/proc/none/report.json";
    EXPECT_THROW(run_scene(thrown_box(), options), InputError);
    options.report = folder.path();
    EXPECT_THROW(run_scene(thrown_box(), options), InputError);
    options.report = "";
    options.fps = 0;
    EXPECT_THROW(run_scene(thrown_box(), options), InputError);
    options.fps = 60;
    Scene scene = thrown_box();
    scene.dt = -1;
    EXPECT_THROW(run_scene(scene, options), InputError);
    options.resume = folder / "nothing.tenon";
    EXPECT_THROW(run_scene(thrown_box(), options), InputError);
    EXPECT_EQ(folder.entries(), 0u);
}

// What the box does in half a second: x = 1, fallen by 1.275 m, turned about y. Implicit Euler slows the spin by
// (w h)^2 a step: 3 (1 - 9e-4)^50 = 2.87 rad/s, and 1.467 rad in all.
TEST(RunLoop, ExpectationsAreMeasured) {
    const std::string expect = R"(, "expect": [
        {"body": "box", "position": [1, 3.725, 0], "within": 1e-6},
        {"body": "box", "position": [1, 3.7, 0], "within": 1e-3},
        {"body": "box", "at": 0.25, "quantity": "x", "min": 0.4999, "max": 0.5001},
        {"body": "box", "quantity": "turned_y", "min": 1.46, "max": 1.475, "note": "turns evenly"},
        {"body": "box", "quantity": "spin", "min": 2.85, "max": 2.89},
        {"body": "box", "quantity": "tilt", "max": 1e-6},
        {"body": "box", "quantity": "moved", "min": 1.6, "max": 1.63},
        {"quantity": "speed", "min": 5.3, "max": 5.5},
        {"quantity": "max_speed", "min": 5.3, "max": 5.5},
        {"quantity": "kinetic_energy", "min": 100},
        {"quantity": "joint_residual", "max": 0},
        {"quantity": "min_distance", "min": 0},
        {"quantity": "intersections", "max": 0}])";
    RunOptions options;
    options.count_intersections = [](const Model&, const State&) { return 0L; };
    Scene scene = thrown_box(expect);
    ExpectSpec late;
    late.body = "box";
    late.quantity = "x";
    late.at = 9;
    scene.expect.push_back(late);
    const Report report = run_scene(scene, options);
    const std::vector<bool> wanted{
        true, false, true, true, true, true, true,
        true, true,  true, true, true, true};  // what is later than the end is not judged
    ASSERT_EQ(report.expect.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(report.expect[i].held, wanted[i]) << report.expect[i].text;
    EXPECT_NE(report.expect[3].text.find("turns evenly"), std::string::npos);
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_NE(report.warnings[0].find("1 skipped, the first of them expect[13] (box x at 9 s)"),
              std::string::npos)
        << report.warnings[0];
    options.count_intersections = {};
    EXPECT_FALSE(run_scene(thrown_box(expect), options).expect[12].held);  // not measured is not held
}

// Coordinates overflow in the second step: the first is the last good state, and it is what the file ends with.
TEST(RunLoop, FailedStepKeepsTheLastGoodState) {
    TemporaryFolder folder;
    Scene scene = thrown_box();
    scene.gravity = Vec3::Zero();
    scene.bodies[0].linear_velocity = Vec3(1e308, 0, 0);
    scene.dt = 1;
    scene.seconds = 10;
    RunOptions options;
    options.output = folder / "a.tenon";
    options.record_every = 5;
    const Report report = run_scene(scene, options);
    EXPECT_EQ(report.status, "failed");
    EXPECT_NE(report.failure.find("step 2"), std::string::npos) << report.failure;
    EXPECT_EQ(report.steps, 1);
    const RunReader reader(folder / "a.tenon");
    EXPECT_EQ(reader.meta("status"), "failed");
    ASSERT_EQ(reader.frame_count(), 2);
    EXPECT_EQ(reader.frame(1).step, 1);
    EXPECT_NEAR(reader.frame(1).q[0](0, 3) / 1e308, 1.0, 1e-6);
    EXPECT_FALSE(nlohmann::json::parse(report.to_json()).is_discarded());
}

// The scene that is written fails in its first step, as the run did in its second.
TEST(RunLoop, AFailureIsWrittenAsASceneThatShowsItAgain) {
    TemporaryFolder folder;
    Scene scene = thrown_box();
    scene.gravity = Vec3::Zero();
    scene.bodies[0].linear_velocity = Vec3(1e308, 0, 0);
    scene.dt = 1;
    scene.seconds = 10;
    RunOptions options;
    options.dump_failure = folder / "small.json";
    const Report report = run_scene(scene, options);
    EXPECT_EQ(report.status, "failed");
    EXPECT_EQ(report.dumped, folder / "small.json");
    Simulation again(read_scene(folder / "small.json"));
    EXPECT_EQ(again.scene().seconds, 1);
    EXPECT_THROW(again.step(), StepFailure);
}

// One Newton iteration is not enough for a body that turns: the step is counted, named and dumped.
TEST(RunLoop, UnconvergedStepsAreNamed) {
    TemporaryFolder folder;
    Scene scene = parse_scene(R"({"tenon": 1, "gravity": [0, -9.81, 0], "seconds": 0.3,
        "method": {"type": "affine", "dt": 0.01, "max_iterations": 1},
        "bodies": [{"name": "floor", "type": "static", "shape": {"type": "box", "size": [4, 1, 4]}, "position": [0, -0.5, 0]},
                   {"name": "box", "shape": {"type": "box", "size": [0.4, 0.4, 0.4]}, "position": [0, 0.21, 0],
                    "linear_velocity": [0, -2, 0], "angular_velocity": [3, 5, 2]}]})",
                              "test", ".");
    RunOptions options;
    options.dump_failure = folder / "small.json";
    const Report report = run_scene(scene, options);
    ASSERT_GT(report.unconverged_steps, 0);
    ASSERT_FALSE(report.unconverged.empty());
    EXPECT_NE(report.unconverged[0].find("step "), std::string::npos);
    EXPECT_TRUE(nlohmann::json::parse(report.to_json()).contains("unconverged"));
    ASSERT_FALSE(report.dumped.empty());
    const Report again = run_scene(read_scene(report.dumped), {});
    EXPECT_GT(again.unconverged_steps, 0);
}

TEST(RunLoop, PathPiecesReachFromFrameToFrame) {
    TemporaryFolder folder;
    RunOptions options;
    options.output = folder / "a.tenon";
    options.record_every = 10;
    options.record_path = true;
    run_scene(thrown_box(), options);
    const RunReader reader(folder / "a.tenon");
    EXPECT_TRUE(reader.has_path());
    const auto pieces = reader.path_pieces(11, 20);
    ASSERT_GE(pieces.size(), 10u);
    EXPECT_EQ(pieces.back(), reader.frame(2).q);
}

}  // namespace
}  // namespace tenon::run

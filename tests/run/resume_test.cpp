// A run that was stopped, killed or ran out of room goes on bit for bit as if nothing had happened.
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "math/interrupt.hpp"
#include "run/diff.hpp"
#include "run/run_loop.hpp"
#include "run/small_world.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::run {
namespace {

using test::TemporaryFolder;

struct Case {
    const char* name;
    const char* method;  // with its parameters, as JSON
    const char* rest;    // bodies, joints, elastic ...
    double seconds;
};

constexpr const char* falling = R"("bodies": [
    {"name": "floor", "type": "static", "shape": {"type": "box", "size": [6, 1, 6]}, "position": [0, -0.5, 0]},
    {"name": "a", "shape": {"type": "box", "size": [0.4, 0.4, 0.4]}, "position": [0, 0.22, 0]},
    {"name": "b", "shape": {"type": "box", "size": [0.3, 0.3, 0.3]}, "position": [0.05, 0.65, 0.02],
     "angular_velocity": [0, 2, 1]},
    {"name": "c", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "position": [0.3, 1.0, 0.1],
     "linear_velocity": [-1, 0, 0]}])";

constexpr const char* chain = R"("bodies": [
    {"name": "floor", "type": "static", "shape": {"type": "box", "size": [6, 1, 6]}, "position": [0, -1.1, 0]},
    {"name": "a", "shape": {"type": "box", "size": [0.4, 0.1, 0.1]}, "position": [0.2, 0, 0]},
    {"name": "b", "shape": {"type": "box", "size": [0.4, 0.1, 0.1]}, "position": [0.6, 0, 0]},
    {"name": "c", "shape": {"type": "box", "size": [0.4, 0.1, 0.1]}, "position": [1.0, 0, 0]}],
    "joints": [{"name": "j0", "type": "hinge", "bodies": ["world", "a"], "point": [0, 0, 0], "axis": [0, 0, 1]},
               {"name": "j1", "type": "ball", "bodies": ["a", "b"], "point": [0.4, 0, 0]},
               {"name": "j2", "type": "hinge", "bodies": ["b", "c"], "point": [0.8, 0, 0], "axis": [0, 0, 1]BREAK}])";

// Drives that give way: a limit that is reached, a motor and friction that are too weak. Links meet each other and the floor.
constexpr const char* driven = R"("bodies": [
    {"name": "floor", "type": "static", "shape": {"type": "box", "size": [6, 1, 6]}, "position": [0, -1.0, 0]},
    {"name": "a", "shape": {"type": "box", "size": [0.36, 0.1, 0.1]}, "position": [0.2, 0, 0]},
    {"name": "b", "shape": {"type": "box", "size": [0.36, 0.1, 0.1]}, "position": [0.6, 0, 0]},
    {"name": "c", "shape": {"type": "box", "size": [0.36, 0.1, 0.1]}, "position": [1.0, 0, 0]},
    {"name": "d", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "position": [0.6, 0.3, 0]}],
    "joints": [{"name": "j0", "type": "hinge", "bodies": ["world", "a"], "point": [0, 0, 0], "axis": [0, 0, 1],
                "limits": [-0.4, 0.4]},
               {"name": "j1", "type": "hinge", "bodies": ["a", "b"], "point": [0.4, 0, 0], "axis": [0, 0, 1],
                "motor": {"type": "velocity", "target": 2, "max": 3}},
               {"name": "j2", "type": "hinge", "bodies": ["b", "c"], "point": [0.8, 0, 0], "axis": [0, 0, 1],
                "friction": 2}])";

constexpr const char* soft = R"("bodies": [
    {"name": "floor", "type": "static", "shape": {"type": "box", "size": [4, 1, 4]}, "position": [0, -0.5, 0]},
    {"name": "a", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "position": [0.02, 0.65, 0]}],
    "materials": {"rubber": {"density": 1000, "young": 1e5, "poisson": 0.4}},
    "elastic": [{"name": "pad", "shape": {"type": "box", "size": [0.4, 0.4, 0.4]}, "cell_size": 0.2, "material": "rubber",
                 "position": [0, 0.23, 0]}])";

Scene scene_of(const Case& c) {
    std::string rest = c.rest;
    const std::size_t mark = rest.find("BREAK");
    if (mark != rest.npos)
        rest.replace(
            mark, 5,
            std::string(c.name).find("breaking") != std::string::npos ? R"(, "break_force": 20)" : "");
    if (std::string(c.name).ends_with("rigid"))  // it has no contacts
        for (std::size_t at = 0; (at = rest.find(R"("shape":)", at)) != rest.npos; at += 30)
            rest.insert(at, R"("collides": false, )");
    return parse_scene(
        std::string(R"({"tenon": 1, "name": "resumed", "gravity": [0, -9.81, 0], "seconds": )") +
            std::to_string(c.seconds) + R"(, "method": )" + c.method + ", " + rest + "}",
        "resumed", ".");
}

const Case cases[] = {
    {"affine", R"({"type": "affine", "dt": 0.01})", falling, 0.3},
    {"affine_joints", R"({"type": "affine", "dt": 0.01})", chain, 0.2},
    {"impulse", R"({"type": "impulse", "dt": 0.01})", falling, 0.5},
    {"volume", R"({"type": "volume", "dt": 0.01})", falling, 0.3},
    {"volume_soft", R"({"type": "volume", "dt": 0.005})", soft, 0.1},
    {"adaptive_soft", R"({"type": "adaptive", "dt": 0.01})", soft, 0.2},
    {"articulated", R"({"type": "articulated", "dt": 0.01})", chain, 0.3},
    {"articulated_contact", R"({"type": "articulated", "dt": 0.01})", falling, 0.4},
    {"articulated_breaking", R"({"type": "articulated", "dt": 0.01})", chain, 0.4},
    {"articulated_driven", R"({"type": "articulated", "dt": 0.01})", driven, 0.5},
    {"articulated_soft", R"({"type": "articulated", "dt": 0.01})", soft, 0.2},
    {"affine_driven", R"({"type": "affine", "dt": 0.01})", driven, 0.3},
    {"affine_soft", R"({"type": "affine", "dt": 0.01})", soft, 0.2},
    {"articulated_rigid", R"({"type": "articulated", "dt": 0.01, "model": "rigid"})", chain, 0.3}};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.name;
}

RunOptions options_for(const std::string& file) {
    RunOptions options;
    options.output = file;
    options.fps = 25;  // the end of a part is then mostly no frame of the whole
    return options;
}

void expect_same_runs(const std::string& a, const std::string& b) {
    const RunReader whole(a), parts(b);
    const RunDifference d = diff_runs(whole, parts);
    EXPECT_TRUE(d.same) << d.to_json();
    const auto rows_a = whole.steps(), rows_b = parts.steps();
    ASSERT_EQ(rows_a.size(), rows_b.size());
    for (std::size_t i = 0; i < rows_a.size(); ++i) {
        EXPECT_EQ(rows_a[i].report.iterations, rows_b[i].report.iterations) << "step " << i;
        EXPECT_EQ(rows_a[i].energy.kinetic, rows_b[i].energy.kinetic) << "step " << i;
    }
    const auto list_a = whole.frame_list(), list_b = parts.frame_list();
    for (std::size_t i = 0; i < std::min(list_a.size(), list_b.size()); ++i)
        EXPECT_EQ(list_a[i].hash, list_b[i].hash);
}

class Resume : public testing::TestWithParam<Case> {};

TEST_P(Resume, StoppedAnywhereGoesOnBitForBit) {
    const TemporaryFolder folder;
    const Scene scene = scene_of(GetParam());
    const std::string whole = folder / "whole.tenon";
    const long steps = run_scene(scene, options_for(whole)).steps;
    std::mt19937 random(5);
    for (int trial = 0; trial < 3; ++trial) {
        const std::string part = folder / "part.tenon";
        std::atomic<bool> stop{false};
        RunOptions options = options_for(part);
        options.stop = &stop;
        const long first = 1 + static_cast<long>(random() % (steps - 1));
        run_scene(scene, options, [&](const Progress& now) { stop = now.step >= first; });
        stop = false;
        options.resume = part;
        const long second = first + 1 + static_cast<long>(random() % (steps - first));
        run_scene(scene, options,
                  [&](const Progress& now) { stop = now.step >= second && now.step < steps; });
        stop = false;
        EXPECT_EQ(run_scene(scene, options).status, "done");
        SCOPED_TRACE(testing::Message()
                     << "stopped after " << first << " and " << second << " of " << steps << " steps");
        expect_same_runs(whole, part);
    }
}

// A shorter run that is made longer is the longer run.
TEST_P(Resume, MadeLongerIsTheLongerRun) {
    const TemporaryFolder folder;
    Scene scene = scene_of(GetParam());
    run_scene(scene, options_for(folder / "whole.tenon"));
    RunOptions options = options_for(folder / "part.tenon");
    const double seconds = scene.seconds;
    scene.seconds = 0.6 * seconds;
    run_scene(scene, options);
    scene.seconds = seconds;
    options.resume = options.output;
    run_scene(scene, options);
    expect_same_runs(folder / "whole.tenon", folder / "part.tenon");
}

INSTANTIATE_TEST_SUITE_P(Methods, Resume, testing::ValuesIn(cases),
                         [](const auto& test) { return test.param.name; });

// The program itself, killed without warning.
class Killed {
  public:
    explicit Killed(std::vector<std::string> arguments) {
        std::vector<char*> argv;
        arguments.insert(arguments.begin(), TENON_PROGRAM);
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        pid_ = fork();
        if (pid_ != 0) return;
        execv(argv[0], argv.data());
        _exit(127);
    }
    int wait() {
        int status = 0;
        waitpid(pid_, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    void send(int signal) const { kill(pid_, signal); }

  private:
    pid_t pid_ = -1;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Kill, AtRandomMomentsTheRunGoesOnBitForBit) {
    const TemporaryFolder folder;
    std::mt19937 random(9);
    for (const int number : {0, 2, 3}) {
        const Case& c = cases[number];
        const std::string scene = folder / (std::string(c.name) + ".json"), whole = folder / "whole.tenon",
                          part = folder / "part.tenon";
        std::ofstream(scene) << write_scene(scene_of(c));
        const auto start = std::chrono::steady_clock::now();
        const std::vector<std::string> common{"--quiet", "--threads", "1",
                                              "--fps",   "25",        "--allow-unconverged"};
        const auto with = [&](std::vector<std::string> first) {
            first.insert(first.end(), common.begin(), common.end());
            return first;
        };
        ASSERT_EQ(Killed(with({"run", scene, "-o", whole})).wait(), 0);
        const double seconds = seconds_since(start);
        for (int trial = 0; trial < 3; ++trial) {
            Killed running(with({"run", scene, "-o", part, "--checkpoint-every", "0.02"}));
            const double part_of = std::uniform_real_distribution(0.2, 1.0)(random);
            std::this_thread::sleep_for(std::chrono::duration<double>(part_of * seconds));
            running.send(SIGKILL);
            running.wait();
            if (!std::filesystem::exists(part)) continue;  // before the first frame
            ASSERT_EQ(Killed(with({"run", part, "--resume"})).wait(), 0);
            expect_same_runs(whole, part);
            std::filesystem::remove(part);
        }
    }
}

// A step that would take minutes ends within a second of being asked to.
TEST(Interrupt, ALongLoopEndsWhenAsked) {
    std::atomic<bool> stop{false};
    const InterruptScope scope(&stop);
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        stop = true;
    });
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(while (seconds_since(start) < 20) check_interrupt(), Interrupted);
    later.join();
    EXPECT_LT(seconds_since(start), 10);
    {
        const InterruptScope nobody(nullptr);
        EXPECT_NO_THROW(check_interrupt());
    }
    EXPECT_THROW(check_interrupt(), Interrupted);
}

TEST(Writers, TwoOnOneFileAreRefusedAndReadersAreNot) {
    const TemporaryFolder folder;
    const std::string file = folder / "a.tenon";
    const Scene scene = scene_of(cases[2]);
    long seen = 0;
    run_scene(scene, options_for(file), [&](const Progress& now) {
        if (now.step != 20) return;
        EXPECT_THROW(run_scene(scene, options_for(file)), InputError);
        RunOptions again = options_for(file);
        again.resume = file;
        EXPECT_THROW(run_scene(scene, again), InputError);
        const RunReader reader(file);
        seen = reader.frame_count();
        EXPECT_EQ(reader.meta("status"), "running");
        EXPECT_EQ(reader.frame(seen - 1).q.size(), scene.bodies.size());
    });
    EXPECT_GT(seen, 1);
    EXPECT_EQ(RunReader(file).meta("status"), "done");
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(Writers, AFileRemovedUnderTheRunIsSaid) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "gone");
    const Report report =
        run_scene(scene_of(cases[2]), options_for(folder / "gone/a.tenon"), [&](const Progress& now) {
            if (now.step == 20) std::filesystem::remove_all(folder / "gone");
        });
    EXPECT_EQ(report.status, "failed");
    EXPECT_NE(report.failure.find("removed"), std::string::npos) << report.failure;
}

// A small disk that fills up: what is there can be read, and the run goes on when there is room.
TEST(Writers, AFullDiskLeavesARunToGoOnWith) {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "small");
    if (::mount("tmpfs", (folder / "small").c_str(), "tmpfs", 0, "size=300k") != 0)
        GTEST_SKIP() << "needs root";
    const Scene scene = scene_of(cases[2]);
    RunOptions options = options_for(folder / "small/a.tenon");
    options.record_every = 1;
    options.checkpoint_every = 0.05;
    const Report full = run_scene(scene, options);
    EXPECT_EQ(full.status, "failed") << "300 kB were enough";
    EXPECT_NE(full.failure.find("cannot write"), std::string::npos) << full.failure;
    EXPECT_GT(RunReader(options.output).frame_count(), 0);
    ::mount("tmpfs", (folder / "small").c_str(), "tmpfs", MS_REMOUNT, "size=20m");
    options.resume = options.output;
    EXPECT_EQ(run_scene(scene, options).status, "done");
    RunOptions undisturbed = options_for(folder / "whole.tenon");
    undisturbed.record_every = 1;
    run_scene(scene, undisturbed);
    expect_same_runs(folder / "whole.tenon", options.output);
    ::umount((folder / "small").c_str());
}

}  // namespace
}  // namespace tenon::run

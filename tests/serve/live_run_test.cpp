// A scene that is simulated while it is watched: what a pull does, and that the run file holds it.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "run/replay.hpp"
#include "run/series.hpp"
#include "serve/live_run.hpp"
#include "tests/serve/sample.hpp"

namespace tenon::serve {
namespace {

const char* const weightless = R"({"tenon": 1, "name": "weightless", "seconds": 1000, "gravity": [0, 0, 0],
    "method": {"type": "impulse", "dt": 0.01}, "bodies": [
    {"name": "left", "shape": {"type": "box", "size": [0.4, 0.4, 0.4]}, "position": [-0.6, 0, 0]},
    {"name": "right", "shape": {"type": "box", "size": [0.4, 0.4, 0.4]}, "position": [0.6, 0, 0]}]})";

double height(const std::string& file, int body) {
    const run::RunReader reader(file);
    return reader.frame(reader.frame_count() - 1).q[body](1, 3);
}

TEST(LiveRun, APullMovesItsBodyOnlyAndReplaysBitForBit) {
    const test::Folder folder;
    const std::string file = folder / "live.tenon";
    const Scene scene = parse_scene(weightless, "weightless.json", ".");
    {
        LiveRun live(scene, file, 20.0);
        live.drag(1, Vec3(0.1, 0.2, 0), Vec3(0.6, 1.2, 0));
        for (int i = 0; i < 1000 && height(file, 1) < 0.3; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        live.release();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        live.finish();
        EXPECT_EQ(live.status(), "stopped");
    }
    EXPECT_GT(height(file, 1), 0.3);
    EXPECT_EQ(height(file, 0), 0.0);
    const run::RunReader reader(file);
    EXPECT_EQ(reader.meta("pushed"), "yes");
    const run::ReplayResult again = run::replay_run(scene, reader);
    EXPECT_EQ(again.status, "same") << again.difference;
    EXPECT_EQ(again.frames, reader.frame_count());
}

TEST(LiveRun, WithoutAPullTheFileNamesNone) {
    const test::Folder folder;
    const std::string file = folder / "live.tenon";
    {
        LiveRun live(parse_scene(weightless, "weightless.json", "."), file, 20.0);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(run::RunReader(file).meta("pushed"), "");
}

}  // namespace
}  // namespace tenon::serve

// Scripts that leave no room: bodies are held up, with words, and nothing touches.
#include <gtest/gtest.h>

#include "run/run_loop.hpp"
#include "run/small_world.hpp"
#include "tenon/scene_io.hpp"
#include "verify/verify.hpp"

namespace tenon::verify {
namespace {

using test::TemporaryFolder;

// Two jaws close on a block and a cone until they would have to be half as wide. Newton's direction is ten times the scene
// once they are stuck.
constexpr const char* vice = R"({"tenon": 1, "name": "vice", "gravity": [0, -9.81, 0], "seconds": 0.56,
    "method": {"type": "affine", "dt": 0.02}, "bodies": [
    {"name": "floor", "type": "static", "shape": {"type": "box", "size": [358.1712574434702, 29.847604786955852,
     358.1712574434702]}, "position": [0, -14.923802393477926, 0], "friction": 0.3},
    {"name": "part 0", "shape": {"type": "box", "size": [29.847604786955852, 25.081551688516114, 26.529605508405073]},
     "position": [-28.355224547608056, 28.355224547608056, 0], "density": 567.8790774455701, "friction": 0},
    {"name": "part 1", "shape": {"type": "cone", "radius": 14.923802393477926, "length": 23.878083829564684, "segments": 10},
     "position": [28.355224547608056, 28.355224547608056, 0], "density": 1973.3621721191978, "friction": 0.3},
    {"name": "left jaw", "type": "kinematic", "shape": {"type": "box", "size": [29.847604786955852, 119.39041914782341,
     119.39041914782341]}, "position": [-80.5885329247808, 62.679970052607295, 0], "friction": 0.3,
     "motion": [{"time": 0, "position": [-80.5885329247808, 62.679970052607295, 0]},
                {"time": 0.6, "position": [-24.006540293787737, 62.679970052607295, 0]}]},
    {"name": "right jaw", "type": "kinematic", "shape": {"type": "box", "size": [29.847604786955852, 119.39041914782341,
     119.39041914782341]}, "position": [80.5885329247808, 62.679970052607295, 0], "friction": 0.3,
     "motion": [{"time": 0, "position": [80.5885329247808, 62.679970052607295, 0]},
                {"time": 0.6, "position": [24.006540293787737, 62.679970052607295, 0]}]}]})";

TEST(Press, ScriptsWithoutRoomAreHeldUpAndTouchNothing) {
    const TemporaryFolder folder;
    run::RunOptions options;
    options.output = folder / "vice.tenon";
    options.record_every = 1;
    options.record_path = true;
    const run::Report report = run::run_scene(parse_scene(vice, "vice.json", "."), options);
    EXPECT_EQ(report.status, "done");
    EXPECT_EQ(report.unconverged_steps, 0);
    const auto& warnings = report.warnings;
    EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [](const std::string& text) {
        return text.find("holds up the scripted body 'left jaw'") != std::string::npos;
    }));
    const run::RunReader reader(options.output);
    const Result verdict = verify_run(reader);
    EXPECT_TRUE(verdict.clean()) << verdict.to_json();
    EXPECT_TRUE(verdict.proven());
    EXPECT_TRUE(verdict.script_held_up);
    EXPECT_GT(verdict.script_deviation, 1.0);  // m: far more than any allowance

    // Without a look at the motion nothing is proven.
    Options frames_only;
    frames_only.motion = false;
    const Result still = verify_run(reader, frames_only);
    EXPECT_TRUE(still.clean());
    EXPECT_FALSE(still.proven());
}

}  // namespace
}  // namespace tenon::verify

// Forces from outside the scene: kept in the run file, pushed again by a replay, dropped with the steps of a resume.
#include <filesystem>

#include <unistd.h>

#include <gtest/gtest.h>

#include "run/pushes.hpp"
#include "run/replay.hpp"
#include "run/run_loop.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::run {
namespace {

const char* const one_box = R"({"tenon": 1, "name": "pushed", "seconds": 0.5, "gravity": [0, 0, 0],
    "method": {"type": "impulse", "dt": 0.01}, "bodies": [
    {"name": "box", "shape": {"type": "box", "size": [0.5, 0.5, 0.5]}, "mass": 2}]})";

class Pushes : public ::testing::Test {
  protected:
    void TearDown() override { std::filesystem::remove(file_); }
    // 6 N upwards during steps 11 to 20: v = F t / m = 0.3 m/s afterwards.
    Report push_between(long first, long last) {
        RunOptions options;
        options.output = file_;
        options.record_every = 5;
        options.before_step = [=](Simulation& simulation) {
            State& state = simulation.state();
            state.pushes.clear();
            if (state.step + 1 < first || state.step + 1 > last) return;
            ForceSpec push;
            push.body = 0;
            push.force = Vec3(0, 6, 1.0 / 3);
            push.point = Vec3(0.1, 0, 0);
            state.pushes.push_back(push);
        };
        return run_scene(parse_scene(one_box, "one.json", "."), options);
    }
    std::string file_ =
        (std::filesystem::temp_directory_path() / ("tenon-pushes-" + std::to_string(::getpid()))).string();
};

TEST_F(Pushes, AreRecordedAndReplayed) {
    ASSERT_EQ(push_between(11, 20).status, "done");
    const RunReader reader(file_);
    EXPECT_TRUE(pushes_of(reader, 10).empty());
    ASSERT_EQ(pushes_of(reader, 11).size(), 1u);
    EXPECT_EQ(pushes_of(reader, 20)[0].force, Vec3(0, 6, 1.0 / 3));
    EXPECT_EQ(*pushes_of(reader, 20)[0].point, Vec3(0.1, 0, 0));
    EXPECT_TRUE(pushes_of(reader, 21).empty());
    const Frame end = reader.frame(reader.frame_count() - 1);
    EXPECT_NEAR(end.rate[0](1, 3), 0.3, 1e-9);
    const ReplayResult again = replay_run(parse_scene(one_box, "one.json", "."), reader);
    EXPECT_EQ(again.status, "same") << again.difference;
}

TEST_F(Pushes, OfStepsThatAreRunAgainAreDropped) {
    ASSERT_EQ(push_between(11, 20).status, "done");
    RunWriter::reopen(file_, 15)->close();
    const RunReader reader(file_);
    EXPECT_EQ(pushes_of(reader, 15).size(), 1u);
    EXPECT_TRUE(pushes_of(reader, 16).empty());
}

TEST_F(Pushes, ADamagedListIsToldOf) {
    ASSERT_EQ(push_between(1, 2).status, "done");
    const auto writer = RunWriter::reopen(file_, 50);
    for (const char* text : {"[{}]", "{", "[{\"body\": 7, \"force\": [0,0,0], \"torque\": [0,0,0]}]"}) {
        writer->set_meta("push.1", text);
        EXPECT_THROW((void)pushes_of(RunReader(file_), 1), InputError) << text;
    }
}

}  // namespace
}  // namespace tenon::run

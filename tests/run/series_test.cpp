#include "run/series.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "run/small_world.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

using test::TemporaryFolder;

// Body 1 moves along x at 2 m/s and spins about z at 3 rad/s; a step every 0.5 s, a frame every second step.
std::string write_sample(const TemporaryFolder& folder) {
    const std::string file = folder / "a.tenon";
    Model model = test::small_model(2);
    Joint joint;
    joint.spec.name = "a.b";
    joint.bodies = {0, 1};
    joint.frame = {Mat3::Identity(), Mat3::Identity()};
    joint.point = {Vec3::Zero(), Vec3::Zero()};
    model.joints.push_back(joint);
    State state = initial_state(model);
    Outputs outputs(model);
    outputs.joints[0].force = Vec3(3, 0, 4);
    RunWriter writer(file, Scene(), model, state);
    for (long step = 0; step <= 4; ++step) {
        state.step = step;
        state.time = 0.5 * static_cast<double>(step);
        state.q[1](0, 3) = 2 * state.time;
        state.rate[1](0, 3) = 2;
        state.rate[1].col(0) = Vec3(0, 3, 0);
        state.rate[1].col(1) = Vec3(-3, 0, 0);
        StepRow row;
        row.step = step;
        row.time = state.time;
        row.report.iterations = static_cast<int>(10 * step);
        if (step > 0) row.report.metrics = {{"solves", 1.0}};
        row.energy.kinetic = 5;
        row.energy.gravity = -1;
        writer.add_step(row);
        if (step % 2 == 0) writer.add_frame(state, outputs);
    }
    writer.close();
    return file;
}

TEST(Series, ReadsStepsBodiesAndJoints) {
    TemporaryFolder folder;
    const RunReader run(write_sample(folder));
    const auto series =
        read_series(run, {"iterations", "energy", "body.body1.x", "body.body1.wz", "joint.a.b.force"});
    ASSERT_EQ(series[0].value.size(), 5u);
    EXPECT_TRUE(std::isnan(series[0].value[0]));  // the start is no step
    EXPECT_EQ(std::vector<double>(series[0].value.begin() + 1, series[0].value.end()),
              (std::vector<double>{10, 20, 30, 40}));
    EXPECT_EQ(series[1].value, std::vector<double>(5, 4.0));
    EXPECT_EQ(series[2].value, (std::vector<double>{0, 2, 4}));
    EXPECT_EQ(series[2].step, (std::vector<long>{0, 2, 4}));
    EXPECT_EQ(series[2].unit, "m");
    EXPECT_EQ(series[3].value, std::vector<double>(3, 3.0));
    EXPECT_EQ(series[4].value, std::vector<double>(3, 5.0));  // |(3, 0, 4)|
}

TEST(Series, WritesOneTableForAll) {
    TemporaryFolder folder;
    const RunReader run(write_sample(folder));
    EXPECT_EQ(series_csv(run, {"iterations", "body.body1.x", "figure.solves"}),
              "step,time [s],iterations,body.body1.x [m],figure.solves\n"
              "0,0,,0,\n"
              "1,0.5,10,,1\n"
              "2,1,20,2,1\n"
              "3,1.5,30,,1\n"
              "4,2,40,4,1\n");
}

TEST(Series, NamesWhatIsMissing) {
    TemporaryFolder folder;
    const RunReader run(write_sample(folder));
    for (const char* name :
         {"iteration", "body.body9.x", "body.body1.q", "joint.a.b.q7", "body.x", "elastic.a.x"})
        EXPECT_THROW(read_series(run, {name}), InputError) << name;
    try {
        read_series(run, {"body.body7.x"});
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("body7"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace tenon::run

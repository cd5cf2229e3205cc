#include "run/run_file.hpp"

#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "run/small_world.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

using test::small_world;
using test::TemporaryFolder;
using test::TestWorld;

// Every kind of content once: bodies, elastic body, joint, contact, ignored pair.
TestWorld rich_world() {
    Model model = test::small_model(3);
    model.bodies.start_type[0] = BodyType::static_body;
    model.bodies.group[1] = "left";
    model.bodies.collides[2] = 0;
    model.bodies.start_rate[1].setConstant(0.1);
    model.ignored_pairs.insert(pair_key(0, 2));
    Joint joint;
    joint.spec.name = "pin";
    joint.spec.type = JointType::hinge;
    joint.bodies = {-1, 1};
    joint.point = {Vec3(1, 2, 3), Vec3(4, 5, 6)};
    joint.frame = {Mat3::Identity(), Mat3::Identity()};
    model.joints.push_back(joint);
    ElasticBody pad;
    pad.name = "pad";
    pad.rest = pad.start_x = pad.start_v = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    pad.vertex_mass = {1, 1, 1, 1};
    pad.tets = {{0, 1, 2, 3}};
    pad.surface = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    model.elastic.push_back(pad);
    TestWorld world = test::make_world(std::move(model));
    world.state.joint_coordinate[0] = {0.5, 0, 0};
    world.outputs.joints[0].force = Vec3(7, 8, 9);
    world.outputs.element_state[0] = {0.25f};
    Contact contact;
    contact.a = 1;
    contact.b = 3;
    contact.point = Vec3(0.1, 0.2, 0.3);
    contact.normal = Vec3(0, 1, 0);
    contact.force = Vec3(0, 11, 0);
    contact.distance = -1e-4;
    world.outputs.contacts.push_back(contact);
    return world;
}

void expect_input_error(const std::function<void()>& action, const std::string& word) {
    try {
        action();
        ADD_FAILURE() << "no error about " << word;
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
}

TEST(RunFile, KeepsEveryNumberBitForBit) {
    TemporaryFolder folder;
    auto [model, state, outputs] = rich_world();
    Scene scene;
    scene.name = "rich";
    {
        RunWriter writer(folder / "a.tenon", scene, model, state);
        writer.add_frame(state, outputs);
        state.step = 4;
        state.time = 0.04;
        state.q[1](0, 3) = 0.1 + 0.2;
        state.elastic[0].x[2].y() = 1.0 / 3.0;
        StepRow row;
        row.step = 4;
        row.time = 0.04;
        row.wall_ms = 1.5;
        row.report.iterations = 7;
        row.report.converged = false;
        row.report.contacts = 2;
        row.report.joint_residual = 1e-9;
        row.report.phases = {{"solve", 1.25}, {"assemble", 0.5}};
        row.report.metrics = {{"solves", 3}};
        row.report.warnings = {"say \"this\" once"};
        row.report.solver = "tree";
        row.energy = {1, 2, 3};
        row.linear_momentum = Vec3(1, 2, 3);
        row.angular_momentum = Vec3(4, 5, 6);
        writer.add_step(row);
        writer.add_path_piece(4, state.q);
        writer.add_checkpoint(2, "older");
        writer.add_checkpoint(4, std::string("new\0er", 6));
        writer.add_frame(state, outputs);
        writer.set_meta("status", "done");
        writer.close();
    }
    EXPECT_EQ(folder.entries(), 1u);  // no log, no partial file
    const RunReader reader(folder / "a.tenon");
    EXPECT_EQ(reader.meta("status"), "done");
    EXPECT_EQ(reader.meta("name"), "rich");
    EXPECT_EQ(reader.meta("nothing"), "");
    EXPECT_FALSE(reader.scene_json().empty());
    ASSERT_EQ(reader.bodies().size(), 3u);
    EXPECT_EQ(reader.bodies()[0].type, BodyType::static_body);
    EXPECT_EQ(reader.bodies()[1].group, "left");
    EXPECT_FALSE(reader.bodies()[2].collides);
    EXPECT_EQ(reader.bodies()[1].second_moments, Vec3(0.1, 0.2, 0.3));
    ASSERT_EQ(reader.shapes().size(), 1u);
    EXPECT_EQ(reader.shapes()[0].mesh.vertices, model.shapes[0]->mesh.vertices);
    EXPECT_EQ(reader.shapes()[0].mesh.triangles, model.shapes[0]->mesh.triangles);
    EXPECT_EQ(reader.shapes()[0].geometry_frame.position, Vec3(0.25, 0.5, -0.125));
    EXPECT_EQ(reader.shapes()[0].geometry_frame.rotation.coeffs(), Quat(0.5, 0.5, 0.5, 0.5).coeffs());
    ASSERT_EQ(reader.joints().size(), 1u);
    EXPECT_EQ(reader.joints()[0].name, "pin");
    EXPECT_EQ(reader.joints()[0].type, JointType::hinge);
    ASSERT_EQ(reader.ignored_pairs().size(), 1u);
    EXPECT_EQ(reader.ignored_pairs()[0], (std::array<int, 2>{0, 2}));
    ASSERT_EQ(reader.elastic().size(), 1u);
    EXPECT_EQ(reader.elastic()[0].tets, model.elastic[0].tets);
    EXPECT_EQ(reader.elastic()[0].vertex_mass, model.elastic[0].vertex_mass);

    ASSERT_EQ(reader.frame_count(), 2);
    EXPECT_EQ(reader.frame_step(1), 4);
    const Frame frame = reader.frame(1);
    EXPECT_EQ(frame.step, 4);
    EXPECT_EQ(frame.time, 0.04);
    EXPECT_EQ(frame.q, state.q);
    EXPECT_EQ(frame.rate, state.rate);
    EXPECT_EQ(frame.x[0], state.elastic[0].x);
    EXPECT_EQ(frame.element_state[0], outputs.element_state[0]);
    ASSERT_EQ(frame.contacts.size(), 1u);
    EXPECT_EQ(frame.contacts[0].force, Vec3(0, 11, 0));
    EXPECT_EQ(frame.contacts[0].b, 3);
    EXPECT_EQ(frame.contacts[0].distance, -1e-4);
    EXPECT_EQ(frame.joint_force[0], Vec3(7, 8, 9));
    EXPECT_EQ(frame.joint_coordinate[0][0], 0.5);

    const std::vector<StepRow> steps = reader.steps();
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].report.iterations, 7);
    EXPECT_FALSE(steps[0].report.converged);
    EXPECT_EQ(steps[0].report.min_distance, 1e300);
    EXPECT_EQ(steps[0].report.phases,
              (std::vector<std::pair<std::string, double>>{{"solve", 1.25}, {"assemble", 0.5}}));
    EXPECT_EQ(steps[0].report.warnings, std::vector<std::string>{"say \"this\" once"});
    EXPECT_EQ(steps[0].angular_momentum, Vec3(4, 5, 6));
    EXPECT_EQ(steps[0].energy.elastic, 3);
    EXPECT_TRUE(reader.has_path());
    ASSERT_EQ(reader.path_pieces(4, 4).size(), 1u);
    EXPECT_EQ(reader.path_pieces(4, 4)[0], state.q);
    EXPECT_TRUE(reader.path_pieces(5, 9).empty());
    long step = 0;
    EXPECT_EQ(reader.checkpoint(step), std::string("new\0er", 6));
    EXPECT_EQ(step, 4);
    expect_input_error([&] { reader.frame(2); }, "no such frame");
}

TEST(RunFile, ReaderFollowsALiveRun) {
    TemporaryFolder folder;
    auto [model, state, outputs] = small_world(2);
    RunWriter writer(folder / "live.tenon", Scene(), model, state);
    writer.add_frame(state, outputs);
    const RunReader reader(folder / "live.tenon");
    EXPECT_EQ(reader.frame_count(), 1);
    state.step = 1;
    writer.add_frame(state, outputs);
    EXPECT_EQ(reader.frame_count(), 2);
    EXPECT_EQ(reader.frame(1).step, 1);
    EXPECT_EQ(reader.meta("status"), "running");
    writer.set_meta("status", "done");
    writer.close();
    EXPECT_EQ(reader.meta("status"), "done");
}

TEST(RunFile, KilledRunKeepsItsFrames) {
    TemporaryFolder folder;
    const std::string file = folder / "killed.tenon";
    const pid_t child = fork();
    if (child == 0) {
        auto [model, state, outputs] = small_world(2);
        RunWriter writer(file, Scene(), model, state);
        for (state.step = 0; state.step < 5; ++state.step) writer.add_frame(state, outputs);
        StepRow row;
        row.step = 6;
        writer.add_step(row);  // belongs to a frame that never came
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const RunReader reader(file);
    EXPECT_EQ(reader.frame_count(), 5);
    EXPECT_EQ(reader.frame(4).step, 4);
    EXPECT_TRUE(reader.steps().empty());
    EXPECT_EQ(reader.meta("status"), "running");
}

TEST(RunFile, AppendsAfterACheckpoint) {
    TemporaryFolder folder;
    const std::string file = folder / "a.tenon";
    auto [model, state, outputs] = small_world(2);
    {
        RunWriter writer(file, Scene(), model, state);
        for (state.step = 0; state.step <= 6; ++state.step) {
            StepRow row;
            row.step = state.step;
            writer.add_step(row);
            if (state.step % 2 == 0) writer.add_frame(state, outputs);
            if (state.step == 3) writer.add_checkpoint(3, "three");
        }
        writer.close();
    }
    auto writer = RunWriter::reopen(file, 3);
    state.step = 4;
    state.q[0](0, 3) = 42;
    writer->add_frame(state, outputs);
    writer->close();
    const RunReader reader(file);
    ASSERT_EQ(reader.frame_count(), 3);
    EXPECT_EQ(reader.frame(1).step, 2);
    EXPECT_EQ(reader.frame(2).step, 4);
    EXPECT_EQ(reader.frame(2).q[0](0, 3), 42);
    EXPECT_EQ(reader.steps().size(), 4u);
}

TEST(RunFile, FailedStartLeavesNothingBehind) {
    TemporaryFolder folder;
    const TestWorld world = small_world(1);
    { RunWriter writer(folder / "never.tenon", Scene(), world.model, world.state); }  // no frame ever came
    EXPECT_EQ(folder.entries(), 0u);
    expect_input_error([&] { RunWriter(folder.path(), Scene(), world.model, world.state); }, "directory");
    expect_input_error([&] { RunWriter("/proc/none/a.tenon", Scene(), world.model, world.state); },
                       "cannot write");
    expect_input_error([&] { RunWriter("/proc/a.tenon", Scene(), world.model, world.state); },
                       "cannot write");
    expect_input_error([&] { RunWriter("/dev/null", Scene(), world.model, world.state); }, "plain file");
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(RunFile, ReplacesOnlyWhenTheNewRunHasStarted) {
    TemporaryFolder folder;
    const std::string file = folder / "a.tenon";
    const TestWorld world = small_world(1);
    {
        RunWriter writer(file, Scene(), world.model, world.state);
        writer.add_frame(world.state, world.outputs);
        writer.close();
    }
    const TestWorld other = small_world(2);
    { RunWriter writer(file, Scene(), other.model, other.state); }
    EXPECT_EQ(RunReader(file).bodies().size(), 1u);
    {
        RunWriter writer(file, Scene(), other.model, other.state);
        writer.add_frame(other.state, other.outputs);
        writer.close();
    }
    EXPECT_EQ(RunReader(file).bodies().size(), 2u);
    std::ofstream(folder / "scene.json") << "{\"bodies\": []}";
    expect_input_error([&] { RunWriter(folder / "scene.json", Scene(), world.model, world.state); },
                       "not overwritten");
}

TEST(RunFile, RefusesNumbersThatAreNotFinite) {
    TemporaryFolder folder;
    auto [model, state, outputs] = small_world(1);
    RunWriter writer(folder / "a.tenon", Scene(), model, state);
    writer.add_frame(state, outputs);
    state.rate[0](1, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(writer.add_frame(state, outputs), StepFailure);
    EXPECT_THROW(writer.add_path_piece(1, state.rate), StepFailure);
    StepRow row;
    row.step = 1;
    row.report.metrics = {{"ratio", std::numeric_limits<double>::infinity()}};
    writer.add_step(row);
    state.rate[0].setZero();
    writer.add_frame(state, outputs);
    writer.close();
    const RunReader reader(folder / "a.tenon");
    EXPECT_EQ(reader.frame_count(), 2);
    EXPECT_TRUE(reader.steps()[0].report.metrics.empty());  // stored as null
}

// A stranger's way in: the standard library and NumPy.
TEST(RunFile, TenLinesOfPythonDrawIt) {
    if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) GTEST_SKIP() << "no NumPy here";
    TemporaryFolder folder;
    auto [model, state, outputs] = small_world(3);
    {
        RunWriter writer(folder / "a.tenon", Scene(), model, state);
        for (state.step = 0; state.step < 4; ++state.step) {
            state.time = 0.1 * static_cast<double>(state.step);
            state.q[1](1, 3) = 2.5 * state.time;
            writer.add_frame(state, outputs);
        }
        writer.close();
    }
    const std::string script = std::string(TENON_SOURCE_DIR) + "/examples/plot_run.py";
    const std::string command =
        "/usr/bin/python3 '" + script + "' '" + (folder / "a.tenon") + "' '" + (folder / "a.svg") + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ifstream in(folder / "a.svg");
    const std::string svg((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    EXPECT_NE(svg.find("0.75 m"), std::string::npos) << svg;      // the highest point
    EXPECT_NE(svg.find("760.0,40.0"), std::string::npos) << svg;  // where body 1 ends
}

TEST(RunFile, ReaderRefusesWhatIsNoRunFile) {
    TemporaryFolder folder;
    expect_input_error([&] { RunReader(folder / "none.tenon"); }, "no such file");
    expect_input_error([&] { RunReader(folder.path()); }, "directory");
    std::ofstream(folder / "empty.tenon");
    expect_input_error([&] { RunReader(folder / "empty.tenon"); }, "not a run file");
    std::ofstream(folder / "text.tenon") << std::string(5000, 'x');
    expect_input_error([&] { RunReader(folder / "text.tenon"); }, "not a run file");

    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "other.tenon").c_str(), &other), SQLITE_OK);
    sqlite3_exec(other, "CREATE TABLE meta(key TEXT, value TEXT)", nullptr, nullptr, nullptr);
    sqlite3_close(other);
    expect_input_error([&] { RunReader(folder / "other.tenon"); }, "not a run file");

    auto [model, state, outputs] = small_world(40);
    {
        RunWriter writer(folder / "good.tenon", Scene(), model, state);
        for (int i = 0; i < 5; ++i) writer.add_frame(state, outputs);
        writer.close();
    }
    const auto changed = [&](const char* name, const char* sql) {
        std::filesystem::copy_file(folder / "good.tenon", folder / name);
        sqlite3* database = nullptr;
        sqlite3_open((folder / name).c_str(), &database);
        EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(database);
        return folder / name;
    };
    const auto newer = changed("newer.tenon", "UPDATE meta SET value='2' WHERE key='version'");
    expect_input_error([&] { RunReader{newer}; }, "newer");
    const auto lacking = changed("lacking.tenon", "DROP TABLE steps");
    expect_input_error([&] { RunReader{lacking}; }, "steps");
    const auto cut_blob = changed("blob.tenon", "UPDATE frames SET q=x'00' WHERE id=3");
    expect_input_error([&] { RunReader(cut_blob).frame(3); }, "damaged");
    const auto range = changed("range.tenon", "UPDATE bodies SET shape=7 WHERE id=3");
    expect_input_error([&] { RunReader{range}; }, "damaged");

    // Truncated anywhere: opening or reading everything must end in an InputError, never in a crash.
    const auto size = std::filesystem::file_size(folder / "good.tenon");
    for (const double part : {0.02, 0.3, 0.6, 0.9}) {
        const std::string cut = folder / "cut.tenon";
        std::filesystem::copy_file(folder / "good.tenon", cut,
                                   std::filesystem::copy_options::overwrite_existing);
        std::filesystem::resize_file(cut, static_cast<std::uintmax_t>(part * static_cast<double>(size)));
        EXPECT_THROW(
            {
                const RunReader reader(cut);
                for (long i = 0; i < 5; ++i) reader.frame(i);
                reader.steps();
            },
            InputError)
            << part;
    }
}

}  // namespace
}  // namespace tenon::run

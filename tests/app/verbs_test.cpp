// Every verb through the program itself: what it prints, what it writes, what it returns.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/program.hpp"
#include "render/image.hpp"
#include "run/sqlite.hpp"

namespace tenon::test {
namespace {

using nlohmann::json;

// Two boxes in free flight: quick, exact, and with an expectation that holds.
const char* const flight = R"({
  "tenon": 1, "name": "flight", "gravity": [0, -10, 0], "seconds": 0.5,
  "method": {"type": "affine", "dt": 0.01},
  "bodies": [
    {"name": "thrown", "shape": {"type": "box", "size": [0.4, 0.2, 0.3]}, "position": [0, 1, 0],
     "linear_velocity": [1, 5, 0], "angular_velocity": [0, 3, 0]},
    {"name": "other", "shape": {"type": "sphere", "radius": 0.2}, "position": [2, 1, 3], "linear_velocity": [0, 5, 0]}
  ],
  "expect": [{"body": "thrown", "quantity": "x", "min": 0.499, "max": 0.501}]
})";

class App : public testing::Test {
  protected:
    void SetUp() override { std::ofstream(folder / "flight.json") << flight; }
    Outcome run_flight() { return tenon("run flight.json -o flight.tenon", folder); }
    Folder folder;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_F(App, HelpOfEveryVerbShowsAnExample) {
    const Outcome all = tenon("--help", folder);
    EXPECT_EQ(all.code, 0);
    for (const char* verb : {"run", "scenes", "check", "verify", "compare", "plot", "render", "export",
                             "import", "untangle", "schema", "bench"}) {
        EXPECT_TRUE(has(all.out, std::string("\n  ") + verb + " ")) << verb;
        const Outcome help = tenon(std::string(verb) + " --help", folder);
        EXPECT_EQ(help.code, 0) << verb;
        EXPECT_TRUE(has(help.out, std::string("Example:\n  tenon ") + verb)) << help.out;
    }
    EXPECT_EQ(tenon("--version", folder).out.substr(0, 6), "tenon ");
}

TEST_F(App, RunWritesFileReportAndSummary) {
    const Outcome run = tenon("run flight.json -o flight.tenon --report report.json --fps 20", folder);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(has(run.out, "flight with affine: done")) << run.out;
    EXPECT_TRUE(has(run.out, "PASS       thrown x = 0.5")) << run.out;
    EXPECT_TRUE(has(run.out, "flight.tenon"));
    EXPECT_EQ(run.err, "");
    const json report = json::parse(slurp(folder / "report.json"));
    EXPECT_EQ(report["steps"], 50);
    EXPECT_EQ(report["bodies"], 2);
    EXPECT_EQ(report["scene"], "flight");
    EXPECT_NEAR(report["simulated_seconds"].get<double>(), 0.5, 1e-12);
    for (const char* key :
         {"method", "dt", "wall_seconds", "threads", "triangles", "tets", "joints", "dofs", "ms_per_step",
          "iterations_per_step", "contacts", "min_distance", "joint_residual_max", "energy", "momentum_drift",
          "phases_ms", "peak_memory_mb", "unconverged_steps"})
        EXPECT_TRUE(report.contains(key)) << key;
}

TEST_F(App, FlagsChangeTheScene) {
    const Outcome run =
        tenon("run flight.json --no-record --json --dt 0.02 --seconds 0.2 --threads 1 --set gravity=[0,0,0]",
              folder);
    const json report = json::parse(run.out);
    EXPECT_EQ(report["steps"], 10);
    EXPECT_EQ(report["dt"], 0.02);
    EXPECT_EQ(report["threads"], 1);
    // without gravity nothing is gained or lost
    EXPECT_NEAR(report["energy"]["end"].get<double>(), report["energy"]["start"].get<double>(),
                0.01 * report["energy"]["start"].get<double>());
    EXPECT_EQ(run.code, 0);  // what the scene expects of its end is not judged at 0.2 s
    EXPECT_EQ(folder.file_count(), 1u);
}

TEST_F(App, AFailedExpectationIsExitCodeOne) {
    const Outcome run = tenon(
        "run flight.json --no-record --quiet --set 'expect[0].max=0.4' --set 'expect[0].min=0.3'", folder);
    EXPECT_EQ(run.code, 1);
    EXPECT_TRUE(has(run.err, "thrown x")) << run.err;
    EXPECT_EQ(run.out, "");
}

TEST_F(App, ResumeGoesOnBitForBit) {
    const std::string table = " --quiet --series body.thrown.y,energy --csv ",
                      anyhow = " --quiet --set expect=[] -o ";
    ASSERT_EQ(
        tenon("run flight.json --seconds 0.6" + table + "whole.csv" + anyhow + "whole.tenon", folder).code,
        0);
    ASSERT_EQ(tenon("run flight.json --seconds 0.3" + anyhow + "parts.tenon", folder).code, 0);
    const Outcome resumed = tenon("run parts.tenon --resume --seconds 0.6" + table + "parts.csv", folder);
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    const std::string whole = slurp(folder / "whole.csv");
    EXPECT_GT(whole.size(), 500u);
    EXPECT_EQ(whole, slurp(folder / "parts.csv"));
}

TEST_F(App, ExportsNoContactFilesForARunThatNeverTouches) {
    ASSERT_EQ(tenon("run flight.json --quiet --seconds 0.1 --set expect=[] -o a.tenon", folder).code, 0);
    ASSERT_EQ(tenon("export a.tenon --format vtk -o a.pvd", folder).code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "a_vtk/bodies_000000.vtu"));
    EXPECT_FALSE(std::filesystem::exists(folder / "a_vtk/contacts_000000.vtu"));
}

TEST_F(App, ReplayFindsTheSameBitsOrTheFirstOtherOne) {
    ASSERT_EQ(tenon("run flight.json --quiet --seconds 0.3 --set expect=[] -o a.tenon", folder).code, 0);
    const Outcome same = tenon("run a.tenon --replay", folder);
    EXPECT_EQ(same.code, 0) << same.err;
    EXPECT_TRUE(has(same.out, "frames the same, bit for bit")) << same.out;

    // the lowest bit of one number in the middle of the run
    long step = 0;
    {
        const run::Database file(folder / "a.tenon", run::Database::Mode::read_write);
        run::Statement frame(file, "SELECT step, q FROM frames ORDER BY step LIMIT 1 OFFSET 9");
        ASSERT_TRUE(frame.next());
        step = frame.integer(0);
        std::string q(frame.blob(1));
        q[0] = static_cast<char>(q[0] ^ 1);
        run::Statement(file, "UPDATE frames SET q = ? WHERE step = ?")
            .bind_blob(0, q.data(), q.size())
            .bind(1, step)
            .run();
    }
    const Outcome other = tenon("run a.tenon --replay --json", folder);
    EXPECT_EQ(other.code, 1);
    EXPECT_TRUE(has(other.out, "\"differs\"")) << other.out;
    EXPECT_TRUE(has(other.err, "body 'thrown', pose[")) << other.err;
    EXPECT_TRUE(has(other.out, "\"first_step\": " + std::to_string(step) + ",")) << other.out;
}

TEST_F(App, InterruptLeavesACompleteFile) {
    // a run far too long to finish, stopped as by Ctrl-C
    const std::string command =
        "cd '" + folder.path() +
        "' || exit 1; '" TENON_PROGRAM
        "' run flight.json -o cut.tenon --seconds 1e5 --fps 1 >out.txt 2>err.txt & p=$!; "
        "for i in $(seq 300); do test -e cut.tenon && break; sleep 0.1; done; sleep 0.5; "
        "kill -INT $p; wait $p; echo $? >code.txt";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_TRUE(has(slurp(folder / "out.txt"), "flight with affine: stopped"))
        << slurp(folder / "out.txt") << slurp(folder / "err.txt");
    EXPECT_EQ(slurp(folder / "code.txt"), "1\n");
    EXPECT_EQ(tenon("verify cut.tenon --no-motion --quiet", folder).code, 0);
    EXPECT_FALSE(std::filesystem::exists(folder / "cut.tenon.partial"));
}

TEST_F(App, ScenesListsAndShows) {
    const Outcome list = tenon("scenes", folder);
    EXPECT_EQ(list.code, 0);
    EXPECT_TRUE(list.out.starts_with("affine\n") && has(list.out, "\n  free-flight "));
    const Outcome one = tenon("scenes free-flight", folder);
    EXPECT_TRUE(has(one.out, "look for"));
    EXPECT_TRUE(has(one.out, "example: tenon run free-flight"));
    const json all = json::parse(tenon("scenes --json", folder).out);
    EXPECT_GE(all.size(), 3u);
    for (const json& scene : all)
        for (const char* key : {"name", "family", "summary", "source", "look_for"})
            EXPECT_NE(scene[key].get<std::string>(), "") << scene["name"] << " " << key;
    const Outcome wrong = tenon("scenes free-fligth", folder);
    EXPECT_EQ(wrong.code, 2);
    EXPECT_TRUE(has(wrong.err, "did you mean 'free-flight'?")) << wrong.err;
}

TEST_F(App, CheckSaysGoodOrWhatIsWrong) {
    const Outcome good = tenon("check flight.json", folder);
    EXPECT_EQ(good.code, 0) << good.err;
    EXPECT_TRUE(has(good.out, "2 dynamic, 0 static"));
    // a box of 0.4 x 0.2 x 0.3 m weighs 24 kg at 1000 kg/m3
    EXPECT_TRUE(has(good.out, "to 3") || has(good.out, "24")) << good.out;
    const Outcome overlap = tenon("check flight.json --set 'bodies[1].position=[0.1,1,0]'", folder);
    EXPECT_EQ(overlap.code, 1) << overlap.out;
    EXPECT_TRUE(has(overlap.out, "thrown") && has(overlap.out, "other") && has(overlap.out, "PROBLEM"))
        << overlap.out;
    const json findings = json::parse(tenon("check flight.json --json", folder).out);
    EXPECT_EQ(findings["dynamic"], 2);
}

// A box that stands exactly on the floor: `run` opens the touch a little and so may `check` call it good; at rest for half
// a second, it has no motion that an integrator could be blamed for.
TEST_F(App, ABoxThatTouchesTheFloorIsGoodToRun) {
    std::ofstream(folder / "stands.json") << R"({"tenon": 1, "seconds": 0.5, "bodies": [
        {"name": "box", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0, 0.5, 0]},
        {"name": "floor", "type": "static", "shape": {"type": "plane"}}]})";
    const Outcome check = tenon("check stands.json", folder);
    EXPECT_EQ(check.code, 0) << check.out;
    EXPECT_TRUE(has(check.out, "moved apart") && has(check.out, "good to run") && !has(check.out, "PROBLEM"))
        << check.out;
    const Outcome run = tenon("run stands.json", folder);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(has(run.err, "moved apart") && !has(run.err, "integrator")) << run.err;
    const Outcome sunk = tenon("check stands.json --set 'bodies[0].position=[0,0.4,0]'", folder);
    EXPECT_EQ(sunk.code, 1) << sunk.out;
    EXPECT_TRUE(has(sunk.out, "PROBLEM")) << sunk.out;
}

TEST_F(App, VerifyPrintsJsonAndFailsOnADamagedRun) {
    ASSERT_EQ(run_flight().code, 0);
    const Outcome clean = tenon("verify flight.tenon", folder);
    EXPECT_EQ(clean.code, 0) << clean.err;
    const json verdict = json::parse(clean.out);
    EXPECT_EQ(verdict["clean"], true);
    EXPECT_TRUE(verdict.contains("steps_between_frames"));
    EXPECT_TRUE(has(clean.err, "clean"));
}

TEST_F(App, RenderMakesPicturesOfScenesAndRuns) {
    const Outcome scene = tenon("render flight.json --size 200x120 -o scene.png", folder);
    EXPECT_EQ(scene.code, 0) << scene.err;
    EXPECT_EQ(render::read_png(folder / "scene.png").width, 200);
    ASSERT_EQ(run_flight().code, 0);
    EXPECT_EQ(tenon("render flight.tenon --size 160x100 --sheet 3x2 -o sheet.png", folder).code, 0);
    EXPECT_EQ(render::read_png(folder / "sheet.png").width, 3 * 160 + 2 * 4);
    EXPECT_EQ(tenon("render flight.tenon --size 80x60 --every 10 -o many.png", folder).code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "many-0010.png"));
    const Outcome beyond = tenon("render flight.tenon --frame 999 -o no.png", folder);
    EXPECT_EQ(beyond.code, 2);
    EXPECT_TRUE(has(beyond.err, "there is no frame 999")) << beyond.err;
    for (const char* bad : {"--size 0x10", "--size 10", "--size 99999x2", "--sheet 0x0", "-o picture.gif"})
        EXPECT_EQ(tenon(std::string("render flight.tenon -o p.png ") + bad, folder).code, 2) << bad;
}

TEST_F(App, MoviesGoThroughFfmpegFrameByFrame) {
    ASSERT_EQ(tenon("run flight.json -o flight.tenon --fps 20 --quiet", folder).code, 0);
    const std::string path =
        "PATH='" + folder.path() + "' ";  // a folder with nothing but what the test puts there
    const auto render = [&] {
        const std::string command =
            "cd '" + folder.path() + "' && " + path +
            "'" TENON_PROGRAM "' render flight.tenon --size 40x30 --fps 20 -o film.mp4 --quiet 2>err.txt";
        return WEXITSTATUS(std::system(command.c_str()));
    };
    EXPECT_EQ(render(), 2);
    EXPECT_TRUE(has(slurp(folder / "err.txt"), "needs the ffmpeg program")) << slurp(folder / "err.txt");
    // stands in for ffmpeg: keeps what it is handed in the file named last
    std::ofstream(folder / "ffmpeg") << "#!/bin/sh\nfor last; do :; done\n/bin/cat >\"$last\"\n";
    std::filesystem::permissions(folder / "ffmpeg", std::filesystem::perms::owner_all);
    EXPECT_EQ(render(), 0) << slurp(folder / "err.txt");
    EXPECT_EQ(std::filesystem::file_size(folder / "film.mp4"), 11u * 40 * 30 * 3);  // 0, 0.05 ... 0.5 s
    // one that gives up
    std::ofstream(folder / "ffmpeg") << "#!/bin/sh\nexit 1\n";
    EXPECT_EQ(render(), 2);
    EXPECT_TRUE(has(slurp(folder / "err.txt"), "ffmpeg")) << slurp(folder / "err.txt");
}

TEST_F(App, RenderedMotionIsSeen) {
    ASSERT_EQ(run_flight().code, 0);
    ASSERT_EQ(tenon("render flight.tenon --size 160x100 --frame 0 -o first.png", folder).code, 0);
    ASSERT_EQ(tenon("render flight.tenon --size 160x100 --frame -1 -o last.png", folder).code, 0);
    EXPECT_NE(slurp(folder / "first.png"), slurp(folder / "last.png"));
}

TEST_F(App, PlotMakesPagesPicturesAndTables) {
    ASSERT_EQ(run_flight().code, 0);
    EXPECT_EQ(tenon("plot flight.tenon -o page.html --pictures 2", folder).code, 0);
    const std::string page = slurp(folder / "page.html");
    EXPECT_TRUE(has(page, "<svg") && has(page, "data:image/png;base64,") && has(page, "Energy"));
    EXPECT_FALSE(has(page, "http-equiv") || has(page, "src=\"http"));  // nothing from outside
    EXPECT_EQ(tenon("plot flight.tenon -o plot.svg --series energy", folder).code, 0);
    EXPECT_TRUE(has(slurp(folder / "plot.svg"), "<svg"));
    const Outcome csv = tenon("plot flight.tenon --csv - --series body.thrown.x", folder);
    EXPECT_EQ(csv.code, 0);
    EXPECT_TRUE(csv.out.starts_with("step,time [s],body.thrown.x [m]\n")) << csv.out.substr(0, 80);
    EXPECT_TRUE(has(tenon("plot flight.tenon --list", folder).out, "energy\n"));
    EXPECT_EQ(tenon("plot flight.tenon --series enery", folder).code, 2);
}

TEST_F(App, ExportWritesTheFormats) {
    ASSERT_EQ(run_flight().code, 0);
    EXPECT_EQ(tenon("export flight.tenon --format gltf -o out.glb", folder).code, 0);
    EXPECT_EQ(slurp(folder / "out.glb").substr(0, 4), "glTF");
    EXPECT_EQ(tenon("export flight.tenon --format vtk -o vtk --every 10", folder).code, 0);
    EXPECT_EQ(tenon("export flight.tenon --format obj -o obj --every 10", folder).code, 0);
    const auto unknown = tenon("export flight.tenon --format fbx", folder);
    EXPECT_EQ(unknown.code, 2);
    EXPECT_TRUE(has(unknown.err, "fbx")) << unknown.err;
}

TEST_F(App, SchemaIsJson) {
    const json schema = json::parse(tenon("schema", folder).out);
    EXPECT_TRUE(schema.contains("$schema"));
    EXPECT_TRUE(schema["properties"].contains("bodies"));
}

TEST_F(App, CompareMakesATableAndAPage) {
    const Outcome compared = tenon("compare flight.json --methods affine -o compare.html", folder);
    EXPECT_EQ(compared.code, 0) << compared.err;
    EXPECT_TRUE(has(compared.out, "ms/step")) << compared.out;
    EXPECT_TRUE(has(slurp(folder / "compare.html"), "<svg"));
    EXPECT_EQ(tenon("compare flight.json --methods afine", folder).code, 2);
}

TEST_F(App, BenchListsItsNames) {
    EXPECT_TRUE(has(tenon("bench --list", folder).out, "solve"));
    EXPECT_EQ(tenon("bench nonsense", folder).code, 2);
    const auto unknown = tenon("bench affine --only culling-", folder);
    EXPECT_EQ(unknown.code, 2);
    EXPECT_TRUE(has(unknown.err, "did you mean 'culling'?")) << unknown.err;
}

// Wrong usage and wrong files: exit code 2, one line that says what, nothing left behind.
struct Wrong {
    const char* arguments;
    const char* words;
};

class AppRefuses : public testing::TestWithParam<Wrong> {};

TEST_P(AppRefuses, WithTwoAndOneLine) {
    Folder folder;
    std::ofstream(folder / "flight.json") << flight;
    std::ofstream(folder / "text.tenon") << "no run file";
    std::filesystem::create_directory(folder / "sub");
    const std::size_t files = folder.file_count();
    const Outcome outcome = tenon(GetParam().arguments, folder);
    EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("error: ")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, GetParam().words)) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(folder.file_count(), files);
}

INSTANTIATE_TEST_SUITE_P(
    Usage, AppRefuses,
    testing::Values(
        Wrong{"", "no verb"}, Wrong{"fly", "fly"}, Wrong{"run", "scene"},
        Wrong{"run flight.json --bogus", "bogus"},
        Wrong{"run flight.json --every 2", "did you mean '--record-every' or"},
        Wrong{"render flight.json --fps 0 -o f.apng", "not between 1 and 240"},
        Wrong{"run fligt.json", "did you mean 'flight.json'?"}, Wrong{"run flight.json --dt abc", "dt"},
        Wrong{"run flight.json --dt 0", "dt"}, Wrong{"run flight.json --dt -1", "dt"},
        Wrong{"run flight.json --dt nan", "dt"}, Wrong{"run flight.json --seconds -5", "seconds"},
        Wrong{"run flight.json --fps 0", "fps"}, Wrong{"run flight.json --threads -2", "threads"},
        Wrong{"run flight.json --set dt", "key=value"}, Wrong{"run flight.json --set metod.dt=1", "metod"},
        Wrong{"run flight.json --method afine", "affine"},
        Wrong{"run flight.json --set method.nonsense=1", "nonsense"},
        Wrong{"run flight.json --record frames", "record"}, Wrong{"run missing.json", "missing.json"},
        Wrong{"run sub", "sub"}, Wrong{"run flight.json -o sub", "sub"},
        Wrong{"run flight.json -o flight.json/x.tenon", "flight.json/x"},
        Wrong{"run flight.json --report flight.json/r.json", "flight.json/r"},
        Wrong{"run flight.json --resume -o none.tenon", "none.tenon"},
        Wrong{"run flight.json --replay", "flight.json"}, Wrong{"verify text.tenon", "text.tenon"},
        Wrong{"verify none.tenon", "none.tenon"}, Wrong{"plot text.tenon", "text.tenon"},
        Wrong{"render none.tenon", "none.tenon"},
        Wrong{"render flight.json -o flight.json/p.png", "flight.json/p"},
        Wrong{"render flight.json -o p.mp4 --size 1x", "size"}, Wrong{"export text.tenon", "text.tenon"},
        Wrong{"import missing.json", "missing.json"}, Wrong{"import flight.json", "flight.json"},
        Wrong{"schema -o flight.json/schema.json", "flight.json/s"}, Wrong{"scenes nonsense", "nonsense"},
        Wrong{"check missing.json", "missing.json"}));

}  // namespace
}  // namespace tenon::test

// Whole sweeps through the program: values against the closed form, and the same table however the runs were made.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "run/sqlite.hpp"
#include "sweep/support.hpp"

namespace tenon::test {
namespace {

// 24 runs; one of the gravities is no vector, so that 4 fail.
const char* const plan = R"j({
  "scene": "thrown.json",
  "set": {"seconds": 0.1},
  "parameters": {
    "bodies[box].linear_velocity": [[1, 0, 0], [1, 2, 0], [3, 2, 1], [0, 0, 0]],
    "dt": [0.01, 0.02, 0.005],
    "gravity": [[0, -10, 0], [0, -1, 0]]
  },
  "results": {"y": "last(body.box.y)", "speed": "max(body.box.speed)", "x0": "first(body.box.x)",
              "steps": "report.steps", "clean": "verify.clean", "as expected": "expect"}
})j";

class SweepRun : public testing::Test {
  protected:
    void SetUp() override {
        write(folder / "thrown.json", thrown);
        write(folder / "plan.json", plan);
    }
    std::string table(const std::string& name) const {
        return without_times(folder / (name + "/results.csv"));
    }
    Folder folder;
};

TEST_F(SweepRun, ValuesAreTheClosedForm) {
    const Outcome outcome = tenon("sweep plan.json", folder);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("24 runs, 24 done (24 made now)"), std::string::npos) << outcome.out;
    const std::vector<CsvRow> rows = read_csv(folder / "plan.sweep/results.csv");
    ASSERT_EQ(rows.size(), 24u);
    const std::vector<double> vy = {0, 2, 2, 0}, v2 = {1, 5, 14, 0};
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const CsvRow& row = rows[k];
        const double h = std::stod(row.at("dt")), g = k % 2 == 0 ? 10 : 1;
        const double n = std::round(0.1 / h), v = vy[k / 6];
        // implicit Euler: v_n = v - g h n, y_n = y_0 + v h n - g h^2 n (n + 1) / 2
        EXPECT_NEAR(std::stod(row.at("y")), 1 + v * h * n - g * h * h * n * (n + 1) / 2, 1e-9) << k;
        EXPECT_EQ(std::stod(row.at("steps")), n);
        // the fastest moment is the start or the end
        const double end = std::sqrt(v2[k / 6] - v * v + (v - g * 0.1) * (v - g * 0.1));
        EXPECT_NEAR(std::stod(row.at("speed")), std::max(std::sqrt(v2[k / 6]), end), 1e-9) << k;
        EXPECT_EQ(row.at("clean"), "1");
        EXPECT_EQ(row.at("as expected"), "1");
        EXPECT_EQ(row.at("status"), "done");
        EXPECT_EQ(row.at("task"), std::to_string(k));
    }
}

TEST_F(SweepRun, TheTableDoesNotDependOnProcesses) {
    ASSERT_EQ(tenon("sweep plan.json --folder one --processes 1", folder).code, 0);
    ASSERT_EQ(tenon("sweep plan.json --folder two --processes 3", folder).code, 0);
    EXPECT_EQ(table("one"), table("two"));
}

TEST_F(SweepRun, TasksInAnyOrderGiveTheSameTable) {
    ASSERT_EQ(tenon("sweep plan.json --folder all", folder).code, 0);
    std::vector<int> order(24);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    for (std::size_t i = 0; i < order.size(); i += 3)
        ASSERT_EQ(tenon("sweep run plan.json --folder tasks --quiet --task " + std::to_string(order[i]) +
                            "," + std::to_string(order[i + 1]) + " --task " + std::to_string(order[i + 2]),
                        folder)
                      .code,
                  0);
    // a task that is done is not made again
    const Outcome again = tenon("sweep run plan.json --folder tasks --task 5", folder);
    EXPECT_EQ(again.code, 0);
    EXPECT_NE(again.out.find("(0 made now)"), std::string::npos) << again.out;
    EXPECT_EQ(tenon("sweep merge plan.json --folder tasks", folder).code, 0);
    EXPECT_EQ(table("all"), table("tasks"));
}

TEST_F(SweepRun, FailedRunsAreRowsAndRetryMakesOnlyThem) {
    write(folder / "bad.json",
          R"j({"scene": "thrown.json", "parameters": {"bodies[box].mass": [1, -1, 2]},
              "results": {"y": "last(body.box.y)"}})j");
    const Outcome first = tenon("sweep bad.json", folder);
    EXPECT_EQ(first.code, 1);
    EXPECT_NE(first.err.find("task 1 failed"), std::string::npos) << first.err;
    const std::vector<CsvRow> rows = read_csv(folder / "bad.sweep/results.csv");
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].at("status"), "done");
    EXPECT_EQ(rows[1].at("status"), "failed");
    EXPECT_NE(rows[1].at("reason").find("mass"), std::string::npos) << rows[1].at("reason");
    EXPECT_EQ(rows[1].at("y"), "");
    EXPECT_EQ(rows[2].at("status"), "done");
    EXPECT_NE(tenon("sweep bad.json", folder).out.find("(0 made now)"), std::string::npos);
    EXPECT_NE(tenon("sweep retry bad.json", folder).out.find("(1 made now)"), std::string::npos);
    const Outcome status = tenon("sweep status bad.json --json", folder);
    EXPECT_EQ(status.code, 1);
    EXPECT_NE(status.out.find("\"failed\": 1"), std::string::npos) << status.out;
}

TEST_F(SweepRun, EditedScenesAreRunAgainAndAddedValuesReuseTheRest) {
    ASSERT_EQ(tenon("sweep plan.json", folder).code, 0);
    std::string longer = plan;
    longer.replace(longer.find("0.005]"), 6, "0.005, 0.05]");
    write(folder / "plan.json", longer);
    EXPECT_NE(tenon("sweep plan.json", folder).out.find("32 runs, 32 done (8 made now)"), std::string::npos);
    std::string other = thrown;
    other.replace(other.find("[0, 1, 0]"), 9, "[0, 3, 0]");
    write(folder / "thrown.json", other);
    EXPECT_NE(tenon("sweep plan.json", folder).out.find("(32 made now)"), std::string::npos);
}

// A plan of runs that take a while, started on its own so that it can be killed.
class KilledSweep : public SweepRun {
  protected:
    pid_t start(const std::string& arguments) {
        const pid_t pid = fork();
        if (pid == 0) {
            setpgid(0, 0);
            const std::string command = "cd '" + folder.path() + "' && exec '" TENON_PROGRAM "' " +
                                        arguments + " >/dev/null 2>&1 </dev/null";
            execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            _exit(127);
        }
        return pid;
    }
    long finished() const {
        long count = 0;
        const std::filesystem::path tasks = folder / "slow.sweep/tasks";
        if (!std::filesystem::exists(tasks)) return 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(tasks))
            count += entry.path().extension() == ".sqlite";
        return count;
    }
    bool wait_for(long count) const {
        for (int i = 0; i < 600 && finished() < count; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return finished() >= count;
    }
    void write_slow(const std::string& seconds, const std::string& more = "") const {
        write(folder / "slow.json",
              R"j({"scene": "thrown.json", "set": {"seconds": )j" + seconds +
                  R"j(, "dt": 0.0005}, "parameters": {"gravity[1]": {"from": -10, "to": -1,
              "count": 12}}, "results": {"y": "last(body.box.y)"})j" +
                  more + "}");
    }
};

TEST_F(KilledSweep, GoesOnWhereItWas) {
    write_slow("0.2");
    const pid_t pid = start("sweep slow.json --processes 2");
    ASSERT_TRUE(wait_for(3));
    kill(pid, SIGKILL);  // the runner alone: its processes must end by themselves
    waitpid(pid, nullptr, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const long before = finished();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_EQ(finished(), before) << "its processes went on without it";
    ASSERT_LT(before, 12);
    const Outcome outcome = tenon("sweep slow.json --processes 2", folder);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("(" + std::to_string(12 - before) + " made now)"), std::string::npos)
        << outcome.out;
    ASSERT_EQ(tenon("sweep slow.json --folder whole", folder).code, 0);
    EXPECT_EQ(table("slow.sweep"), table("whole"));
}

TEST_F(KilledSweep, AKilledTaskIsToldAndRetried) {
    write_slow("2000");
    const pid_t pid = start("sweep run slow.json --task 4");
    const std::string locks = folder / "slow.sweep/locks";
    for (int i = 0; i < 400 && (!std::filesystem::exists(locks) || std::filesystem::is_empty(locks)); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
    EXPECT_NE(tenon("sweep status slow.json", folder).out.find("1 running, 11 waiting"), std::string::npos);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const Outcome status = tenon("sweep status slow.json", folder);
    EXPECT_NE(status.out.find("1 killed, 11 waiting"), std::string::npos) << status.out;
    const pid_t again = start("sweep retry slow.json");
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    EXPECT_NE(tenon("sweep status slow.json", folder).out.find("1 running, 11 waiting"), std::string::npos);
    // asked to end, it stops its run and leaves no result and no lock
    kill(again, SIGTERM);
    int ended = 0;
    waitpid(again, &ended, 0);
    EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 1);
    EXPECT_NE(tenon("sweep status slow.json", folder).out.find("12 waiting"), std::string::npos);
}

TEST_F(KilledSweep, ATimeLimitIsAReason) {
    write_slow("300", R"j(, "limit_seconds": 0.5)j");
    EXPECT_EQ(tenon("sweep run slow.json --task 3", folder).code, 1);
    EXPECT_NE(tenon("sweep status slow.json", folder).err.find("task 3 failed: took longer than 0.5 s"),
              std::string::npos);
    const Outcome late = tenon("sweep slow.json --processes 4", folder);
    EXPECT_EQ(late.code, 1);
    EXPECT_NE(tenon("sweep status slow.json", folder).err.find("task 0 failed: took longer than 0.5 s"),
              std::string::npos);
}

// The limit is on what a run asks for: a megabyte is too little for this scene, and 500 are enough.
TEST_F(SweepRun, AMemoryLimitIsAReason) {
    write(folder / "big.json", R"j({"scene": "wrecking-ball", "set": {"seconds": 0.01}, "methods": ["affine"],
        "parameters": {"gravity[1]": [-9, -8]}, "results": {"steps": "report.steps"}})j");
    EXPECT_EQ(tenon("sweep big.json --memory 1 --processes 1", folder).code, 1);
    EXPECT_NE(tenon("sweep status big.json", folder).err.find("task 1 failed: not enough memory for the run"),
              std::string::npos);
    EXPECT_EQ(tenon("sweep retry big.json --memory 500 --processes 1", folder).code, 0);
}

TEST_F(SweepRun, PlanAndPlotShowIt) {
    const Outcome shown = tenon("sweep plan plan.json", folder);
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_NE(shown.out.find("24 runs: 1 scene x 24 samples"), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("... and 4 more"), std::string::npos) << shown.out;
    EXPECT_FALSE(std::filesystem::exists(folder / "plan.sweep"));
    write(folder / "grid.json", R"j({"scenes": ["thrown.json"], "methods": ["affine", "impulse"],
        "parameters": {"gravity[1]": {"from": -10, "to": -1, "count": 4}, "seconds": [0.02, 0.05]},
        "results": {"y": "last(body.box.y)"}})j");
    ASSERT_EQ(tenon("sweep grid.json", folder).code, 0);
    const Outcome plot = tenon("sweep plot grid.json -o page.html", folder);
    EXPECT_EQ(plot.code, 0) << plot.err;
    const std::string page = slurp(folder / "page.html");
    // two curves, and a heat map of each method, with every value to be read
    EXPECT_NE(page.find("y over gravity[1]"), std::string::npos);
    EXPECT_NE(page.find("y over seconds"), std::string::npos);
    EXPECT_NE(page.find("y: affine"), std::string::npos);
    EXPECT_NE(page.find("y: impulse"), std::string::npos);
    std::size_t cells = 0;
    for (std::size_t at = page.find("<title>gravity[1] = "); at != std::string::npos;
         at = page.find("<title>gravity[1] = ", at + 1))
        ++cells;
    EXPECT_EQ(cells, 16u);
    EXPECT_EQ(page.find("http://", page.find("<body>")),
              page.find("http://www.w3.org/2000/svg", page.find("<body>")));
}

TEST_F(SweepRun, TheDatabaseHoldsTheSameRows) {
    ASSERT_EQ(tenon("sweep plan.json", folder).code, 0);
    const run::Database database(folder / "plan.sweep/results.sqlite", run::Database::Mode::read_only);
    run::Statement query(
        database,
        "SELECT count(*), sum(steps), min(clean) FROM results WHERE status = 'done' AND dt = 0.005");
    ASSERT_TRUE(query.next());
    EXPECT_EQ(query.integer(0), 8);
    EXPECT_EQ(query.number(1), 8 * 20);
    EXPECT_EQ(query.number(2), 1);
}

}  // namespace
}  // namespace tenon::test

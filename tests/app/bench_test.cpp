// `tenon bench --save` and `--compare`: what became slower or less accurate is said, and is exit code 1.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace tenon::test {
namespace {

using nlohmann::json;

const std::string bench = "bench io --quick --only scene-write --repeats 1 --threads 1 ";

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The saved rows with one number of every row, but not of the header, multiplied.
void change(const std::string& from, const std::string& to, const std::string& key, double factor) {
    std::ifstream in(from);
    std::ofstream out(to);
    for (std::string line; std::getline(in, line);) {
        json row = json::parse(line);
        if (row.contains(key)) row[key] = row[key].get<double>() * factor;
        out << row.dump() << "\n";
    }
}

class BenchHistory : public ::testing::Test {
  protected:
    void SetUp() override {
        const Outcome first = tenon(bench + "--save before.jsonl", folder);
        ASSERT_EQ(first.code, 0) << first.err;
    }
    Outcome beside(const std::string& file, const std::string& more = "") {
        return tenon(bench + "--json --compare " + file + " " + more, folder);
    }
    Folder folder;
};

TEST_F(BenchHistory, SaysWhatItWasMeasuredOn) {
    std::ifstream in(folder / "before.jsonl");
    std::string line;
    ASSERT_TRUE(std::getline(in, line));
    const json header = json::parse(line);
    EXPECT_EQ(header["sizes"], "quick");
    EXPECT_EQ(header["repeats"], 1);
    EXPECT_GE(header["cores"], 1);
    EXPECT_TRUE(header["tenon"].is_string());
    EXPECT_TRUE(header["busy"] == "yes" || header["busy"] == "no" || header["busy"] == "unknown");
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(json::parse(line)["case"], "scene-write");
}

// A file that says all was a thousand times faster, then slower: noise of the machine does not matter.
TEST_F(BenchHistory, SlowerIsARegression) {
    change(folder / "before.jsonl", folder / "fast.jsonl", "ms", 1e-3);
    const Outcome slower = beside("fast.jsonl");
    EXPECT_EQ(slower.code, 1) << slower.err;
    EXPECT_TRUE(has(slower.err, "FAIL io scene-write 1000: ")) << slower.err;
    EXPECT_TRUE(has(slower.err, "1.25 tolerated")) << slower.err;
    EXPECT_GT(json::parse(slower.out)["ratio"], 10);
    EXPECT_EQ(beside("fast.jsonl", "--tolerance 1e6").code, 0);

    change(folder / "before.jsonl", folder / "slow.jsonl", "ms", 1e3);
    const Outcome faster = beside("slow.jsonl");
    EXPECT_EQ(faster.code, 0) << faster.err;
    EXPECT_TRUE(has(faster.err, "PASS")) << faster.err;
    EXPECT_LT(json::parse(faster.out)["ratio"], 0.1);
}

// A robot's tracking error, which is the same in every run, beside files that say it was smaller and larger.
TEST_F(BenchHistory, LessAccurateIsARegression) {
    const std::string robot = "bench robots --quick --only limbs-30 --threads 1 --json ";
    ASSERT_EQ(tenon(robot + "--save robot.jsonl", folder).code, 0);
    change(folder / "robot.jsonl", folder / "robot-slow.jsonl", "ms_per_step", 1e3);
    const Outcome same = tenon(robot + "--compare robot-slow.jsonl", folder);
    EXPECT_EQ(same.code, 0) << same.err;
    change(folder / "robot-slow.jsonl", folder / "robot-finer.jsonl", "error", 0.5);
    const Outcome worse = tenon(robot + "--compare robot-finer.jsonl", folder);
    EXPECT_EQ(worse.code, 1) << worse.err;
    EXPECT_TRUE(has(worse.err, "FAIL robots limbs-30 30: error ")) << worse.err;
    EXPECT_FALSE(has(worse.err, "ms,")) << worse.err;  // its time is no reason
}

TEST_F(BenchHistory, RefusesWhatCannotBeCompared) {
    const Outcome missing = beside("nowhere.jsonl");
    EXPECT_EQ(missing.code, 2);
    EXPECT_TRUE(has(missing.err, "nowhere.jsonl")) << missing.err;
    std::ofstream(folder / "text.jsonl") << "{\"bench\": \"io\"}\nnot JSON\n";
    EXPECT_TRUE(has(beside("text.jsonl").err, "line 2")) << beside("text.jsonl").err;
    std::ofstream(folder / "empty.jsonl") << "";
    EXPECT_EQ(beside("empty.jsonl").code, 2);
    std::ofstream(folder / "other.jsonl") << R"({"bench":"solve","case":"stack","ms_per_step":1})";
    const Outcome other = beside("other.jsonl");
    EXPECT_EQ(other.code, 2);
    EXPECT_TRUE(has(other.err, "none of the cases")) << other.err;
    const Outcome full = tenon("bench solve --only stack --compare before.jsonl", folder);
    EXPECT_EQ(full.code, 2);
    EXPECT_TRUE(has(full.err, "give --quick too")) << full.err;
    EXPECT_EQ(tenon("bench solve --tolerance 0.1", folder).code, 2);
}

}  // namespace
}  // namespace tenon::test

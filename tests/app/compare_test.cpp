// `tenon compare`: variants, errors, orders and verdicts against closed forms.
#include <cmath>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace tenon::test {
namespace {

using nlohmann::json;

const char* const fall = R"({"tenon": 1, "name": "fall", "seconds": 0.4, "gravity": [0, -10, 0],
    "method": {"type": "impulse", "dt": 0.02}, "bodies": [
    {"name": "stone", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "position": [0, 5, 0]}]})";
const char* const overlapping = R"({"tenon": 1, "name": "overlap", "seconds": 0.05, "gravity": [0, 0, 0],
    "method": {"type": "impulse", "dt": 0.01}, "bodies": [
    {"name": "a", "shape": {"type": "box", "size": [1, 1, 1]}},
    {"name": "b", "shape": {"type": "box", "size": [1, 1, 1]}, "position": [0.9, 0.1, 0.2]}]})";
const char* const soft = R"({"tenon": 1, "name": "soft", "seconds": 0.2, "gravity": [0, -10, 0],
    "method": {"type": "adaptive", "dt": 0.02}, "materials": {"gum": {"density": 1000, "young": 2e5, "poisson": 0.3}},
    "bodies": [], "elastic": [{"name": "pad", "shape": {"type": "box", "size": [0.5, 0.5, 0.5]}, "cell_size": 0.25,
    "material": "gum", "position": [0, 3, 0]}]})";

class Compare : public ::testing::Test {
  protected:
    void SetUp() override {
        std::ofstream(folder / "fall.json") << fall;
        std::ofstream(folder / "overlap.json") << overlapping;
        std::ofstream(folder / "soft.json") << soft;
    }
    Folder folder;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// affine steps v <- v + g h, y <- y + v h: after time T the height is off by g T h / 2, and from the run of step h0 by
// g T (h - h0) / 2, first order. impulse moves by the mean of both speeds: a parabola is exact, and has no order.
TEST_F(Compare, StepsConvergeToTheFinestAtTheMethodsOrder) {
    const Outcome outcome =
        tenon("compare fall.json --vary method=affine,impulse --vary dt=0.02,0.01,0.005 --json -o out.html",
              folder);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json all = json::parse(outcome.out);
    ASSERT_EQ(all.size(), 6u);
    for (std::size_t m = 0; m < 2; ++m) {
        const char* const method = m == 0 ? "affine" : "impulse";
        for (std::size_t k = 0; k < 3; ++k) {
            const json& one = all[3 * m + k];
            EXPECT_EQ(one["method"], method);
            EXPECT_TRUE(one["pass"]) << one.dump();
            const double h = 0.02 / std::pow(2.0, static_cast<double>(k));
            EXPECT_DOUBLE_EQ(one["report"]["dt"].get<double>(), h);
            if (k == 2) {
                EXPECT_FALSE(one.contains("order")) << "the reference has no error";
                continue;
            }
            const double wanted = m == 0 ? 10 * 0.4 * (h - 0.005) / 2 : 0.0;
            EXPECT_NEAR(one["error"]["largest"].get<double>(), wanted, 0.01 * wanted + 1e-10) << one["label"];
            EXPECT_EQ(one["error"]["body"], "stone");
            EXPECT_EQ(one.contains("order"), m == 0 && k == 1) << one["label"];
            if (one.contains("order")) {
                EXPECT_NEAR(one["order"].get<double>(), 1.0, 0.03);
            }
        }
    }
    const std::string page = slurp(folder / "out.html");
    EXPECT_TRUE(has(page, "Errors and convergence") && has(page, "Side by side") && has(page, "data-plot"));
    EXPECT_FALSE(has(page, "src=\"http") || has(page, "href=\"http"));
}

TEST_F(Compare, ANamedReferenceAndALimit) {
    ASSERT_EQ(
        tenon("run fall.json --method affine --dt 0.005 --record-every 4 -o fine.tenon --quiet", folder).code,
        0);
    const std::string flags =
        "compare fall.json --methods affine --vary dt=0.02,0.005 --reference fine.tenon --json -o out.html";
    const Outcome outcome = tenon(flags, folder);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    json all = json::parse(outcome.out);
    EXPECT_NEAR(all[0]["error"]["largest"].get<double>(), 10 * 0.4 * 0.015 / 2, 3e-4);
    EXPECT_EQ(all[1]["error"]["largest"].get<double>(), 0.0) << "the same run again";
    EXPECT_EQ(all[0]["reference"], "fine");
    const Outcome strict = tenon(flags + " --within 0.01", folder);
    EXPECT_EQ(strict.code, 1);
    all = json::parse(strict.out);
    EXPECT_FALSE(all[0]["pass"]);
    EXPECT_TRUE(all[1]["pass"]);
    const Outcome table =
        tenon("compare fall.json --methods affine --vary dt=0.02,0.005 --within 0.01 -o out.html", folder);
    EXPECT_EQ(table.code, 1);
    EXPECT_TRUE(has(table.out, "FAIL") && has(table.out, "PASS") && has(table.out, "largest error"))
        << table.out;
}

TEST_F(Compare, AMethodThatCannotStartSaysWhyAndTheOthersGoOn) {
    const Outcome outcome = tenon("compare overlap.json --methods affine,impulse --json -o out.html", folder);
    const json all = json::parse(outcome.out, nullptr, false);
    ASSERT_EQ(all.size(), 2u) << outcome.err;
    EXPECT_TRUE(has(all[0].value("refused", ""), "'a'")) << all[0].dump().substr(0, 300);
    EXPECT_EQ(all[1]["report"]["status"], "done");
    EXPECT_TRUE(has(slurp(folder / "out.html"), "cannot simulate this scene"));
}

TEST_F(Compare, ElasticBodiesCount) {
    const Outcome outcome = tenon("compare soft.json --vary dt=0.02,0.01 --json -o out.html", folder);
    const json all = json::parse(outcome.out, nullptr, false);
    ASSERT_EQ(all.size(), 2u) << outcome.err;
    EXPECT_EQ(all[0]["error"]["body"], "pad");
    // it falls as a whole: g T (h - h0) / 2
    EXPECT_NEAR(all[0]["error"]["largest"].get<double>(), 10 * 0.2 * 0.01 / 2, 1e-3);
    const Outcome other =
        tenon("compare soft.json --vary elastic[0].cell_size=0.25,0.125 --json -o out.html", folder);
    const json meshes = json::parse(other.out, nullptr, false);
    ASSERT_EQ(meshes.size(), 2u) << other.err;
    EXPECT_TRUE(has(meshes[1]["error"].value("note", ""), "another mesh")) << meshes[1]["error"].dump();
    EXPECT_LT(meshes[1]["error"]["largest"].get<double>(), 1e-3) << "both fall alike";
}

TEST_F(Compare, RefusesWhatItCannotVary) {
    for (const auto& [flags, words] :
         std::map<std::string, std::string>{{"--vary dt", "KEY=VALUE"},
                                            {"--vary dt=0.01,x", "'x' is no positive number"},
                                            {"--vary dt=0.01,0.01", "twice"},
                                            {"--vary dt=0.01,", "empty value"},
                                            {"--vary dt=0.01 --vary dt=0.02", "varied twice"},
                                            {"--vary method=afine", "affine"},
                                            {"--vary bodis=1", "bodis"},
                                            {"--reference fall.json", "fall.json"},
                                            {"--methods affine --vary method=impulse", "varied twice"}}) {
        const Outcome outcome = tenon("compare fall.json -o out.html " + flags, folder);
        EXPECT_EQ(outcome.code, 2) << flags << outcome.out;
        EXPECT_TRUE(has(outcome.err, words)) << flags << ": " << outcome.err;
    }
    EXPECT_EQ(folder.file_count(), 3u);
}

}  // namespace
}  // namespace tenon::test

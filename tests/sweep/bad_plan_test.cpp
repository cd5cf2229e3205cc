// Bad plans, as a table: each is refused with the place, the problem and the cure, exit code 2, and nothing is left.
#include <gtest/gtest.h>

#include "sweep/support.hpp"

namespace tenon::test {
namespace {

struct Case {
    const char* name;
    std::string plan;
    std::vector<const char*> words;
};

// A good plan with more keys.
std::string with(const std::string& more, const std::string& scene = R"j("scene": "thrown.json")j") {
    return "{" + scene + R"j(, "results": {"y": "last(body.box.y)"}, )j" + more + "}";
}
std::string with_results(const std::string& results) {
    return R"j({"scene": "thrown.json", "results": )j" + results + "}";
}

std::vector<Case> cases() {
    return {
        {"empty file", "", {"plan.json", "is empty"}},
        {"not JSON", "scene: thrown", {"line 1", "JSON syntax error"}},
        {"a list", "[1]", {"is a list", "a plan is a JSON object"}},
        {"unknown key", with(R"j("parameter": {})j"), {"parameter: is no key", "did you mean 'parameters'"}},
        {"unknown version", with(R"j("tenon_sweep": 2)j"), {"tenon_sweep", "must be 1"}},
        {"no scene", R"j({"results": {"y": "last(energy)"}})j", {"scene: is missing", "built-in"}},
        {"scene and scenes",
         with(R"j("scenes": ["thrown.json"])j"),
         {"scenes: and 'scene' are both given", "use one"}},
        {"missing scene file",
         with(R"j("set": {})j", R"j("scene": "gone.json")j"),
         {"scene", "gone.json", "no such file"}},
        {"unknown built-in",
         with(R"j("set": {})j", R"j("scene": "wrecking-bal")j"),
         {"scene", "did you mean 'wrecking-ball'"}},
        {"a scene twice",
         with(R"j("set": {})j", R"j("scenes": ["thrown.json", "thrown.json"])j"),
         {"scenes[1]", "named twice"}},
        {"unknown method", with(R"j("methods": ["afine"])j"), {"methods[0]", "did you mean 'affine'"}},
        {"empty list of values",
         with(R"j("parameters": {"dt": []})j"),
         {"parameters.dt: is an empty list", "range"}},
        {"a value instead of a list",
         with(R"j("parameters": {"dt": 0.1})j"),
         {"parameters.dt", "belongs under 'set'"}},
        {"unknown path",
         with(R"j("parameters": {"bodies[box].mas": [1, 2]})j"),
         {"parameters.bodies[box].mas", "did you mean 'mass'"}},
        {"unknown path in set",
         with(R"j("set": {"gravitty": [0, 0, 0]})j"),
         {"set.gravitty", "did you mean 'gravity'"}},
        {"unknown method parameter",
         with(R"j("parameters": {"method.dhatt": [1, 2]})j"),
         {"dhatt", "did you mean 'dhat'"}},
        {"range without count",
         with(R"j("parameters": {"dt": {"from": 0.01, "to": 0.02}})j"),
         {"parameters.dt.count: is missing"}},
        {"range backwards",
         with(R"j("parameters": {"dt": {"from": 0.02, "to": 0.01, "count": 3}})j"),
         {"parameters.dt", "'to' must be the larger"}},
        {"log from zero",
         with(R"j("parameters": {"dt": {"from": 0, "to": 1, "count": 3, "scale": "log"}})j"),
         {"parameters.dt.from", "must be positive"}},
        {"half a count",
         with(R"j("parameters": {"dt": {"from": 0.01, "to": 1, "count": 2.5}})j"),
         {"parameters.dt.count: is 2.5", "whole number"}},
        {"unknown sampling",
         with(R"j("sample": "sobol")j"),
         {"sample", "'sobol'", "grid, random, latin or list"}},
        {"random without count",
         with(R"j("sample": "random", "parameters": {"dt": [0.01, 0.02]})j"),
         {"sample.count: is missing", "\"count\": 100"}},
        {"count of a grid",
         with(R"j("sample": {"type": "grid", "count": 5})j"),
         {"sample.count: is for random"}},
        {"runs and parameters",
         with(R"j("runs": [{"dt": 0.01}], "parameters": {"dt": [0.01]})j"),
         {"parameters: are given besides 'runs'"}},
        {"no results", R"j({"scene": "thrown.json"})j", {"results: is missing", "last(body.ball.y)"}},
        {"unknown statistic",
         with_results(R"j({"y": "median(energy)"})j"),
         {"results.y", "no statistic 'median'", "did you mean 'mean'"}},
        {"unknown series",
         with_results(R"j({"y": "last(enery)"})j"),
         {"results.y", "no series 'enery'", "did you mean 'energy'"}},
        {"unknown body",
         with_results(R"j({"y": "last(body.bix.y)"})j"),
         {"results.y", "'bix' is not in the scene", "did you mean 'box'"}},
        {"unknown sensor",
         with_results(R"j({"y": "last(sensor.imu.ax)"})j"),
         {"results.y", "has no sensors"}},
        {"unknown report field",
         with_results(R"j({"t": "report.wall_second"})j"),
         {"results.t", "did you mean 'wall_seconds'"}},
        {"unknown verdict",
         with_results(R"j({"t": "verify.cleen"})j"),
         {"results.t", "did you mean 'clean'"}},
        {"no expression",
         with_results(R"j({"t": "energy"})j"),
         {"results.t: 'energy' is no result", "last(SERIES)"}},
        {"seeds without a parameter",
         with(R"j("seeds": 3)j"),
         {"seeds", "takes no 'seed'", "seed_parameter"}},
        {"two columns of one name",
         R"j({"scene": "thrown.json", "parameters": {"dt": [0.01]}, "results": {"DT": "last(energy)"}})j",
         {"results.DT", "has a column 'DT' already"}},
        {"set and swept",
         with(R"j("set": {"dt": 0.01}, "parameters": {"dt": [0.01]})j"),
         {"set.dt", "also a parameter"}},
        {"too many",
         with(R"j("seeds": 1000000, "parameters": {"dt": [0.01, 0.02]})j"),
         {"asks for 2e+06 runs", "latin"}},
        {"fps and every", with(R"j("record": {"fps": 60, "every": 1})j"), {"record: has both fps and every"}},
        {"null", with(R"j("set": {"dt": null})j"), {"set.dt: is null"}},
        {"negative limit", with(R"j("limit_seconds": -1)j"), {"limit_seconds: is not positive"}},
    };
}

TEST(BadPlan, IsRefusedWithItsPlace) {
    for (const Case& bad : cases()) {
        const Folder folder;
        write(folder / "thrown.json", thrown);
        write(folder / "plan.json", bad.plan);
        const Outcome outcome = tenon("sweep plan.json", folder);
        EXPECT_EQ(outcome.code, 2) << bad.name << ": " << outcome.err;
        EXPECT_EQ(outcome.out, "") << bad.name;
        for (const char* word : bad.words)
            EXPECT_NE(outcome.err.find(word), std::string::npos)
                << bad.name << ": '" << word << "' in " << outcome.err;
        EXPECT_NE(outcome.err.find("plan.json"), std::string::npos) << bad.name << ": " << outcome.err;
        EXPECT_EQ(folder.file_count(), 2u) << bad.name;
    }
}

TEST(BadPlan, WrongUseOfTheVerbIsToldApart) {
    const Folder folder;
    write(folder / "thrown.json", thrown);
    write(folder / "plan.json", with(R"j("parameters": {"dt": [0.01, 0.02]})j"));
    const std::vector<std::pair<const char*, const char*>> uses = {
        {"sweep", "required"},
        {"sweep gone.json", "gone.json"},
        {"sweep status", "names no plan"},
        {"sweep paln plan.json", "is nothing a sweep can do"},
        {"sweep run plan.json --task 2", "not among the 2 runs"},
        {"sweep run plan.json --task one", "is no number"},
        {"sweep run plan.json --task 1-0", "is no range"},
        {"sweep status plan.json --task 1", "--task: is for run and retry"},
        {"sweep plan.json --processes 0", "--processes"},
        {"sweep plot plan.json", "nothing to draw yet"},
        {"sweep plot plan.json --results x", "is no result of this sweep"},
    };
    for (const auto& [use, words] : uses) {
        const Outcome outcome = tenon(use, folder);
        EXPECT_EQ(outcome.code, 2) << use;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << use << ": " << outcome.err;
    }
    EXPECT_EQ(folder.file_count(), 2u);
}

}  // namespace
}  // namespace tenon::test

// `tenon new`: what it writes is a scene that checks, runs and keeps its word.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sweep/support.hpp"

namespace tenon::test {
namespace {

TEST(NewScene, TheCommentedSceneRuns) {
    const Folder folder;
    const Outcome made = tenon("new swing", folder);
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_NE(made.out.find("tenon run swing.json"), std::string::npos);
    const std::string text = slurp(folder / "swing.json");
    const nlohmann::json scene = nlohmann::json::parse(text);  // plain JSON
    EXPECT_EQ(scene["name"], "swing");
    EXPECT_TRUE(scene.contains("#"));
    const Outcome check = tenon("check swing.json", folder);
    EXPECT_EQ(check.code, 0) << check.out << check.err;
    const Outcome run = tenon("run swing.json --seconds 0.1 --quiet", folder);
    EXPECT_EQ(run.code, 0) << run.err;
}

TEST(NewScene, ABuiltInComesAsAFileThatRunsAlike) {
    const Folder folder;
    EXPECT_EQ(tenon("new mine --from physical-pendulum --quiet", folder).code, 0);
    const nlohmann::json scene = nlohmann::json::parse(slurp(folder / "mine.json"));
    EXPECT_EQ(scene["name"], "mine");
    EXPECT_NE(scene["#"].get<std::string>().find("physical-pendulum"), std::string::npos);
    // what it expects of its end is not there yet, in both
    const Outcome mine = tenon("run mine.json --seconds 0.1 --quiet -o mine.tenon --csv mine.csv", folder);
    const Outcome own =
        tenon("run physical-pendulum --seconds 0.1 --quiet -o own.tenon --csv own.csv", folder);
    EXPECT_LT(own.code, 2) << own.err;
    EXPECT_LT(mine.code, 2) << mine.err;
    EXPECT_EQ(tenon("diff mine.tenon own.tenon --quiet", folder).code, 0);
}

TEST(NewScene, NothingIsOverwrittenAndMistakesAreTold) {
    const Folder folder;
    write(folder / "mine.json", "{}");
    const Outcome taken = tenon("new mine", folder);
    EXPECT_EQ(taken.code, 2);
    EXPECT_NE(taken.err.find("mine.json: exists already"), std::string::npos) << taken.err;
    EXPECT_EQ(slurp(folder / "mine.json"), "{}");
    const Outcome unknown = tenon("new other --from physical-pendulm", folder);
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find("did you mean 'physical-pendulum'"), std::string::npos) << unknown.err;
    EXPECT_EQ(folder.file_count(), 1u);
}

}  // namespace
}  // namespace tenon::test

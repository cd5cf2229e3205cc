// What people get wrong in their first hour, and the words that set them right.
#include <gtest/gtest.h>

#include "app/program.hpp"

namespace tenon::test {
namespace {

struct Mistake {
    const char* body;       // of the scene's only body, besides its name
    const char* rest;       // further keys of the scene
    const char* arguments;  // SCENE is the scene's file
    const char* words;      // that have to be said
};

constexpr const char* box = R"("shape": {"type": "box", "size": [1, 1, 1]})";

const Mistake mistakes[] = {
    {box, R"("joints": [{"type": "revolute", "bodies": ["world", "a"], "point": [0, 0, 0]}])", "check SCENE",
     "did you mean 'hinge'?"},
    {R"("shape": {"type": "box", "size": [1, 1, 1]}, "velocity": [1, 0, 0])", "", "check SCENE",
     "did you mean 'linear_velocity'?"},
    {box, R"("dt": 0.01)", "check SCENE", "belongs to the method"},
    {R"("shape": {"type": "cube", "size": [1, 1, 1]})", "", "check SCENE", "did you mean 'box'?"},
    {box, R"("seconds": 0.01, "method": {"type": "affine", "dt": 0.1})", "run SCENE -o r.tenon",
     "is longer than the run"},
    {box, "", "run SCENE -o r.tenon --record-every 2 --fps 30", "--fps"},
    {box, "", "run SCENE -o r.tenon --record-every 0", "--record-every"},
    {box, "", "run SCENE -o r.tenon --csv r.csv --series body.nobody.y", "nobody"},
    {box, "", "run SCENE -o r.tenon --series body.a.y", "--csv"},
    {box, "", "render SCENE --every 0", "--every"},
    {box, R"("units": "mm3")", "check SCENE", "units"},
    {box, R"("method": {"type": "affin"})", "check SCENE", "affine"},
};

TEST(Mistakes, AreToldWithTheRightWords) {
    int number = 0;
    for (const Mistake& mistake : mistakes) {
        SCOPED_TRACE(testing::Message() << "mistake " << ++number << ": " << mistake.arguments);
        const Folder folder;
        const std::string rest = mistake.rest;
        std::ofstream(folder / "scene.json")
            << R"({"tenon": 1, "bodies": [{"name": "a", )" << mistake.body << "}]"
            << (rest.empty() ? "" : ", ") << rest
            << (rest.find("seconds") == rest.npos ? R"(, "seconds": 0.05)" : "") << "}";
        std::string arguments = mistake.arguments;
        arguments.replace(arguments.find("SCENE"), 5, "scene.json");
        const Outcome outcome = tenon(arguments, folder);
        EXPECT_GE(outcome.code, 1) << outcome.out;
        EXPECT_LE(outcome.code, 2);
        EXPECT_NE((outcome.err + outcome.out).find(mistake.words), std::string::npos)
            << outcome.err << outcome.out;
        EXPECT_FALSE(std::filesystem::exists(folder / "r.tenon")) << "nothing was to be run";
    }
}

TEST(Mistakes, ARunFileIsNoScene) {
    const Folder folder;
    std::ofstream(folder / "scene.json")
        << R"({"tenon": 1, "seconds": 0.05, "bodies": [{"name": "a", )" << box << "}]}";
    ASSERT_EQ(tenon("run scene.json -o r.tenon --quiet", folder).code, 0);
    const Outcome outcome = tenon("check r.tenon", folder);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("is a run file"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace tenon::test

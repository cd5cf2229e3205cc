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

TEST(Mistakes, ARunIsNamedAfterTheScenesFileWhateverTheSceneIsCalled) {
    const Folder folder;
    std::filesystem::create_directory(folder / "scenes");
    std::ofstream(folder / "scenes/sc.json")
        << R"({"tenon": 1, "name": "../a <b>/\"c\"", "seconds": 0.05, "bodies": [{"name": "a", )" << box
        << "}]}";
    ASSERT_EQ(tenon("run scenes/sc.json --quiet", folder).code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "sc.tenon"));
    EXPECT_EQ(folder.file_count(), 2U) << "nothing else is made";
}

TEST(Mistakes, MissingFoldersAreMade) {
    const Folder folder;
    std::ofstream(folder / "scene.json")
        << R"({"tenon": 1, "seconds": 0.05, "bodies": [{"name": "a", )" << box << "}]}";
    ASSERT_EQ(
        tenon("run scene.json -o runs/new/r.tenon --report reports/r.json --csv tables/r.csv --quiet", folder)
            .code,
        0);
    for (const char* made : {"runs/new/r.tenon", "reports/r.json", "tables/r.csv"})
        EXPECT_TRUE(std::filesystem::exists(folder / made)) << made;
    for (const auto& [arguments, made] :
         {std::pair{"plot runs/new/r.tenon -o pages/p.html", "pages/p.html"},
          std::pair{"render runs/new/r.tenon -o pictures/p.png --size 64x40 --quiet", "pictures/p.png"},
          std::pair{"export runs/new/r.tenon -o models/m.glb --quiet", "models/m.glb"},
          std::pair{"verify runs/new/r.tenon -o verdicts/v.json --quiet", "verdicts/v.json"}}) {
        EXPECT_EQ(tenon(arguments, folder).code, 0) << arguments;
        EXPECT_TRUE(std::filesystem::exists(folder / made)) << made;
    }
}

// A cube of 40 mm, as a drawing program writes it: 40 units large.
TEST(Mistakes, AMeshInMillimetresIsDoubted) {
    const Folder folder;
    std::ofstream part(folder / "part.stl");
    part << "solid part\n";
    const auto face = [&](const char* a, const char* b, const char* c) {
        part << "facet normal 0 0 0\n outer loop\n  vertex " << a << "\n  vertex " << b << "\n  vertex " << c
             << "\n endloop\nendfacet\n";
    };
    face("0 0 0", "0 40 0", "40 0 0");
    face("0 0 0", "40 0 0", "0 0 40");
    face("40 0 0", "0 40 0", "0 0 40");
    face("0 0 0", "0 0 40", "0 40 0");
    part << "endsolid part\n";
    part.close();
    std::ofstream(folder / "scene.json")
        << R"({"tenon": 1, "seconds": 0.05, "bodies": [{"name": "a", "mesh": "part.stl"}]})";
    for (const char* arguments : {"run scene.json -o r.tenon --quiet", "check scene.json"}) {
        const Outcome outcome = tenon(arguments, folder);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_NE((outcome.err + outcome.out).find("millimetres, give the body \"scale\": 0.001"),
                  std::string::npos)
            << arguments << outcome.err << outcome.out;
    }
    std::ofstream(folder / "scene.json")
        << R"({"tenon": 1, "seconds": 0.05, "bodies": [{"name": "a", "mesh": "part.stl", "scale": 0.001}]})";
    EXPECT_EQ(tenon("run scene.json -o r.tenon --quiet", folder).err.find("millimetres"), std::string::npos);
}

TEST(Mistakes, LimitsInDegreesAreDoubted) {
    const Folder folder;
    std::ofstream(folder / "scene.json")
        << R"({"tenon": 1, "seconds": 0.05, "method": {"type": "articulated"}, "bodies": [{"name": "a", )"
        << box
        << R"(}], "joints": [{"name": "elbow", "type": "hinge", "bodies": ["world", "a"], "point": [0, 1, 0],
              "axis": [0, 0, 1], "limits": [-90, 90]}]})";
    const Outcome outcome = tenon("check scene.json", folder);
    EXPECT_NE(outcome.out.find("'elbow': limits of 90 rad"), std::string::npos) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("90 degrees are 1.571 rad"), std::string::npos) << outcome.out;
}

// A hinge of an arm that lies along x, which may only be between half a radian and one: it starts at zero.
TEST(Mistakes, AJointThatStartsOutsideItsLimitsIsTold) {
    const Folder folder;
    std::ofstream(folder / "arm.json")
        << R"({"tenon": 1, "seconds": 0.02, "method": "articulated", "bodies": [
        {"name": "arm", "shape": {"type": "box", "size": [1, 0.1, 0.1]}, "position": [0.5, 0, 0]}],
        "joints": [{"name": "hinge", "type": "hinge", "bodies": ["world", "arm"], "axis": [0, 0, 1],
                    "drives": [{"limits": [0.5, 1]}]}]})";
    const Outcome told = tenon("check arm.json", folder);
    EXPECT_NE(told.out.find("joint 'hinge' starts at 0 rad, outside its limits 0.5 to 1"), std::string::npos)
        << told.out;
    EXPECT_NE(told.out.find("\"position\": 0.5"), std::string::npos) << told.out;
    const Outcome good = tenon("check arm.json --set joints[hinge].position=0.5", folder);
    EXPECT_EQ(good.out.find("outside its limits"), std::string::npos) << good.out << good.err;
}

// Falling for 0.4 s: 0.785 m. What is expected later is not judged in a shorter run, and it is said.
TEST(Mistakes, LaterExpectationsAreSkippedAndTold) {
    const Folder folder;
    std::ofstream(folder / "scene.json")
        << R"({"tenon": 1, "seconds": 0.4, "bodies": [{"name": "a", )" << box
        << R"(}], "expect": [{"body": "a", "quantity": "y", "max": 0, "at": 0.1},
                            {"body": "a", "quantity": "y", "max": -0.5, "at": 0.4},
                            {"body": "a", "quantity": "moved", "min": 0.5}]})";
    const Outcome whole = tenon("run scene.json -o r.tenon", folder);
    EXPECT_EQ(whole.code, 0) << whole.err << whole.out;
    EXPECT_EQ(whole.err.find("shorter than its expectations"), std::string::npos) << whole.err;
    const Outcome begun = tenon("run scene.json -o r.tenon --seconds 0.2", folder);
    EXPECT_EQ(begun.code, 0) << begun.err << begun.out;
    EXPECT_EQ(begun.out.find("FAIL"), std::string::npos) << begun.out;
    EXPECT_NE(begun.out.find("PASS"), std::string::npos) << begun.out;
    EXPECT_NE(begun.err.find("the run of 0.2 s is shorter than its expectations: 2 skipped"),
              std::string::npos)
        << begun.err;
    // gone on with to the scene's own end, all are judged
    const Outcome rest = tenon("run r.tenon --resume --seconds 0.4", folder);
    EXPECT_EQ(rest.code, 0) << rest.err << rest.out;
    EXPECT_EQ(rest.err.find("skipped"), std::string::npos) << rest.err;
}

// A stack of two boxes without gaps: opened by millionths of their size, told, and the whole run is verified.
TEST(Mistakes, BodiesExactlyOnEachOtherAreOpenedAndTold) {
    const Folder folder;
    std::ofstream(folder / "scene.json") << R"({"tenon": 1, "seconds": 0.1, "bodies": [
        {"name": "floor", "type": "static", "shape": {"type": "box", "size": [4, 0.2, 4]}, "position": [0, -0.1, 0]},
        {"name": "a", )" << box << R"(, "position": [0, 0.5, 0]}, {"name": "b", )"
                                         << box << R"(, "position": [0, 1.5, 0]}]})";
    for (const char* solve : {"islands", "coupled"}) {
        const std::string with = std::string(" scene.json --set method.solve=") + solve;
        EXPECT_EQ(tenon("check" + with, folder).code, 0) << solve;
        const Outcome run = tenon("run" + with + " -o r.tenon --quiet", folder);
        EXPECT_EQ(run.code, 0) << run.err;
        EXPECT_NE(run.err.find("'a' and 'b' touch at the start: moved apart by"), std::string::npos)
            << run.err;
        const Outcome verdict = tenon("verify r.tenon", folder);
        EXPECT_EQ(verdict.code, 0) << solve << verdict.err << verdict.out;
        EXPECT_NE(verdict.out.find("start a hair beside"), std::string::npos) << verdict.out;
    }
}

// What `tenon new` writes does what its comments say, and is no reason to doubt anything.
TEST(Mistakes, TheFirstSceneHasNone) {
    const Folder folder;
    ASSERT_EQ(tenon("new first", folder).code, 0);
    const Outcome check = tenon("check first.json", folder);
    EXPECT_EQ(check.code, 0) << check.out;
    EXPECT_EQ(check.out.find("warning"), std::string::npos) << check.out;
    const Outcome run = tenon("run first.json", folder);
    EXPECT_EQ(run.code, 0) << run.out;
    EXPECT_NE(run.out.find("the arm has struck the block off its stand"), std::string::npos) << run.out;
    EXPECT_EQ(run.err.find("warning"), std::string::npos) << run.err;
    EXPECT_EQ(tenon("verify first.tenon", folder).code, 0);
}

TEST(Mistakes, AMethodThatCannotStartSaysWhyInItsColumn) {
    const Folder folder;  // two boxes inside each other: 'affine' refuses, 'impulse' goes on
    std::ofstream(folder / "scene.json")
        << R"({"tenon": 1, "seconds": 0.05, "gravity": [0, 0, 0], "bodies": [{"name": "a", )" << box
        << R"(}, {"name": "b", "position": [0.5, 0.2, 0.1], )" << box << "}]}";
    const Outcome outcome = tenon("compare scene.json --methods affine,impulse -o c.html", folder);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("cannot: "), std::string::npos) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("move them apart"), std::string::npos) << outcome.out;
    EXPECT_NE(slurp(folder / "c.html").find("move them apart"), std::string::npos);
    EXPECT_NE(slurp(folder / "c.html").find("impulse"), std::string::npos);
}

}  // namespace
}  // namespace tenon::test

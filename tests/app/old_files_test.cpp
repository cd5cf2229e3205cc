// Files of earlier versions, kept in tests/data: scenes load and run, runs are read, verified, drawn and exported, and a resume
// that cannot be exact is refused with the reason.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace tenon::test {
namespace {

using nlohmann::json;

const std::string data = TENON_SOURCE_DIR "/tests/data/0.1/";

class OldFiles : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        std::filesystem::copy(data + GetParam() + ".tenon", folder / "old.tenon");
        std::filesystem::copy(data + GetParam() + ".json", folder / "old.json");
    }
    Folder folder;
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_P(OldFiles, ScenesRun) {
    const Outcome checked = tenon("check old.json", folder);
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    const Outcome run = tenon("run old.json -o new.tenon --quiet --allow-unconverged", folder);
    EXPECT_EQ(run.code, 0) << run.err;
}

TEST_P(OldFiles, RunsAreVerified) {
    const Outcome verified = tenon("verify old.tenon --allow-unconverged -o verdict.json", folder);
    const bool meshed =
        std::string(GetParam()) == "volume-soft";  // 0.1 made other tetrahedra of the same surface
    EXPECT_EQ(verified.code, meshed ? 1 : 0) << verified.out << verified.err;
    EXPECT_EQ(has(verified.out + verified.err, "version 0.1, which made other meshes"), meshed)
        << verified.out;
    EXPECT_GT(json::parse(slurp(folder / "verdict.json")).size(), 0u);
}

TEST_P(OldFiles, RunsAreDrawnAndExported) {
    EXPECT_EQ(tenon("render old.tenon -o old.png --size 160x100", folder).code, 0);
    EXPECT_GT(slurp(folder / "old.png").size(), 500u);
    EXPECT_EQ(tenon("plot old.tenon -o old.html --csv old.csv", folder).code, 0);
    EXPECT_TRUE(has(slurp(folder / "old.csv"), "time [s]"));
    for (const char* format : {"gltf", "vtk", "obj", "usd"}) {
        const Outcome done =
            tenon(std::string("export old.tenon --format ") + format + " -o out-" + format, folder);
        EXPECT_EQ(done.code, 0) << format << ": " << done.err;
    }
}

// A method's memory belongs to the version that wrote it.
TEST_P(OldFiles, AResumeIsRefusedWithTheReason) {
    const std::string before = slurp(folder / "old.tenon");
    const Outcome resumed = tenon("run old.tenon --resume --seconds 1 --quiet", folder);
    EXPECT_EQ(resumed.code, 2) << resumed.out << resumed.err;
    EXPECT_TRUE(has(resumed.err, "version")) << resumed.err;
    EXPECT_EQ(slurp(folder / "old.tenon"), before);
    const Outcome again = tenon("run old.tenon -o new.tenon --quiet --allow-unconverged", folder);
    EXPECT_EQ(again.code, 0) << again.err;  // what the message offers: the same scene from its start
}

INSTANTIATE_TEST_SUITE_P(Of01, OldFiles,
                         testing::Values("affine-stack", "articulated-arm", "impulse-drop", "volume-soft"),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace tenon::test

// Every built-in scene of the affine family at its default size: what it expects holds, nothing intersects.
#include <gtest/gtest.h>

#include <filesystem>

#include "run/run_loop.hpp"
#include "temporary_folder.hpp"
#include "tenon/builtin.hpp"
#include "verify/verify.hpp"

namespace tenon {
namespace {

class AffineScene : public testing::TestWithParam<std::string> {};

TEST_P(AffineScene, MeetsItsExpectations) {
    const BuiltinScene* builtin = find_builtin(GetParam());
    ASSERT_NE(builtin, nullptr);
    run::RunOptions options;
    const test::TemporaryFolder folder;
    options.output = folder / (GetParam() + ".tenon");
    // Proving every accepted piece of the path takes longer than the run: small scenes only.
    const bool small =
        make_builtin(*builtin, {}).bodies.size() < 10 && GetParam() != "screw" && GetParam() != "gear-train";
    options.record_path = small;
    options.fps = small ? 20 : 5;
    options.count_intersections = verify::count_intersections;
    const run::Report report = run::run_scene(make_builtin(*builtin, {}), options);
    EXPECT_EQ(report.status, "done") << report.failure;
    EXPECT_EQ(report.unconverged_steps, 0);
    EXPECT_FALSE(report.expect.empty());
    for (const run::ExpectResult& expect : report.expect) EXPECT_TRUE(expect.held) << expect.text;
    verify::Options verify_options;
    verify_options.motion = small;
    const verify::Result verdict = verify::verify_run(run::RunReader(options.output), verify_options);
    EXPECT_EQ(verdict.intersections, 0);
}

INSTANTIATE_TEST_SUITE_P(All, AffineScene,
                         testing::Values("incline", "arch", "card-house", "screw", "chain-net", "gear-pair",
                                         "gear-train", "spiky-pile", "entangled-pair", "pendulum", "octopus",
                                         "engine", "bike-chain", "newtons-cradle", "bouncing-ball",
                                         "wrecking-ball", "free-flight"),
                         [](const auto& scene) {
                             std::string name = scene.param;
                             for (char& c : name)
                                 if (c == '-') c = '_';
                             return name;
                         });

}  // namespace
}  // namespace tenon

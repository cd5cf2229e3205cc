// The adaptive family's scenes, made small: they run, and what must be seen is there.
#include <gtest/gtest.h>

#include "run/run_loop.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

double figure(const StepReport& report, const std::string& name) {
    for (const auto& [key, value] : report.metrics)
        if (key == name) return value;
    return -1e300;
}

Scene small(const std::string& name, std::map<std::string, ParamValue> given) {
    const BuiltinScene* scene = find_builtin(name);
    EXPECT_NE(scene, nullptr) << name;
    return make_builtin(*scene, given);
}

TEST(AdaptiveScenes, AllHaveAdaptiveAndPlainRuns) {
    for (const BuiltinScene& scene : adaptive_scenes())
        for (bool adaptive : {true, false}) {
            double cell = 0;
            for (const ParamInfo& info : scene.parameters)
                if (info.name == "cell") cell = std::get<double>(info.fallback);
            Simulation simulation(make_builtin(scene, {{"adaptive", adaptive}, {"cell", 1.4 * cell}}));
            for (int i = 0; i < 2; ++i) simulation.step();
            EXPECT_TRUE(all_finite(simulation.state())) << scene.name;
        }
}

// A forest that nothing strikes is at rest and rigid before long; the oracle is then asked no more.
TEST(AdaptiveScenes, UntouchedForestCostsNothing) {
    Scene scene = small("forest", {{"columns", 1.0}, {"rows", 1.0}, {"cell", 0.2}});
    scene.bodies.clear();
    scene.expect.clear();
    Simulation simulation(scene);
    StepReport report;
    for (int i = 0; i < 200; ++i) report = simulation.step();
    EXPECT_GT(figure(report, "rigid_fraction"), 0.9);
    EXPECT_LT(figure(report, "unknowns"), 60);
}

// Two balls lie on the mattress in the end, and it is rigid again though deformed.
TEST(AdaptiveScenes, MattressComesToRestDeformedAndRigid) {
    Simulation simulation(small("mattress", {{"cell", 0.15}, {"low", 0.01}, {"high", 0.05}}));
    StepReport report;
    for (int i = 0; i < 130; ++i) report = simulation.step();
    EXPECT_GT(figure(report, "rigid_fraction"), 0.9);
    EXPECT_GT(figure(report, "elastic_energy"), 0.01);
    for (int b = 1; b <= 2; ++b) EXPECT_NEAR(simulation.state().q[b](1, 3), 0.38, 0.06);
}

// The adaptive run of the swinging beam stays within one per cent of its length of the plain one.
TEST(AdaptiveScenes, CantileverFollowsThePlainRun) {
    Simulation adaptive(small("cantilever", {{"cell", 0.1}, {"flat", true}, {"push_at", 0.0}})),
        plain(small("cantilever", {{"cell", 0.1}, {"flat", true}, {"push_at", 0.0}, {"adaptive", false}}));
    double worst = 0, rigid = 0;
    for (int i = 0; i < 400; ++i) {
        rigid = std::max(rigid, figure(adaptive.step(), "rigid_fraction"));
        plain.step();
        const auto &a = adaptive.state().elastic[0].x, &b = plain.state().elastic[0].x;
        for (std::size_t v = 0; v < a.size(); ++v) worst = std::max(worst, (a[v] - b[v]).norm());
    }
    EXPECT_LT(worst, 0.01);
    EXPECT_GT(rigid, 0.3);
}

}  // namespace
}  // namespace tenon

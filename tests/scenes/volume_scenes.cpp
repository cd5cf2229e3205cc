// The built-in scenes of the volume family at their default size.
#include <gtest/gtest.h>

#include "run/run_loop.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

run::Report run_default(const std::string& name, const std::map<std::string, ParamValue>& given = {}) {
    const BuiltinScene* builtin = find_builtin(name);
    EXPECT_NE(builtin, nullptr) << name;
    const run::Report report = run::run_scene(make_builtin(*builtin, given), {});
    EXPECT_EQ(report.status, "done") << name << ": " << report.failure;
    for (const run::ExpectResult& result : report.expect)
        EXPECT_TRUE(result.held) << name << ": " << result.text;
    return report;
}

TEST(VolumeScenes, ToriStayStacked) {
    run_default("tori-stack", {{"seconds", 1.0}});
}

TEST(VolumeScenes, DetailedBodiesDropAndStayApart) {
    const run::Report report = run_default("detailed-pair");
    EXPECT_GT(report.contacts_max, 0);
    EXPECT_GT(report.min_distance, -0.03);  // a pixel
}

// The overlap at the start goes away within the first steps, and kinetic energy stays below that of the same bodies
// falling freely, M (g t)^2 / 2, but for what the tissue squeezed by the separation gives back: separation itself adds
// no velocity.
TEST(VolumeScenes, OrgansSeparateWithoutAddedVelocity) {
    Simulation simulation(make_builtin(*find_builtin("organs"), {}));
    double mass = 0, depth = 0;
    for (const ElasticBody& body : simulation.world().elastic)
        for (double m : body.vertex_mass) mass += m;
    for (int i = 0; i < 8; ++i) {
        depth = -simulation.step().min_distance;
        const double speed = 9.81 * simulation.time();
        if (i >= 2) {
            EXPECT_LT(energies(simulation.world()).kinetic, 1.35 * 0.5 * mass * speed * speed) << i;
        }
    }
    EXPECT_LT(depth, 0.015);  // a pixel
}

TEST(VolumeScenes, FingersLiftTheBall) {
    const BuiltinScene* builtin = find_builtin("grasp");
    Simulation simulation(make_builtin(*builtin, {}));
    while (simulation.time() < 1.2) simulation.step();
    double lowest = 1e300;
    for (const Vec3& x : simulation.world().elastic[0].x) lowest = std::min(lowest, x.y());
    EXPECT_GT(lowest, 0.05);
}

}  // namespace
}  // namespace tenon

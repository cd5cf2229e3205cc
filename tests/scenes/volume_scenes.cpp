// The built-in scenes of the volume family at their default size.
#include <gtest/gtest.h>

#include "bench/snake_shape.hpp"
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

// Fig. 7: dragged by one end, a snake with one contact volume turns about its middle, so that its free end goes back as
// far as the other goes forth; with a volume for each cell the free end sticks, and the snake bends in between.
TEST(VolumeScenes, SnakeTurnsWithOneVolumeAndBendsWithMany) {
    bench::SnakeShape shape[2];
    for (int many = 0; many < 2; ++many) {
        Simulation simulation(
            make_builtin(*find_builtin("snake"), {{"contacts", std::string(many ? "multi" : "mono")}}));
        const std::vector<Vec3> start = simulation.state().elastic[0].x;
        while (simulation.time() < 1.2) simulation.step();
        shape[many] = bench::snake_shape(start, simulation.state().elastic[0].x);
    }
    const double turned = std::abs(shape[0].turned);
    EXPECT_GT(turned, 20.0);
    EXPECT_LT(std::abs(shape[0].pivot), 0.1);
    EXPECT_LT(shape[0].far_end, -0.8);
    EXPECT_LT(std::abs(shape[0].bent), 0.6 * turned);
    EXPECT_LT(std::abs(shape[1].far_end), 0.1);
    EXPECT_GT(std::abs(shape[1].pivot), 0.2);
    EXPECT_GT(std::abs(shape[1].bent), 2 * std::abs(shape[0].bent));
    EXPECT_GT(std::abs(shape[1].bent), 25.0);
}

// The tool takes the tall organ along by friction, and loses it when it pulls too far.
TEST(VolumeScenes, ToolHoldsThenSlips) {
    Simulation simulation(make_builtin(*find_builtin("organs"), {}));
    const auto pull = [&] {  // upward force of the tool's two jaws on the organ
        double sum = 0;
        for (const Contact& contact : simulation.outputs().contacts)
            for (const char* jaw : {"jaw-left", "jaw-right"}) {
                if (contact.a < simulation.model().bodies.size() &&
                    simulation.model().bodies.name[contact.a] == jaw)
                    sum += contact.force.y();
                if (contact.b < simulation.model().bodies.size() &&
                    simulation.model().bodies.name[contact.b] == jaw)
                    sum -= contact.force.y();
            }
        return sum;
    };
    double most = 0;
    for (; simulation.time() < 0.75; simulation.step()) most = std::max(most, pull());
    EXPECT_GT(most, 300.0);  // N, far above the weight of the organ that is lifted
    while (simulation.time() < 1.1) simulation.step();
    EXPECT_EQ(pull(), 0.0);
}

TEST(VolumeScenes, FingersLiftTheBall) {
    const BuiltinScene* builtin = find_builtin("grasp");
    Simulation simulation(make_builtin(*builtin, {}));
    while (simulation.time() < 1.2) simulation.step();
    double lowest = 1e300;
    for (const Vec3& x : simulation.state().elastic[0].x) lowest = std::min(lowest, x.y());
    EXPECT_GT(lowest, 0.05);
}

}  // namespace
}  // namespace tenon

// Which bodies feel the elastic solids of the articulated method.
#include "methods/articulated/elastic_parts.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "methods/articulated/topology.hpp"
#include "tenon/scene_io.hpp"
#include "test_world.hpp"

namespace tenon::articulated {
namespace {

const char* const ball_and_cube = R"({
"tenon": 1, "gravity": [0, 0, 0], "seconds": 1, "method": {"type": "articulated", "dt": 0.01},
"materials": {"soft": {"density": 1000, "young": 1e5, "poisson": 0.3}},
"bodies": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 5, 0]}],
"elastic": [{"name": "cube", "shape": {"type": "box", "size": [1, 1, 1]}, "cell_size": 1, "material": "soft"}]
})";

// A solid's push in a try that was given up, whatever it was, is not felt by a body that the solid no longer touches.
TEST(ElasticParts, BodiesThatNoSolidTouchesFeelNone) {
    const auto world = test::make_world(parse_scene(ball_and_cube, "scene.json", ""));
    ElasticParts parts(world.model, world.state, {});
    const auto components = make_components(world.model, world.state, {});
    std::vector<Component*> current;
    for (const auto& component : components) current.push_back(component.get());
    BodyField field;
    field.x = world.state.q;
    field.coupling.assign(1, Mat34::Constant(std::numeric_limits<double>::quiet_NaN()));
    parts.couple(field, current);
    EXPECT_EQ(field.coupling[0], Mat34(Mat34::Zero()));
}

}  // namespace
}  // namespace tenon::articulated

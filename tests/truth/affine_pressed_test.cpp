// Light bodies pressed hard: steps end, and what holds them bears the load.
#include <gtest/gtest.h>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

// 1 g under 100 N would go 40 m in a step of 20 ms, through the table that holds it and the floor below.
TEST(AffinePressed, AGramUnderAHundredNewtonsStandsOnATable) {
    for (const char* shape : {"box", "sphere"})
        for (const double dt : {0.02, 0.002}) {
            Scene scene = test::ground_scene(0.3);
            scene.dt = dt;
            BodySpec table = body_spec(scene, "table", box_spec({1, 0.1, 1}), Vec3(0, 0.0501, 0));
            table.mass = 10.0;
            scene.add_body(table);
            const GeometrySpec geometry = std::string(shape) == "box"
                                              ? box_spec({0.1, 0.1, 0.1})
                                              : shape_spec("sphere", {{"radius", 0.05}});
            BodySpec light = body_spec(scene, "light", geometry, Vec3(0.013, 0.1503, 0.007));
            light.mass = 0.001;
            ForceSpec force;
            force.body = scene.add_body(light);
            force.force = Vec3(0, -100, 0);
            scene.forces.push_back(force);
            Simulation simulation(scene);
            double iterations = 0.0, substeps = 0.0;
            const int steps = static_cast<int>(0.2 / dt);
            for (int k = 0; k < steps; ++k) {
                const StepReport report = simulation.step();
                EXPECT_TRUE(report.converged);
                iterations += report.iterations;
                for (const auto& [name, value] : report.metrics)
                    if (name == "substeps") substeps += value;
            }
            EXPECT_LT(iterations / steps, 20.0) << shape << ", " << dt;
            EXPECT_LT(substeps / steps, 1.5) << shape << ", " << dt;
            double load = 0.0;
            for (const Contact& contact : simulation.outputs().contacts)
                if (contact.a == 0 || contact.b == 0) load += std::abs(contact.force.y());
            EXPECT_NEAR(load, 100.0 + 10.001 * 9.81, 0.01) << shape << ", " << dt;
        }
}

}  // namespace
}  // namespace tenon

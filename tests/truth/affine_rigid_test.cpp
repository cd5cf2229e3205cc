// Bodies are rigid: points, wires and pressed parts too, at default settings; and what is chosen is told.
#include <gtest/gtest.h>

#include "methods/affine_parts.hpp"

namespace tenon {
namespace {

double metric(const StepReport& report, const std::string& name) {
    for (const auto& [key, value] : report.metrics)
        if (key == name) return value;
    ADD_FAILURE() << "no metric " << name;
    return 1e300;
}

struct Watched {
    int unconverged = 0;
    double deformation = 0.0, gap = 1e300;
    std::vector<std::string> warnings;
};

Watched watch(Simulation& simulation, double seconds) {
    Watched seen;
    while (simulation.time() < seconds - 1e-9) {
        const StepReport report = simulation.step();
        seen.unconverged += !report.converged;
        seen.deformation = std::max(seen.deformation, metric(report, "deformation_max"));
        seen.gap = std::min(seen.gap, report.min_distance);
        seen.warnings.insert(seen.warnings.end(), report.warnings.begin(), report.warnings.end());
    }
    return seen;
}

Scene floor_scene() {
    Scene scene = test::ground_scene(0.3);
    return scene;
}

// Eight points, the corners of a cube, with a drawing thickness of a hundredth of its size.
TEST(AffineRigid, ACloudOfPointsKeepsItsShape) {
    Scene scene = floor_scene();
    Mesh cloud;
    for (int k = 0; k < 8; ++k) {
        cloud.vertices.push_back(Vec3(k & 1 ? 0.1 : -0.1, k & 2 ? 0.1 : -0.1, k & 4 ? 0.1 : -0.1));
        cloud.points.push_back(k);
    }
    GeometrySpec geometry = mesh_spec(cloud);
    geometry.thickness = 0.002;
    BodySpec body = body_spec(scene, "cloud", geometry, Vec3(0, 0.3, 0), turn(20, Vec3(1, 0, 2)));
    body.mass = 5.0;
    scene.add_body(body);
    Simulation simulation(scene);
    const Watched seen = watch(simulation, 0.6);
    EXPECT_EQ(seen.unconverged, 0);
    EXPECT_LT(seen.deformation, 1e-4);
}

TEST(AffineRigid, AWireRingKeepsItsLength) {
    Scene scene = floor_scene();
    Mesh ring;
    constexpr int corners = 16;
    for (int k = 0; k < corners; ++k) {
        const double angle = 2.0 * EIGEN_PI * k / corners;
        ring.vertices.push_back(Vec3(0.1 * std::cos(angle), 0.1 * std::sin(angle), 0));
        ring.edges.push_back({k, (k + 1) % corners});
    }
    GeometrySpec geometry = mesh_spec(ring);
    geometry.thickness = 0.001;
    BodySpec body = body_spec(scene, "ring", geometry, Vec3(0, 0.3, 0), turn(70, Vec3(1, 0, 0)));
    body.mass = 2.0;
    scene.add_body(body);
    Simulation simulation(scene);
    const Watched seen = watch(simulation, 0.6);
    EXPECT_EQ(seen.unconverged, 0);
    EXPECT_LT(seen.deformation, 1e-4);
}

// A force of 2,000 times the weight presses a block of 8 g onto the floor, without gravity: the gap stays a visible part of
// the contact range, the block rigid, and the floor's reaction is the force.
TEST(AffineRigid, AppliedForcesAreCarriedAtAVisibleGap) {
    Scene scene = floor_scene();
    scene.gravity = Vec3::Zero();
    scene.contact.dhat = 1e-4;
    BodySpec body = body_spec(scene, "block", box_spec({0.02, 0.02, 0.02}), Vec3(0, 0.0102, 0));
    body.density = 1000.0;
    const int block = scene.add_body(body);
    ForceSpec force;
    force.body = block;
    force.force = Vec3(0, -160, 0);
    scene.forces.push_back(force);
    Simulation simulation(scene);
    const Watched seen = watch(simulation, 0.3);
    EXPECT_EQ(seen.unconverged, 0);
    EXPECT_LT(seen.deformation, 1e-4);
    EXPECT_GT(seen.gap, 1e-7);
    double up = 0.0;
    for (const Contact& contact : simulation.outputs().contacts)
        up += (contact.b == block ? 1.0 : -1.0) * contact.force.y();
    EXPECT_NEAR(up, 160.0, 1.0);
}

// A press that closes until there is no room: the part stays whole, the press stops and says so.
TEST(AffineRigid, APressStopsAtAHardPart) {
    Scene scene = floor_scene();
    scene.add_body(body_spec(scene, "part", box_spec({0.1, 0.1, 0.1}), Vec3(0, 0.051, 0)));
    BodySpec press = body_spec(scene, "press", box_spec({0.4, 0.1, 0.4}), Vec3(0, 0.17, 0));
    press.type = BodyType::kinematic_body;
    Keyframe top, bottom;
    top.position = Vec3(0, 0.17, 0);
    bottom.time = 0.5;
    bottom.position = Vec3(0, 0.05, 0);
    press.motion = {top, bottom};
    scene.add_body(press);
    Simulation simulation(scene);
    const Watched seen = watch(simulation, 0.6);
    EXPECT_EQ(seen.unconverged, 0);
    EXPECT_GT(seen.gap, 1e-9);
    EXPECT_LT(seen.deformation, 1e-3);
    EXPECT_GT(test::position(simulation, 2).y(), 0.149);
    EXPECT_FALSE(seen.warnings.empty());
}

}  // namespace
}  // namespace tenon

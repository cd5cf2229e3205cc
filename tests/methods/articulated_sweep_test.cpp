// Whole steps of ball-jointed chains in two passes, against the general way through rows, and the kernels of the two
// instruction sets against each other.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "methods/articulated/chain_sweep.hpp"
#include "scene/builtin/articulated_scene_families.hpp"
#include "tenon/simulation.hpp"

namespace tenon {
namespace {

// Boxes of different sizes along a zigzag, hung at either end, both or none, with some speed.
Scene zigzag(int links, bool held_start, bool held_end, unsigned seed) {
    std::mt19937 engine(seed);
    const auto random = [&](double lo, double hi) {
        return std::uniform_real_distribution<double>(lo, hi)(engine);
    };
    Scene scene = articulated_scene(0.01, 1.0);
    const int material = scene.add_material(material_spec("link", 1000.0, 1e9));
    std::vector<Vec3> points{Vec3(0.1, 2.0, -0.3)};
    int before = -1;
    for (int i = 0; i < links; ++i) {
        const double length = random(0.1, 0.4);
        points.push_back(points.back() +
                         length * Vec3(random(0.2, 1), random(-1, 1), random(-1, 1)).normalized());
        BodySpec body =
            body_spec(scene, "link" + std::to_string(i), box_spec({length, random(0.02, 0.1), 0.05}),
                      0.5 * (points[i] + points[i + 1]), along(points[i + 1] - points[i]));
        body.material = material;
        body.group = "chain";
        body.linear_velocity = Vec3(0.5, 0.2, -0.3);
        const int index = scene.add_body(body);
        // either body may come first
        if (i > 0 || held_start)
            scene.joints.push_back(i % 3 == 1 ? joint_spec("", JointType::ball, index, before, points[i])
                                              : joint_spec("", JointType::ball, before, index, points[i]));
        before = index;
    }
    if (held_end) scene.joints.push_back(joint_spec("", JointType::ball, before, -1, points.back()));
    return scene;
}

bool was_swept(const StepReport& report) {
    for (const auto& [name, value] : report.metrics)
        if (name == "bytes_per_link") return value == articulated::sweep_bytes_per_link;
    return false;
}

TEST(ChainSweep, StepsAsTheGeneralWayDoes) {
    unsigned seed = 1;
    for (int links : {4, 5, 6, 7, 13})
        for (int ends = 0; ends < 4; ++ends) {
            Scene scene = zigzag(links, ends & 1, ends & 2, ++seed);
            scene.method_params["force_tolerance"] = 1e-12;  // what is compared is the solution
            Scene general = scene;
            general.method_params["solver"] = std::string("sparse");
            Simulation swept(scene), rows(general);
            bool used = false;
            for (int step = 0; step < 5; ++step) {
                used = was_swept(swept.step()) || used;
                EXPECT_FALSE(was_swept(rows.step()));
            }
            EXPECT_TRUE(used) << links << " links, ends " << ends;
            for (int i = 0; i < swept.model().bodies.size(); ++i) {
                EXPECT_LT((swept.state().q[i] - rows.state().q[i]).norm(), 1e-8);
                EXPECT_LT((swept.state().rate[i] - rows.state().rate[i]).norm(), 1e-6);
            }
            for (std::size_t j = 0; j < swept.model().joints.size(); ++j) {
                const Vec3 force = rows.outputs().joints[j].force;
                EXPECT_LT((swept.outputs().joints[j].force - force).norm(), 1e-6 * (1.0 + force.norm()));
            }
        }
}

// Two links by hand, through both kernels: same reports, same states to round-off.
TEST(ChainSweep, KernelsAgree) {
    std::mt19937 engine(7);
    std::uniform_real_distribution<double> random(-1, 1);
    constexpr int bodies = 6;
    std::vector<double> q, rate, anchors(48), next_q(96), next_rate(96), other_q(96), other_rate(96);
    for (int i = 0; i < 8; ++i) {
        const double pose[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0.2 * i, 0, 0};
        for (double value : pose) q.push_back(value), rate.push_back(0.1 * random(engine));
        anchors[24 * (i / 4) + i % 4] = -0.1;
        anchors[24 * (i / 4) + 12 + i % 4] = 0.1;
    }
    articulated::SweepKind kind;
    for (int k = 0; k < 3; ++k) kind.inertia[k] = 10.0 + k, kind.stretch_inverse[k] = 1e-4;
    kind.mass_rate = 100.0;
    kind.translation_inverse = 0.01;
    kind.volume_mu = 5e3;
    const int body[8] = {0, 1, 2, 3, 4, 5, 5, 5}, which[8] = {};
    articulated::SweepChain chain;
    chain.bodies = bodies;
    chain.body = body;
    chain.kind = which;
    chain.anchors = anchors.data();
    chain.kinds = &kind;
    chain.held_start = true;
    chain.start[0] = -0.1;
    const articulated::SweepRule rule{1.0, 0.0, 0.01, 0.0, 100.0, {0, -1e-3, 0}};
    articulated::SweepState state{q.data(),    q.data(),      rate.data(),
                                  rate.data(), next_q.data(), next_rate.data()};
    double work[12 * bodies], forces[3 * bodies], other_forces[3 * bodies];
    const auto a = articulated::sweep_portable(chain, rule, state, false, work, forces);
    state.new_q = other_q.data();
    state.new_rate = other_rate.data();
    const auto b = articulated::sweep_kernel()(chain, rule, state, false, work, other_forces);
    ASSERT_TRUE(a.near && b.near);
    EXPECT_NEAR(a.energy_before, b.energy_before, 1e-12 * a.energy_before);
    EXPECT_NEAR(a.energy_after, b.energy_after, 1e-12 * a.energy_before);
    EXPECT_LT(a.gap_after, 1e-15);
    EXPECT_LT(b.gap_after, 1e-15);
    for (int k = 0; k < 12 * bodies; ++k) EXPECT_NEAR(next_q[k], other_q[k], 1e-14);
    for (int k = 0; k < 3 * bodies; ++k) EXPECT_NEAR(forces[k], other_forces[k], 1e-10);
}

// A body that is inside out is not for the sweep.
TEST(ChainSweep, RefusesInvertedBodies) {
    Simulation simulation(zigzag(6, true, false, 3));
    simulation.step();
    for (int i = 0; i < 6; ++i) simulation.state().q[i].col(0) *= -1.0;
    for (auto& rate : simulation.state().rate) rate.setZero();
    EXPECT_FALSE(was_swept(simulation.step()));
}

}  // namespace
}  // namespace tenon

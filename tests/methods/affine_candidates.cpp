// Candidates that are kept from step to step, while some bodies are looked at again.
#include <gtest/gtest.h>

#include <random>

#include "methods/affine/contact_field.hpp"
#include "methods/affine_parts.hpp"

namespace tenon::affine {
namespace {

void expect_same_candidates(const ContactField& kept, const ContactField& fresh) {
    ASSERT_EQ(kept.pair_count(), fresh.pair_count());
    for (int k = 0; k < kept.pair_count(); ++k) {
        const CandidatePair &a = kept.pair(k), &b = fresh.pair(k);
        ASSERT_TRUE(a.a == b.a && a.b == b.b) << k;
        ASSERT_EQ(a.end - a.begin, b.end - b.begin) << k;
        EXPECT_EQ(a.triangle_vertex - a.begin, b.triangle_vertex - b.begin);
        EXPECT_EQ(a.edge_edge - a.begin, b.edge_edge - b.begin);
        EXPECT_EQ(a.others - a.begin, b.others - b.begin);
        for (int i = 0; i < a.end - a.begin; ++i) {
            const Candidate &one = kept.candidates().candidates[a.begin + i],
                            &other = fresh.candidates().candidates[b.begin + i];
            ASSERT_TRUE(one.i == other.i && one.j == other.j && one.kind == other.kind) << k << " " << i;
        }
    }
}

void expect_same_contacts(const PairContacts& kept, const PairContacts& fresh) {
    ASSERT_EQ(kept.points.size(), fresh.points.size());
    EXPECT_EQ(kept.energy, fresh.energy);
    for (std::size_t n = 0; n < kept.points.size(); ++n) {
        EXPECT_EQ(kept.points[n].candidate, fresh.points[n].candidate);
        EXPECT_EQ(kept.points[n].distance, fresh.points[n].distance);
        EXPECT_EQ(kept.points[n].normal, fresh.points[n].normal);
        EXPECT_EQ(kept.points[n].local_a, fresh.points[n].local_a);
        EXPECT_EQ(kept.points[n].weight, fresh.points[n].weight);
    }
}

// A wall's blocks wander; a few at a time leave what their candidates cover.
void expect_that_looking_at_some_again_finds_all(const Scene& scene, double dhat) {
    const Model model = compile(scene);
    const State state = initial_state(model);
    const std::size_t count = state.q.size();
    ContactScale scale;
    scale.dhat = dhat;
    const std::vector<double> mass(count, 1.0);
    std::vector<Mat34> q = state.q;
    std::vector<Sweep> sweeps(count);
    for (std::size_t i = 0; i < count; ++i) sweeps[i] = {q[i], q[i], dhat, true};
    ContactField kept(model, state);
    kept.rebuild(model, sweeps, scale, mass);

    std::mt19937 random(5);
    std::uniform_real_distribution<double> any(-1.0, 1.0);
    long contacts = 0, changes = 0;
    int compacted = 0;
    for (int step = 0; step < 16; ++step) {
        std::vector<char> changed(count, 0);
        for (std::size_t i = 0; i < count; ++i) {
            if (any(random) < 0.6) continue;
            // Most within their slack, some out of it.
            const double far = any(random) < 0.5 ? 0.3 * dhat : 4.0 * dhat;
            q[i].col(3) += far * Vec3(any(random), any(random), any(random)).normalized();
            if ((q[i].col(3) - sweeps[i].q0.col(3)).norm() < 0.9 * dhat) continue;
            changed[i] = 1;
            sweeps[i] = {q[i], q[i], dhat, true};
            ++changes;
        }
        const std::size_t stored = kept.candidates().count;
        kept.rebuild(model, sweeps, changed, scale, mass);
        compacted += kept.candidates().count < stored;
        ContactField fresh(model, state);
        fresh.rebuild(model, sweeps, scale, mass);
        expect_same_candidates(kept, fresh);
        for (std::size_t i = 0; i < count; ++i) {
            kept.set_pose(static_cast<int>(i), q[i]);
            fresh.set_pose(static_cast<int>(i), q[i]);
        }
        for (int k = 0; k < kept.pair_count(); ++k) {
            kept.evaluate(k);
            fresh.evaluate(k);
            expect_same_contacts(kept.contacts(k), fresh.contacts(k));
            contacts += static_cast<long>(kept.contacts(k).points.size());
        }
        if (testing::Test::HasFailure()) FAIL() << "in step " << step;
    }
    EXPECT_GT(contacts, 30);
    EXPECT_GT(changes, 10);
    EXPECT_GE(compacted, 1);
}

TEST(AffineCandidates, LookingAtSomeBodiesAgainFindsWhatLookingAtAllDoes) {
    expect_that_looking_at_some_again_finds_all(
        test::builtin("wrecking-ball", {{"blocks", 30.0}, {"chain", false}}), 0.02);
}

// Fine spheres, of which only the vertices near others are moved.
TEST(AffineCandidates, LookingAtSomeDetailedBodiesAgainFindsWhatLookingAtAllDoes) {
    Scene scene;
    for (int k = 0; k < 12; ++k)
        scene.add_body(body_spec(scene, "ball" + std::to_string(k),
                                 shape_spec("icosphere", {{"radius", 0.5}, {"subdivisions", 4.0}}),
                                 Vec3(1.0005 * (k % 4), 1.0008 * (k / 4), 0.0)));
    expect_that_looking_at_some_again_finds_all(scene, 0.001);
}

TEST(AffineCandidates, NoPointMovesFurtherThanItsBound) {
    std::mt19937 random(5);
    std::normal_distribution<double> any;
    for (const char* name : {"spiky-pile", "gear-pair", "arch", "screw"}) {
        const Model model = compile(make_builtin(*find_builtin(name), {}));
        const State state = initial_state(model);
        const ContactField field(model, state);
        const ContactShape& shape = field.shape(model.bodies.size() - 1);
        for (int k = 0; k < 60; ++k) {
            Mat34 way;
            for (double& entry : way.reshaped()) entry = any(random);
            const Vec3 axis = Vec3(any(random), any(random), any(random)).normalized();
            const bool turns = k % 2;
            if (turns)
                way << Eigen::AngleAxisd(1e-3, axis).toRotationMatrix() - Mat3::Identity(), Vec3::Zero();
            double most = 0.0;
            for (const Vec3& x : shape.shape->mesh.vertices) most = std::max(most, transform(way, x).norm());
            EXPECT_GE(displacement_bound(way, shape), most) << name;
            // A round body that turns: hardly more than its radius says.
            if (turns && name == std::string("spiky-pile")) {
                EXPECT_LE(displacement_bound(way, shape), 1.4 * shape.radius * 1e-3);
            }
        }
    }
}

}  // namespace
}  // namespace tenon::affine

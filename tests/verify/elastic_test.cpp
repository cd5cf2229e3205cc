// Elastic surfaces in the verifier: against others, against themselves, in frames and on recorded paths.
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "model/path_piece.hpp"
#include "verify/made_run.hpp"
#include "verify/self_contact.hpp"

namespace tenon::verify {
namespace {

using test::has_kind;
using test::MadeRun;
using test::scene_from;

// A soft block above a thin plate that ends at x = 1; `at` says where it is at each step.
MadeRun block_and_plate(const std::function<Vec3(double)>& at) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "method": "affine", "gravity": [0, 0, 0], "bodies": [
        {"name": "plate", "type": "static", "shape": {"type": "box", "size": [2, 0.01, 2]}}],
        "elastic": [{"name": "block", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "cell_size": 0.1,
                     "position": [0, 0.3, 0]}]})");
    made.steps = 4;
    const std::vector<Vec3> start = compile(made.scene).elastic[0].start_x;
    made.pose = [start, at](const Model&, State& state, double t) {
        for (std::size_t i = 0; i < start.size(); ++i) state.elastic[0].x[i] = start[i] + at(t);
    };
    return made;
}

TEST(VerifyElastic, ASoftBlockInAPlateIsNotClean) {
    const Result beside = block_and_plate([](double) { return Vec3::Zero(); }).verify();
    EXPECT_TRUE(beside.clean()) << beside.to_json();
    EXPECT_EQ(beside.self_tests, 5);
    EXPECT_EQ(beside.elastic_pairs, 0);  // their boxes are apart
    const Result inside =
        block_and_plate([](double t) { return Vec3(0, t > 0.015 && t < 0.025 ? -0.25 : 0.0, 0); }).verify();
    EXPECT_FALSE(inside.clean());
    EXPECT_GT(inside.elastic_pairs, 0);
    ASSERT_TRUE(has_kind(inside, "surface"));
    EXPECT_EQ(inside.findings[0].a, "plate");
    EXPECT_EQ(inside.findings[0].b, "block");
}

// Every frame is free, but the block changes sides: the path says whether it went through the plate or round it.
TEST(VerifyElastic, TheRecordedPathOfASoftBlockDecides) {
    MadeRun made = block_and_plate([](double t) { return Vec3(0, t > 0.025 ? -0.6 : 0.0, 0); });
    const Result without = made.verify();
    EXPECT_FALSE(without.clean());
    EXPECT_FALSE(without.elastic_path);
    EXPECT_TRUE(has_kind(without, "motion"));
    const Model model = compile(made.scene);
    const auto piece = [&](const Vec3& offset) {
        std::vector<Vec3> x = model.elastic[0].start_x;
        for (Vec3& vertex : x) vertex += offset;
        return path_piece(initial_state(model).q, {x});
    };
    made.path = [&](long step) -> std::vector<std::vector<Mat34>> {
        return {piece(Vec3(0, step < 3 ? 0.0 : -0.6, 0))};
    };
    const Result through = made.verify();
    EXPECT_TRUE(through.elastic_path);
    EXPECT_FALSE(through.clean());
    EXPECT_TRUE(has_kind(through, "path"));
    made.path = [&](long step) -> std::vector<std::vector<Mat34>> {
        if (step != 3) return {piece(Vec3(0, step < 3 ? 0.0 : -0.6, 0))};
        return {piece(Vec3(2, 0, 0)), piece(Vec3(2, -0.6, 0)), piece(Vec3(0, -0.6, 0))};
    };
    const Result round = made.verify();
    EXPECT_EQ(round.intersections, 0) << round.to_json();
    EXPECT_EQ(round.unproven, 0);
}

// A strip bent into a ring whose ends just miss each other, or run into each other.
MadeRun ring(double turn) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "method": "affine", "gravity": [0, 0, 0],
        "elastic": [{"name": "strip", "shape": {"type": "box", "size": [1, 0.05, 0.1]}, "cell_size": 0.05}]})");
    made.steps = 3;
    const std::vector<Vec3> start = compile(made.scene).elastic[0].start_x;
    made.pose = [start, turn](const Model&, State& state, double t) {
        const double angle = turn * std::min(1.0, t / 0.03);
        for (std::size_t i = 0; i < start.size(); ++i) {
            const double radius = angle > 0 ? 1.0 / angle : 0.0, along = angle * start[i].x();
            const Vec3 bent(std::sin(along) * (radius - start[i].y()),
                            radius - std::cos(along) * (radius - start[i].y()), start[i].z());
            state.elastic[0].x[i] = angle > 0 ? bent : start[i];
        }
    };
    return made;
}

TEST(VerifyElastic, AStripThatRunsIntoItselfIsNotClean) {
    const double full = 2.0 * std::numbers::pi;
    const Result open = ring(0.98 * full).verify();
    EXPECT_EQ(open.intersections, 0) << open.to_json();
    EXPECT_EQ(open.unexplained, 0);
    const Result closed = ring(1.01 * full).verify();
    EXPECT_FALSE(closed.clean());
    ASSERT_TRUE(has_kind(closed, "surface"));
    EXPECT_EQ(closed.findings[0].a, "strip");
    EXPECT_EQ(closed.findings[0].b, "strip");
}

// All pairs of cells, every piece of a crumpling motion: nothing that is skipped would have been a hit.
TEST(SelfSweep, FindsWhatSweepingAllPairsFinds) {
    const Mesh mesh = [] {
        const ElasticBody body = compile(ring(0.0).scene).elastic[0];
        Mesh made;
        made.vertices = body.start_x;
        made.triangles = body.surface;
        return made;
    }();
    const Surface surface = make_surface(mesh.vertices, mesh, true);
    std::vector<SelfPair> all;
    for (int a = 0; a < static_cast<int>(surface.cells.size()); ++a)
        for (int b = a + 1; b < static_cast<int>(surface.cells.size()); ++b)
            add_self_pairs(surface, a, b, all);
    std::mt19937 random(5);
    std::uniform_real_distribution<double> unit(-1.0, 1.0);
    int hits = 0;
    long skipped = 0;
    for (int round = 0; round < 3; ++round) {
        SelfSweep sweep;
        std::vector<Vec3> x = mesh.vertices;
        for (int piece = 0; piece < 12; ++piece) {
            std::vector<Vec3> next = x;
            const double size = piece % 5 == 4 ? 0.02 : 5e-4;
            const Vec3 common(unit(random), unit(random), unit(random));
            for (Vec3& vertex : next)
                vertex += 0.1 * common + size * Vec3(unit(random), unit(random), unit(random));
            const std::vector<Box3> boxes = elastic_node_boxes(surface, x),
                                    next_boxes = elastic_node_boxes(surface, next);
            const Placed from{&surface, Mat34::Zero(), &x, &boxes},
                to{&surface, Mat34::Zero(), &next, &next_boxes};
            const auto at = [](const std::vector<Vec3>& p, const Triangle& c) {
                return Corners{p[c[0]], p[c[1]], p[c[2]]};
            };
            const bool expected = std::any_of(all.begin(), all.end(), [&](const SelfPair& pair) {
                return sweep_cells(at(x, pair.a), at(next, pair.a), at(x, pair.b), at(next, pair.b)).hit;
            });
            EXPECT_EQ(sweep.advance(from, to).hit, expected);
            const bool inside = std::any_of(all.begin(), all.end(), [&](const SelfPair& pair) {
                return cells_intersect(at(next, pair.a), at(next, pair.b));
            });
            EXPECT_EQ(self_intersection(to).has_value(), inside);
            hits += expected;
            if (!expected) x = next;
        }
        skipped += sweep.skipped();
    }
    EXPECT_GT(hits, 1);
    EXPECT_LT(hits, 20);
    EXPECT_GT(skipped, 1000);
}

}  // namespace
}  // namespace tenon::verify

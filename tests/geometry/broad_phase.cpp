#include "geometry/broad_phase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tenon::geometry {
namespace {

std::vector<ItemPair> brute_force(const std::vector<Box3>& boxes) {
    std::vector<ItemPair> pairs;
    for (int a = 0; a < static_cast<int>(boxes.size()); ++a)
        for (int b = a + 1; b < static_cast<int>(boxes.size()); ++b)
            if (boxes[a].overlaps(boxes[b])) pairs.push_back({a, b});
    return pairs;
}

Box3 cube(const Vec3& center, double size) {
    Box3 box;
    box.add(center);
    box.inflate(0.5 * size);
    return box;
}

// Nodes looked at while finding all pairs: the cost that must not degrade.
double tests_per_body(const Bvh& tree) {
    long tests = 0;
    for (std::int32_t leaf : tree.leaves()) {
        const FloatBox query = tree.nodes()[leaf].box();
        tree.visit_where([&](int node) { return ++tests, tree.nodes()[node].overlaps(query); }, [](int) {});
    }
    return static_cast<double>(tests) / tree.size();
}

TEST(BroadPhase, FollowsMovingCrowdsLikeBruteForce) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    std::vector<Vec3> position(300), velocity(300);
    std::vector<double> size(300);
    for (int i = 0; i < 300; ++i) {
        position[i] = Vec3(normal(random), normal(random), normal(random));
        velocity[i] = Vec3(normal(random), normal(random), normal(random));
        size[i] = std::pow(10.0, 0.8 * normal(random) - 1);
    }
    BroadPhase phase;
    std::vector<ItemPair> pairs;
    for (int step = 0; step < 40; ++step) {
        std::vector<Box3> boxes;
        for (int i = 0; i < 300; ++i) boxes.push_back(cube(position[i] + 0.05 * step * velocity[i], size[i]));
        phase.find_pairs(boxes, pairs);
        ASSERT_EQ(pairs, brute_force(boxes));
    }
    // Refitted mostly, rebuilt when worn out.
    EXPECT_GT(phase.rebuilds(), 1);
    EXPECT_LT(phase.rebuilds(), 30);
}

TEST(BroadPhase, StackOfFiveThousandCubesWithItsFloor) {
    // 10 x 50 x 10 cubes, touching neighbours, on a floor 1e4 times their size.
    std::vector<Box3> boxes;
    for (int y = 0; y < 50; ++y)
        for (int x = 0; x < 10; ++x)
            for (int z = 0; z < 10; ++z) boxes.push_back(cube(Vec3(x, y + 0.5, z), 1.0 + 1e-3));
    boxes.push_back(cube(Vec3(0, -5e3, 0), 1e4));
    BroadPhase phase;
    std::vector<ItemPair> pairs;
    phase.find_pairs(boxes, pairs);
    // Every cube meets its 26 neighbours: pairs = half of the sum over the grid; the floor meets one layer.
    auto touching = [](long n) {
        return 3 * n - 2;
    };  // ordered neighbours within 1 along one axis, itself included
    const long expected = (touching(10) * touching(50) * touching(10) - 5000) / 2 + 100;
    EXPECT_EQ(static_cast<long>(pairs.size()), expected);
    EXPECT_LT(tests_per_body(phase.tree()), 250);
}

TEST(BroadPhase, ScatteredBodiesOfVeryDifferentSizes) {
    std::mt19937 random(2);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<Box3> boxes;
    for (int i = 0; i < 20000; ++i) {
        const double size = std::pow(10.0, -3 + 4 * std::pow(uniform(random), 6));  // mostly 1e-3, up to 10
        boxes.push_back(cube(100 * Vec3(uniform(random), uniform(random), uniform(random)), size));
    }
    BroadPhase phase;
    std::vector<ItemPair> pairs;
    phase.find_pairs(boxes, pairs);
    EXPECT_LT(tests_per_body(phase.tree()), 150);
    std::vector<int> found;
    int total = 0;
    for (int a = 0; a < 200; ++a) {
        phase.find_overlaps(boxes[a], boxes, found);
        for (int b : found) {
            if (b > a) ++total;
            EXPECT_TRUE(boxes[a].overlaps(boxes[b]));
        }
    }
    EXPECT_EQ(total,
              std::count_if(pairs.begin(), pairs.end(), [](const ItemPair& pair) { return pair.a < 200; }));
    // Exactness on a sample of rows.
    std::size_t k = 0;
    for (int a = 0; a < 100; ++a)
        for (int b = a + 1; b < 20000; ++b)
            if (boxes[a].overlaps(boxes[b])) {
                ASSERT_EQ(pairs[k++], (ItemPair{a, b}));
            }
}

TEST(BroadPhase, LeavesOutPairsThatCannotMove) {
    const std::vector<Box3> boxes{cube(Vec3(0, 0, 0), 2), cube(Vec3(1, 0, 0), 2), cube(Vec3(0, 1, 0), 2)};
    const std::vector<char> moves{0, 0, 1};
    BroadPhase phase;
    std::vector<ItemPair> pairs;
    phase.find_pairs(boxes, pairs, moves);
    EXPECT_EQ(pairs, (std::vector<ItemPair>{{0, 2}, {1, 2}}));
    phase.find_pairs({}, pairs);
    EXPECT_TRUE(pairs.empty());
}

}  // namespace
}  // namespace tenon::geometry

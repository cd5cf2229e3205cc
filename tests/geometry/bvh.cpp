#include "geometry/bvh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "math/parallel.hpp"

namespace tenon::geometry {
namespace {

enum class Cloud { scattered, crowded, sizes_vary, flat, identical, far_away };
constexpr std::array<Cloud, 6> all_clouds{Cloud::scattered, Cloud::crowded,   Cloud::sizes_vary,
                                          Cloud::flat,      Cloud::identical, Cloud::far_away};

std::vector<Box3> random_boxes(Cloud cloud, int count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Box3> boxes(count);
    for (Box3& box : boxes) {
        Vec3 center(uniform(random), uniform(random), uniform(random));
        double size = cloud == Cloud::crowded ? 0.3 : 0.05;
        if (cloud == Cloud::sizes_vary) size = std::pow(10.0, 2 * uniform(random) - 2.0);  // 1e-4 .. 1
        if (cloud == Cloud::flat) center.z() = 0;
        if (cloud == Cloud::identical) center = Vec3(1, 2, 3), size = 1;
        if (cloud == Cloud::far_away) center += Vec3(1e8, -1e8, 3e7);
        const Vec3 half =
            size * Vec3(1.5 + uniform(random), 1.5 + uniform(random), cloud == Cloud::flat ? 0 : 1);
        box.lo = center - 0.5 * half;
        box.hi = center + 0.5 * half;
    }
    return boxes;
}

std::vector<ItemPair> brute_force(const std::vector<Box3>& boxes) {
    std::vector<ItemPair> pairs;
    for (int a = 0; a < static_cast<int>(boxes.size()); ++a)
        for (int b = a + 1; b < static_cast<int>(boxes.size()); ++b)
            if (boxes[a].overlaps(boxes[b])) pairs.push_back({a, b});
    return pairs;
}

void check_structure(const Bvh& tree, const std::vector<Box3>& boxes) {
    std::vector<int> seen(boxes.size(), 0), depth(tree.nodes().size(), 0);
    for (int i = 0; i < static_cast<int>(tree.nodes().size()); ++i) {
        const Bvh::Node& node = tree.nodes()[i];
        const Box3 box = tree.node_box(i);
        if (node.leaf()) {
            ++seen[node.item];
            EXPECT_EQ(node.escape, i + 1);
            EXPECT_TRUE((box.lo.array() <= boxes[node.item].lo.array()).all());
            EXPECT_TRUE((box.hi.array() >= boxes[node.item].hi.array()).all());
            continue;
        }
        for (int child : {i + 1, tree.right_child(i)}) {
            depth[child] = depth[i] + 1;
            ASSERT_LE(depth[child], Bvh::max_depth);
            for (int k = 0; k < 3; ++k) {
                ASSERT_LE(node.lo[k], tree.nodes()[child].lo[k]);
                ASSERT_GE(node.hi[k], tree.nodes()[child].hi[k]);
            }
        }
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
}

TEST(Bvh, SelfPairsEqualBruteForce) {
    for (Cloud cloud : all_clouds) {
        for (int count : {1, 2, 3, 40, 700}) {
            const std::vector<Box3> boxes = random_boxes(cloud, count, 1);
            for (Bvh::Split split : {Bvh::Split::morton, Bvh::Split::area}) {
                Bvh tree;
                tree.build(boxes, split);
                ASSERT_EQ(tree.size(), count);
                check_structure(tree, boxes);
                std::vector<ItemPair> pairs;
                self_pairs(tree, boxes, pairs);
                EXPECT_EQ(pairs, brute_force(boxes));
            }
        }
    }
}

TEST(Bvh, RefitFollowsMovedBoxes) {
    std::vector<Box3> boxes = random_boxes(Cloud::crowded, 9000, 2);
    for (Box3& box : boxes) box.hi = box.lo + 0.1 * box.size();
    Bvh tree;
    tree.build(boxes);
    const std::vector<Box3> moved = random_boxes(Cloud::scattered, 9000, 3);
    tree.refit(moved);
    check_structure(tree, moved);
    std::vector<ItemPair> after_refit, after_build;
    self_pairs(tree, moved, after_refit);
    tree.build(moved, Bvh::Split::area);
    self_pairs(tree, moved, after_build);
    EXPECT_EQ(after_refit, after_build);
    EXPECT_GT(after_build.size(), 1000u);
}

TEST(Bvh, TreePairsEqualBruteForce) {
    for (Cloud cloud : all_clouds) {
        const std::vector<Box3> a = random_boxes(cloud, 300, 4), b = random_boxes(cloud, 170, 5);
        std::vector<ItemPair> expected;
        for (int i = 0; i < 300; ++i)
            for (int j = 0; j < 170; ++j)
                if (a[i].overlaps(b[j])) expected.push_back({i, j});
        Bvh tree_a, tree_b;
        tree_a.build(a, Bvh::Split::area);
        tree_b.build(b);
        std::vector<ItemPair> pairs;
        tree_pairs(tree_a, a, tree_b, b, pairs);
        EXPECT_EQ(pairs, expected);
        std::vector<ItemPair> dual;
        visit_tree_pairs(tree_a, tree_b, [&](int i, int j) {
            if (a[i].overlaps(b[j])) dual.push_back({i, j});
        });
        std::sort(dual.begin(), dual.end());
        EXPECT_EQ(dual, expected);
    }
}

TEST(Bvh, BoxQueryEqualsBruteForceAndIsSelective) {
    const std::vector<Box3> boxes = random_boxes(Cloud::scattered, 20000, 6);
    Bvh tree;
    tree.build(boxes);
    Box3 query;
    query.lo = Vec3(0.1, 0.1, 0.1), query.hi = Vec3(0.2, 0.15, 0.3);
    std::vector<int> found, expected;
    tree.visit_overlaps(query, [&](int item) {
        if (boxes[item].overlaps(query)) found.push_back(item);
    });
    for (int i = 0; i < 20000; ++i)
        if (boxes[i].overlaps(query)) expected.push_back(i);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
    EXPECT_GT(expected.size(), 5u);
    int tests = 0;
    const FloatBox rounded = tree.rounded(query);
    tree.visit_where([&](int node) { return ++tests, tree.nodes()[node].overlaps(rounded); }, [](int) {});
    EXPECT_LT(tests, 2000);
}

TEST(Bvh, RayQueryEqualsBruteForce) {
    const std::vector<Box3> boxes = random_boxes(Cloud::scattered, 2000, 7);
    Bvh tree;
    tree.build(boxes);
    std::mt19937 random(8);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int trial = 0; trial < 50; ++trial) {
        const Vec3 origin(2 * uniform(random), 2 * uniform(random), 2 * uniform(random));
        Vec3 direction(uniform(random), uniform(random), uniform(random));
        if (trial % 5 == 0) direction = Vec3::Unit(trial / 5 % 3);  // axis-parallel
        std::vector<int> found, expected;
        tree.visit_ray(origin, direction, 3.0, [&](int item) { found.push_back(item); });
        for (int i = 0; i < 2000; ++i) {
            // Distance from ray to box by dense clipping, one axis at a time.
            double enter = 0, leave = 3;
            bool hit = true;
            for (int k = 0; k < 3; ++k) {
                if (direction[k] == 0) {
                    hit &= boxes[i].lo[k] <= origin[k] && origin[k] <= boxes[i].hi[k];
                    continue;
                }
                const double t0 = (boxes[i].lo[k] - origin[k]) / direction[k];
                const double t1 = (boxes[i].hi[k] - origin[k]) / direction[k];
                enter = std::max(enter, std::min(t0, t1));
                leave = std::min(leave, std::max(t0, t1));
            }
            if (hit && enter <= leave) expected.push_back(i);
        }
        std::sort(found.begin(), found.end());
        // A superset by no more than what rounding adds.
        EXPECT_TRUE(std::includes(found.begin(), found.end(), expected.begin(), expected.end()));
        EXPECT_LE(found.size(), expected.size() + 1);
    }
}

TEST(Bvh, EmptyTreesAndBoxes) {
    Bvh tree;
    tree.build({});
    EXPECT_TRUE(tree.empty());
    std::vector<ItemPair> pairs{{1, 2}};
    self_pairs(tree, {}, pairs);
    EXPECT_TRUE(pairs.empty());
    // Empty boxes among others overlap nothing.
    std::vector<Box3> boxes = random_boxes(Cloud::crowded, 50, 9);
    boxes[7] = Box3();
    boxes[30] = Box3();
    for (Bvh::Split split : {Bvh::Split::morton, Bvh::Split::area}) {
        tree.build(boxes, split);
        self_pairs(tree, boxes, pairs);
        EXPECT_EQ(pairs, brute_force(boxes));
    }
}

TEST(Bvh, ThreadCountDoesNotChangeThePairs) {
    const std::vector<Box3> boxes = random_boxes(Cloud::sizes_vary, 5000, 10);
    std::vector<ItemPair> one, two;
    Bvh tree;
    set_threads(1);
    tree.build(boxes);
    self_pairs(tree, boxes, one);
    const double cost = tree.cost();
    set_threads(2);
    tree.build(boxes);
    self_pairs(tree, boxes, two);
    EXPECT_EQ(tree.cost(), cost);
    set_threads(0);
    EXPECT_EQ(one, two);
}

}  // namespace
}  // namespace tenon::geometry

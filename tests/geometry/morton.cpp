#include "geometry/morton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace tenon::geometry {
namespace {

// The definition, bit by bit.
std::uint64_t interleaved(std::uint64_t x, std::uint64_t y, std::uint64_t z, int bits) {
    std::uint64_t code = 0;
    for (int i = bits - 1; i >= 0; --i)
        code = code << 3 | (x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1);
    return code;
}

TEST(Morton, MatchesBitByBitInterleaving) {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 1000; ++trial) {
        const std::uint64_t x = random() >> 43, y = random() >> 43, z = random() >> 43;  // 21 bits
        const double scale = 1.0 / (1 << 21);
        const Vec3 fraction((x + 0.5) * scale, (y + 0.5) * scale, (z + 0.5) * scale);
        EXPECT_EQ(morton63(fraction), interleaved(x, y, z, 21));
        EXPECT_EQ(morton30(fraction), interleaved(x >> 11, y >> 11, z >> 11, 10));
    }
}

TEST(Morton, ClampsWhatIsOutside) {
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(morton63(Vec3(-1, nan, -inf)), 0u);
    EXPECT_EQ(morton63(Vec3(1, 2, inf)), (1ull << 63) - 1);
    EXPECT_EQ(morton30(Vec3(1, 1, 1)), (1u << 30) - 1);
}

TEST(Morton, SortEqualsStableSort) {
    std::mt19937_64 random(4);
    for (int size : {0, 1, 5, 300, 20000}) {
        std::vector<MortonItem> items(size), scratch;
        for (int i = 0; i < size; ++i) items[i] = {random() >> (1 + random() % 60), i};
        std::vector<MortonItem> expected = items;
        std::stable_sort(expected.begin(), expected.end(),
                         [](const MortonItem& a, const MortonItem& b) { return a.code < b.code; });
        sort_by_code(items, scratch);
        for (int i = 0; i < size; ++i) {
            ASSERT_EQ(items[i].code, expected[i].code);
            ASSERT_EQ(items[i].item, expected[i].item);
        }
    }
}

TEST(Morton, OrderKeepsNeighboursTogether) {
    // On a 16^3 grid the mean step along the curve is 1.6 cells or less; along the scan order it is not an issue, but a
    // random order would average about 8.
    std::vector<Vec3> points;
    for (int x = 0; x < 16; ++x)
        for (int y = 0; y < 16; ++y)
            for (int z = 0; z < 16; ++z) points.emplace_back(x, y, z);
    std::shuffle(points.begin(), points.end(), std::mt19937(5));
    const std::vector<MortonItem> order = morton_order(points);
    double length = 0;
    for (std::size_t i = 1; i < order.size(); ++i)
        length += (points[order[i].item] - points[order[i - 1].item]).norm();
    EXPECT_LT(length / (order.size() - 1), 2.0);
}

}  // namespace
}  // namespace tenon::geometry

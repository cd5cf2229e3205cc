#include "geometry/morton.hpp"

#include <algorithm>
#include <array>

#include "math/parallel.hpp"

namespace tenon::geometry {
namespace {

// Moves bit i of the lower 21 bits to bit 3 i.
std::uint64_t spread(std::uint64_t x) {
    x &= 0x1fffff;
    x = (x | x << 32) & 0x001f00000000ffffull;
    x = (x | x << 16) & 0x001f0000ff0000ffull;
    x = (x | x << 8) & 0x100f00f00f00f00full;
    x = (x | x << 4) & 0x10c30c30c30c30c3ull;
    x = (x | x << 2) & 0x1249249249249249ull;
    return x;
}

// The cell of a fraction on a grid of 2^bits; NaN goes to 0.
std::uint64_t cell(double fraction, int bits) {
    const double count = static_cast<double>(1u << bits);
    const double scaled = fraction * count;
    if (!(scaled > 0.0)) return 0;
    return scaled < count ? static_cast<std::uint64_t>(scaled) : (1u << bits) - 1;
}

std::uint64_t interleave(const Vec3& fraction, int bits) {
    return spread(cell(fraction.x(), bits)) << 2 | spread(cell(fraction.y(), bits)) << 1 |
           spread(cell(fraction.z(), bits));
}

}  // namespace

std::uint32_t morton30(const Vec3& fraction) {
    return static_cast<std::uint32_t>(interleave(fraction, 10));
}

std::uint64_t morton63(const Vec3& fraction) {
    return interleave(fraction, 21);
}

// Least significant digit first, 11 bits at a time; digits in which all codes agree are skipped.
void sort_by_code(std::vector<MortonItem>& items, std::vector<MortonItem>& scratch) {
    if (items.size() < 256) {
        std::stable_sort(items.begin(), items.end(),
                         [](const MortonItem& a, const MortonItem& b) { return a.code < b.code; });
        return;
    }
    constexpr int digit_bits = 11, passes = 6;
    constexpr std::uint64_t mask = (1u << digit_bits) - 1;
    std::vector<std::array<std::uint32_t, mask + 1>> count(passes);
    for (auto& digits : count) digits.fill(0);
    for (const MortonItem& item : items)
        for (int pass = 0; pass < passes; ++pass) ++count[pass][item.code >> (digit_bits * pass) & mask];
    scratch.resize(items.size());
    for (int pass = 0; pass < passes; ++pass) {
        auto& digits = count[pass];
        const int shift = digit_bits * pass;
        if (digits[items.front().code >> shift & mask] == items.size()) continue;
        std::uint32_t start = 0;
        for (std::uint32_t& entry : digits) {
            const std::uint32_t size = entry;
            entry = start;
            start += size;
        }
        for (const MortonItem& item : items) scratch[digits[item.code >> shift & mask]++] = item;
        items.swap(scratch);
    }
}

std::vector<MortonItem> morton_order(std::span<const Vec3> points) {
    Box3 box;
    for (const Vec3& point : points) box.add(point);
    const double side = points.empty() ? 0.0 : box.size().maxCoeff();
    const double scale = side > 0.0 ? 1.0 / side : 0.0;
    std::vector<MortonItem> items(points.size()), scratch;
    parallel_for(points.size(), 4096, [&](std::size_t i) {
        items[i] = {morton63((points[i] - box.lo) * scale), static_cast<int>(i)};
    });
    sort_by_code(items, scratch);
    return items;
}

}  // namespace tenon::geometry

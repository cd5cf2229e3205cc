// Morton codes: points along a space-filling curve, so that neighbours in the order are neighbours in space.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::geometry {

// 10 or 21 bits per axis, interleaved x y z from the highest bit. Coordinates are fractions of [0, 1], clamped.
std::uint32_t morton30(const Vec3& fraction);
std::uint64_t morton63(const Vec3& fraction);

struct MortonItem {
    std::uint64_t code = 0;
    int item = 0;
};

// Stable: equal codes stay in the order given, so the result is the same for any number of threads.
void sort_by_code(std::vector<MortonItem>& items, std::vector<MortonItem>& scratch);

// Items in Morton order of their points, scaled to the points' own box with one scale for all axes.
std::vector<MortonItem> morton_order(std::span<const Vec3> points);

}  // namespace tenon::geometry

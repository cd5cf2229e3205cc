// Closest points of four pairs of primitives at once, one pair per lane. The formulas are those of distance.hpp, and the
// values the same on every processor.
#pragma once

#include <array>
#include <cstdint>

#include "tenon/types.hpp"

namespace tenon::geometry {

constexpr int four = 4;

// The corners of one pair: each points at three numbers, and a fourth that may be read but does not count.
using PairCorners = std::array<const double*, 4>;

struct ClosestFour {
    alignas(32) double squared[four];
    alignas(32) double difference[3][four];  // from the second side's closest point to the first's
    // Point and triangle: weights of the triangle's second and third corner. Edges: parameters along the first and second.
    alignas(32) double s[four], t[four];
    alignas(32) std::int64_t active[four];  // bit i: vertex i spans the closest features
};

// `groups` times four pairs.
struct ClosestPointKernels {
    void (*point_triangle)(const PairCorners* corners, int groups, ClosestFour* out);
    void (*edge_edge)(const PairCorners* corners, int groups, ClosestFour* out);
};

// The fastest this processor runs.
const ClosestPointKernels& closest_point_kernels();

extern const ClosestPointKernels portable_closest_point;
extern const ClosestPointKernels avx2_closest_point;

}  // namespace tenon::geometry

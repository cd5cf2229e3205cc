// Which pairs of primitives of two moving bodies a given direction keeps apart all the way: a first look before CCD, four
// pairs at once. Heights along a fixed direction change evenly on straight ways, so both ends tell of all between.
#pragma once

#include <array>

namespace tenon::geometry {

// Not of unit length: any will do, and rounding does not make it wrong. The fourth number does not count.
using LooseDirection = std::array<float, 4>;

// Two bodies' corners, each of three numbers, and one number that may be read after the last.
struct MovingSides {
    const double* start[2];  // of the first and of the second side
    const double* step[2];   // from there
    double reach = 0.0;      // none of all these numbers is larger
};

struct SeparatingAxisKernels {
    // Takes those out of the list whose direction, from the second side to the first, keeps them further apart than `gap`
    // while t goes from 0 to t_max. Returns how many are left, in their order. The list has numbers of pairs, into
    // `corners` and `directions`.
    using Kernel = int (*)(const MovingSides& sides, const std::array<int, 4>* corners,
                           const LooseDirection* directions, double t_max, double gap, int* list, int count);
    Kernel point_triangle;  // corner 0 against the others
    Kernel edge_edge;       // corners 0 and 1 against 2 and 3
};

// The fastest this processor runs; the answers are the same on every processor.
const SeparatingAxisKernels& separating_axis_kernels();

extern const SeparatingAxisKernels portable_separating_axis;
extern const SeparatingAxisKernels avx2_separating_axis;

}  // namespace tenon::geometry

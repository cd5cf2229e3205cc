// Whether two surfaces touch while every vertex moves straight from one place to another.
#pragma once

#include "verify/surface.hpp"

namespace tenon::verify {

struct SweepHit {
    bool hit = false;
    double at = 1.0;  // 0..1, of the first pair of cells found, not necessarily the earliest
    int cell_a = -1, cell_b = -1;
    Vec3 normal = Vec3::Zero();  // from a to b, shortly before
};

struct Closest {
    double distance = 0.0;
    Vec3 direction = Vec3::Zero();  // unit, from a to b
};

// Distance of two disjoint cells (triangles, segments or points).
Closest closest(const Corners& a, const Corners& b);

// Conservative: cells that come nearer than the rounding of their coordinates count as touching.
SweepHit sweep_cells(const Corners& a0, const Corners& a1, const Corners& b0, const Corners& b1);

SweepHit sweep(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1);

// True when one of the bodies' own axes keeps small rigid surfaces apart at both ends. The gap along a fixed axis
// is a concave function of time for vertices that move straight, so it is then positive all the way.
bool kept_apart(const Placed& a0, const Placed& a1, const Placed& b0, const Placed& b1);

}  // namespace tenon::verify

// Where two solids may overlap: the overlap of their boxes, narrowed down to where their surfaces come near each other.
#pragma once

#include <array>
#include <vector>

#include "methods/volume/intersection.hpp"

namespace tenon::volume {

struct OverlapRegion {
    Box3 box;  // whole pixels of the scene's lattice; contains the intersection
    // Whether all rays of the image along an axis are known to be outside a solid where they enter or leave the box.
    std::array<std::array<bool, 2>, 3> outside_at_start{}, outside_at_end{};
    bool known_outside(int axis, int solid) const {
        return outside_at_start[axis][solid] || outside_at_end[axis][solid];
    }
};

// The solid's blocks whose boxes reach into a region, and those boxes in the world.
struct BlocksInRegion {
    std::vector<int> block;
    std::vector<Box3> box;
};
BlocksInRegion blocks_in(const Solid& solid, const Box3& region);

// Blocks of triangles stand for the surfaces. Seen along an axis, in tiles of pixels, a solid lies between its first and
// its last block where both ends of the ray are outside of it: tiles in which the two solids' spans are apart hold no
// intersection.
OverlapRegion find_region(const Solid& a, const Solid& b, double pixel);

}  // namespace tenon::volume

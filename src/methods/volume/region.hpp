// Where two solids may overlap: the overlap of their boxes, narrowed down to where their surfaces come near each other.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "geometry/ldi.hpp"
#include "methods/volume/solid.hpp"

namespace tenon::volume {

struct OverlapRegion {
    Box3 box;  // whole pixels of the scene's lattice; contains the intersection
    // Whether all rays of the image along an axis are known to be outside a solid where they enter or leave the box.
    std::array<std::array<bool, 2>, 3> outside_at_start{}, outside_at_end{};
    bool known_outside(int axis, int solid) const {
        return outside_at_start[axis][solid] || outside_at_end[axis][solid];
    }
    // The rays along each axis that may pass through both solids at one depth.
    std::array<geometry::RayMask, 3> rays;
    double pixel = 0;
    bool on_wanted_rays(const Box3& part) const;  // whether any of those may meet what the box holds
};

// Boxes in the world of the nodes of a solid's tree.
class NodeBoxes {
  public:
    explicit NodeBoxes(const Solid& solid)
        : tree_(solid.blocks ? *solid.blocks : solid.surface->tree()), posed_(!solid.blocks), q_(solid.q) {}

    Box3 operator()(int node) const {
        const Box3 box = tree_.node_box(node);
        if (!posed_) return box;
        Box3 moved;
        for (int k = 0; k < 3; ++k) {  // by hand: small products of Eigen are calls here
            double middle = q_(k, 3), half = 0;
            for (int l = 0; l < 3; ++l) {
                middle += 0.5 * q_(k, l) * (box.lo[l] + box.hi[l]);
                half += 0.5 * std::abs(q_(k, l)) * (box.hi[l] - box.lo[l]);
            }
            moved.lo[k] = middle - half, moved.hi[k] = middle + half;
        }
        return moved;
    }

    // The box of the whole solid, a little wide: that of nodes an eighth of its size.
    Box3 whole() const;

    // Calls visit(block) for the blocks of triangles whose boxes pass a test, which those of inner nodes must pass too.
    template <class Test, class Visit>
    void visit_blocks(const Test& test, const Visit& visit) const {
        tree_.visit_where([&](int node) { return test((*this)(node)); }, visit);
    }

    // Boxes that together hold the solid's surface within a region: of the largest nodes of that size at most, or of
    // blocks. How many there are depends on the surface and not on how finely it is divided.
    void cover(const Box3& region, double size, std::vector<Box3>& boxes) const;

  private:
    const geometry::Bvh& tree_;
    bool posed_;
    Mat34 q_;
};

// Boxes of the trees stand for the surfaces, large ones first, smaller ones where the region has shrunk. Seen along an
// axis, in tiles of pixels, a solid lies between its first and its last box where both ends of the ray are outside of it:
// tiles in which the two solids' spans are apart hold no intersection.
OverlapRegion find_region(const Solid& a, const Solid& b, double pixel);

}  // namespace tenon::volume

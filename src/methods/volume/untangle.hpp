// A way out of overlaps: bodies that intersect at the start are moved apart, as little as possible.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/scene.hpp"

namespace tenon::volume {

struct UntangleOptions {
    double margin = 0.0;  // m between bodies afterwards; 0: the scene's dhat, or 1e-3 of its length
    double pixel = 0.0;   // m, of the first images; 0: chosen from the bodies' sizes
    int rounds = 200;     // corrections at each resolution
    int refinements = 4;  // each halves the pixel, while bodies still intersect
    std::function<void(int round, double depth, int contacts)> progress;
};

struct UntangleReport {
    struct Moved {
        std::string body;
        double distance = 0, degrees = 0;
    };
    std::vector<Moved> moved;            // farthest first
    std::vector<std::string> remaining;  // overlaps that could not be undone, in words
    using Names = std::pair<std::string, std::string>;
    std::vector<Names> parted;  // pairs that were taken through each other, volumes leading nowhere
    std::vector<Names> linked;  // rings that no longer overlap, but still go through each other
    double overlap_depth = 0;   // mean depth of the deepest overlap at the start
    int rounds = 0;
    double margin = 0, pixel = 0;
    bool clean() const { return remaining.empty(); }
};

// Changes positions and rotations of the scene's dynamic bodies until none intersects; velocities stay. Volume
// constraints on surfaces inflated by half the margin do the work, an exact test of the triangles judges it. Throws
// Interrupted when an InterruptScope says so; the scene is then as it was.
UntangleReport untangle(Scene& scene, const UntangleOptions& options);

}  // namespace tenon::volume

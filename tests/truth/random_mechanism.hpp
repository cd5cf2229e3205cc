// Random mechanisms: trees of links with loops closed by further joints, every joint kind, drives of every kind.
#pragma once

#include <cstdint>

#include "tenon/scene.hpp"

namespace tenon::test {

struct MechanismRange {
    int most_links = 30;
    bool drives = true;  // motors, limits, friction, armature, springs
    bool loops = true;
    bool floor = true;        // some of them stand over a floor that their free ends may hit
    double mass_range = 1e4;  // heaviest over lightest link
    double dt_min = 0.0005, dt_max = 0.02;
    bool touching =
        false;  // links are apart at the start, touch as any others later, and some joints may break
};

// The same seed gives the same mechanism. Its joints are closed at the start and leave it at least one degree of freedom.
Scene random_mechanism(std::uint64_t seed, const MechanismRange& range);

}  // namespace tenon::test

// Bodies that a preview left a little inside each other are moved apart: contacts of pairs, one after the other.
#pragma once

#include <functional>
#include <string>

#include "tenon/state.hpp"

namespace tenon::run {

struct PartReport {
    bool clean = false;     // an exact check of the triangles finds nothing
    int moved = 0;          // bodies
    double farthest = 0.0;  // m
};

// Shifts dynamic bodies along the normals of their contacts, lighter ones and those above farther than what carries them,
// until all pairs that may collide are apart. Rotations and rates stay. For overlaps that are shallow beside the bodies; where
// they are not, or a shape has no inside, the report is not clean and the state as it was. `say` hears of every pass; throws
// Interrupted when an InterruptScope says so.
PartReport part_bodies(const Model& model, State& state, const std::function<void(const std::string&)>& say);

}  // namespace tenon::run

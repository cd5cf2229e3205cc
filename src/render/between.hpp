// A run at any time: recorded frames, and what lies between them.
#pragma once

#include "run/run_file.hpp"

namespace tenon::render {

// Positions and deformations go straight, rotations along the shortest arc; contacts are those of the nearer frame.
// `part` is 0 at `a`, 1 at `b`.
run::Frame between_frames(const run::Frame& a, const run::Frame& b, double part);

}  // namespace tenon::render

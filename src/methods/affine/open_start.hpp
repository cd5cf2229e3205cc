// A start in which bodies just touch becomes one in which they are a little apart: barriers need a gap to begin with.
#pragma once

#include <string>
#include <vector>

#include "tenon/state.hpp"

namespace tenon::affine {

// Moves dynamic bodies without joints that touch others apart, by 2e-6 of their size. What was moved, in words. Where that
// is not enough, the state stays as it was.
std::vector<std::string> open_touching_bodies(const Model& model, State& state);

}  // namespace tenon::affine

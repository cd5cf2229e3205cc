// Rings that go through each other: once apart they do not overlap, but nothing can take one out of the other.
#pragma once

#include <utility>
#include <vector>

#include "methods/volume/motion.hpp"
#include "tenon/state.hpp"

namespace tenon::volume {

// Pairs of bodies with holes that none of 26 straight ways leads apart, seen with pixels of the given size.
std::vector<std::pair<int, int>> linked_pairs(const Model& model, const State& state, const Motion& motion,
                                              double pixel);

// How far b must go along a direction to leave the convex hull of a, for certain.
double way_out(const Model& model, const Motion& motion, int a, int b, const Vec3& direction);

// The 26 directions to the neighbours of a cell.
std::vector<Vec3> ways();

}  // namespace tenon::volume

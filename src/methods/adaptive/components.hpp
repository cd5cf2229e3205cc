// Which elements move rigidly together, and how (Algorithm 2).
#pragma once

#include "methods/adaptive/solid.hpp"

namespace tenon::adaptive {

// Where a drive has its frame at a time.
Mat34 drive_pose(const Model& model, const State& state, const Solid& solid, int drive, double time);

// Recomputes owners and components from the elements flagged rigid: connected through faces, never sharing a vertex.
// Elements that hang on a component by less than a face join it when their vertices move with it, to within
// `stretch_rate` (1/s) times their distance. `h` is the step: vertices
// have come along the chords of their circles. Each component takes over the momentum and the angular momentum of its
// vertices.
void form_components(const Model& model, const State& state, const Solid& solid, int smallest,
                     double stretch_rate, double h, SolidState& part);

// Mass, centre, principal axes and twist of a set of vertices.
Component rigid_component(const Solid& solid, const SolidState& part, std::vector<int> vertices);

}  // namespace tenon::adaptive

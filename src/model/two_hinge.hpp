// The two-hinge form of universal joints: linear rows only, at the price of a small body between the two.
#pragma once

#include "tenon/scene.hpp"

namespace tenon::model {

// Every universal joint that asks for linear rows becomes a linear hinge about `axis` (which keeps its name and place), a
// small cross NAME-cross, and a linear hinge NAME-b about `axis_b`. Drives and couplings of its second coordinate move
// to that hinge.
Scene split_linear_universals(const Scene& scene);
bool has_linear_universals(const Scene& scene);

}  // namespace tenon::model

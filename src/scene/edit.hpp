// Bodies that come and go in a scene, with everything that refers to them by number.
#pragma once

#include <vector>

#include "tenon/scene.hpp"

namespace tenon::scene {

// Adds a body and returns its number. Forces on elastic bodies, which are numbered after the bodies, move up by one.
int add_body_before_elastic(Scene& scene, const BodySpec& body);

// Removes a body with its joints, the couplings of those, its forces, ignore entries, pins and expectations; what is
// numbered after it moves down. Returns for each joint that is left which one it was.
std::vector<int> remove_body(Scene& scene, int body);

}  // namespace tenon::scene

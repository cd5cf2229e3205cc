// The wall of blocks in Bullet, for comparison.
#pragma once

#include <string>

#include "bench/bench.hpp"
#include "tenon/scene.hpp"

namespace tenon::bench {

// Prints Bullet's row; false, with a note, when it is not installed.
bool bullet_wall(const std::string& name, const Scene& scene, int steps, bool hulls, const Options& options);

}  // namespace tenon::bench

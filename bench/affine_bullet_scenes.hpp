// Scenes that friction and fine geometry decide, beside Bullet at its usual and at conservative steps.
#pragma once

#include "bench/bench.hpp"

namespace tenon::bench {

// `screw`, `arch`, `card-house` and `spiky-pile`: a row of ours, then Bullet's, each with what became of the scene.
void friction_scenes(const Options& options);

}  // namespace tenon::bench

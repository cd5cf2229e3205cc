// The wall of blocks in Bullet, for comparison.
#pragma once

#include <optional>
#include <string>

#include "bench/bench.hpp"
#include "tenon/scene.hpp"

namespace tenon::bench {

struct BulletRun {
    double ms_per_step = 0.0;  // CPU time
    double deepest = 0.0;      // penetration that Bullet itself sees, m
};

// The median of several runs; nothing when Bullet is not installed.
std::optional<BulletRun> bullet_wall(const Scene& scene, int steps, bool hulls, int repeats);

Row bullet_row(const std::string& name, const Scene& scene, bool hulls, const BulletRun& run);

}  // namespace tenon::bench

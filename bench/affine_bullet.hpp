// The wall of blocks in Bullet, for comparison.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "tenon/scene.hpp"

namespace tenon::bench {

struct BulletRun {
    double ms_per_step = 0.0;  // CPU time
    double deepest = 0.0;      // penetration that Bullet itself sees, m
};

// One run; nothing when Bullet is not installed.
std::optional<BulletRun> bullet_wall(const Scene& scene, int steps, bool hulls);

BulletRun median_of(const std::vector<BulletRun>& runs);  // all of the same scene

Row bullet_row(const std::string& name, const Scene& scene, bool hulls, const BulletRun& run);

}  // namespace tenon::bench

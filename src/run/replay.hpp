// Runs a recorded scene again and compares every recorded frame with it, bit for bit.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "run/run_loop.hpp"

namespace tenon::run {

struct ReplayResult {
    std::string status;          // same | differs | stopped | failed
    std::string difference;      // what differs first, or why the run failed
    long frames = 0, steps = 0;  // compared, made
    long first_step = -1;        // of the first frame that differs ...
    long first_frame = -1;       // ... its number ...
    std::string body, quantity;  // ... and the first number in it that does
    double largest = 0.0;        // largest difference of a coordinate in that frame, m
    double wall_seconds = 0.0;
    std::string to_json() const;
};

// Stops at the first frame that differs. `scene` is the one the run file holds.
ReplayResult replay_run(Scene scene, const RunReader& reader, const std::atomic<bool>* stop = nullptr,
                        const std::function<void(const Progress&)>& progress = {});

}  // namespace tenon::run

// Two recorded runs compared: the same bits, or where and how they part.
#pragma once

#include <string>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::run {

struct RunDifference {
    std::string first, second;          // files
    bool same = false;                  // every frame that both hold, and as many of them
    std::vector<std::string> settings;  // scene, method, step ... that differ
    long frames = 0;                    // compared: those of the same step in both
    long frames_first = 0, frames_second = 0;
    long differing = 0;    // frames
    long first_step = -1;  // of the first that differs ...
    double first_time = 0.0;
    std::string body, quantity, text;  // ... and the first number in it
    double largest = 0.0;              // largest difference of any number
    double last_largest = 0.0;         // in the last frame compared

    std::string to_json() const;
};

RunDifference diff_runs(const RunReader& a, const RunReader& b);

}  // namespace tenon::run

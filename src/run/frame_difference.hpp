// Two frames number by number: what differs first, and by how much.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::run {

struct FrameDifference {
    std::string body;      // whose number differs first; "" when the frames are of different things
    std::string quantity;  // "pose[1,3]", "velocity[0,3]", "vertex 12 x", "time" ...
    double first = 0.0, second = 0.0;  // its two values
    double largest = 0.0;              // largest difference of any number of this frame
    long numbers = 0;                  // how many differ

    std::string text() const;  // "body 'ball', pose[1,3]: 0.5 against 0.25"
};

// Bits, not values: -0 and 0 part later on. Nothing when all are the same.
std::optional<FrameDifference> difference(const Frame& a, const Frame& b,
                                          const std::vector<std::string>& bodies,
                                          const std::vector<std::string>& elastic);

// Names of the bodies of a run, for the messages.
std::vector<std::string> body_names(const RunReader& run);
std::vector<std::string> elastic_names(const RunReader& run);

}  // namespace tenon::run

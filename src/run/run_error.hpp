// How far one run is from another: every body's points and every elastic vertex, at the times of its frames.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::run {

struct RunError {
    double largest = 0.0;  // m, over all frames and points
    double at_end = 0.0;   // m, in the last frame that both reach
    double end_time = 0.0;
    std::string worst;               // the body of the largest
    long frames = 0;                 // compared
    std::vector<double> time, each;  // per frame, the largest of its bodies
    std::string note;                // what could not be compared
};

// Bodies are matched by their names. A body's points are the corners of its box; elastic bodies of the same mesh are
// compared vertex by vertex, of different meshes by their centres of mass. Between its frames the reference is a cubic
// through poses and rates, so that runs of different steps can be compared at the same times.
RunError run_error(const RunReader& run, const RunReader& reference);

// The order p of an error e(h) = C h^p from two steps, where errors are taken against a run of step `h_reference`
// (0: the truth): (h1^p - h0^p) / (h2^p - h0^p) = e1 / e2. Nothing when the errors do not shrink or are rounding.
std::optional<double> observed_order(double h1, double e1, double h2, double e2, double h_reference);

}  // namespace tenon::run

// What can be said of a run's accuracy before it: stiffnesses that are given or chosen, the shortest time scale, and what
// the first step warns of.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tenon/method.hpp"

namespace tenon::app {

struct AccuracyNote {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();
    double dhat = none, kappa = none;  // of affine: as the first step had them
    bool dhat_given = false, kappa_given = false;
    double young = none;       // Pa, the smallest that the scene gives to a body
    double time_scale = none;  // s: 1/omega of the fastest oscillation or spin
    std::string time_scale_of;
    double expected_error = none;  // of the amplitude, at the end
    double good_step = none;       // s: brings that under 1 %
    std::string not_tried;         // why no step was made
    std::vector<std::string> warnings;
};

AccuracyNote check_accuracy(const Scene& scene, const Model& model, const State& state);

// "dhat 0.001 m (chosen), kappa 2e9 Pa (chosen)" and so on, a line each.
std::vector<std::pair<std::string, std::string>> accuracy_rows(const AccuracyNote& note, const Scene& scene);

}  // namespace tenon::app

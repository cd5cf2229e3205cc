// How joints lie in their bodies, as a run file has it for other programs. Tenon itself makes them anew from the scene.
#pragma once

#include <array>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::run {

struct JointAxes {
    std::array<Mat3, 2> frame;  // in the bodies' frames: axis and two normals
    double rest_length = 0.0;
};

std::vector<JointAxes> joint_axes(const RunReader& run);  // throws InputError

}  // namespace tenon::run

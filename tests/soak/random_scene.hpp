// Scenes nobody thought of: made from a seed, valid by construction.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/scene.hpp"

namespace tenon::soak {

struct Range {
    int most_bodies = 200;
    double smallest = 1e-3, largest = 1e3;  // size of the bodies, m
    double lightest = 1.0,
           heaviest = 2e4;   // density, kg/m^3; sizes differ by up to 10: masses by 1e6 and more
    double fastest = 500.0;  // m/s, and no more than half a body's size a step
    int steps = 40;
};

// The same seed, method and range give the same scene. It holds what the method can express: shapes of all kinds in
// a loose lattice above a floor, some joined by joints with limits, springs and motors, some kinematic, some static.
Scene random_scene(std::uint64_t seed, const std::string& method, const Range& range);

}  // namespace tenon::soak

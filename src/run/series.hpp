// Any recorded number over time, by name, and tables of them.
#pragma once

#include <string>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::run {

// Names: of steps `wall_ms iterations contacts min_distance joint_residual kinetic gravity elastic energy
// px py pz lx ly lz`, `phase.NAME`, `figure.NAME`; of frames `body.NAME.WHAT` with x y z (centre of mass), vx vy
// vz speed, wx wy wz spin; `joint.NAME.WHAT` with q0 q1 q2, v0.., motor0.., limit0.., fx fy fz force, tx ty tz torque;
// `elastic.NAME.WHAT` with x y z vx vy vz speed of its centre of mass; `contact_force`; of the scene's sensors, after every step,
// `sensor.NAME` or `sensor.NAME.COMPONENT` (docs/robots.md).
struct Series {
    std::string name;
    std::string unit;
    std::vector<long> step;
    std::vector<double> time, value;  // NaN where there is no value
};

std::vector<std::string> step_series_names(const RunReader& run);  // those that this run holds
// Of series per frame every `frame_stride`-th frame is read, and the last. Throws InputError.
std::vector<Series> read_series(const RunReader& run, const std::vector<std::string>& names,
                                long frame_stride = 1);

// One row per step at which any of the series has a value: step,time,NAME [UNIT],...
std::string series_csv(const RunReader& run, const std::vector<std::string>& names);

}  // namespace tenon::run

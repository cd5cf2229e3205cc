// What the scene's sensors measure after a step.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tenon/state.hpp"

namespace tenon {

// (name, value) of every sensor, such as "sensor.hand.x". `rate_before` are the bodies' rates at the start of the step
// of length dt: accelerations are means over it.
std::vector<std::pair<std::string, double>> read_sensors(const std::vector<SensorSpec>& sensors,
                                                         const Model& model, const State& state,
                                                         const Outputs& outputs,
                                                         const std::vector<Mat34>& rate_before, double dt);

// The component names of a sensor: "x", "y" ...; a single "" for one that measures one number.
const std::vector<std::string>& sensor_components(SensorSpec::Type type);
const char* sensor_unit(SensorSpec::Type type, const std::string& component);

}  // namespace tenon

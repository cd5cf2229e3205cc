// Tendons, actuators, sensors and keyframes as JSON.
#pragma once

#include <string>

#include "scene/json_writer.hpp"
#include "tenon/scene.hpp"

namespace tenon::scene {

void add_joint_start(JsonObject& out, const JointSpec& joint);
std::string profile_text(const std::vector<std::array<double, 2>>& profile);
std::string tendon_text(const Scene& scene, const TendonSpec& tendon);
std::string actuator_text(const Scene& scene, const ActuatorSpec& actuator);
std::string sensor_text(const Scene& scene, const SensorSpec& sensor);
std::string keyframe_text(const Scene& scene, const KeyframeSpec& keyframe);

}  // namespace tenon::scene

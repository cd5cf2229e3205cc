#include "scene/write_robot.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenon::scene {
namespace {

constexpr double unlimited = 1e300;

std::string joint_name(const Scene& scene, int joint) {
    const std::string& name = scene.joints[static_cast<std::size_t>(joint)].name;
    return name.empty() ? fmt::format("joint-{}", joint) : name;
}

const std::string& body_name(const Scene& scene, int body) {
    return scene.bodies[static_cast<std::size_t>(body)].name;
}

std::string number_or_list(const std::vector<double>& numbers) {
    return numbers.size() == 1 ? json_number(numbers[0]) : json_numbers(numbers);
}

void add_limits(JsonObject& out, const char* key, const std::array<double, 2>& limits) {
    if (limits[0] > -unlimited || limits[1] < unlimited) out.add(key, json_numbers({limits[0], limits[1]}));
}

}  // namespace

void add_joint_start(JsonObject& out, const JointSpec& joint) {
    if (!joint.start.empty()) out.add("position", number_or_list(joint.start));
    if (!joint.start_rate.empty()) out.add("velocity", number_or_list(joint.start_rate));
}

std::string profile_text(const std::vector<std::array<double, 2>>& profile) {
    std::vector<std::string> pairs;
    for (const auto& [time, target] : profile) pairs.push_back(json_numbers({time, target}));
    return json_list(pairs);
}

std::string tendon_text(const Scene& scene, const TendonSpec& tendon) {
    JsonObject out;
    out.text("name", tendon.name);
    std::vector<std::string> joints;
    std::vector<double> coordinates, coefficients;
    for (const TendonSpec::Term& term : tendon.terms) {
        joints.push_back(json_text(joint_name(scene, term.joint)));
        coordinates.push_back(term.coordinate);
        coefficients.push_back(term.coefficient);
    }
    out.add("joints", json_list(joints));
    if (std::any_of(coordinates.begin(), coordinates.end(), [](double c) { return c != 0; }))
        out.add("coordinates", json_numbers(coordinates));
    out.add("coefficients", json_numbers(coefficients));
    return out.take();
}

std::string actuator_text(const Scene& scene, const ActuatorSpec& actuator) {
    static const char* const types[] = {"position", "velocity", "torque"};
    JsonObject out;
    out.text("name", actuator.name);
    out.text("type", types[static_cast<int>(actuator.type)]);
    if (actuator.joint >= 0) out.text("joint", joint_name(scene, actuator.joint));
    if (actuator.coordinate != 0) out.number("coordinate", actuator.coordinate);
    if (actuator.tendon >= 0)
        out.text("tendon", scene.tendons[static_cast<std::size_t>(actuator.tendon)].name);
    if (actuator.gear != 1) out.number("gear", actuator.gear);
    if (actuator.kp != 0) out.number("kp", actuator.kp);
    if (actuator.kd != 0) out.number("kd", actuator.kd);
    add_limits(out, "force_limits", actuator.force_limits);
    if (actuator.velocity_limit < unlimited) out.number("velocity_limit", actuator.velocity_limit);
    add_limits(out, "target_limits", actuator.target_limits);
    if (actuator.profile.empty())
        out.number("target", actuator.target);
    else
        out.add("profile", profile_text(actuator.profile));
    return out.take();
}

std::string sensor_text(const Scene& scene, const SensorSpec& sensor) {
    static const char* const types[] = {"pose",           "velocity",       "acceleration",
                                        "joint_position", "joint_velocity", "joint_torque",
                                        "force_torque",   "contact_force",  "distance"};
    JsonObject out;
    out.text("name", sensor.name);
    out.text("type", types[static_cast<int>(sensor.type)]);
    if (sensor.other >= 0)
        out.add("bodies", json_list({json_text(body_name(scene, sensor.other)),
                                     json_text(body_name(scene, sensor.body))}));
    else if (sensor.body >= 0)
        out.text("body", body_name(scene, sensor.body));
    if (sensor.joint >= 0) out.text("joint", joint_name(scene, sensor.joint));
    if (sensor.coordinate != 0) out.number("coordinate", sensor.coordinate);
    if (!sensor.point.isZero(0.0)) out.vec3("position", sensor.point);
    if (sensor.rotation.coeffs() != Quat::Identity().coeffs())
        out.add("rotation", json_quat(sensor.rotation));
    if (sensor.body_frame) out.flag("body_frame", true);
    return out.take();
}

std::string keyframe_text(const Scene& scene, const KeyframeSpec& keyframe) {
    JsonObject out, positions, velocities, targets, bodies;
    out.text("name", keyframe.name);
    for (const KeyframeSpec::JointState& state : keyframe.joints) {
        if (!state.position.empty())
            positions.add(joint_name(scene, state.joint), number_or_list(state.position));
        if (!state.velocity.empty())
            velocities.add(joint_name(scene, state.joint), number_or_list(state.velocity));
    }
    for (const KeyframeSpec::Target& target : keyframe.targets)
        targets.number(scene.actuators[static_cast<std::size_t>(target.actuator)].name, target.target);
    for (const KeyframeSpec::BodyState& state : keyframe.bodies) {
        JsonObject body;
        if (state.position) body.vec3("position", *state.position);
        if (state.rotation) body.add("rotation", json_quat(*state.rotation));
        if (state.linear_velocity) body.vec3("linear_velocity", *state.linear_velocity);
        if (state.angular_velocity) body.vec3("angular_velocity", *state.angular_velocity);
        bodies.add(body_name(scene, state.body), body.take());
    }
    if (!positions.empty()) out.add("positions", positions.take());
    if (!velocities.empty()) out.add("velocities", velocities.take());
    if (!targets.empty()) out.add("targets", targets.take());
    if (!bodies.empty()) out.add("bodies", bodies.take());
    return out.take();
}

}  // namespace tenon::scene

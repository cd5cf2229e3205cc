#include "scene/edit.hpp"

#include <algorithm>

namespace tenon::scene {
namespace {

// Joints to keep: those of other bodies, and the couplings all of whose joints stay.
std::vector<int> joints_without(const Scene& scene, int body) {
    std::vector<int> kept;
    const auto names_body = [&](const JointSpec& joint) {
        return joint.bodies[0] == body || joint.bodies[1] == body;
    };
    for (int j = 0; j < static_cast<int>(scene.joints.size()); ++j) {
        const JointSpec& joint = scene.joints[j];
        const bool loses_joint =
            joint.type == JointType::coupling &&
            (names_body(scene.joints[joint.joints[0]]) || names_body(scene.joints[joint.joints[1]]));
        if (!names_body(joint) && !loses_joint) kept.push_back(j);
    }
    return kept;
}

}  // namespace

int add_body_before_elastic(Scene& scene, const BodySpec& body) {
    const int index = scene.add_body(body);
    for (ForceSpec& force : scene.forces)
        if (force.body >= index) ++force.body;
    return index;
}

namespace {

// Tendons, actuators, sensors and keyframes of a body that goes, and of its joints, go with it; the others follow the
// numbers that move down. `place` says where each joint went, -1 for nowhere.
void drop_robot_parts(Scene& scene, int body, const std::vector<int>& place) {
    const auto gone = [&](int joint) { return joint >= 0 && place[joint] < 0; };
    const auto move_joint = [&](int& joint) {
        if (joint >= 0) joint = place[joint];
    };
    const auto move_body = [&](int& index) {
        if (index > body) --index;
    };
    std::vector<int> tendon_place, actuator_place;
    std::vector<TendonSpec> tendons;
    for (TendonSpec& tendon : scene.tendons) {
        bool kept = true;
        for (const TendonSpec::Term& term : tendon.terms) kept = kept && !gone(term.joint);
        tendon_place.push_back(kept ? static_cast<int>(tendons.size()) : -1);
        for (TendonSpec::Term& term : tendon.terms) move_joint(term.joint);
        if (kept) tendons.push_back(tendon);
    }
    scene.tendons = std::move(tendons);
    std::vector<ActuatorSpec> actuators;
    for (ActuatorSpec& actuator : scene.actuators) {
        const bool kept =
            !gone(actuator.joint) && (actuator.tendon < 0 || tendon_place[actuator.tendon] >= 0);
        actuator_place.push_back(kept ? static_cast<int>(actuators.size()) : -1);
        move_joint(actuator.joint);
        if (actuator.tendon >= 0) actuator.tendon = tendon_place[actuator.tendon];
        if (kept) actuators.push_back(actuator);
    }
    scene.actuators = std::move(actuators);
    std::erase_if(scene.sensors, [&](const SensorSpec& sensor) {
        return sensor.body == body || sensor.other == body || gone(sensor.joint);
    });
    for (SensorSpec& sensor : scene.sensors)
        move_body(sensor.body), move_body(sensor.other), move_joint(sensor.joint);
    for (KeyframeSpec& key : scene.keyframes) {
        std::erase_if(key.joints, [&](const auto& entry) { return gone(entry.joint); });
        std::erase_if(key.bodies, [&](const auto& entry) { return entry.body == body; });
        std::erase_if(key.targets, [&](const auto& entry) { return actuator_place[entry.actuator] < 0; });
        for (auto& entry : key.joints) move_joint(entry.joint);
        for (auto& entry : key.bodies) move_body(entry.body);
        for (auto& entry : key.targets) entry.actuator = actuator_place[entry.actuator];
    }
}

}  // namespace

std::vector<int> remove_body(Scene& scene, int body) {
    const std::string name = scene.bodies[body].name;
    const std::vector<int> kept = joints_without(scene, body);
    const auto moved = [body](int index) { return index > body ? index - 1 : index; };

    std::vector<int> place(scene.joints.size(), -1);
    std::vector<JointSpec> joints;
    for (int j : kept) {
        place[j] = static_cast<int>(joints.size());
        joints.push_back(scene.joints[j]);
    }
    for (JointSpec& joint : joints) {
        for (int& index : joint.bodies) index = moved(index);
        if (joint.type == JointType::coupling)
            for (int& index : joint.joints) index = place[index];
    }
    scene.joints = std::move(joints);
    drop_robot_parts(scene, body, place);

    std::erase_if(scene.forces, [body](const ForceSpec& force) { return force.body == body; });
    for (ForceSpec& force : scene.forces) force.body = moved(force.body);
    std::erase_if(scene.contact.ignore,
                  [body](const std::array<int, 2>& pair) { return pair[0] == body || pair[1] == body; });
    for (auto& pair : scene.contact.ignore)
        for (int& index : pair) index = moved(index);
    for (ElasticSpec& elastic : scene.elastic)
        std::erase_if(elastic.pins, [&](const ElasticSpec::Pin& pin) { return pin.body == name; });
    std::erase_if(scene.expect, [&](const ExpectSpec& expect) { return expect.body == name; });
    scene.bodies.erase(scene.bodies.begin() + body);
    return kept;
}

}  // namespace tenon::scene

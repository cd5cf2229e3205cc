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

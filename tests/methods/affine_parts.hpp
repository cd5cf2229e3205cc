// Scenes for tests of contact physics.
#pragma once

#include <map>
#include <string>

#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon::test {

inline Scene ground_scene(double friction) {
    Scene scene;
    scene.dt = 0.01;
    scene.materials[0].friction = friction;
    BodySpec floor = body_spec(scene, "floor", box_spec({8, 0.4, 8}), Vec3(0, -0.2, 0));
    floor.type = BodyType::static_body;
    scene.add_body(floor);
    return scene;
}

inline Scene builtin(const std::string& name, const std::map<std::string, ParamValue>& values) {
    return make_builtin(*find_builtin(name), values);
}

inline Vec3 position(const Simulation& simulation, int body) {
    return simulation.state().q[body].col(3);
}

// Steps to the end of `seconds`; the number of steps that did not converge.
inline int run_for(Simulation& simulation, double seconds) {
    int unconverged = 0;
    while (simulation.time() < seconds - 1e-9) unconverged += !simulation.step().converged;
    return unconverged;
}

inline JointSpec joint_between(JointType type, int a, int b, const Vec3& point, const Vec3& axis) {
    JointSpec joint;
    joint.name = "joint" + std::to_string(b);
    joint.type = type;
    joint.bodies = {a, b};
    joint.point = point;
    joint.axis = axis;
    return joint;
}

}  // namespace tenon::test

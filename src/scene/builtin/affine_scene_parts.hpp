// What the affine family's machines are put together from.
#pragma once

#include <string>

#include "scene/builtin/scene_parts.hpp"

namespace tenon {

inline int add_static(Scene& scene, const std::string& name, const GeometrySpec& geometry, const Vec3& at,
                      const Quat& rotation = Quat::Identity()) {
    BodySpec body = body_spec(scene, name, geometry, at, rotation);
    body.type = BodyType::static_body;
    body.color = {0.55, 0.6, 0.65};
    return scene.add_body(body);
}

inline int add_joint(Scene& scene, const std::string& name, JointType type, int a, int b, const Vec3& point,
                     const Vec3& axis, const DriveSpec& drive = {}) {
    JointSpec joint;
    joint.name = name;
    joint.type = type;
    joint.bodies = {a, b};
    joint.point = point;
    joint.axis = axis;
    if (!drive.empty()) joint.drives.push_back(drive);
    scene.joints.push_back(joint);
    return static_cast<int>(scene.joints.size()) - 1;
}

inline DriveSpec spinning(double speed) {
    DriveSpec drive;
    drive.motor.type = MotorSpec::Type::velocity;
    drive.motor.target = speed;
    return drive;
}

inline void expect_sound(Scene& scene) {
    scene.expect.push_back(expect_quantity("", "joint_residual", 0.0, 1e-9, "joints stay closed"));
    scene.expect.push_back(expect_quantity("", "intersections", 0.0, 0.0, "nothing ever intersects"));
}

}  // namespace tenon

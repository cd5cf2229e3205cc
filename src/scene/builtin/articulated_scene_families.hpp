// The groups of scenes that make up the articulated family, one file each, and words they share.
#pragma once

#include <vector>

#include "math/rotation.hpp"
#include "scene/builtin/scene_parts.hpp"
#include "tenon/builtin.hpp"

namespace tenon {

std::vector<BuiltinScene> articulated_chain_scenes();
std::vector<BuiltinScene> articulated_net_scenes();
std::vector<BuiltinScene> articulated_single_scenes();
std::vector<BuiltinScene> articulated_mechanism_scenes();
std::vector<BuiltinScene> articulated_crowd_scenes();
std::vector<BuiltinScene> articulated_tree_scenes();

inline Scene articulated_scene(double dt, double seconds) {
    Scene scene;
    scene.method = "articulated";
    scene.dt = dt;
    scene.seconds = seconds;
    return scene;
}

inline MaterialSpec material_spec(const std::string& name, double density, double young,
                                  double friction = 0.3, double max_strain = 0.0) {
    MaterialSpec material;
    material.name = name;
    material.density = density;
    material.young = young;
    material.max_strain = max_strain;
    material.young_given = true;
    material.friction = friction;
    return material;
}

// Without a modulus: bodies of it do not strain.
inline MaterialSpec rigid_material(const std::string& name, double density, double friction = 0.3) {
    MaterialSpec material;
    material.name = name;
    material.density = density;
    material.friction = friction;
    return material;
}

inline JointSpec joint_spec(const std::string& name, JointType type, int a, int b, const Vec3& point,
                            const Vec3& axis = Vec3::UnitZ()) {
    JointSpec joint;
    joint.name = name;
    joint.type = type;
    joint.bodies = {a, b};
    joint.point = point;
    joint.axis = axis;
    return joint;
}

// The rotation that takes the x axis to a direction, without twist.
inline Quat along(const Vec3& direction) {
    return shortest_turn(Vec3::UnitX(), direction.normalized());
}

// n x n small nodes joined by rods of length `spacing`, flat in x and z; returns the nodes row by row.
std::vector<int> add_joint_net(Scene& scene, int n, double spacing, const Vec3& corner, int material,
                               const std::string& prefix, double thickness);

inline ExpectSpec expect_closed_joints(double within) {
    ExpectSpec expect;
    expect.quantity = "joint_residual";
    expect.max = within;
    expect.min = 0.0;
    expect.note = "no joint opens";
    return expect;
}

}  // namespace tenon

// Joints as linear conditions on the affine coordinates (Sec. 5.4): points of two bodies that coincide.
//
// ball: one point; hinge: two points on its axis; fixed: four points. Against the world or a static body also points
// that stay on a plane (planar), on a line (cylindrical, prismatic). A linear condition that holds stays held under
// any step length.
#pragma once

#include <optional>
#include <vector>

#include "methods/affine/bodies.hpp"
#include "tenon/method.hpp"

namespace tenon::affine {

// ja . q_a + jb . q_b = 0
struct ConstraintRow {
    int a = -1, b = -1;  // bodies
    Vec12 ja, jb;
    int joint = -1;
    Vec3 direction;  // of the force that the row's multiplier stands for
    Vec3 lever;      // from the joint's anchor to the row's point, in b's frame
};

// The first joint that has no linear form here.
std::optional<Unsupported> unsupported_joint(const Scene& scene);

// Rows between two bodies that move.
std::vector<ConstraintRow> constraint_rows(const Model& model, const State& state);

// A joint to the world or to a static body: on which side `body` is (-1: no such joint), and what stays zero of its
// increments.
int world_joint_side(const State& state, const Joint& joint, int body);
std::vector<Vec12> world_constraint_rows(const Model& model, const State& state, const Joint& joint,
                                         int side);

// Conditions that joints to the world or to static bodies put on one body.
void add_world_joints(HoldBuilder& hold, const Model& model, const State& state, int body);

// Coordinates of all joints, turns counted, and their rates.
void write_joint_coordinates(const Model& model, State& state, Outputs& outputs);

}  // namespace tenon::affine

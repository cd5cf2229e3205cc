// The conditions a joint puts on its two bodies, and its free coordinates, each with its gradient.
//
// A row is a function of the two affine maps q_a, q_b that is zero while the joint is closed; its gradient with
// respect to a map is a 3x4 matrix in the same layout. With x = A p + t the anchors, (d, n1, n2) the columns of
// the joint frame in each body, and gap = x_b - x_a:
//   point      x_a - x_b                                      3 rows, linear
//   axes meet  (A_a n_i x A_a d) . A_b d,  i = 1, 2           zero exactly when A_b d is parallel to A_a d
//   turn       A_a n1 . A_b n2                                no turn about d
//   across     A_a n_i . gap;  along: A_a d . gap             sliding
//   cross      A_a d . A_b n1                                 the two axes of a universal joint stay perpendicular
//   length     |gap| - L
// ball: point - hinge: point, axes meet (or, linear form: point, A_a d - A_b d) - universal: point, cross -
// prismatic: across, axes meet, turn - fixed: point, axes meet, turn - cylindrical: across, axes meet -
// planar: along, axes meet - distance: length. A coupling has no rows of its own here: it binds two coordinates.
#pragma once

#include <array>

#include "tenon/state.hpp"

namespace tenon {

constexpr int max_joint_rows = 6;

struct JointRows {
    int count = 0;
    std::array<double, max_joint_rows> value{};
    std::array<std::array<Mat34, max_joint_rows>, 2> gradient;  // [side][row]
};

int joint_row_count(const JointSpec& spec);
bool joint_rows_are_linear(const JointSpec& spec);

void joint_row_values(const Joint& joint, const Mat34& qa, const Mat34& qb, double* value);
void joint_rows(const Joint& joint, const Mat34& qa, const Mat34& qb, JointRows& rows);

// Free coordinates, in the order of a joint's drives: ball: bend, twist - hinge: angle - universal: angle about
// the first axis, about the second - prismatic: slide - cylindrical: angle, slide - planar: slide along n1,
// along n2, angle. Distance joints report their length, which is not free.
int joint_coordinate_count(JointType type);
bool coordinate_is_angle(JointType type, int coordinate);

struct JointCoordinate {
    double value = 0.0;             // an angle lies within (-pi, pi]
    std::array<Mat34, 2> gradient;  // by side
};
JointCoordinate joint_coordinate(const Joint& joint, int coordinate, const Mat34& qa, const Mat34& qb);
double joint_coordinate_value(const Joint& joint, int coordinate, const Mat34& qa, const Mat34& qb);

// Bending of a ball joint as two components whose length is the angle between the axes: smooth where it is zero.
JointCoordinate bend_component(const Joint& joint, int component, const Mat34& qa, const Mat34& qb);
double bend_component_value(const Joint& joint, int component, const Mat34& qa, const Mat34& qb);

// The angle that differs from `angle` by whole turns and is nearest to `reference`.
double unwrapped(double angle, double reference);

// The affine map of a joint's side: the body's, or the identity for the world.
const Mat34& side_map(const State& state, const Joint& joint, int side);
const Mat34& world_map();

}  // namespace tenon

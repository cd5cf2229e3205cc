// How far joints are from closed, straight from their definition.
#include <algorithm>
#include <cmath>

#include "tenon/state.hpp"

namespace tenon {
namespace {

struct Side {
    Vec3 point;
    Mat3 frame;
};

Side side_of(const State& state, const Joint& joint, int side) {
    const int body = joint.bodies[side];
    if (body < 0) return {joint.point[side], joint.frame[side]};
    const Mat34& q = state.q[body];
    return {transform(q, joint.point[side]), q.leftCols<3>() * joint.frame[side]};
}

}  // namespace

double joint_residual(const Model& model, const State& state, int index) {
    if (state.broken[index]) return 0.0;
    const Joint& joint = model.joints[index];
    if (joint.spec.type == JointType::coupling) {
        const auto value = [&](int k) {
            return state.joint_coordinate[joint.spec.joints[k]][joint.spec.coordinates[k]];
        };
        return std::abs(value(1) - joint.spec.ratio * value(0) - joint.spec.offset);
    }
    const Side a = side_of(state, joint, 0), b = side_of(state, joint, 1);
    const Vec3 gap = b.point - a.point;
    const double axis_error = a.frame.col(0).cross(b.frame.col(0)).norm();
    const double turn_error = std::max(axis_error, std::abs(a.frame.col(1).dot(b.frame.col(2))));
    const double across = (a.frame.rightCols<2>().transpose() * gap).norm();
    switch (joint.spec.type) {
        case JointType::ball:
            return gap.norm();
        case JointType::hinge:
            return std::max(gap.norm(), axis_error);
        case JointType::universal:
            return std::max(gap.norm(), std::abs(a.frame.col(0).dot(b.frame.col(1))));
        case JointType::prismatic:
            return std::max(across, turn_error);
        case JointType::fixed:
            return std::max(gap.norm(), turn_error);
        case JointType::cylindrical:
            return std::max(across, axis_error);
        case JointType::planar:
            return std::max(std::abs(a.frame.col(0).dot(gap)), axis_error);
        case JointType::distance:
            return joint.spec.drives.empty() ? std::abs(gap.norm() - joint.rest_length) : 0.0;
        case JointType::coupling:
            break;
    }
    return 0.0;
}

double joint_residual_max(const Model& model, const State& state) {
    double worst = 0.0;
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j)
        worst = std::max(worst, joint_residual(model, state, j));
    return worst;
}

}  // namespace tenon

#include "methods/articulated/joint_outputs.hpp"

#include "math/parallel.hpp"
#include "model/joint_rows.hpp"

namespace tenon::articulated {

std::vector<int> joints_to_measure(const Model& model) {
    constexpr std::size_t many = 5000;
    std::vector<int> list;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const JointSpec& spec = model.joints[j].spec;
        const bool plain = spec.type == JointType::ball && spec.drives.empty() && !spec.bend;
        if (model.joints.size() <= many || !plain) list.push_back(static_cast<int>(j));
    }
    return list;
}

void write_joint_coordinates(const Model& model, State& state, Outputs& outputs,
                             const std::vector<int>& joints) {
    parallel_for(joints.size(), 4096, [&](std::size_t i) {
        const Joint& joint = model.joints[joints[i]];
        auto& coordinate = state.joint_coordinate[joints[i]];
        auto& coordinate_rate = outputs.joints[joints[i]].coordinate_rate;
        const int count =
            joint.spec.type == JointType::distance ? 1 : joint_coordinate_count(joint.spec.type);
        for (int k = 0; k < count; ++k) {
            const JointCoordinate c =
                joint_coordinate(joint, k, side_map(state, joint, 0), side_map(state, joint, 1));
            const bool turns =
                coordinate_is_angle(joint.spec.type, k) && !(joint.spec.type == JointType::ball && k == 0);
            coordinate[k] = turns ? unwrapped(c.value, coordinate[k]) : c.value;
            coordinate_rate[k] = 0.0;
            for (int side = 0; side < 2; ++side)
                if (joint.bodies[side] >= 0)
                    coordinate_rate[k] += c.gradient[side].cwiseProduct(state.rate[joint.bodies[side]]).sum();
        }
    });
}

void set_joint_force(const Joint& joint, int side, const Mat34& generalised, const Mat34& x,
                     JointOutput& out) {
    const Vec3 force = generalised.col(3);
    Vec3 torque = Vec3::Zero();
    for (int k = 0; k < 3; ++k) torque += x.col(k).cross(generalised.col(k));
    torque -= linear_part_times(x, joint.point[side]).cross(force);
    const double sign = side == 1 ? 1.0 : -1.0;
    out.force = sign * force;
    out.torque = sign * torque;
}

}  // namespace tenon::articulated

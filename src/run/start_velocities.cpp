#include "run/start_velocities.hpp"

#include <cmath>

#include <fmt/format.h>

#include "model/joint_rows.hpp"

namespace tenon::run {

// Rows are lengths, or sines of angles: both are compared with what the same bodies do at their own size.
std::string misfit_of_start_velocities(const Model& model, const State& state) {
    constexpr double told = 1e-3;  // of the fastest point
    double worst = 0.0, fastest = 0.0;
    int joint_index = -1;
    JointRows rows;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const Joint& joint = model.joints[j];
        if (joint.spec.type == JointType::coupling) continue;
        joint_rows(joint, side_map(state, joint, 0), side_map(state, joint, 1), rows);
        for (int r = 0; r < rows.count; ++r) {
            double rate = 0.0;
            for (int side = 0; side < 2; ++side) {
                const int body = joint.bodies[side];
                if (body < 0) continue;
                rate += rows.gradient[side][r].cwiseProduct(state.rate[body]).sum();
                fastest = std::max(fastest,
                                   state.rate[body].col(3).norm() +
                                       model.shape_of(body).radius * state.rate[body].leftCols<3>().norm());
            }
            if (std::abs(rate) > worst) worst = std::abs(rate), joint_index = static_cast<int>(j);
        }
    }
    if (joint_index < 0 || worst <= told * fastest) return {};
    return fmt::format(
        "initial velocities that joints cannot have: '{}' would open at {:.3g} m/s (or rad/s), so the "
        "first step changes the velocities of its bodies; give linear and angular velocities that fit",
        model.joints[joint_index].spec.name, worst);
}

}  // namespace tenon::run

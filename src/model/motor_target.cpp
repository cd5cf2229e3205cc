// What actuators and their motors aim at.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "math/profile.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon {

void set_target(const Model& model, State& state, int actuator, double target) {
    const ActuatorSpec& spec = model.actuators.at(static_cast<std::size_t>(actuator));
    const std::string path = fmt::format("actuators[{}].target", actuator);
    if (!std::isfinite(target))
        throw InputError("", path, fmt::format("'{}' is given a target that is not finite", spec.name),
                         "give a number");
    if (target < spec.target_limits[0] || target > spec.target_limits[1])
        throw InputError(
            "", path, fmt::format("{:g} is beyond the target limits of '{}'", target, spec.name),
            fmt::format("stay within {:g} and {:g}", spec.target_limits[0], spec.target_limits[1]));
    if (spec.velocity_limit < 1e299)
        throw InputError(
            "", path,
            fmt::format("'{}' has a velocity limit, which holds for targets of the scene", spec.name),
            "leave out velocity_limit, and move the target no faster than that");
    state.targets[static_cast<std::size_t>(actuator)] = target;
}

double actuator_target(const Model& model, const State& state, int actuator, double time) {
    const double given = state.targets.at(static_cast<std::size_t>(actuator));
    if (!std::isnan(given)) return given;
    const ActuatorSpec& spec = model.actuators[static_cast<std::size_t>(actuator)];
    return spec.profile.empty() ? spec.target : profile_at(spec.profile, time);
}

double motor_target(const MotorSpec& motor, const State& state, double time) {
    double target = motor.profile.empty() ? motor.target : profile_at(motor.profile, time);
    for (const MotorSpec::Source& source : motor.sources) {
        const auto k = static_cast<std::size_t>(source.actuator);
        if (k >= state.targets.size() || std::isnan(state.targets[k])) continue;
        if (motor.type == MotorSpec::Type::force || motor.sources.size() > 1) {  // a sum
            const double before = source.profile.empty() ? source.target : profile_at(source.profile, time);
            target +=
                source.factor * (std::clamp(state.targets[k], source.limits[0], source.limits[1]) - before);
        } else {
            target = (state.targets[k] - source.constant) / source.factor;
        }
    }
    return target;
}

}  // namespace tenon

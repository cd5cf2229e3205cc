// What actuators and their motors aim at.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "math/profile.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

// Where targets of an actuator may come from: the one that was set last, else what the scene has its motor aim at now, or
// where its joint is.
std::vector<double> present_targets(const Model& model, const State& state, int actuator) {
    const double given = state.targets[static_cast<std::size_t>(actuator)];
    if (!std::isnan(given)) return {given};
    std::vector<double> places;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const std::vector<DriveSpec>& drives = model.joints[j].spec.drives;
        for (std::size_t k = 0; k < drives.size(); ++k)
            for (const MotorSpec::Source& source : drives[k].motor.sources)
                if (source.actuator == actuator) {
                    places.push_back(source.factor * motor_target(drives[k].motor, state, state.time) +
                                     source.constant);
                    places.push_back(source.factor * state.joint_coordinate[j][k] + source.constant);
                }
    }
    return places;
}

// Targets that are set between steps move no faster than the actuator may: a table of them is followed, a jump is refused.
void check_speed(const Model& model, const State& state, int actuator, double target) {
    const ActuatorSpec& spec = model.actuators[static_cast<std::size_t>(actuator)];
    constexpr double first_step = 0.01;  // s: before the first step its length is not known
    const bool position = spec.type == ActuatorSpec::Type::position;
    const double dt = state.step > 0 ? state.time / static_cast<double>(state.step) : first_step;
    const double most = (position ? dt : 1.0) * spec.velocity_limit * (1 + 1e-9);
    double jump = std::abs(target);
    if (position) {
        jump = std::numeric_limits<double>::infinity();
        for (const double place : present_targets(model, state, actuator))
            jump = std::min(jump, std::abs(target - place));
    }
    if (jump <= most) return;
    throw InputError(
        "", fmt::format("actuators[{}].target", actuator),
        position ? fmt::format("'{}' would jump by {:g} in a step, faster than its velocity limit {:g}",
                               spec.name, jump, spec.velocity_limit)
                 : fmt::format("{:g} is beyond the velocity limit {:g} of '{}'", target, spec.velocity_limit,
                               spec.name),
        position ? fmt::format("move the target by {:g} at most before each step, as a joint trajectory "
                               "does, or leave out velocity_limit",
                               most)
                 : std::string("stay below it, or leave out velocity_limit"));
}

}  // namespace

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
    if (spec.velocity_limit < 1e299) check_speed(model, state, actuator, target);
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

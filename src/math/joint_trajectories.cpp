// Joint-space and straight-line trajectories with limits of speed and acceleration.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "tenon/link_tree.hpp"

namespace tenon::kinematics {

Profile trapezoid(double length, double max_speed, double max_acceleration) {
    if (!(max_speed > 0) || !(max_acceleration > 0))
        throw std::invalid_argument("limits of speed must be above 0");
    Profile p;
    p.length = length;
    p.acceleration = max_acceleration;
    p.speed = std::min(max_speed, std::sqrt(length * max_acceleration));  // a short path never gets to cruise
    p.ramp = p.speed / max_acceleration;
    p.duration = length > 0 ? length / p.speed + p.ramp : 0.0;
    return p;
}

Profile::State Profile::at(double time) const {
    if (time <= 0 || duration == 0) return {duration == 0 ? length : 0.0, 0, 0};
    if (time >= duration) return {length, 0, 0};
    if (time < ramp) return {0.5 * acceleration * time * time, acceleration * time, acceleration};
    if (time > duration - ramp) {
        const double left = duration - time;
        return {length - 0.5 * acceleration * left * left, acceleration * left, -acceleration};
    }
    return {0.5 * acceleration * ramp * ramp + speed * (time - ramp), speed, 0};
}

VecX JointTrajectory::at(double time) const {
    return integrate(*tree, from, displacement, profile.at(time).s);
}

VecX JointTrajectory::rate(double time) const {
    return profile.at(time).rate * displacement;
}

JointTrajectory joint_trajectory(const Tree& tree, const VecX& from, const VecX& to, const VecX& max_speed,
                                 const VecX& max_acceleration) {
    JointTrajectory trajectory;
    trajectory.tree = &tree;
    trajectory.from = from;
    trajectory.displacement = difference(tree, from, to);
    double speed = 1e300, acceleration = 1e300;  // of the shared parameter, 0 to 1
    for (int k = 0; k < tree.freedoms; ++k) {
        const double distance = std::abs(trajectory.displacement[k]);
        if (distance == 0) continue;
        speed = std::min(speed, max_speed[k] / distance);
        acceleration = std::min(acceleration, max_acceleration[k] / distance);
    }
    trajectory.profile = speed > 1e299 ? Profile{} : trapezoid(1.0, speed, acceleration);
    return trajectory;
}

LineTrajectory line_trajectory(const Tree& tree, const VecX& from, const Target& to, double max_speed,
                               double max_acceleration, double dt, const VecX& max_joint_speed,
                               const InverseOptions& options) {
    const Frames frames = forward(tree, from);
    const Vec3 first = point_of(frames, to.link, to.point);
    const Quat turn(frames.rotation[static_cast<std::size_t>(to.link)]);
    const double angle = to.rotation ? turn.angularDistance(*to.rotation) : 0.0;
    const double length = std::max((to.position - first).norm(), options.rotation_length * angle);
    double speed = max_speed, acceleration = max_acceleration;
    // joints that would be too fast slow the whole line down; the speeds scale with the line's, so one more pass fits
    for (int pass = 0; pass < 20; ++pass) {
        const Profile profile = trapezoid(length, speed, acceleration);
        LineTrajectory line;
        line.dt = dt;
        line.q.push_back(from);
        const int steps = std::max(1, static_cast<int>(std::ceil(profile.duration / dt - 1e-9)));
        double worst = 0.0;
        for (int k = 1; k <= steps; ++k) {
            const double u = length > 0 ? profile.at(k * dt).s / length : 1.0;
            Target target = to;
            target.position = first + u * (to.position - first);
            if (to.rotation) target.rotation = turn.slerp(u, *to.rotation);
            const InverseResult found = inverse_kinematics(tree, {target}, line.q.back(), options);
            if (found.error > std::max(options.tolerance, 1e-8))
                throw std::runtime_error(fmt::format(
                    "the line leaves reach at {:.3g} of its length: {:.3g} m off", u, found.error));
            const VecX step = difference(tree, line.q.back(), found.q) / dt;
            for (int j = 0; j < max_joint_speed.size(); ++j)
                worst = std::max(worst, std::abs(step[j]) / max_joint_speed[j]);
            line.q.push_back(found.q);
        }
        if (worst <= 1.0 + 1e-6) return line;
        speed /= worst * 1.02;
        acceleration /= worst * worst * 1.04;
    }
    throw std::runtime_error(
        "the line passes a singular pose: no speed keeps the joints within their limits");
}

}  // namespace tenon::kinematics

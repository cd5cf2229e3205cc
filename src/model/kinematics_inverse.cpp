// Inverse kinematics by damped least squares, and trajectories with limits.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <Eigen/Cholesky>

#include "tenon/kinematics.hpp"

namespace tenon::kinematics {
namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

Vec3 rotation_error(const Quat& wanted, const Mat3& now) {
    Quat d = wanted * Quat(now).conjugate();
    if (d.w() < 0) d.coeffs() *= -1;
    const double sine = d.vec().norm();
    return sine < 1e-12 ? Vec3(2 * d.vec()) : Vec3(d.vec() * (2 * std::atan2(sine, d.w()) / sine));
}

// Weighted residual, and the largest unweighted entry as its error.
struct Residual {
    VecX r;
    double error = 0.0;
};

Residual residual(const Frames& frames, const std::vector<Target>& targets, double length) {
    Residual out;
    int rows = 0;
    for (const Target& target : targets) rows += target.rotation ? 6 : 3;
    out.r.resize(rows);
    int row = 0;
    for (const Target& target : targets) {
        const Vec3 e = target.position - point_of(frames, target.link, target.point);
        out.error = std::max(out.error, e.norm());
        out.r.segment<3>(row) = target.weight * e;
        row += 3;
        if (!target.rotation) continue;
        const Vec3 turn = rotation_error(*target.rotation, frames.rotation[at(target.link)]);
        out.error = std::max(out.error, turn.norm());
        out.r.segment<3>(row) = target.weight * length * turn;
        row += 3;
    }
    return out;
}

MatX target_jacobian(const Tree& tree, const Frames& frames, const std::vector<Target>& targets,
                     double length, Eigen::Index rows) {
    MatX J(rows, tree.freedoms);
    int row = 0;
    for (const Target& target : targets) {
        const MatX own = jacobian(tree, frames, target.link, target.point);
        J.middleRows<3>(row) = target.weight * own.topRows<3>();
        row += 3;
        if (!target.rotation) continue;
        J.middleRows<3>(row) = target.weight * length * own.bottomRows<3>();
        row += 3;
    }
    return J;
}

void clamp_to_limits(const Tree& tree, VecX& q) {
    for (const Link& link : tree.links)
        if (link.limits && position_count(link.motion) == 1)
            q[link.q] = std::clamp(q[link.q], (*link.limits)[0], (*link.limits)[1]);
}

// Joints at a limit whose gradient pushes them on take no part in the step.
std::vector<char> held_joints(const Tree& tree, const VecX& q, const VecX& gradient) {
    std::vector<char> held(at(tree.freedoms), 0);
    for (const Link& link : tree.links) {
        if (!link.limits || position_count(link.motion) != 1) continue;
        const double g = gradient[link.v];
        held[at(link.v)] =
            (q[link.q] <= (*link.limits)[0] && g < 0) || (q[link.q] >= (*link.limits)[1] && g > 0);
    }
    return held;
}

}  // namespace

InverseResult inverse_kinematics(const Tree& tree, const std::vector<Target>& targets, const VecX& start,
                                 const InverseOptions& options) {
    InverseResult result;
    result.q = start;
    clamp_to_limits(tree, result.q);
    Frames frames = forward(tree, result.q);
    Residual now = residual(frames, targets, options.rotation_length);
    double damping = 1e-3;  // Levenberg-Marquardt: shrinks while steps succeed
    for (; result.iterations < options.iterations && now.error > options.tolerance; ++result.iterations) {
        MatX J = target_jacobian(tree, frames, targets, options.rotation_length, now.r.size());
        const std::vector<char> held = held_joints(tree, result.q, J.transpose() * now.r);
        for (int k = 0; k < tree.freedoms; ++k)
            if (held[at(k)]) J.col(k).setZero();
        const VecX gradient = J.transpose() * now.r;
        if (gradient.norm() < 1e-14 * (1 + now.r.norm())) break;
        MatX H = J.transpose() * J;
        const double scale = std::max(H.diagonal().maxCoeff(), 1e-300);
        H.diagonal().array() += damping * scale;
        VecX trial = integrate(tree, result.q, H.ldlt().solve(gradient), 1.0);
        clamp_to_limits(tree, trial);
        Frames moved = forward(tree, trial);
        Residual next = residual(moved, targets, options.rotation_length);
        if (next.r.squaredNorm() < now.r.squaredNorm()) {
            result.q = std::move(trial);
            frames = std::move(moved);
            now = std::move(next);
            damping = std::max(damping * 0.2, 1e-14);
        } else {
            damping *= 5;
            if (damping > 1e8) break;
        }
    }
    result.error = now.error;
    result.converged = now.error <= options.tolerance;
    return result;
}

Profile trapezoid(double length, double max_speed, double max_acceleration) {
    if (!(max_speed > 0) || !(max_acceleration > 0))
        throw std::invalid_argument("limits of speed must be above 0");
    Profile p;
    p.length = length;
    p.acceleration = max_acceleration;
    p.speed = std::min(max_speed, std::sqrt(length * max_acceleration));  // a short way never gets to cruise
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
    return integrate(*tree, from, way, profile.at(time).s);
}

VecX JointTrajectory::rate(double time) const {
    return profile.at(time).rate * way;
}

JointTrajectory joint_trajectory(const Tree& tree, const VecX& from, const VecX& to, const VecX& max_speed,
                                 const VecX& max_acceleration) {
    JointTrajectory trajectory;
    trajectory.tree = &tree;
    trajectory.from = from;
    trajectory.way = difference(tree, from, to);
    double speed = 1e300, acceleration = 1e300;  // of the shared parameter, 0 to 1
    for (int k = 0; k < tree.freedoms; ++k) {
        const double way = std::abs(trajectory.way[k]);
        if (way == 0) continue;
        speed = std::min(speed, max_speed[k] / way);
        acceleration = std::min(acceleration, max_acceleration[k] / way);
    }
    trajectory.profile = speed > 1e299 ? Profile{} : trapezoid(1.0, speed, acceleration);
    return trajectory;
}

LineTrajectory line_trajectory(const Tree& tree, const VecX& from, const Target& to, double max_speed,
                               double max_acceleration, double dt, const VecX& max_joint_speed,
                               const InverseOptions& options) {
    const Frames frames = forward(tree, from);
    const Vec3 first = point_of(frames, to.link, to.point);
    const Quat turn(frames.rotation[at(to.link)]);
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
                throw std::runtime_error(
                    fmt::format("the line leaves reach at {:.3g} of its way: {:.3g} m off", u, found.error));
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

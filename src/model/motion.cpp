// What drives bodies from outside: scripted motion, forces over time, wind.
#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "model/keyframes.hpp"
#include "model/loads_ahead.hpp"
#include "tenon/state.hpp"

namespace tenon {
namespace {

struct Segment {
    const Keyframe* from;
    const Keyframe* to;
    double u;     // 0..1
    double rate;  // du/dt, 0 outside the script
};

Segment segment_at(const std::vector<Keyframe>& motion, double time) {
    const auto after = std::upper_bound(motion.begin(), motion.end(), time,
                                        [](double t, const Keyframe& key) { return t < key.time; });
    if (after == motion.begin()) return {&motion.front(), &motion.front(), 0, 0};
    if (after == motion.end()) return {&motion.back(), &motion.back(), 0, 0};
    const Keyframe &from = *(after - 1), &to = *after;
    return {&from, &to, (time - from.time) / (to.time - from.time), 1.0 / (to.time - from.time)};
}

Vec3 position_at(const Segment& s) {
    return s.from->position + s.u * (s.to->position - s.from->position);
}

}  // namespace

// Positions are linear and rotations turn evenly, the short way, between keyframes.
Mat34 keyframe_pose(const std::vector<Keyframe>& motion, double time) {
    const Segment s = segment_at(motion, time);
    return to_matrix({position_at(s), s.from->rotation.slerp(s.u, s.to->rotation)});
}

Mat34 scripted_pose(const Model& model, int body, double time) {
    const std::vector<Keyframe>& motion = model.bodies.motion[body];
    if (motion.empty()) return model.bodies.start_q[body];
    const Mat34 frame = keyframe_pose(motion, time);
    const Pose& geometry = model.shape_of(body).geometry_frame;
    Mat34 q;
    q.leftCols<3>() = frame.leftCols<3>() * geometry.rotation.conjugate().toRotationMatrix();
    q.col(3) = frame.col(3) - linear_part_times(q, geometry.position);
    return q;
}

Mat34 scripted_rate(const Model& model, int body, double time) {
    const std::vector<Keyframe>& motion = model.bodies.motion[body];
    if (motion.empty()) return Mat34::Zero();
    const Segment s = segment_at(motion, time);
    Quat turn = s.to->rotation * s.from->rotation.conjugate();
    if (turn.w() < 0) turn.coeffs() *= -1;
    const double sine = turn.vec().norm();
    const double angle = 2 * std::atan2(sine, turn.w());
    const Vec3 omega = sine > 0 ? Vec3(turn.vec() * (angle / sine * s.rate)) : Vec3(Vec3::Zero());
    const Mat34 q = scripted_pose(model, body, time);
    Mat34 rate;
    for (int k = 0; k < 3; ++k) rate.col(k) = omega.cross(q.col(k));
    rate.col(3) = (s.to->position - s.from->position) * s.rate + omega.cross(Vec3(q.col(3) - position_at(s)));
    return rate;
}

Mat34 scripted_pose(const Model& model, const State& state, int body, double time) {
    return model.bodies.motion[body].empty() ? state.q[body] : scripted_pose(model, body, time);
}

bool has_external_wrenches(const Model& model, const State& state) {
    return !model.forces.empty() || !state.pushes.empty() || model.wind.drag > 0;
}

namespace {

// The pose after `ahead` seconds of the present motion, by the turn of a rigid body.
Mat34 pose_ahead(const State& state, int body, double ahead) {
    Mat34 q = state.q[body];
    if (ahead == 0.0 || !state.dynamic(body)) return q;
    const Mat34& rate = state.rate[body];
    Vec3 moment = Vec3::Zero();  // of A's columns' velocities: 2 w for a rotation
    for (int k = 0; k < 3; ++k) moment += Vec3(q.col(k)).cross(Vec3(rate.col(k)));
    const Vec3 turn = 0.5 * ahead * moment;
    const double angle = turn.norm();
    if (angle > 0.0) q.leftCols<3>() = Eigen::AngleAxisd(angle, turn / angle) * q.leftCols<3>();
    q.col(3) += ahead * rate.col(3);
    return q;
}

void add_wrench(const Model& model, const Mat34& q, const ForceSpec& force, std::vector<Wrench>& out) {
    const Pose& geometry = model.shape_of(force.body).geometry_frame;
    Mat3 to_world = Mat3::Identity();
    if (force.body_frame) to_world = q.leftCols<3>() * geometry.rotation.toRotationMatrix();
    const Vec3 f = to_world * force.force;
    Wrench& wrench = out[force.body];
    wrench.force += f;
    wrench.torque += to_world * force.torque;
    if (force.point) {
        const Vec3 local = geometry.rotation * *force.point + geometry.position;
        wrench.torque += linear_part_times(q, local).cross(f);
    }
}

}  // namespace

void external_wrenches(const Model& model, const State& state, double time, std::vector<Wrench>& out) {
    wrenches_ahead(model, state, time, 0.0, out);
}

void wrenches_ahead(const Model& model, const State& state, double time, double ahead,
                    std::vector<Wrench>& out) {
    out.assign(state.q.size(), Wrench{});
    for (const ForceSpec& force : model.forces) {
        if (force.body < 0 || time < force.from || time >= force.to) continue;
        if (force.body >= model.bodies.size()) continue;  // on an elastic body: see elastic_loads
        add_wrench(model, pose_ahead(state, force.body, ahead), force, out);
    }
    for (const ForceSpec& push : state.pushes)
        if (push.body >= 0 && push.body < model.bodies.size())
            add_wrench(model, pose_ahead(state, push.body, ahead), push, out);
    const WindSpec& wind = model.wind;
    if (wind.drag <= 0) return;
    const double gust = 1 + wind.gust * std::sin(2 * M_PI * time / wind.gust_period);
    for (int i = 0; i < model.bodies.size(); ++i) {
        if (!state.dynamic(i)) continue;
        const Vec3 relative = gust * wind.velocity - state.rate[i].col(3);
        const double speed = relative.norm();
        if (speed == 0) continue;
        const Vec3 size = model.shape_of(i).box.size();
        const Vec3 face(size.y() * size.z(), size.z() * size.x(), size.x() * size.y());
        const Vec3 along = (state.q[i].leftCols<3>().transpose() * (relative / speed)).cwiseAbs();
        out[i].force += wind.drag * along.dot(face) * relative;
    }
}

}  // namespace tenon

#include "run/failure_scene.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "math/rotation.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

void place_body(BodySpec& body, const Model& model, const State& state, int i) {
    const Pose& frame = model.shape_of(i).geometry_frame;
    const Mat3 R = nearest_rotation(state.q[i].leftCols<3>());
    body.type = state.type[i];
    body.rotation = (Quat(R) * frame.rotation).normalized();
    body.position = R * frame.position + state.q[i].col(3);
    body.linear_velocity = state.rate[i].col(3);
    body.angular_velocity = spin_of(R, state.rate[i].leftCols<3>());
    for (Keyframe& key : body.motion) key.time -= state.time;
    if (body.kinematic_until < 1e299) body.kinematic_until = std::max(0.0, body.kinematic_until - state.time);
    if (body.type == BodyType::dynamic_body) body.motion.clear(), body.kinematic_until = 1e300;
}

// Keyframes before the start become one at the start.
void trim_motion(BodySpec& body) {
    if (body.motion.size() < 2) return;
    std::size_t first = 0;
    while (first + 1 < body.motion.size() && body.motion[first + 1].time <= 0) ++first;
    if (first == 0) return;
    Keyframe start{0.0, body.position, body.rotation};
    body.motion.erase(body.motion.begin(), body.motion.begin() + static_cast<long>(first) + 1);
    body.motion.insert(body.motion.begin(), start);
}

// Coordinates count from zero again, so everything that refers to them moves by what they had reached.
void shift_drive(DriveSpec& drive, double reached, double time) {
    if (drive.limits)
        for (double& limit : *drive.limits) limit -= reached;
    if (drive.spring) drive.spring->rest -= reached;
    const bool position = drive.motor.type == MotorSpec::Type::position;
    if (position) drive.motor.target -= reached;
    for (auto& [at, target] : drive.motor.profile) {
        at -= time;
        if (position) target -= reached;
    }
}

void place_joint(JointSpec& spec, const Model& model, const State& state, std::size_t index) {
    const Joint& joint = model.joints[index];
    const auto carried = [&](int side, const Vec3& local) -> Vec3 {
        const int body = joint.bodies[side];
        return body < 0 ? local : Vec3(state.q[body].leftCols<3>() * local + state.q[body].col(3));
    };
    const auto turned = [&](int side, const Vec3& local) -> Vec3 {
        const int body = joint.bodies[side];
        return body < 0 ? local : Vec3((state.q[body].leftCols<3>() * local).normalized());
    };
    spec.point = carried(0, joint.point[0]);
    spec.point_b.reset();
    if (spec.type == JointType::distance) spec.point_b = carried(1, joint.point[1]);
    spec.axis = turned(0, joint.frame[0].col(0));
    if (spec.axis_b) spec.axis_b = turned(1, joint.frame[1].col(1));
    for (std::size_t k = 0; k < std::min<std::size_t>(3, spec.drives.size()); ++k)
        shift_drive(spec.drives[k], state.joint_coordinate[index][k], state.time);
}

// Bodies that touch or are jointed, directly or through dynamic others; scenery that they touch comes along.
std::vector<char> hanging_together(const Scene& scene, const Model& model, const State& state, int body) {
    std::vector<char> in(scene.bodies.size(), 0);
    std::vector<int> queue{body};
    in[body] = 1;
    std::vector<Box3> boxes(in.size());
    for (int i = 0; i < model.bodies.size(); ++i) {
        for (const Vec3& v : model.shape_of(i).mesh.vertices) boxes[i].add(transform(state.q[i], v));
        boxes[i].inflate(0.05 * model.shape_of(i).radius + scene.dt * state.rate[i].col(3).norm());
    }
    while (!queue.empty()) {
        const int at = queue.back();
        queue.pop_back();
        if (state.type[at] != BodyType::dynamic_body) continue;
        const auto add = [&](int other) {
            if (other < 0 || in[other]) return;
            in[other] = 1;
            queue.push_back(other);
        };
        for (const Joint& joint : model.joints)
            if (joint.bodies[0] == at || joint.bodies[1] == at) add(joint.bodies[0]), add(joint.bodies[1]);
        for (int i = 0; i < model.bodies.size(); ++i)
            if (model.may_collide(at, i) && boxes[at].overlaps(boxes[i])) add(i);
    }
    return in;
}

bool fails_at_once(const Scene& scene) {
    try {
        Simulation simulation(scene);
        return !simulation.step().converged;
    } catch (const StepFailure&) {
        return true;
    } catch (const InputError&) {
        return false;
    }
}

}  // namespace

// Everything that names a body which is left out goes with it.
Scene keep_only(const Scene& scene, const std::vector<char>& keep) {
    Scene small = scene;
    std::vector<int> index(keep.size(), -1);
    small.bodies.clear();
    for (std::size_t i = 0; i < keep.size(); ++i)
        if (keep[i]) {
            index[i] = static_cast<int>(small.bodies.size());
            small.bodies.push_back(scene.bodies[i]);
        }
    std::vector<int> joint_index(scene.joints.size(), -1);
    small.joints.clear();
    const int gone_bodies = static_cast<int>(scene.bodies.size() - small.bodies.size());
    const auto moved = [&](int body) {  // elastic bodies are numbered after the bodies
        return body < 0 ? body : body < static_cast<int>(keep.size()) ? index[body] : body - gone_bodies;
    };
    for (std::size_t j = 0; j < scene.joints.size(); ++j) {
        JointSpec joint = scene.joints[j];
        if (joint.type == JointType::coupling) {
            for (int& other : joint.joints) other = other < 0 ? -1 : joint_index[other];
            if (joint.joints[0] < 0 || joint.joints[1] < 0) continue;
        } else {
            const bool gone = (joint.bodies[0] >= 0 && !keep[joint.bodies[0]]) ||
                              (joint.bodies[1] >= 0 && !keep[joint.bodies[1]]);
            if (gone) continue;
            for (int& body : joint.bodies) body = moved(body);
        }
        joint_index[j] = static_cast<int>(small.joints.size());
        small.joints.push_back(joint);
    }
    std::erase_if(small.forces, [&](const ForceSpec& force) { return !keep[force.body]; });
    for (ForceSpec& force : small.forces) force.body = moved(force.body);
    std::erase_if(small.contact.ignore, [&](const auto& pair) {
        for (const int body : pair)
            if (body < static_cast<int>(keep.size()) && !keep[body]) return true;
        return false;
    });
    for (auto& pair : small.contact.ignore) pair = {moved(pair[0]), moved(pair[1])};
    small.body_lookup.clear();
    return small;
}

Scene scene_at(const Scene& original, const Model& model, const State& state) {
    Scene scene = original;
    scene.expect.clear();
    scene.seconds = scene.dt;
    for (int i = 0; i < model.bodies.size(); ++i) {
        place_body(scene.bodies[i], model, state, i);
        trim_motion(scene.bodies[i]);
    }
    for (std::size_t j = 0; j < scene.joints.size(); ++j) {
        JointSpec& spec = scene.joints[j];
        if (spec.type == JointType::coupling) {
            const auto reached = [&](int k) {
                return state.joint_coordinate[spec.joints[k]][spec.coordinates[k]];
            };
            spec.offset += spec.ratio * reached(0) - reached(1);
        } else {
            place_joint(spec, model, state, j);
        }
    }
    for (std::size_t j = scene.joints.size(); j-- > 0;)
        if (state.broken[j]) scene.joints.erase(scene.joints.begin() + static_cast<long>(j));
    for (ForceSpec& force : scene.forces) {
        force.from -= state.time;
        if (force.to < 1e299) force.to -= state.time;
    }
    return scene;
}

FailureScene failure_scene(const Scene& original, const Model& model, const State& before, int body) {
    const bool broken = std::any_of(before.broken.begin(), before.broken.end(),
                                    [](char is_broken) { return is_broken != 0; });
    if (before.elastic.empty() && !broken) {
        const Scene now = scene_at(original, model, before);
        if (body >= 0 && body < model.bodies.size()) {
            const Scene small = keep_only(now, hanging_together(original, model, before, body));
            if (small.bodies.size() < now.bodies.size() && fails_at_once(small))
                return {small,
                        fmt::format("{} of {} bodies, one step", small.bodies.size(), now.bodies.size())};
        }
        if (fails_at_once(now)) return {now, "all bodies as the step found them, one step"};
    }
    Scene whole = original;
    whole.seconds = static_cast<double>(before.step + 1) * original.dt;
    return {whole, fmt::format("the whole scene, up to step {}", before.step + 1)};
}

}  // namespace tenon::run

#include "run/hand_over.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "methods/volume/untangle.hpp"
#include "model/initial_check.hpp"
#include "model/rigid_state.hpp"
#include "run/close_joints.hpp"
#include "run/failure_scene.hpp"
#include "run/part_bodies.hpp"
#include "tenon/error.hpp"

namespace tenon::run {
namespace {

constexpr double open_part =
    1e-6;  // of the scene's length: a joint that may break and is open by more has broken
constexpr double closed_part = 1e-9;  // of the scene's length: a joint that is open by less is left as it is

long nearest_frame(const RunReader& reader, double time) {
    const std::vector<FrameEntry> frames = reader.frame_list();
    if (frames.empty())
        throw InputError(reader.file(), "--from", "the run holds no frame", "record the run first");
    const FrameEntry* best = &frames.front();
    for (const FrameEntry& frame : frames)
        if (std::abs(frame.time - time) < std::abs(best->time - time)) best = &frame;
    if (time > frames.back().time * (1 + 1e-9) || time < frames.front().time * (1 - 1e-9))
        throw InputError(reader.file(), "--from",
                         fmt::format("{:g} s is outside the run, which goes from {:g} s to {:g} s", time,
                                     frames.front().time, frames.back().time),
                         "name a time within it");
    return best->id;
}

// Methods other than affine know turns and shifts only, and a strain that one of them left is no load.
void make_rigid(const Model& model, State& state) {
    for (int i = 0; i < model.bodies.size(); ++i) {
        const model::RigidState rigid = model::rigid_state(state, i);
        state.q[i] = model::to_q(rigid);
        state.rate[i] = model::to_rate(rigid);
    }
}

void find_broken_joints(const Model& model, State& state, std::vector<std::string>& told) {
    const double open = open_part * scene_length(model, state);
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
        const JointSpec& spec = model.joints[j].spec;
        if (spec.break_force >= 1e299 && spec.break_torque >= 1e299) continue;
        if (joint_residual(model, state, static_cast<int>(j)) <= open) continue;
        state.broken[j] = 1;
        told.push_back(fmt::format("joint '{}' is open there: taken as broken", spec.name));
    }
}

// Joints are left out of the search and closed afterwards; pairs that they join may stay as they are where such bodies do
// not collide.
Scene without_joints(Scene scene) {
    if (!scene.contact.jointed_bodies_collide)
        for (const JointSpec& joint : scene.joints)
            if (joint.bodies[0] >= 0 && joint.bodies[1] >= 0) scene.contact.ignore.push_back(joint.bodies);
    scene.joints.clear();
    scene.tendons.clear();
    scene.actuators.clear();
    scene.sensors.clear();
    scene.keyframes.clear();
    scene.start.clear();
    scene.expect.clear();
    return scene;
}

using Say = std::function<void(const std::string&)>;

void untangle(const RunReader& reader, const Scene& scene, const Model& model, State& state,
              std::vector<std::string>& told, const Say& say) {
    const model::InitialCheck check = model::check_initial_state(model, state);
    if (check.problems.empty()) return;
    const std::string first = model::describe(model, check.problems.front());
    const auto tell = [&](std::size_t bodies, double farthest) {
        told.push_back(
            fmt::format("{} pairs of bodies intersect or touch there ({}): {} bodies were moved apart, the "
                        "farthest by {:.3g} m",
                        check.problems.size(), first, bodies, farthest));
    };
    if (const PartReport parted = part_bodies(model, state, say); parted.clean)
        return tell(parted.moved, parted.farthest);
    if (scene.bodies.size() != state.q.size())
        throw InputError(reader.file(), "--from", "bodies of tendons cannot be moved apart: " + first,
                         "start from a time at which nothing intersects");
    Scene start = without_joints(scene_at(scene, model, state));
    volume::UntangleOptions options;
    if (say)
        options.progress = [&](int round, double depth, int contacts) {
            say(fmt::format("moving bodies apart, round {}: {} contacts, {:.3g} m deep", round + 1, contacts,
                            depth));
        };
    const volume::UntangleReport report = volume::untangle(start, options);
    if (!report.clean())
        throw InputError(reader.file(), "--from",
                         fmt::format("{} pairs of bodies intersect there and cannot be moved apart: {}",
                                     report.remaining.size(), report.remaining.front()),
                         "start from an earlier time");
    const State placed = initial_state(compile(start));
    for (std::size_t i = 0; i < state.q.size(); ++i) {
        state.q[i] = placed.q[i];
        if (state.dynamic(static_cast<int>(i))) state.rate[i] = placed.rate[i];
    }
    tell(report.moved.size(), report.moved.empty() ? 0.0 : report.moved.front().distance);
}

// What a first step had to close would become velocity: closed by 1 cm in 10 ms, a body goes on at 1 m/s.
void close_open_joints(const RunReader& reader, const Scene& scene, const Model& model, State& state,
                       std::vector<std::string>& told, const Say& say) {
    const double open = joint_residual_max(model, state);
    if (open <= closed_part * scene_length(model, state)) return;
    const std::vector<Mat34> before = state.q;
    if (!close_joints(scene, model, state, say)) {
        int worst = 0;
        for (std::size_t j = 0; j < model.joints.size(); ++j)
            if (joint_residual(model, state, static_cast<int>(j)) > joint_residual(model, state, worst))
                worst = static_cast<int>(j);
        throw InputError(reader.file(), "--from",
                         fmt::format("joints are open there, and contact or other joints keep '{}' open by "
                                     "{:.2g}",
                                     model.joints[worst].spec.name, joint_residual(model, state, worst)),
                         "start from an earlier time");
    }
    double farthest = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i)
        farthest = std::max(farthest, (state.q[i] - before[i]).col(3).norm());
    told.push_back(
        fmt::format("joints were open by up to {:.2g} m or rad: closed at rest, bodies moved by up to "
                    "{:.3g} m for it",
                    open, farthest));
}

}  // namespace

void check_same_bodies(const RunReader& reader, const Model& model, const std::string& cure) {
    const auto refuse = [&](const std::string& problem) {
        throw InputError(reader.file(), "", problem, cure);
    };
    if (static_cast<int>(reader.bodies().size()) != model.bodies.size() ||
        reader.joints().size() != model.joints.size() || reader.elastic().size() != model.elastic.size())
        refuse("holds another number of bodies or joints than the scene");
    for (int i = 0; i < model.bodies.size(); ++i)
        if (reader.bodies()[i].name != model.bodies.name[i])
            refuse(fmt::format("has body '{}' where the scene has '{}'", reader.bodies()[i].name,
                               model.bodies.name[i]));
}

void set_state(const Model& model, const Frame& frame, double dt, State& state) {
    state.step = std::lround(frame.time / dt);
    state.time = static_cast<double>(state.step) * dt;
    state.q = frame.q;
    state.rate = frame.rate;
    for (std::size_t e = 0; e < state.elastic.size(); ++e) {
        state.elastic[e].x = frame.x[e];
        state.elastic[e].v = frame.v[e];
    }
    if (!frame.joint_coordinate.empty()) state.joint_coordinate = frame.joint_coordinate;
    release_kinematic_bodies(model, state);
    state.memory.reset();
}

Simulation::Start start_of(const RunReader& reader) {
    if (reader.frame_count() == 0 || reader.frame_step(0) == 0) return {};
    return [first = reader.frame(0), broken = reader.meta("broken")](const Scene& scene, const Model& model,
                                                                     State& state) {
        set_state(model, first, scene.dt, state);
        for (std::size_t j = 0; j < std::min(broken.size(), state.broken.size()); ++j)
            state.broken[j] = broken[j] == '1';
    };
}

void hand_over(const RunReader& reader, double time, const Scene& scene, const Model& model, State& state,
               std::vector<std::string>& told, const std::function<void(const std::string&)>& say) {
    check_same_bodies(reader, model, "hand over to the scene that the run was made with");
    const Frame frame = reader.frame(nearest_frame(reader, time));
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        if (frame.x[e].size() != state.elastic[e].x.size())
            throw InputError(reader.file(), fmt::format("elastic[{}]", e), "is divided otherwise in the run",
                             "keep its cell_size");
    set_state(model, frame, scene.dt, state);
    if (state.time >= scene.seconds * (1 - 1e-9))
        throw InputError(reader.file(), "--from",
                         fmt::format("{:g} s is the end of the scene: nothing is left to run", state.time),
                         "make the scene longer with --seconds");
    told.push_back(fmt::format("goes on from the frame at {:g} s of {}, made by {}", frame.time,
                               reader.file(), reader.meta("method")));
    if (std::abs(frame.time - state.time) > 1e-9 * std::max(frame.time, scene.dt))
        told.push_back(fmt::format("{:g} s is no whole number of steps of {:g} s: it counts as {:g} s",
                                   frame.time, scene.dt, state.time));
    find_broken_joints(model, state, told);
    if (reader.meta("method") != scene.method) make_rigid(model, state);
    if (scene.method != "affine") return;
    untangle(reader, scene, model, state, told, say);
    close_open_joints(reader, scene, model, state, told, say);
}

}  // namespace tenon::run

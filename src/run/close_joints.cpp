#include "run/close_joints.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/rigid_state.hpp"
#include "tenon/method.hpp"

namespace tenon::run {
namespace {

constexpr int most_steps = 40;
constexpr double closed_part = 1e-11;  // of the scene's length
constexpr double still_part = 2e-3;    // of the scene's length: a step that only lets go what was pressed

// The model with nothing in it that moves bodies by itself: joints, their limits and contact without friction.
Model at_rest(const Model& model) {
    Model quiet = model;
    quiet.forces.clear();
    quiet.wind = {};
    quiet.material_pairs.clear();
    for (auto* all : {&quiet.bodies.friction, &quiet.bodies.restitution})
        std::fill(all->begin(), all->end(), 0.0);
    for (ElasticBody& elastic : quiet.elastic) elastic.friction = elastic.restitution = 0.0;
    for (Joint& joint : quiet.joints) {
        joint.spec.twist.reset();
        joint.spec.bend.reset();
        joint.spec.break_force = joint.spec.break_torque = 1e300;
        for (DriveSpec& drive : joint.spec.drives) {
            DriveSpec limits;
            limits.limits = drive.limits;
            drive = limits;
        }
    }
    return quiet;
}

void stop_all(State& state) {
    for (Mat34& rate : state.rate) rate.setZero();
    for (ElasticState& elastic : state.elastic)
        std::fill(elastic.v.begin(), elastic.v.end(), Vec3(Vec3::Zero()));
}

// The most that a point of a shape moves.
double displacement(const Shape& shape, const Mat34& change) {
    return change.col(3).norm() + shape.radius * change.leftCols<3>().norm();
}

}  // namespace

// A step of the affine method that starts at rest without loads ends at the nearest state, in the metric of the masses, with
// closed joints: each is one projection, cut short by contact. What it presses together the next ones let go again.
bool close_joints(const Scene& scene, const Model& model, State& state,
                  const std::function<void(const std::string&)>& say) {
    const double length = scene_length(model, state);
    Scene settings;
    settings.method = "affine";
    settings.method_params["solve"] = std::string("coupled");
    if (const auto dhat = scene.method_params.find("dhat"); dhat != scene.method_params.end())
        settings.method_params["dhat"] = dhat->second;
    const Method method(settings);
    const Model quiet = at_rest(model);
    State moved;
    moved.assign_without_memory(state);
    moved.gravity.setZero();
    moved.pushes.clear();
    for (BodyType& type : moved.type)
        if (type == BodyType::kinematic_body) type = BodyType::static_body;
    Outputs outputs(quiet);
    bool done = false;
    for (int k = 0; k < most_steps && !done; ++k) {
        stop_all(moved);
        const std::vector<Mat34> before = moved.q;
        const StepReport report = method.step(quiet, moved, outputs, scene.dt);
        const double open = joint_residual_max(model, moved);
        double moves = 0.0;
        for (std::size_t i = 0; i < before.size(); ++i)
            moves =
                std::max(moves, displacement(model.shape_of(static_cast<int>(i)), moved.q[i] - before[i]));
        done = report.converged && open <= closed_part * length && moves <= still_part * length;
        if (say)
            say(fmt::format("closing joints, step {}: open by {:.2g}, bodies move by {:.2g} m", k + 1, open,
                            moves));
    }
    for (std::size_t i = 0; i < state.q.size(); ++i) {
        model::RigidState was = model::rigid_state(state, static_cast<int>(i));
        state.q[i] = moved.q[i];
        const model::RigidState now = model::rigid_state(moved, static_cast<int>(i));
        was.position = now.position;
        was.rotation = now.rotation;
        if (state.dynamic(static_cast<int>(i))) state.rate[i] = model::to_rate(was);
    }
    for (std::size_t e = 0; e < state.elastic.size(); ++e) state.elastic[e].x = moved.elastic[e].x;
    state.joint_coordinate = moved.joint_coordinate;
    return done;
}

}  // namespace tenon::run

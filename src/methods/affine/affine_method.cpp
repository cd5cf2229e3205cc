#include "methods/affine/affine_method.hpp"

#include <cmath>

#include "math/binary_io.hpp"
#include "math/parallel.hpp"
#include "math/timer.hpp"
#include "methods/affine/free_body.hpp"

namespace tenon {
namespace affine {
namespace {

constexpr std::size_t grain = 256;

Role role_of(const World& world, int i) {
    switch (world.bodies.type[i]) {
        case BodyType::static_body:
            return Role::still;
        case BodyType::kinematic_body:
            return Role::scripted;
        default:
            return Role::moving;
    }
}

// Loads as an acceleration of q, M^-1 f, with the torque turned along to where the body is going.
Mat34 external_acceleration(const Vec3& gravity, const Wrench& wrench, const Inertia& inertia,
                            const Mat3& A) {
    Mat34 acceleration = Mat34::Zero();
    acceleration.col(3) = gravity + wrench.force / inertia.mass;
    if (!wrench.torque.isZero(0.0))
        acceleration.leftCols<3>() =
            torque_force(A, wrench.torque) * inertia.moments.cwiseInverse().asDiagonal();
    return acceleration;
}

}  // namespace

AffineMethod::AffineMethod(const World& world, const Settings& settings) : settings_(settings) {
    history_.resize(world.bodies.q.size());
}

StepReport AffineMethod::step(World& world, double dt) {
    StepReport report;
    StageTimer timer;
    {
        const auto stage = timer.stage("targets");
        prepare_bodies(world, dt);
    }
    {
        const auto stage = timer.stage("free flight");
        solve_free_bodies(report);
    }
    {
        const auto stage = timer.stage("rates");
        finish(world, dt);
    }
    report.phases = timer.stages();
    return report;
}

void AffineMethod::prepare_bodies(const World& world, double dt) {
    const Bodies& all = world.bodies;
    const std::size_t count = all.q.size();
    bodies_.body.resize(count);
    bodies_.holds.clear();
    bodies_.potential_scale = potential_scale(settings_.integrator, dt, first_step_);
    q_ = all.q;
    external_wrenches(world, world.time, wrenches_);
    for (std::size_t i = 0; i < count; ++i) {
        bodies_.body[i].hold = -1;
        if (all.type[i] != BodyType::dynamic_body) continue;
        HoldBuilder hold;
        add_fixed_coordinates(hold, all.fixed[i], all.q[i]);
        if (hold.empty()) continue;
        bodies_.body[i].hold = static_cast<int>(bodies_.holds.size());
        bodies_.holds.push_back({hold.projection()});
    }
    parallel_for(count, grain, [&](std::size_t i) {
        BodyStep& body = bodies_.body[i];
        body.role = role_of(world, static_cast<int>(i));
        body.inertia = inertia_of(all, static_cast<int>(i));
        body.start = all.q[i];
        body.rigidity = bodies_.potential_scale * settings_.kappa * all.volume[i];
        if (body.role == Role::still) {
            body.target = body.predicted = body.start;
        } else if (body.role == Role::scripted) {
            body.target = body.predicted = scripted_pose(world, static_cast<int>(i), world.time + dt);
        } else {
            body.predicted = extrapolate_rigidly(body.start, all.rate[i], body.inertia, dt);
            const Mat34 acceleration = external_acceleration(world.gravity, wrenches_[i], body.inertia,
                                                             body.predicted.leftCols<3>());
            if (first_step_)
                history_[i].acceleration =
                    rigid_acceleration(body.start, all.rate[i], acceleration, body.inertia);
            body.target = inertial_target(settings_.integrator, dt, first_step_, body.start, all.rate[i],
                                          history_[i], acceleration);
        }
    });
}

void AffineMethod::solve_free_bodies(StepReport& report) {
    const std::size_t count = q_.size();
    std::vector<FreeSolve> solves(count);
    parallel_for(count, grain, [&](std::size_t i) {
        const BodyStep& body = bodies_.body[i];
        FreeSolve& solve = solves[i];
        if (body.role != Role::moving)
            solve = {body.target, 0, true};
        else if (body.hold >= 0)
            solve = solve_held_body(body.start, body.target, body.inertia, body.rigidity, settings_.rigidity,
                                    bodies_.holds[body.hold].projection);
        else
            solve =
                solve_free_body(body.predicted, body.target, body.inertia, body.rigidity, settings_.rigidity);
        q_[i] = solve.q;
    });
    for (std::size_t i = 0; i < count; ++i) {
        report.iterations = std::max(report.iterations, solves[i].iterations);
        if (!solves[i].converged) report.converged = false;
    }
}

void AffineMethod::finish(World& world, double dt) {
    Bodies& all = world.bodies;
    const bool damp = settings_.integrator == Integrator::newmark && settings_.stretch_damping > 0.0;
    parallel_for(q_.size(), grain, [&](std::size_t i) {
        const BodyStep& body = bodies_.body[i];
        if (body.role == Role::still) return;
        if (body.role == Role::scripted) {
            all.rate[i] = (q_[i] - body.start) / dt;
            history_[i].acceleration.setZero();
            history_[i].older_q = body.start;
            history_[i].older_rate = all.rate[i];
            all.q[i] = q_[i];
            return;
        }
        BodyHistory& history = history_[i];
        Mat34 rate =
            finish_rate(settings_.integrator, dt, first_step_, q_[i], body.start, all.rate[i], history);
        if (damp) {
            const double d = settings_.stretch_damping;
            rate += d * (rigid_part_of_rate(q_[i], rate, body.inertia) - rate);
            history.acceleration += d * (rigid_acceleration(q_[i], rate, history.acceleration, body.inertia) -
                                         history.acceleration);
        }
        all.rate[i] = rate;
        all.q[i] = q_[i];
    });
    first_step_ = false;
}

void AffineMethod::save(std::ostream& out) const {
    write_value(out, first_step_);
    write_values(out, history_);
}

void AffineMethod::load(std::istream& in) {
    read_value(in, first_step_);
    read_values(in, history_);
}

namespace {

std::optional<Unsupported> supports(const Scene& scene) {
    if (!scene.elastic.empty())
        return Unsupported{"elastic[0]", "the affine method has no elastic bodies", "use --method adaptive"};
    if (!scene.joints.empty())
        return Unsupported{"joints[0]", "the affine method has no joints yet", "use --method articulated"};
    return std::nullopt;
}

std::unique_ptr<Method> make(const World& world, const Params& params) {
    return std::make_unique<AffineMethod>(world, read_settings(params));
}

}  // namespace
}  // namespace affine

MethodInfo affine_method() {
    return {"affine", "affine bodies with barrier contact: stiff bodies that never intersect",
            affine::parameter_list(), affine::supports, affine::make};
}

}  // namespace tenon

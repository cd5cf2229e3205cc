#include "methods/affine/affine_method.hpp"

#include <cmath>
#include <fstream>

#include "model/initial_check.hpp"
#include "math/binary_io.hpp"
#include "math/parallel.hpp"
#include "methods/affine/free_body.hpp"
#include "methods/affine/newton_system.hpp"

namespace tenon {
namespace affine {
namespace {

constexpr std::size_t grain = 256;
constexpr double scripted_weight =
    1e5;  // scripted bodies are pushed to their pose with this many times their inertia
constexpr int max_rounds = 100;  // of candidates within a step

// Of the solid bodies that move; 1e300 when there are none.
double thinnest_body(const Model& model, const State& state) {
    double thinnest = 1e300;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] != BodyType::static_body && model.shape_of(i).closed)
            thinnest = std::min(thinnest, model.shape_of(i).box.size().minCoeff());
    return thinnest;
}

std::uint64_t key_of(const CandidatePair& pair) {
    return static_cast<std::uint64_t>(pair.a) << 32 | static_cast<std::uint32_t>(pair.b);
}

Role role_of(const State& state, int i) {
    switch (state.type[i]) {
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

AffineMethod::AffineMethod(const Model& model, const State& state, const Settings& settings)
    : settings_(settings), field_(model, state) {
    const std::size_t count = state.q.size();
    history_.resize(count);
    node_.assign(count, -1);
    solvers_.resize(count);
    joint_rows_ = joint_rows(model, state);
    multipliers_.assign(joint_rows_.size(), 0.0);
    const double length = scene_length(model, state);
    scale_.dhat = settings.dhat > 0.0       ? settings.dhat
                  : model.contact_spec.dhat ? *model.contact_spec.dhat
                                            : std::min(1e-3 * length, 0.05 * thinnest_body(model, state));
    eps_v_ = settings.eps_v > 0.0 ? settings.eps_v : std::min(1e-4 * length, 1e-4);
    tolerance_ = settings.tolerance > 0.0 ? settings.tolerance : std::min(1e-4 * length, 1e-2);
}

AffineMethod::~AffineMethod() = default;

// Algorithm: one implicit step as the minimisation of an incremental potential (Sec. 4), island by island.
StepReport AffineMethod::step(const Model& model, State& state, Outputs& outputs, double dt) {
    StepReport report;
    timer_.reset();
    step_ = state.step;
    plan_restitution(model, state, dt);
    prepare_bodies(model, state, dt);                   // targets q~ (Eq. 9)
    solve_free_bodies(report);                          // where everything would go without contact
    solve_contacts(model, state, outputs, dt, report);  // candidates, islands, Newton with CCD-filtered steps
    finish(state, dt);                                  // rates
    report_contacts(outputs, report);
    report_joints(model, state, outputs, report);
    report_bodies(model, dt, report);
    report_restitution(report);
    report.phases = timer_.stages();
    return report;
}

// The integrator, the range and the stiffness that bounce as wanted, before the first step.
void AffineMethod::plan_restitution(const Model& model, const State& state, double dt) {
    if (!first_step_) return;
    BounceWish wish;
    wish.restitution = settings_.restitution >= 0.0 ? settings_.restitution : wanted_restitution(model);
    wish.speed =
        settings_.restitution_speed > 0.0 ? settings_.restitution_speed : expected_impact_speed(model, state);
    if (wish.restitution <= 0.0 || wish.speed <= 0.0) return;
    wish.dt = dt;
    wish.gravity = state.gravity.norm();
    const bool dhat_given = settings_.dhat > 0.0 || model.contact_spec.dhat;
    wish.least_dhat = scale_.dhat;
    wish.most_dhat =
        dhat_given ? scale_.dhat : std::max(scale_.dhat, std::min(0.1 * thinnest_body(model, state), 1.0));
    if (settings_.integrator_given) wish.integrator = settings_.integrator;
    wish.stiffness = settings_.contact_stiffness;
    plan_ = plan_bounce(wish);
    scale_.dhat = plan_.dhat;
    settings_.integrator = plan_.integrator;
}

void AffineMethod::prepare_bodies(const Model& model, const State& state, double dt) {
    const auto stage = timer_.stage("targets");
    const Bodies& all = model.bodies;
    const std::size_t count = state.q.size();
    bodies_.body.resize(count);
    turn_.assign(count, 0.0);
    bodies_.holds.clear();
    bodies_.potential_scale = potential_scale(settings_.integrator, dt, first_step_);
    q_ = state.q;
    external_wrenches(model, state, state.time, wrenches_);
    add_motor_torques(model, state, dt, wrenches_);
    for (std::size_t i = 0; i < count; ++i) {
        bodies_.body[i].hold = -1;
        if (state.type[i] != BodyType::dynamic_body) continue;
        HoldBuilder hold;
        add_fixed_coordinates(hold, all.fixed[i], state.q[i]);
        if (!model.joints.empty()) add_world_joints(hold, model, state, static_cast<int>(i));
        if (hold.empty()) continue;
        bodies_.body[i].hold = static_cast<int>(bodies_.holds.size());
        bodies_.holds.push_back({hold.projection()});
    }
    parallel_for(count, grain, [&](std::size_t i) {
        BodyStep& body = bodies_.body[i];
        body.role = role_of(state, static_cast<int>(i));
        body.inertia = inertia_of(all, static_cast<int>(i));
        body.start = state.q[i];
        body.rigidity = bodies_.potential_scale * settings_.kappa * all.volume[i];
        if (body.role == Role::still) {
            body.target = body.predicted = body.start;
        } else if (body.role == Role::scripted) {
            body.target = body.predicted = scripted_pose(model, state, static_cast<int>(i), state.time + dt);
            body.inertia.mass *= scripted_weight;
            body.inertia.moments *= scripted_weight;
            body.rigidity *= scripted_weight;
        } else {
            body.predicted = extrapolate_rigidly(body.start, state.rate[i], body.inertia, dt);
            const Mat34 acceleration = external_acceleration(state.gravity, wrenches_[i], body.inertia,
                                                             body.predicted.leftCols<3>());
            if (first_step_)
                history_[i].acceleration =
                    rigid_acceleration(body.start, state.rate[i], acceleration, body.inertia);
            turn_[i] =
                dt *
                angular_velocity(body.start, Mat34(state.rate[i] + dt * acceleration), body.inertia).norm();
            body.target = inertial_target(settings_.integrator, dt, first_step_, body.start, state.rate[i],
                                          history_[i], acceleration);
        }
    });
}

void AffineMethod::solve_free_bodies(StepReport& report) {
    const auto stage = timer_.stage("free flight");
    const std::size_t count = q_.size();
    free_.resize(count);
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
        free_[i] = solve.q;
    });
    for (std::size_t i = 0; i < count; ++i) {
        report.iterations = std::max(report.iterations, solves[i].iterations);
        if (!solves[i].converged) report.converged = false;
    }
}

void AffineMethod::solve_contacts(const Model& model, const State& state, const Outputs& outputs, double dt,
                                  StepReport& report) {
    finished_.assign(q_.size(), 0);
    node_.assign(q_.size(), -1);
    friction_.clear();
    iterations_ = solves_ = fallbacks_ = line_search_steps_ = builds_ = 0;
    converged_ = true;
    std::fill(std::begin(inner_ms_), std::end(inner_ms_), 0.0);
    scale_.reference_acceleration = plan_.wanted > 0.0 ? plan_.stiffness
                                    : settings_.contact_stiffness > 0.0
                                        ? settings_.contact_stiffness
                                        : std::max(10.0 * state.gravity.norm(), scale_.dhat / (dt * dt));
    // Within a step orders of elimination last; over its end nothing does that a checkpoint has not.
    for (const auto& solver : solvers_)
        if (solver) solver->keep_order(false);
    wanted_ = q_;
    left_.assign(q_.size(), 0);
    room_.assign(q_.size(), 0.0);
    friction_renewed_.assign(q_.size(), 1);
    crowded_.resize(q_.size(), 0);
    StepContext context{settings_,    bodies_, sweeps_, field_, q_,       joint_rows_,
                        multipliers_, wanted_, left_,   node_,  solvers_, memories_};
    context.largest_motion = scale_.dhat;
    for (std::size_t i = 0; i < q_.size(); ++i)
        context.largest_motion =
            std::max(context.largest_motion,
                     displacement_bound(free_[i] - bodies_.body[i].start, field_.shape(static_cast<int>(i))));
    context.dt = dt;
    context.friction_eps = scale_.friction_eps = eps_v_ * dt;
    context.tolerance = tolerance_ * dt;
    context.record_path = static_cast<bool>(outputs.path_sink);
    context.strained.assign(q_.size(), 0);
    if (!settings_.dump.empty() && step_ == settings_.dump_step)
        context.dump = settings_.dump + "-step" + std::to_string(step_);
    bool more = true;
    int round = 0;
    for (; round < max_rounds && more; ++round) {
        build_candidates(model, round, dt, context.largest_motion);
        more = solve_islands(outputs, context, round);
    }
    if (round > 1) expire_large_pairs();
    report.iterations = std::max(report.iterations, iterations_);
    report.converged = report.converged && converged_ && !more;
    const char* names[] = {"assemble", "solve", "ccd", "energy", "move"};
    for (std::size_t k = 0; k < std::size(names); ++k) timer_.add(names[k], inner_ms_[k]);
    report.figures = {{"solves", static_cast<double>(solves_)},
                      {"ldlt", static_cast<double>(fallbacks_)},
                      {"line_search", static_cast<double>(line_search_steps_)},
                      {"candidate_builds", static_cast<double>(builds_)},
                      {"candidates", static_cast<double>(field_.candidate_count())}};
}

// Runs Newton on every island that is not finished. True when some body left the range of the candidates.
bool AffineMethod::solve_islands(const Outputs& outputs, StepContext& context, int round) {
    std::vector<Island> islands = find_islands(bodies_, field_, joint_rows_);
    std::vector<char> in_island(q_.size(), 0);
    for (const Island& island : islands)
        for (const int body : island.bodies) in_island[body] = 1;
    for (std::size_t i = 0; i < q_.size(); ++i) {
        if (in_island[i] || finished_[i]) continue;
        if (round == 0) {
            q_[i] = free_[i];
            finished_[i] = 1;
        } else if (bodies_.body[i].role != Role::still) {  // nothing near it any more, but not there yet
            Island& alone = islands.emplace_back();
            alone.bodies = {static_cast<int>(i)};
            alone.held = bodies_.body[i].hold >= 0;
        }
    }
    std::vector<IslandResult> results(islands.size());
    const auto solve = [&](std::size_t k) {
        const Island& island = islands[k];
        bool open = false;
        for (const int body : island.bodies) open = open || !finished_[body];
        const auto begun = StageTimer::Clock::now();
        parallel_for(island.bodies.size(), grain_of(island, 32),
                     [&](std::size_t n) { field_.set_pose(island.bodies[n], q_[island.bodies[n]]); });
        parallel_for(island.pairs.size(), grain_of(island, 16), [&](std::size_t n) {
            // Friction keeps the normal forces of the step's start. Finished islands only need their contacts back,
            // for the report.
            const int pair = island.pairs[n];
            field_.evaluate(pair);
            if (round == 0)
                field_.lag_friction(pair);
            else if (const auto found = friction_.find(key_of(field_.pair(pair))); found != friction_.end())
                field_.contacts(pair).friction = found->second;
        });
        const double start_ms = StageTimer::elapsed_ms(begun);
        if (open)
            results[k] = solve_island(island, context, round == 0);
        else
            results[k].converged = true;
        results[k].energy_ms += start_ms;
        if (!open) return;
        // Over all rounds: new normal forces may go back and forth for ever, and new candidates not give them more time.
        int renewed = 1;
        for (const int body : island.bodies) renewed = std::max(renewed, friction_renewed_[body]);
        for (; renewed < settings_.friction_iterations && results[k].converged; ++renewed) {
            parallel_for(island.pairs.size(), grain_of(island, 16),
                         [&](std::size_t n) { field_.lag_friction(island.pairs[n]); });
            IslandResult more = solve_island(island, context, false);
            const bool settled = more.iterations <= 1;  // the new normal forces change nothing
            results[k].go_on(std::move(more));
            if (settled) break;
        }
        for (const int body : island.bodies) friction_renewed_[body] = renewed;
    };
    for_islands(islands, solve);
    bool more = false;
    for (std::size_t k = 0; k < islands.size(); ++k) {
        const IslandResult& result = results[k];
        iterations_ = std::max(iterations_, result.iterations);
        solves_ += result.solves;
        fallbacks_ += result.fallbacks;
        line_search_steps_ += result.line_search_steps;
        inner_ms_[0] += result.assemble_ms;
        inner_ms_[1] += result.solve_ms;
        inner_ms_[2] += result.ccd_ms;
        inner_ms_[3] += result.energy_ms;
        inner_ms_[4] += result.move_ms;
        if (!result.converged && !result.out_of_slack) converged_ = false;
        more = more || result.out_of_slack;
        for (const int body : islands[k].bodies) finished_[body] = !result.out_of_slack;
    }
    for (int pair = 0; more && pair < field_.pair_count(); ++pair)
        if (const auto& friction = field_.contacts(pair).friction; !friction.empty())
            friction_[key_of(field_.pair(pair))] = friction;
        else
            friction_.erase(key_of(field_.pair(pair)));
    emit_path(outputs, islands, results);
    write_log(islands, results, round);
    return more;
}

void AffineMethod::finish(State& state, double dt) {
    const auto stage = timer_.stage("rates");
    const bool damp = settings_.integrator == Integrator::newmark && settings_.stretch_damping > 0.0;
    std::vector<char> touches(q_.size(), 0);
    for (int k = 0; k < field_.pair_count(); ++k)
        if (!field_.contacts(k).points.empty()) touches[field_.pair(k).a] = touches[field_.pair(k).b] = 1;
    parallel_for(q_.size(), grain, [&](std::size_t i) {
        const BodyStep& body = bodies_.body[i];
        if (body.role == Role::still) return;
        history_[i].strayed =
            touches[i] ? deviation_from({body.start, free_[i]}, q_[i], field_.shape(static_cast<int>(i)))
                       : -1.0;
        if (body.role == Role::scripted) {
            state.rate[i] = (q_[i] - body.start) / dt;
            history_[i].acceleration.setZero();
            history_[i].older_q = body.start;
            history_[i].older_rate = state.rate[i];
            state.q[i] = q_[i];
            return;
        }
        BodyHistory& history = history_[i];
        Mat34 rate =
            finish_rate(settings_.integrator, dt, first_step_, q_[i], body.start, state.rate[i], history);
        if (damp) {
            const double d = settings_.stretch_damping;
            rate += d * (rigid_part_of_rate(q_[i], rate, body.inertia) - rate);
            history.acceleration += d * (rigid_acceleration(q_[i], rate, history.acceleration, body.inertia) -
                                         history.acceleration);
        }
        state.rate[i] = rate;
        state.q[i] = q_[i];
    });
    first_step_ = false;
}

void AffineMethod::save(std::ostream& out) const {
    write_value(out, first_step_);
    write_value(out, plan_);
    write_value(out, scale_);
    write_value(out, eps_v_);
    write_value(out, tolerance_);
    write_values(out, history_);
    write_value(out, age_);
    write_value(out, planned_);
    write_value(out, can_last_);
    write_values(out, sweeps_);
    write_values(out, crowded_);
}

void AffineMethod::load(std::istream& in) {
    read_value(in, first_step_);
    read_value(in, plan_);
    if (plan_.wanted > 0.0) settings_.integrator = plan_.integrator;
    read_value(in, scale_);
    read_value(in, eps_v_);
    read_value(in, tolerance_);
    read_values(in, history_);
    read_value(in, age_);
    read_value(in, planned_);
    read_value(in, can_last_);
    read_values(in, sweeps_);
    read_values(in, crowded_);
    const std::size_t bodies = field_.shapes().size();
    if (history_.size() != bodies || (age_ >= 0 && (sweeps_.size() != bodies || crowded_.size() != bodies)))
        throw std::runtime_error("the checkpoint holds another number of bodies");
    must_find_again_ = true;
}

namespace {

std::optional<Unsupported> supports(const Scene& scene) {
    if (!scene.elastic.empty())
        return Unsupported{"elastic[0]", "the affine method has no elastic bodies", "use --method adaptive"};
    return unsupported_joint(scene);
}

// Barriers keep bodies apart that start apart.
void check_start(const Model& model, const State& state) {
    const model::InitialCheck check = model::check_initial_state(model, state);
    for (const model::InitialProblem& problem : check.problems)
        if (problem.kind != model::InitialProblem::Kind::enclosed)
            throw InputError("", "bodies[" + std::to_string(problem.a) + "]",
                             model::describe(model, problem), "move them apart, or try `tenon untangle`");
}

std::unique_ptr<Stepper> make(const Model& model, const State& state, const Params& params) {
    if (state.step == 0) check_start(model, state);
    return std::make_unique<AffineMethod>(model, state, read_settings(params));
}

}  // namespace
}  // namespace affine

MethodInfo affine_method() {
    return {"affine", "affine bodies with barrier contact: stiff bodies that never intersect",
            affine::parameter_list(), affine::supports, affine::make};
}

}  // namespace tenon

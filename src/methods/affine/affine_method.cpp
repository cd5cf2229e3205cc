#include "methods/affine/affine_method.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "math/binary_io.hpp"
#include "math/parallel.hpp"
#include "methods/affine/barrier_scale.hpp"
#include "methods/affine/coupled_method.hpp"
#include "methods/affine/free_body.hpp"
#include "methods/affine/landing.hpp"
#include "methods/affine/newton_system.hpp"
#include "methods/affine/open_start.hpp"
#include "methods/affine/round_shape.hpp"
#include "model/initial_check.hpp"
#include "model/loads_ahead.hpp"

namespace tenon {
namespace affine {
namespace {

constexpr std::size_t grain = 256;
// Scripted bodies are pushed to their pose with this many times their inertia; with less where that would crush something.
constexpr double most_script_weight = 1e5, least_script_weight = 1e-3;
constexpr double pressed_strain = 1e-4;  // |A^T A - I| that says so
// Speeds, per second: of the scene's length and of a body's. All are relative, so that a scene at another scale takes the
// same iterations.
constexpr double stick_of_scene = 3e-5, stick_of_body = 1e-3;  // below which friction sticks
constexpr double still_of_scene = 1e-4, still_of_body = 1e-2;  // of a Newton step that has converged
constexpr int max_rounds = 100;                                // of candidates within a step
constexpr double rigid_over_inertia = 1e6;  // h^2 kappa v over the largest second moment of mass
constexpr double load_strain = 1e-5;        // of a body that has all loads of the scene to carry

// Of the solid bodies that move; 1e300 when there are none.
double thinnest_body(const Model& model, const State& state) {
    double thinnest = 1e300;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] != BodyType::static_body && model.shape_of(i).closed)
            thinnest = std::min(thinnest, model.shape_of(i).box.size().minCoeff());
    return thinnest;
}

// Diameter of the middle one of all bodies that move, by size.
double typical_body(const Model& model, const State& state) {
    std::vector<double> size;
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] != BodyType::static_body) size.push_back(2.0 * model.shape_of(i).radius);
    if (size.empty()) return 1.0;
    std::nth_element(size.begin(), size.begin() + size.size() / 2, size.end());
    return size[size.size() / 2];
}

// Of the scene at its start, N: the weight of everything that moves and the largest force applied.
double load_of(const Model& model, const State& state) {
    std::vector<Wrench> wrenches;
    external_wrenches(model, state, state.time, wrenches);
    double load = 0.0;
    for (std::size_t i = 0; i < wrenches.size(); ++i) {
        load = std::max(load, wrenches[i].force.norm());
        if (state.type[i] == BodyType::dynamic_body) load += model.bodies.mass[i] * state.gravity.norm();
    }
    return load;
}

// Bodies that loads strain visibly are not round for long.
bool all_stay_rigid(const Model& model, const State& state, const Settings& settings) {
    if (settings.kappa == 0.0) return true;
    const double load = load_of(model, state);
    for (int i = 0; i < model.bodies.size(); ++i)
        if (state.type[i] == BodyType::dynamic_body &&
            settings.kappa * model.bodies.volume[i] * 8.0 * load_strain < load * model.shape_of(i).radius)
            return false;
    return true;
}

std::uint64_t key_of(const CandidatePair& pair) {
    return static_cast<std::uint64_t>(pair.a) << 32 | static_cast<std::uint32_t>(pair.b);
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

AffineMethod::AffineMethod(const Model& model, const State& state, const Settings& settings,
                           std::vector<std::string> told)
    : settings_(settings), field_(model, state), told_(std::move(told)) {
    if (!told_.empty()) opened_ = state.q;
    const std::size_t count = state.q.size();
    history_.resize(count);
    node_.assign(count, -1);
    solvers_.resize(count);
    constraint_rows_ = constraint_rows(model, state);
    multipliers_.assign(constraint_rows_.size(), 0.0);
    const double length = scene_length(model, state);
    scale_.dhat = settings.dhat > 0.0       ? settings.dhat
                  : model.contact_spec.dhat ? *model.contact_spec.dhat
                                            : std::min(1e-3 * length, 0.05 * thinnest_body(model, state));
    bounces_ = impacts_follow_law(model, settings);
    if (bounces_ && !settings.integrator_given) settings_.integrator = Integrator::bdf2;
    if (bounces_ && settings.dhat == 0.0 && !model.contact_spec.dhat)
        scale_.dhat = std::min(scale_.dhat, bounce_range * thinnest_body(model, state));
    smallest_dhat_ = std::min(scale_.dhat, smallest_gap_part * length);
    round_.assign(count, 0);
    if (all_stay_rigid(model, state, settings)) round_ = bodies_that_start_round(model, state, scale_.dhat);
    use_round_shapes(model);
    rigidity_factor_.assign(count, 1.0);
    script_weight_.assign(count, most_script_weight);
    const double body = typical_body(model, state);
    eps_v_ = settings.eps_v > 0.0 ? settings.eps_v : std::min(stick_of_scene * length, stick_of_body * body);
    tolerance_ = settings.tolerance > 0.0 ? settings.tolerance
                                          : std::min(still_of_scene * length, still_of_body * body);
}

AffineMethod::~AffineMethod() = default;

void AffineMethod::use_round_shapes(const Model& model) {
    field_.make_round(model, round_, scale_.dhat);
    facet_angle_.resize(round_.size());
    for (std::size_t i = 0; i < round_.size(); ++i)
        facet_angle_[i] = field_.shape(static_cast<int>(i)).facet_angle;
}

void AffineMethod::open(State& state) {
    if (!opened_.empty()) state.q = std::exchange(opened_, {});
}

// Algorithm: one implicit step as the minimisation of an incremental potential (Sec. 4), island by island. A step in which
// bodies would pass each other far within it is taken in several.
StepReport AffineMethod::step(const Model& model, State& state, Outputs& outputs, double dt) {
    StepReport report;
    timer_.reset();
    if (facet_angle_.empty()) use_round_shapes(model);
    step_ = state.step;
    report.warnings = std::exchange(told_, {});
    if (first_step_ && settings_.restitution_speed > 0.0)
        plan_ = plan_restitution(model, state, thinnest_body(model, state), dt, settings_, scale_.dhat);
    if (first_step_ && settings_.integrator == Integrator::implicit_euler) lag_.start(state);
    outputs.contacts.clear();
    joint_loads_.assign(model.joints.size(), {});
    motor_forces_.assign(model.joints.size(), 0.0);
    fast_impact_ = false;
    totals_ = {};
    for (double done = 0.0; dt - done > 1e-12 * dt;)
        done += advance(model, state, outputs, state.time + done, dt - done, dt, report);
    report_totals(model, state, outputs, report);
    rolling_.add(model, state, facet_angle_, outputs, dt, report);
    report.phases = timer_.stages();
    return report;
}

// At most the time `longest` from `now` on; returns what it took.
double AffineMethod::advance(const Model& model, State& state, Outputs& outputs, double now, double longest,
                             double dt, StepReport& report) {
    double h = longest;
    predict(model, state, now, h);      // where everything would go without contact
    prepare_contacts(model, state, h);  // candidates
    if (const double part = part_before_fast_impact(); part < 1.0) {
        h *= part;
        fast_impact_ = true;
        candidates_.expire();
        predict(model, state, now, h);
        prepare_contacts(model, state, h);
    }
    const StepReport before = report;
    const std::vector<PairRecord> pairs_before = field_.memory().records();
    solve_contacts(model, outputs, h, report);  // islands, Newton with CCD-filtered steps
    while (script_presses_too_hard()) {
        // Barriers that a script pushed too hard has stiffened would give friction of that force to the next attempt.
        report = before;
        field_.memory().replace(pairs_before);
        path_.clear();
        candidates_.expire();
        predict(model, state, now, h);
        prepare_contacts(model, state, h);
        solve_contacts(model, outputs, h, report);
    }
    release_path(outputs);
    if (bounces_) rate_before_ = state.rate;
    finish(state, h);  // rates
    if (bounces_) bounce(model, state, h);
    report_contacts(outputs, h / dt, report);
    report_pressed(model, report);
    report_joints(model, state, outputs, h / dt, report);
    report_bodies(model, state, now, h, report);
    if (h < longest || totals_.substeps > 0) candidates_.expire();
    ++totals_.substeps;
    return h;
}

void AffineMethod::predict(const Model& model, const State& state, double now, double h) {
    prepare_bodies(model, state, now, h);  // targets q~ (Eq. 9)
    solve_free_bodies();
}

void AffineMethod::prepare_bodies(const Model& model, const State& state, double now, double dt) {
    const auto stage = timer_.stage("targets");
    const Bodies& all = model.bodies;
    const std::size_t count = state.q.size();
    bodies_.body.resize(count);
    turn_.assign(count, 0.0);
    bodies_.holds.clear();
    fresh_history_ = first_step_ || (settings_.integrator == Integrator::bdf2 && dt != last_h_);
    bodies_.potential_scale = potential_scale(settings_.integrator, dt, fresh_history_);
    q_ = state.q;
    wrenches_ahead(model, state, now, dt, wrenches_);  // forces balance where the step ends
    given_ = given_torques(model, state, now + dt);
    add_torques(model, given_, wrenches_);
    motors_ = velocity_motors(model, state, now + dt, dt, tolerance_ * dt);
    load_ = 0.0;
    for (const Wrench& wrench : wrenches_) load_ = std::max(load_, wrench.force.norm());
    for (std::size_t i = 0; i < count; ++i)
        if (state.type[i] == BodyType::dynamic_body) load_ += all.mass[i] * state.gravity.norm();
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
        body.type = state.type[i];
        body.inertia = inertia_of(all, static_cast<int>(i));
        body.start = state.q[i];
        body.slide_from =
            body.type == BodyType::static_body
                ? body.start
                : sliding_reference(settings_.integrator, fresh_history_, body.start, history_[i]);
        body.rigidity = rigidity_of(model, static_cast<int>(i));
        if (body.type == BodyType::static_body) {
            body.target = body.predicted = body.start;
        } else if (body.type == BodyType::kinematic_body) {
            body.target = body.predicted = scripted_target(model, state, static_cast<int>(i), now, dt);
            body.inertia.mass *= script_weight_[i];
            body.inertia.moments *= script_weight_[i];
            body.rigidity *= script_weight_[i];
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
            body.target = inertial_target(settings_.integrator, dt, fresh_history_, body.start, state.rate[i],
                                          history_[i], acceleration);
        }
    });
}

// Where the script has the body at the end of the step; no farther than a few times what the script itself moves, so that
// one that contact has held up does not press harder and harder.
Mat34 AffineMethod::scripted_target(const Model& model, const State& state, int body, double now,
                                    double h) const {
    const Mat34& start = state.q[body];
    const Mat34 pose = scripted_pose(model, state, body, now + h);
    const double own = displacement_bound(pose - scripted_pose(model, state, body, now), field_.shape(body));
    const double to_go = displacement_bound(pose - start, field_.shape(body)), most = own + scale_.dhat;
    return to_go > most ? Mat34(start + most / to_go * (pose - start)) : pose;
}

// A script that presses bodies out of shape is pushed with less force, within the step; with all of it again once
// nothing touches its body any more. True when the step is to be solved again.
bool AffineMethod::script_presses_too_hard() {
    double largest = 0.0;
    for (std::size_t i = 0; i < q_.size(); ++i)
        if (bodies_.body[i].type != BodyType::static_body)
            largest = std::max(largest, strain(q_[i].leftCols<3>()).cwiseAbs().maxCoeff());
    std::vector<char> touches(q_.size(), 0);
    for (int k = 0; k < field_.pair_count(); ++k)
        if (!field_.contacts(k).points.empty()) touches[field_.pair(k).a] = touches[field_.pair(k).b] = 1;
    bool again = false;
    for (std::size_t i = 0; i < q_.size(); ++i) {
        if (bodies_.body[i].type != BodyType::kinematic_body) continue;
        if (touches[i] && largest > pressed_strain && script_weight_[i] > least_script_weight) {
            script_weight_[i] *= 0.1;
            again = true;
        } else if (!touches[i]) {
            script_weight_[i] = most_script_weight;
        }
    }
    return again && settings_.kappa == 0.0;
}

// Bodies are rigid unless a stiffness is given: so many times stiffer than their inertia within a step that no motion of
// the scene strains them visibly, and stiff enough for all loads of the scene on one of them. It follows mass and size,
// so that a wire and a cloud of points are as rigid as a block.
double AffineMethod::rigidity_of(const Model& model, int body) const {
    if (settings_.kappa > 0.0) return bodies_.potential_scale * settings_.kappa * model.bodies.volume[body];
    const double of_inertia = rigid_over_inertia * model.bodies.second_moments[body].maxCoeff();
    const double of_loads =
        bodies_.potential_scale * load_ * model.shape_of(body).radius / (8.0 * load_strain);
    return rigidity_factor_[body] * std::max(of_inertia, of_loads);
}

void AffineMethod::solve_free_bodies() {
    const auto stage = timer_.stage("free flight");
    const std::size_t count = q_.size();
    free_.resize(count);
    std::vector<FreeSolve> solves(count);
    parallel_for(count, grain, [&](std::size_t i) {
        const BodyStep& body = bodies_.body[i];
        FreeSolve& solve = solves[i];
        if (body.type != BodyType::dynamic_body)
            solve = {body.target, 0, true};
        else if (body.hold >= 0)
            solve = solve_held_body(body.start, body.target, body.inertia, body.rigidity, settings_.rigidity,
                                    bodies_.holds[body.hold].projection);
        else
            solve =
                solve_free_body(body.predicted, body.target, body.inertia, body.rigidity, settings_.rigidity);
        free_[i] = solve.q;
    });
    free_iterations_ = 0;
    free_converged_ = true;
    for (const FreeSolve& solve : solves) {
        free_iterations_ = std::max(free_iterations_, solve.iterations);
        free_converged_ = free_converged_ && solve.converged;
    }
}

// Candidates for the step as predicted, and what its contacts have to hold.
void AffineMethod::prepare_contacts(const Model& model, const State& state, double h) {
    const std::size_t count = q_.size();
    loads_.mass.resize(count);
    loads_.force.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const BodyType type = bodies_.body[i].type;
        loads_.mass[i] = type == BodyType::static_body      ? 1e300
                         : type == BodyType::kinematic_body ? 1e3 * model.bodies.mass[i]
                                                            : model.bodies.mass[i];
        loads_.force[i] =
            type == BodyType::dynamic_body
                ? wrenches_[i].force.norm() + wrenches_[i].torque.norm() / model.shape_of(i).radius
                : 0.0;
    }
    scale_.reference_acceleration = plan_.wanted > 0.0 ? plan_.stiffness
                                    : settings_.contact_stiffness > 0.0
                                        ? settings_.contact_stiffness
                                        : std::max(10.0 * state.gravity.norm(), scale_.dhat / (h * h));
    scale_.friction_eps = eps_v_ * sliding_time(settings_.integrator, h, fresh_history_);
    finished_.assign(count, 0);
    {
        const auto stage = timer_.stage("candidates");
        candidates_.start_step(predicted_step(model, h));
    }
    if (!first_step_ && field_.memory().records().empty()) return;
    parallel_for(count, 16, [&](std::size_t i) {
        if (model.bodies.collides[i]) field_.set_pose(static_cast<int>(i), q_[i]);
    });
    field_.grow_ranges(scale_, loads_, smallest_dhat_, first_step_);
}

void AffineMethod::solve_contacts(const Model& model, const Outputs& outputs, double h, StepReport& report) {
    node_.assign(q_.size(), -1);
    friction_.clear();
    iterations_ = 0;
    converged_ = true;
    // Within a step orders of elimination last; over its end nothing does that a checkpoint has not.
    for (const auto& solver : solvers_)
        if (solver) solver->keep_order(false);
    heading_ = q_;
    outside_.assign(q_.size(), 0);
    friction_renewed_.assign(q_.size(), 1);
    StepContext context{settings_, bodies_,      candidates_.motions(),
                        field_,    q_,           constraint_rows_,
                        motors_,   multipliers_, heading_,
                        outside_,  node_,        solvers_,
                        memories_};
    context.largest_motion = scale_.dhat;
    for (std::size_t i = 0; i < q_.size(); ++i)
        context.largest_motion =
            std::max(context.largest_motion,
                     displacement_bound(free_[i] - bodies_.body[i].start, field_.shape(static_cast<int>(i))));
    context.dt = h;
    context.friction_eps = scale_.friction_eps;
    context.tolerance = tolerance_ * h;
    context.record_path = static_cast<bool>(outputs.path_sink);
    context.strained.assign(q_.size(), 0);
    if (!settings_.dump.empty() && step_ == settings_.dump_step)
        context.dump = settings_.dump + "-step" + std::to_string(step_);
    bool more = true;
    int round = 0;
    for (; round < max_rounds && more; ++round) {
        if (round > 0) {
            const auto stage = timer_.stage("candidates");
            candidates_.renew(predicted_step(model, h),
                              {finished_, outside_, heading_, context.largest_motion}, round);
        }
        more = solve_islands(outputs, context, round);
    }
    candidates_.end_step(predicted_step(model, h), round);
    totals_.builds += candidates_.take_builds();
    field_.keep_stiffening();
    report.iterations += std::max(free_iterations_, iterations_);
    report.converged = report.converged && free_converged_ && converged_ && !more;
}

// Runs Newton on every island that is not finished. True when some body left the range of the candidates.
bool AffineMethod::solve_islands(const Outputs& outputs, StepContext& context, int round) {
    std::vector<Island> islands = find_islands(bodies_, field_, constraint_rows_, motors_);
    std::vector<char> in_island(q_.size(), 0);
    for (const Island& island : islands)
        for (const int body : island.bodies) in_island[body] = 1;
    for (std::size_t i = 0; i < q_.size(); ++i) {
        if (in_island[i] || finished_[i]) continue;
        if (round == 0) {
            q_[i] = free_[i];
            finished_[i] = 1;
        } else if (bodies_.body[i].type !=
                   BodyType::static_body) {  // nothing near it any more, but not there yet
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
        const int wanted =
            std::max(settings_.friction_iterations, !fast_impact_ && friction_is_outdated(island) ? 2 : 1);
        for (; renewed < wanted && results[k].converged; ++renewed) {
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
        totals_.solves += result.solves;
        totals_.fallbacks += result.fallbacks;
        totals_.line_search_steps += result.line_search_steps;
        totals_.inner_ms[0] += result.assemble_ms;
        totals_.inner_ms[1] += result.solve_ms;
        totals_.inner_ms[2] += result.ccd_ms;
        totals_.inner_ms[3] += result.energy_ms;
        totals_.inner_ms[4] += result.move_ms;
        if (!result.converged && !result.out_of_margin) converged_ = false;
        more = more || result.out_of_margin;
        for (const int body : islands[k].bodies) finished_[body] = !result.out_of_margin;
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

// Fast impacts are left alone: a second solve may lead a bullet round a plate.
bool AffineMethod::friction_is_outdated(const Island& island) {
    FrictionLimits limits;
    for (const int pair : island.pairs) {
        const PairContacts& contacts = field_.contacts(pair);
        if (contacts.mu <= 0.0) continue;
        double now = 0.0, lagged = 0.0;
        for (const ContactPoint& point : contacts.points) now += contacts.mu * point.force;
        for (const FrictionPoint& point : contacts.friction) lagged += point.limit;
        for (const int body : {field_.pair(pair).a, field_.pair(pair).b})
            if (bodies_.body[body].type == BodyType::dynamic_body) limits.add(body, lagged, now);
    }
    return limits.some_are_outdated();
}

void AffineMethod::finish(State& state, double dt) {
    const auto stage = timer_.stage("rates");
    const bool damp = settings_.integrator == Integrator::newmark && settings_.stretch_damping > 0.0;
    std::vector<char> touches(q_.size(), 0);
    for (int k = 0; k < field_.pair_count(); ++k)
        if (!field_.contacts(k).points.empty()) touches[field_.pair(k).a] = touches[field_.pair(k).b] = 1;
    parallel_for(q_.size(), grain, [&](std::size_t i) {
        const BodyStep& body = bodies_.body[i];
        if (body.type == BodyType::static_body) return;
        history_[i].off_prediction =
            touches[i] ? deviation_from({body.start, free_[i]}, q_[i], field_.shape(static_cast<int>(i)))
                       : -1.0;
        if (body.type == BodyType::kinematic_body) {
            state.rate[i] = (q_[i] - body.start) / dt;
            history_[i].acceleration.setZero();
            history_[i].older_q = body.start;
            history_[i].older_rate = state.rate[i];
            state.q[i] = q_[i];
            return;
        }
        BodyHistory& history = history_[i];
        Mat34 rate =
            finish_rate(settings_.integrator, dt, fresh_history_, q_[i], body.start, state.rate[i], history);
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
    last_h_ = dt;
}

void AffineMethod::save(std::ostream& out) const {
    write_value(out, first_step_);
    write_value(out, plan_);
    write_value(out, scale_);
    write_value(out, smallest_dhat_);
    write_value(out, eps_v_);
    write_value(out, tolerance_);
    write_values(out, history_);
    candidates_.save(out);
    write_value(out, last_h_);
    write_values(out, rigidity_factor_);
    write_values(out, script_weight_);
    write_values(out, field_.memory().records());
    write_values(out, round_);
    lag_.save(out);
}

void AffineMethod::load(std::istream& in) {
    read_value(in, first_step_);
    if (!first_step_) {
        opened_.clear();
        told_.clear();
    }
    plan_ = load_plan(in, settings_);
    read_value(in, scale_);
    read_value(in, smallest_dhat_);
    read_value(in, eps_v_);
    read_value(in, tolerance_);
    read_values(in, history_);
    candidates_.load(in, field_.shapes().size());
    read_value(in, last_h_);
    read_values(in, rigidity_factor_);
    read_values(in, script_weight_);
    std::vector<PairRecord> records;
    read_values(in, records);
    field_.memory().replace(std::move(records));
    read_values(in, round_);
    const std::size_t bodies = field_.shapes().size();
    lag_.load(in, bodies);
    facet_angle_.clear();
    if (round_.size() != bodies || history_.size() != bodies || rigidity_factor_.size() != bodies ||
        script_weight_.size() != bodies)
        throw std::runtime_error("the checkpoint holds another number of bodies");
}

namespace {

std::optional<Unsupported> supports(const Scene& scene) {
    if (!needs_coupled_solve(scene)) return std::nullopt;
    const auto solve = scene.method_params.find("solve");
    if (solve != scene.method_params.end() && solve->second == ParamValue(std::string("islands")))
        return Unsupported{"method.solve", "islands have no elastic bodies and linear joints only",
                           "leave it out, or \"coupled\""};
    return unsupported_when_coupled(scene);
}

// Barriers keep bodies apart that start apart.
void check_start(const Model& model, const State& state) {
    const model::InitialCheck check = model::check_initial_state(model, state);
    for (const model::InitialProblem& problem : check.problems)
        if (problem.kind != model::InitialProblem::Kind::enclosed)
            throw InputError("", "bodies[" + std::to_string(problem.a) + "]", model::describe(model, problem),
                             "move them apart, or try `tenon untangle`");
}

std::unique_ptr<Stepper> make(const Model& model, const State& state, const Params& params) {
    State start;
    start.assign_without_memory(state);
    std::vector<std::string> told = open_touching_bodies(model, start);
    check_start(model, start);
    const Settings settings = read_settings(params);
    const std::string solve = params.text("solve");
    const bool coupled =
        solve == "coupled" || needs_coupled_solve(model) || (solve == "auto" && links_moving_bodies(model));
    if (coupled) return std::make_unique<CoupledMethod>(model, start, settings, std::move(told));
    return std::make_unique<AffineMethod>(model, start, settings, std::move(told));
}

}  // namespace
}  // namespace affine

MethodInfo affine_method() {
    return {"affine", "affine bodies with barrier contact: stiff bodies that never intersect",
            affine::parameter_list(), affine::supports, affine::make};
}

}  // namespace tenon

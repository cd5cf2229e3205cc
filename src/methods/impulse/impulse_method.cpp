#include "methods/impulse/impulse_method.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include "math/binary_io.hpp"
#include "math/rotation.hpp"
#include "math/static_partition.hpp"
#include "methods/impulse/decomposition.hpp"
#include "methods/impulse/fast_turning.hpp"
#include "methods/impulse/ffd.hpp"
#include "model/rigid_state.hpp"

namespace tenon::impulse {
namespace {

constexpr std::size_t grain = 1024;
// In units of the smallest moving body: gaps that count as touching, and penetration that is left alone. Undoing
// the last of it every step would shake loaded piles loose, since position correction knows no friction.
constexpr double touching_gap = 1e-5, default_slop = 5e-3;
// Frequency of contacts in sub-steps over that of the sub-steps, times the square root of the passes: piles that few passes
// solve only roughly come to rest when contacts are softer than the passes' error.
constexpr double soft_contact = 0.1;
constexpr double substep_rate = 1200;  // 1/s
// Share of its load that a contact between uneven bodies may leave uncarried before the step counts as unconverged.
constexpr double most_missing_load = 0.02;
// Normals of one flat contact agree to this much (1 - cosine).
constexpr double parallel_normals = 1e-9;
// Half the angle turned in a step times the spread of the moments of inertia: the rate at which the midpoint rule's iteration
// converges, or does not. Beyond this it is far; and the share of its energy that a body's free turning may change.
constexpr double far_turn = 4.0, energy_change_far = 0.01, energy_change_near = 0.5;

// Inverse mass and inertia with the axes in `fixed` held: the inverse of the free part, zero elsewhere.
InverseMass inverse_mass(const Bodies& bodies, const State& state, int i) {
    InverseMass m;
    if (!state.dynamic(i)) return m;
    m.movable = true;
    const Mat3 R = state.q[i].leftCols<3>();
    const Vec3 moments = bodies.moments_of_inertia(i);
    const auto& fixed = bodies.fixed[i];
    for (int k = 0; k < 3; ++k) m.m[k] = fixed[k] ? 0.0 : 1.0 / bodies.mass[i];
    Mat3 inverse;
    if (fixed[3] || fixed[4] || fixed[5]) {
        Mat3 inertia = R * moments.asDiagonal() * R.transpose();
        for (int k = 0; k < 3; ++k)
            if (fixed[3 + k]) {
                inertia.row(k).setZero();
                inertia.col(k).setZero();
                inertia(k, k) = 1.0;
            }
        inverse = inertia.inverse();
        for (int k = 0; k < 3; ++k)
            if (fixed[3 + k]) inverse(k, k) = 0.0;
    } else {
        inverse = R * moments.cwiseInverse().asDiagonal() * R.transpose();
    }
    m.I = {inverse(0, 0), inverse(0, 1), inverse(0, 2), inverse(1, 1), inverse(1, 2), inverse(2, 2)};
    return m;
}

// Free flight, and the turn that contacts add to it. Where the body turns too far for the midpoint rule and its energy
// changes by that, it is done again in a way that keeps energy.
void fly(model::RigidState& body, const Vec3& moments, const Vec3& added, double dt) {
    const model::RigidState start = body;
    model::advance(body, moments, dt);
    if (!added.isZero(0)) body.rotation = (exponential_map(added) * body.rotation).normalized();
    const double spread = moments.maxCoeff() / moments.minCoeff() - 1;
    if (!(spread > energy_change_far)) return;
    const bool far = 0.5 * (dt * start.spin.norm() + added.norm()) * spread > far_turn;
    const double before = turning_energy(start, moments), after = turning_energy(body, moments);
    const double allowed = (far ? energy_change_far : energy_change_near) * before;
    if (!(std::abs(after - before) > allowed)) return;  // also where something is no number
    body = start;
    turn_far(body, moments, added, dt);
}

}  // namespace

ImpulseMethod::ImpulseMethod(const Model& model, const State& state, const Params& params)
    : settings_(read_settings(params)), finder_(model, {.cells = settings_.field_cells, .padding = 3}) {
    const int count = model.bodies.size();
    sleeping_.resize(count);
    smallest_ = 1e300;
    for (int i = 0; i < count; ++i)
        if (state.dynamic(i)) smallest_ = std::min(smallest_, model.shape_of(i).radius);
    if (smallest_ > 1e299) smallest_ = 1.0;
    slop_ = settings_.slop > 0 ? settings_.slop : default_slop * smallest_;
}

// Tall stacks need sub-steps that are short, not many: a step of 1/60 s has more of them than one of 1/100 s.
int ImpulseMethod::substeps() const {
    if (settings_.solver != Solver::gauss_seidel) return 1;
    if (settings_.substeps > 0) return settings_.substeps;
    return static_cast<int>(std::clamp(std::ceil(substep_rate * problem_.dt - 1e-9), 6.0, 20.0));
}

StepReport ImpulseMethod::step(const Model& model, State& state, Outputs& outputs, double dt) {
    timer_.reset();
    StepReport report;
    SolveReport solved;
    {
        const auto timing = timer_.stage("forces");
        gather_bodies(model, state, dt);
        apply_forces(model, state, dt);
    }
    {
        const auto timing = timer_.stage("collide");
        find_contacts(model, state, dt);
    }
    {
        const auto timing = timer_.stage("prepare");
        build_problem();
    }
    {
        const auto timing = timer_.stage("impacts");
        resolve_impacts(state, dt);
    }
    {
        const auto timing = timer_.stage("solve");
        solved = solve_contacts(state);
    }
    {
        const auto timing = timer_.stage("correct");
        correct_positions();
    }
    {
        const auto timing = timer_.stage("integrate");
        integrate(model, state, dt);
    }
    {
        const auto timing = timer_.stage("record");
        record(model, state, outputs, dt, solved, report);
    }
    report.phases = timer_.stages();
    return report;
}

void ImpulseMethod::gather_bodies(const Model& model, const State& state, double dt) {
    const Bodies& bodies = model.bodies;
    const int count = bodies.size();
    problem_.dt = dt;
    problem_.before.resize(count);
    problem_.mass.resize(count);
    centers_.resize(count);
    awake_.resize(count);
    static_partition_for(count, grain, [&](std::size_t k) {
        const int i = static_cast<int>(k);
        Twist& t = problem_.before[i];
        t = Twist{};
        centers_[i] = state.q[i].col(3);
        if (state.type[i] == BodyType::kinematic_body) {
            const auto twist = model::scripted_twist(model, state, i, dt);
            t.v = twist.head<3>();
            t.w = twist.tail<3>();
        } else if (state.dynamic(i)) {
            t.v = state.rate[i].col(3);
            t.w = spin_of(state.q[i], state.rate[i]);
        }
        problem_.mass[i] = inverse_mass(bodies, state, i);
        awake_[i] = state.type[i] == BodyType::kinematic_body || (state.dynamic(i) && !sleeping_.asleep(i));
    });
    problem_.twist = problem_.before;
}

void ImpulseMethod::apply_forces(const Model& model, const State& state, double dt) {
    const bool outside = has_external_wrenches(model, state);
    if (outside) external_wrenches(model, state, state.time + dt, wrenches_);
    const int count = model.bodies.size();
    movable_.resize(count);
    active_.resize(count);
    // what was given a velocity or a force while asleep wakes, with its group
    static_partition_for(count, grain, [&](std::size_t i) {
        movable_[i] = problem_.mass[i].movable;
        const Twist& t = problem_.before[i];
        active_[i] = (t.v.squaredNorm() > 0 || t.w.squaredNorm() > 0) ||
                     (outside && (!wrenches_[i].force.isZero(0) || !wrenches_[i].torque.isZero(0)));
    });
    sleeping_.wake(movable_, active_, finder_);
    static_partition_for(count, grain, [&](std::size_t k) {
        const int i = static_cast<int>(k);
        if (movable_[i]) awake_[i] = !sleeping_.asleep(i);
        if (!movable_[i] || !awake_[i]) return;
        Twist& t = problem_.twist[i];
        const InverseMass& m = problem_.mass[i];
        for (int axis = 0; axis < 3; ++axis)
            if (m.m[axis] > 0) t.v[axis] += dt * state.gravity[axis];
        if (outside) {
            t.v += dt * m.linear(wrenches_[i].force);
            t.w += dt * m.angular(wrenches_[i].torque);
        }
    });
}

void ImpulseMethod::find_contacts(const Model& model, const State& state, double dt) {
    finder_.find(model, state, problem_.twist, awake_, dt);
    if (sleeping_.count() > 0) wake_sleepers(model, state, dt);
}

// New contacts may have reached a sleeping group.
void ImpulseMethod::wake_sleepers(const Model& model, const State& state, double dt) {
    const int count = model.bodies.size();
    for (int i = 0; i < count; ++i)
        active_[i] = !movable_[i] &&
                     (problem_.before[i].v.squaredNorm() > 0 || problem_.before[i].w.squaredNorm() > 0);
    sleeping_.wake(movable_, active_, finder_);
    for (int i = 0; i < count; ++i) {
        if (!movable_[i] || awake_[i] == !sleeping_.asleep(i)) continue;
        awake_[i] = 1;
        for (int k = 0; k < 3; ++k)
            if (problem_.mass[i].m[k] > 0) problem_.twist[i].v[k] += dt * state.gravity[k];
    }
}

// One contact point per manifold contact with an awake body, from its persistent form.
void ImpulseMethod::build_problem() {
    const auto& contacts = finder_.contacts();
    const auto& manifolds = finder_.manifolds();
    first_contact_.resize(manifolds.size() + 1);
    int total = 0;
    for (std::size_t i = 0; i < manifolds.size(); ++i) {
        const Manifold& m = manifolds[i];
        first_contact_[i] = total;
        if ((movable_[m.a] && awake_[m.a]) || (movable_[m.b] && awake_[m.b])) total += m.count;
    }
    first_contact_.back() = total;
    problem_.contacts.resize(total);
    source_.resize(total);
    static_partition_for(manifolds.size(), grain / 4, [&](std::size_t i) {
        const Manifold& m = manifolds[i];
        int at = first_contact_[i];
        if (first_contact_[i + 1] == at) return;
        for (int k = m.begin; k < m.begin + m.count; ++k, ++at) {
            const ManifoldContact& from = contacts[k];
            ContactPoint& c = problem_.contacts[at];
            c = ContactPoint{};
            c.a = m.a;
            c.b = m.b;
            c.normal = from.normal;
            if (k > m.begin && c.normal == problem_.contacts[at - 1].normal) {  // one frame per face
                c.tangent1 = problem_.contacts[at - 1].tangent1;
                c.tangent2 = problem_.contacts[at - 1].tangent2;
            } else {
                make_tangents(c.normal, c.tangent1, c.tangent2);
            }
            c.ra = from.point - centers_[m.a];
            c.rb = from.point - centers_[m.b];
            c.distance = from.distance;
            c.friction = m.friction;
            c.restitution = m.restitution;
            if (settings_.warm_start)
                c.impulse = Vec3(from.normal_impulse, c.tangent1.dot(from.friction_impulse),
                                 c.tangent2.dot(from.friction_impulse));
            source_[at] = k;
        }
    });
}

// Restitution comes first, and may shift where bodies start; what is left for the contact solver is to keep surfaces from
// passing into each other by the end of the step.
void ImpulseMethod::resolve_impacts(const State& state, double dt) {
    ImpactSettings impact;
    impact.threshold =
        settings_.restitution_threshold > 0 ? settings_.restitution_threshold : 2 * dt * state.gravity.norm();
    impact.touching = touching_gap * smallest_;
    impact_count_ = impacts_.resolve(problem_, impact);
    static_partition_for(problem_.contacts.size(), grain, [&](std::size_t k) {
        ContactPoint& c = problem_.contacts[k];
        c.target = c.distance > impact.touching ? (impact.touching - c.distance) / dt : 0.0;
    });
}

SolveReport ImpulseMethod::solve_contacts(const State& state) {
    const double gravity_step = problem_.dt * std::max(state.gravity.norm(), 1e-3);
    const double tolerance = settings_.tolerance > 0 ? settings_.tolerance : 1e-5 * gravity_step;
    const int contacts = static_cast<int>(problem_.contacts.size());
    const int sweeps =
        settings_.sweeps > 0 ? settings_.sweeps : std::clamp(25000 / std::max(1, contacts), 8, 200);
    held_.clear();
    solved_directly_ = false;
    missing_load_ = 0;
    if (substeps() > 1) {
        hold_single_bodies(problem_, 5 * gravity_step, slop_, held_);
        SubstepSettings sub;
        sub.substeps = substeps();
        sub.max_sweeps = settings_.sweeps > 0 ? std::max(1, sweeps / (2 * sub.substeps))
                                              : std::clamp(2000 / std::max(1, contacts), 1, 16);
        sub.tolerance = tolerance;
        sub.touching = touching_gap * smallest_;
        sub.slop = settings_.slop;
        sub.frequency = settings_.contact_frequency > 0
                            ? settings_.contact_frequency
                            : soft_contact * std::sqrt(sub.max_sweeps) * sub.substeps / problem_.dt;
        sub.max_push = 0.2 * smallest_ / problem_.dt;
        solved_directly_ = uneven_.solve(
            problem_, {tolerance, gravity_step, settings_.correction, sub.max_push, slop_}, held_);
        substep_solver_.prepare(problem_, sub, held_);
        SolveReport report = substep_solver_.solve(problem_, held_);
        report.sweeps += uneven_.iterations();
        for (ContactPoint& c : problem_.contacts)  // held bodies are not among those that it solved
            if (held_[c.a] || held_[c.b]) c.total = c.impulse;
        missing_load_ = uneven_.missing_load(problem_, held_);
        return report;
    }
    SweepSettings sweep;
    sweep.tolerance = tolerance;
    sweep.max_sweeps = sweeps;
    sweep.accelerate = settings_.accelerate;
    if (state.gravity.norm() > 0) sweep.up = state.gravity.normalized();
    SolveReport report;
    if (settings_.solver == Solver::ffd) report = solve_by_ffd(problem_, settings_.energy_limit);
    if (settings_.solver == Solver::decomposition)
        report = solve_by_decomposition(problem_, settings_.energy_limit);
    if (settings_.solver == Solver::pgs) {
        sweep.max_sweeps = settings_.iterations;
        sweep.tolerance = 0;
        sweep.accelerate = false;
        sweep.pyramid = true;
        sweep.graph_order = false;
    }
    if (settings_.solver == Solver::gauss_seidel)
        hold_single_bodies(problem_, 5 * gravity_step, 1e300, held_);
    sweeper_.prepare(problem_, centers_, sweep, held_);
    if (settings_.solver == Solver::gauss_seidel || settings_.solver == Solver::pgs)
        report = sweeper_.solve(problem_);
    for (ContactPoint& c : problem_.contacts) c.total = c.impulse;
    return report;
}

void ImpulseMethod::correct_positions() {
    if (solved_directly_) {
        pseudo_ = uneven_.push();
        corrected_ = true;
        return;
    }
    corrected_ = substeps() == 1 && settings_.correction > 0 && settings_.correction_sweeps > 0 &&
                 sweeper_.correct(problem_, slop_, settings_.correction, 0.2 * smallest_ / problem_.dt,
                                  settings_.correction_sweeps, pseudo_);
}

// Contact is solved for the velocities at the end of the step, and normal to it bodies have to move by those. Everything
// else moves with the mean of the velocities before and after, which is exact under constant forces: bodies in flight, and
// along the surface those that touch fixed ones with one normal. Fills `mean_`, what is to be added to the velocity.
void ImpulseMethod::find_mean_motion() {
    const std::size_t count = problem_.twist.size();
    enum : char { flies, slides, presses };
    motion_.assign(count, flies);
    normal_.resize(count);
    const double touching = touching_gap * smallest_;
    const auto touch = [&](int body, const ContactPoint& c, const Vec3& r, bool other_moves) {
        if (!movable_[body] || motion_[body] == presses) return;
        const Vec3 turned = 0.5 * (problem_.twist[body].w - problem_.before[body].w);
        const bool one_normal =
            motion_[body] == flies || std::abs(c.normal.dot(normal_[body])) > 1 - parallel_normals;
        const bool lifts = std::abs(c.normal.dot(turned.cross(r))) * problem_.dt > touching;
        const auto& m = problem_.mass[body].m;
        const bool held = m[0] == 0 || m[1] == 0 || m[2] == 0;
        motion_[body] = other_moves || !one_normal || lifts || held ? presses : slides;
        normal_[body] = c.normal;
    };
    for (const ContactPoint& c : problem_.contacts) {
        if (c.total.isZero(0)) continue;
        touch(c.a, c, c.ra, movable_[c.b]);
        touch(c.b, c, c.rb, movable_[c.a]);
    }
    mean_.resize(count);
    const double half = 0.5 / substeps();
    static_partition_for(count, grain, [&](std::size_t i) {
        mean_[i] = Twist{};
        if (motion_[i] == presses) return;
        mean_[i].v = -half * (problem_.twist[i].v - problem_.before[i].v);
        mean_[i].w = -half * (problem_.twist[i].w - problem_.before[i].w);
        if (motion_[i] == slides) mean_[i].v -= normal_[i].dot(mean_[i].v) * normal_[i];
    });
}

void ImpulseMethod::integrate(const Model& model, State& state, double dt) {
    find_mean_motion();
    const Bodies& bodies = model.bodies;
    static_partition_for(state.q.size(), grain / 4, [&](std::size_t k) {
        const int i = static_cast<int>(k);
        if (state.type[i] == BodyType::kinematic_body) {
            state.q[i] = scripted_pose(model, state, i, state.time + dt);
            state.rate[i] = scripted_rate(model, i, state.time + dt);
            return;
        }
        if (!problem_.mass[i].movable || !awake_[i]) return;
        model::RigidState next;
        next.position = centers_[i] + dt * mean_[i].v;
        next.rotation = Quat(Mat3(state.q[i].leftCols<3>()));
        next.velocity = problem_.twist[i].v;
        next.spin = problem_.twist[i].w;
        Vec3 turn = dt * mean_[i].w;
        if (substeps() > 1) {  // what the sub-steps did beyond their last velocity
            next.position += substep_solver_.moved()[i].v - dt * next.velocity;
            turn += substep_solver_.moved()[i].w - dt * next.spin;
        }
        if (!impacts_.shift().empty()) {
            next.position += impacts_.shift()[i].v;
            turn += impacts_.shift()[i].w;
        }
        const auto& fixed = bodies.fixed[i];
        const bool held = fixed[3] || fixed[4] || fixed[5];
        if (corrected_) turn += dt * pseudo_[i].w;
        fly(next, held ? Vec3(Vec3::Ones()) : bodies.moments_of_inertia(i), turn, dt);
        if (corrected_) next.position += dt * pseudo_[i].v;
        model::store(next, state, i);
    });
}

// Impulses for the next warm start, and contacts with forces for the run file.
void ImpulseMethod::record_contacts(Outputs& outputs, double dt, StepReport& report) {
    auto& persistent = finder_.contacts();
    static_partition_for(problem_.contacts.size(), grain, [&](std::size_t k) {
        const ContactPoint& c = problem_.contacts[k];
        ManifoldContact& m = persistent[source_[k]];
        m.normal_impulse = c.impulse[0];
        m.friction_impulse = c.impulse[1] * c.tangent1 + c.impulse[2] * c.tangent2;
        const Vec3 total = c.total + c.impact;
        m.total_impulse = total[0] * c.normal + total[1] * c.tangent1 + total[2] * c.tangent2;
    });
    outputs.contacts.clear();
    report.min_distance = 1e300;
    for (const Manifold& m : finder_.manifolds())
        for (int k = m.begin; k < m.begin + m.count; ++k) {
            const ManifoldContact& c = persistent[k];
            report.min_distance = std::min(report.min_distance, c.distance);
            if (c.total_impulse.isZero(0) && c.distance > 0) continue;
            Contact out;
            out.a = m.a;
            out.b = m.b;
            out.point = c.point;
            out.normal = c.normal;
            out.force = c.total_impulse / dt;
            out.distance = c.distance;
            outputs.contacts.push_back(out);
        }
    report.contacts = static_cast<int>(persistent.size());
}

void ImpulseMethod::fall_asleep(const Model& model, State& state, double dt) {
    speed_.resize(model.bodies.size());
    for (int i = 0; i < model.bodies.size(); ++i)
        speed_[i] = problem_.twist[i].v.norm() + finder_.size_of(i) * problem_.twist[i].w.norm();
    const double slow = settings_.sleep_speed > 0 ? settings_.sleep_speed : 0.05 * dt * state.gravity.norm();
    for (int i : sleeping_.settle(movable_, speed_, slow, dt, settings_.sleep_time, finder_))
        state.rate[i].setZero();
}

void ImpulseMethod::record(const Model& model, State& state, Outputs& outputs, double dt,
                           const SolveReport& solved, StepReport& report) {
    record_contacts(outputs, dt, report);
    report.iterations = solved.sweeps;
    report.converged = missing_load_ <= most_missing_load;
    report.solver = name_of(settings_.solver);
    // the share of momentum that position correction would carry if it were velocity
    Vec3 moved = Vec3::Zero();
    if (corrected_)
        for (int i = 0; i < model.bodies.size(); ++i)
            if (movable_[i]) moved += model.bodies.mass[i] * pseudo_[i].v;
    correction_momentum_ += moved;
    if (settings_.sleeping) fall_asleep(model, state, dt);
    report.metrics = {{"sweeps", static_cast<double>(solved.sweeps)},
                      {"contact_residual", solved.residual},
                      {"missing_load", missing_load_},
                      {"penetration", std::max(0.0, -report.min_distance)},
                      {"pairs_tested", static_cast<double>(finder_.pairs_tested())},
                      {"asleep", static_cast<double>(sleeping_.count())},
                      {"impacts", static_cast<double>(impact_count_)},
                      {"infeasible_bodies", static_cast<double>(solved.infeasible)},
                      {"energy_limited", static_cast<double>(solved.energy_limited)},
                      {"correction_momentum", correction_momentum_.norm()}};
}

void ImpulseMethod::save(std::ostream& out) const {
    finder_.save(out);
    sleeping_.save(out);
    write_value(out, correction_momentum_);
}

void ImpulseMethod::load(std::istream& in) {
    finder_.load(in);
    sleeping_.load(in);
    read_value(in, correction_momentum_);
}

}  // namespace tenon::impulse

namespace tenon {

MethodInfo impulse_method() {
    return {"impulse", "rigid bodies with contact impulses: thousands of contacts in milliseconds",
            impulse::parameters(), impulse::supports,
            [](const Model& model, const State& state, const Params& params) -> std::unique_ptr<Stepper> {
                return std::make_unique<impulse::ImpulseMethod>(model, state, params);
            }};
}

}  // namespace tenon

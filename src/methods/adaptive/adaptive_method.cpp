#include "methods/adaptive/adaptive_method.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "geometry/tet_mesh.hpp"
#include "math/binary_io.hpp"
#include "math/parallel.hpp"
#include "math/union_find.hpp"
#include "model/rigid_state.hpp"

namespace tenon::adaptive {
namespace {

constexpr double kWild = 2.0;        // mean edges that a velocity may change by in a step
constexpr int kRescue = 30;          // iterations of Newton's method then
constexpr char kAsks = 2;            // of SolidState::rigid: since this step
constexpr double kStill = 1e-3;      // of what gravity gives in a step: slower solids rest
constexpr double kWorthwhile = 0.1;  // share of a solid that must be rigid to be worth its forecasts
constexpr int kLongestWait = 4;      // times steps_before_rigid, when elements ask and are woken at once

// Slivers are allowed, but they make a body stiffer than it should be.
std::vector<std::string> sliver_warnings(const Model& model) {
    std::vector<std::string> warnings;
    for (const ElasticBody& body : model.elastic) {
        if (body.plane_strain) continue;
        const geometry::TetReport report = geometry::check_tets({body.rest, body.tets, {}});
        if (report.slivers > 0)
            warnings.push_back(
                fmt::format("elastic body '{}': {} of {} tetrahedra are nearly flat (first: number {})",
                            body.name, report.slivers, body.tets.size(), report.first_sliver));
    }
    return warnings;
}

std::vector<Solid> make_solids(const Model& model, const State& state) {
    std::vector<Solid> solids;
    for (std::size_t i = 0; i < model.elastic.size(); ++i)
        solids.push_back(make_solid(model, state, static_cast<int>(i)));
    return solids;
}

}  // namespace

AdaptiveMethod::AdaptiveMethod(const Model& model, const State& state, const Params& params)
    : settings_(read_settings(params)),
      solids_(make_solids(model, state)),
      oracles_(solids_.size()),
      contacts_(model, state, solids_, {.cells = settings_.field_cells, .padding = 3}),
      loads_(solids_.size()) {
    wait_.assign(solids_.size(), 1);
    for (const Solid& solid : solids_) states_.push_back(make_state(solid, state.elastic[solid.index]));
    warnings_ = sliver_warnings(model);
    make_groups(model, state);
    for (int s = 0; s < static_cast<int>(solids_.size()); ++s) form(model, state, s);
    for (const Solid& solid : solids_)
        least_edge_ = least_edge_ > 0 ? std::min(least_edge_, solid.mean_edge()) : solid.mean_edge();
}

// Solids that hang on the same dynamic body are one system; everything else is a system of its own.
void AdaptiveMethod::make_groups(const Model& model, const State& state) {
    const int solids = static_cast<int>(solids_.size()), bodies = model.bodies.size();
    UnionFind joined(solids + bodies);
    for (int s = 0; s < solids; ++s)
        for (int holder : solids_[s].holders) joined.join(s, solids + holder);
    std::vector<std::vector<int>> of_solids(solids + bodies), of_bodies(solids + bodies);
    for (int s = 0; s < solids; ++s) of_solids[joined.root(s)].push_back(s);
    for (int b = 0; b < bodies; ++b)
        if (state.dynamic(b)) of_bodies[joined.root(solids + b)].push_back(b);
    group_of_solid_.assign(solids, -1);
    group_of_body_.assign(bodies, -1);
    for (int i = 0; i < solids + bodies; ++i) {
        if (of_solids[i].empty() && of_bodies[i].empty()) continue;
        const int group = static_cast<int>(groups_.size());
        for (int s : of_solids[i]) group_of_solid_[s] = group;
        for (int b : of_bodies[i]) group_of_body_[b] = group;
        groups_.emplace_back(group, of_solids[i], of_bodies[i]);
    }
    dirty_.assign(groups_.size(), 1);
}

void AdaptiveMethod::form(const Model& model, const State& state, int solid) {
    form_components(model, state, solids_[solid], settings_.smallest_component,
                    std::sqrt(settings_.rigid_below), step_, states_[solid]);
    states_[solid].spin = mean_spin(solids_[solid], states_[solid]);
    dirty_[group_of_solid_[solid]] = 1;
    loads_[solid].known = false;
}

StepReport AdaptiveMethod::step(const Model& model, State& state, Outputs& outputs, double dt) {
    timer_.reset();
    StepReport report;
    {
        const auto timing = timer_.stage("gather");
        gather(model, state, dt);
    }
    if (settings_.adaptive) {
        const auto timing = timer_.stage("rigidify");
        rigidify(model, state);
    }
    {
        const auto timing = timer_.stage("collide");
        find_contacts(model, state, dt);
    }
    if (settings_.adaptive) {
        const auto timing = timer_.stage("oracle");
        elastify(model, state, dt);
    }
    drive(model, state, dt);
    const StepInput in{model,   state,  solids_,           states_, bodies_,    wrenches_,
                       driven_, given_, resting_.pushes(), dt,      least_edge_};
    const solve::PgsResult solved = solve_velocities(in);
    {
        const auto timing = timer_.stage("advance");
        advance(model, state, dt);
    }
    {
        const auto timing = timer_.stage("measure");
        measure(dt);
        record(outputs, dt, solved, report);
    }
    report.phases = timer_.stages();
    report.warnings = std::exchange(warnings_, {});
    return report;
}

void AdaptiveMethod::gather(const Model& model, const State& state, double dt) {
    const int count = model.bodies.size();
    step_ = dt;
    bodies_.resize(count);
    body_rates_.assign(count, Vec6::Zero());
    poses_ = state.q;
    for (int i = 0; i < count; ++i) {
        bodies_[i] = model::rigid_state(state, i);
        if (state.type[i] == BodyType::kinematic_body)
            body_rates_[i] = model::scripted_twist(model, state, i, dt);
    }
    external_wrenches(model, state, state.time, wrenches_);
    wrenches_.resize(count);
    given_.resize(solids_.size());
    for (std::size_t s = 0; s < solids_.size(); ++s) {
        states_[s].x = state.elastic[s].x;
        states_[s].v = state.elastic[s].v;
        given_[s].assign(solids_[s].loads.empty() ? 0 : solids_[s].mass.size(), Vec3::Zero());
        add_loads(model, solids_[s].loads, state.time, given_[s]);
        if (!states_[s].wholly_rigid()) states_[s].spin = mean_spin(solids_[s], states_[s]);
    }
    oracles_run_ = oracles_skipped_ = woken_ = hardened_ = 0;
}

// Elements that have been calm for long enough ask to be rigid.
// Looked at once in as many steps, so that components do not change in every one; and less often where those that asked
// last had to be woken at once. Small parts of a solid cost more than they save.
void AdaptiveMethod::rigidify(const Model& model, const State& state) {
    due_.assign(solids_.size(), 0);
    if (state.step % settings_.steps_before_rigid != 0) return;
    for (int s = 0; s < static_cast<int>(solids_.size()); ++s) {
        SolidState& part = states_[s];
        if (state.step % (static_cast<long>(settings_.steps_before_rigid) * wait_[s]) != 0) continue;
        int changed = 0, rigid = 0;
        for (std::size_t i = 0; i < part.rigid.size(); ++i)
            if (part.rigid[i])
                ++rigid;
            else if (part.calm[i] >= settings_.steps_before_rigid)
                ++changed;
        if (changed == 0 || changed + rigid < kWorthwhile * solids_[s].elements.size()) continue;
        for (std::size_t i = 0; i < part.rigid.size(); ++i)
            if (!part.rigid[i] && part.calm[i] >= settings_.steps_before_rigid) part.rigid[i] = kAsks;
        form(model, state, s);
        due_[s] = 1;
        hardened_ += changed;
    }
}

void AdaptiveMethod::find_contacts(const Model& model, const State& state, double dt) {
    contacts_.find(model, state, solids_, states_, poses_, dt, settings_.baumgarte);
    resting_.take(solids_, states_, contacts_.on_fixed_bodies(), kStill * dt * state.gravity.norm(),
                  contacts_.points());
}

// Rigid elements that would deform noticeably in this step become elastic before it.
void AdaptiveMethod::elastify(const Model& model, const State& state, double dt) {
    drive(model, state, dt);
    std::vector<Vec3> impulse;
    find_due_forecasts(model, state, dt);
    for (int s = 0; s < static_cast<int>(solids_.size()); ++s) {
        SolidState& part = states_[s];
        const int elements = solids_[s].elements.size();
        if (part.elastic_elements == elements) continue;
        if (!due_[s]) {
            ++oracles_skipped_;
            continue;
        }
        if (settings_.skip_oracle && same_loads(model, state, s, dt)) {
            ++oracles_skipped_;
            continue;
        }
        ++oracles_run_;
        contact_loads(model, s, dt, impulse);
        const double steps = struck(s) ? 1.0 : std::max(1.0, settings_.horizon / dt);
        oracles_[s].forecast({model, state, solids_[s], driven_[s], impulse, dt, steps},
                             settings_.preconditioner, part);
        const int woken = wake(s);
        woken_ += woken;
        if (woken == 0) continue;
        form(model, state, s);
        resting_.release(s, contacts_.points());
    }
}

// What would deform noticeably wakes. An element that was calm but would move as soon as its neighbours did shows that they
// are held out of balance: all of them that hang together and would move at all wake with it, or it would go on asking.
int AdaptiveMethod::wake(int solid) {
    SolidState& part = states_[solid];
    const ElasticElements& e = solids_[solid].elements;
    int woken = 0, asked = 0, left = 0;
    std::vector<int> queue;
    std::vector<char> seen(e.tets.size(), 0);
    for (int i = 0; i < e.size(); ++i) {
        if (!part.rigid[i] || part.element_of[i] < 0) continue;
        ++left;
        asked += part.rigid[i] == kAsks ? 1 : 0;
        if (part.rate[i] > settings_.elastic_above) {
            if (part.rigid[i] == kAsks) queue.push_back(i);
            part.rigid[i] = 0;
            part.calm[i] = 0;
            ++woken;
        } else {
            part.rigid[i] = 1;
        }
    }
    const int refused = static_cast<int>(queue.size());
    for (std::size_t head = 0; head < queue.size(); ++head)
        for (int k = 0; k < e.corners; ++k) {
            const int next = solids_[solid].across[queue[head]][k];
            if (next < 0 || seen[next] || part.element_of[next] < 0) continue;
            if (part.rate[next] <= settings_.rigid_below) continue;
            seen[next] = 1;
            queue.push_back(next);
            woken += part.rigid[next] ? 1 : 0;
            part.rigid[next] = 0;
            part.calm[next] = 0;
        }
    if (asked > 0) wait_[solid] = 2 * refused > asked ? std::min(2 * wait_[solid], kLongestWait) : 1;
    left -= woken;
    if (woken > 0 && left < kWorthwhile * e.size()) {
        std::fill(part.rigid.begin(), part.rigid.end(), char{0});
        woken += left;
    }
    return woken;
}

// True when something has just begun to touch a solid. What a blow does shows in one step; what is merely held out of balance
// moves slowly at first, so that the forecast looks farther ahead.
bool AdaptiveMethod::struck(int solid) const {
    for (const TouchPoint& p : contacts_.points())
        if (p.fresh && (p.on_a.solid == solid || p.on_b.solid == solid)) return true;
    return false;
}

// A solid is looked at when elements have just become rigid, when something new touches a rigid part of it, when what
// drives it moves or what pulls it changes, and otherwise once in `oracle_interval`, but at least as often as elements
// become rigid: a strain of sqrt(tau_E) times that is the most it may miss.
void AdaptiveMethod::find_due_forecasts(const Model& model, const State& state, double dt) {
    const long every = std::clamp(std::lround(std::floor(settings_.oracle_interval / dt + 1e-9)), 1L,
                                  std::max(1L, static_cast<long>(settings_.steps_before_rigid)));
    const bool all = !settings_.skip_oracle || state.step % every == 0;
    for (std::size_t s = 0; s < solids_.size(); ++s) {
        bool changed = all;
        for (std::size_t v = 0; !changed && v < driven_[s].size(); ++v)
            changed = driven_[s][v].squaredNorm() > 1e-24;
        for (const ElasticLoad& load : solids_[s].loads) {
            const ForceSpec& force = model.forces[load.force];
            for (double at : {force.from, force.to})
                changed = changed || (state.time >= at && state.time - dt < at);
        }
        if (changed) due_[s] = 1;
    }
    if (all) return;
    for (const TouchPoint& p : contacts_.points()) {
        if (!p.fresh) continue;
        for (const Support* side : {&p.on_a, &p.on_b}) {
            if (side->solid < 0) continue;
            for (int k = 0; k < side->count; ++k)
                if (states_[side->solid].owner[side->vertex[k]] >= 0) due_[side->solid] = 1;
        }
    }
}

// True when a wholly rigid solid is loaded as it was when the oracle last saw it: the same contacts with nearly the
// same impulses, and the same spin. Otherwise remembers the loads.
bool AdaptiveMethod::same_loads(const Model& model, const State& state, int solid, double dt) {
    SolidState& part = states_[solid];
    Load& load = loads_[solid];
    const int bodies = static_cast<int>(group_of_body_.size());
    bool one_frame = part.wholly_rigid() && solids_[solid].holders.empty();
    if (one_frame && !solids_[solid].drives.empty()) {  // then all of it must be held still
        one_frame = part.components.empty();
        for (const Vec3& v : driven_[solid]) one_frame = one_frame && v.squaredNorm() < 1e-24;
    }
    if (!one_frame || part.components.size() > 1) {
        load.known = false;
        return false;
    }
    const bool free = !part.components.empty();
    const Quat turned = free ? part.components[0].state.rotation.conjugate() : Quat::Identity();
    const Vec3 spin = free ? Vec3(turned * part.components[0].state.spin) : Vec3(Vec3::Zero());
    const double mass = std::accumulate(solids_[solid].mass.begin(), solids_[solid].mass.end(), 0.0);
    std::vector<std::uint64_t> keys;
    std::vector<Vec3> impulses;
    bool fresh = false;
    double largest = dt * 1e-3 * mass;
    for (const auto* list : {&std::as_const(contacts_).points(), &resting_.held()})
        for (const TouchPoint& p : *list)
            if (p.a == bodies + solid || p.b == bodies + solid) {
                keys.push_back(p.key);
                impulses.push_back(turned * p.impulse);
                largest = std::max(largest, p.impulse.norm());
                fresh = fresh || p.fresh;
            }
    for (const ElasticLoad& l : solids_[solid].loads) {
        const ForceSpec& force = model.forces[l.force];
        if (state.time < force.from || state.time >= force.to) continue;
        keys.push_back(~static_cast<std::uint64_t>(l.force));
        impulses.push_back(turned * (dt * force.force));
    }
    bool same = load.known && !fresh && keys == load.keys;
    for (std::size_t k = 0; same && k < keys.size(); ++k)
        same = (impulses[k] - load.impulses[k]).norm() < 0.02 * largest;
    same =
        same && (spin - load.spin).norm() < 0.02 * load.spin.norm() + 0.01 * std::sqrt(settings_.rigid_below);
    if (!same) load = {true, std::move(keys), std::move(impulses), spin};
    return same;
}

// Impulses on the vertices of a solid: given forces, contact impulses of the last step, and a guess for contacts that are new (section 3.5.1).
void AdaptiveMethod::contact_loads(const Model& model, int solid, double dt,
                                   std::vector<Vec3>& impulse) const {
    impulse.assign(solids_[solid].mass.size(), Vec3::Zero());
    for (std::size_t v = 0; v < given_[solid].size(); ++v) impulse[v] = dt * given_[solid][v];
    for (const auto* list : {&contacts_.points(), &resting_.held()})
        for (const TouchPoint& p : *list) {
            if (p.on_a.solid != solid && p.on_b.solid != solid) continue;
            const Vec3 total = p.fresh ? Vec3(forecast_impulse(model, p, dt) * p.normal) : p.impulse;
            if (p.on_a.solid == solid)
                for (int k = 0; k < p.on_a.count; ++k) impulse[p.on_a.vertex[k]] += p.on_a.weight[k] * total;
            if (p.on_b.solid == solid)
                for (int k = 0; k < p.on_b.count; ++k) impulse[p.on_b.vertex[k]] -= p.on_b.weight[k] * total;
        }
}

// The impulse that stops a new contact, each side by the diagonal blocks of its matrix at rest alone. Gravity is left
// out: where it matters, in a body at rest, older contacts carry it.
double AdaptiveMethod::forecast_impulse(const Model& model, const TouchPoint& p, double dt) const {
    double inverse_mass = 0, approach = settings_.baumgarte / dt * -p.distance;
    const auto side = [&](const Support& s, double sign) {
        Vec3 velocity = Vec3::Zero();
        if (s.solid >= 0) {
            inverse_mass += inverse_mass_of(solids_[s.solid], s, p.normal, dt);
            for (int k = 0; k < s.count; ++k) velocity += s.weight[k] * states_[s.solid].v[s.vertex[k]];
        } else if (group_of_body_[s.body] >= 0) {
            inverse_mass += 1 / model.bodies.mass[s.body];
            velocity = model::velocity_at(bodies_[s.body], p.point);
        } else {
            const Vec6& rate = body_rates_[s.body];
            velocity = rate.head<3>() + rate.tail<3>().cross(Vec3(p.point - bodies_[s.body].position));
        }
        approach -= sign * p.normal.dot(velocity);
    };
    side(p.on_a, 1);
    side(p.on_b, -1);
    return inverse_mass > 0 ? std::max(0.0, approach) / inverse_mass : 0.0;
}

// Velocities that take driven vertices to where they will be at the end of the step.
void AdaptiveMethod::drive(const Model& model, const State& state, double dt) {
    driven_.resize(solids_.size());
    for (std::size_t s = 0; s < solids_.size(); ++s) {
        const int drives = static_cast<int>(solids_[s].drives.size());
        driven_[s].assign(drives > 0 ? solids_[s].mass.size() : 0, Vec3::Zero());
        if (drives == 0) continue;
        std::vector<Mat34> pose;
        for (int d = 0; d < drives; ++d)
            pose.push_back(drive_pose(model, state, solids_[s], d, state.time + dt));
        const SolidState& part = states_[s];
        for (std::size_t v = 0; v < part.owner.size(); ++v)
            if (part.owner[v] >= 0 && part.owner[v] < drives)
                driven_[s][v] = (transform(pose[part.owner[v]], part.local[v]) - part.x[v]) / dt;
    }
}

// One linearisation; or Newton's method, when it is asked for or a vertex was thrown farther than its neighbours are:
// then what was found linearly means nothing. Friction starts from the offsets of the last step in every iteration.
solve::PgsResult AdaptiveMethod::solve_velocities(const StepInput& in) {
    {
        const auto timing = timer_.stage("lay_out");
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            if (dirty_[g]) groups_[g].lay_out(solids_, states_);
            dirty_[g] = 0;
        }
    }
    std::vector<Vec3> stretch;
    for (const TouchPoint& p : contacts_.points()) stretch.push_back(p.stretch);
    if (settings_.newton > 1) return newton(in, settings_.newton, stretch);
    linearisations_ = 1;
    solve_forces(in);
    const solve::PgsResult solved = solve_contacts(in);
    double change = 0;
    for (const MixedSystem& group : groups_) change = std::max(change, group.largest_change(in));
    if (in.h * change <= kWild * in.least_edge) return solved;
    return newton(in, kRescue, stretch);
}

solve::PgsResult AdaptiveMethod::newton(const StepInput& in, int most, const std::vector<Vec3>& stretch) {
    const double tolerance = velocity_tolerance(settings_, in.h, in.state.gravity.norm(), in.least_edge);
    for (MixedSystem& group : groups_) group.start_newton(in);
    for (linearisations_ = 1;; ++linearisations_) {
        for (std::size_t k = 0; k < stretch.size(); ++k) contacts_.points()[k].stretch = stretch[k];
        solve_forces(in);
        const solve::PgsResult solved = solve_contacts(in);
        const auto timing = timer_.stage("newton");
        double change = 0;
        for (MixedSystem& group : groups_) change = std::max(change, group.refine(in));
        if (change > tolerance && linearisations_ < most) continue;
        for (MixedSystem& group : groups_) group.end_newton();
        return solved;
    }
}

void AdaptiveMethod::solve_forces(const StepInput& in) {
    {
        const auto timing = timer_.stage("assemble");
        parallel_for(groups_.size(), 1, [&](std::size_t g) { groups_[g].assemble(in); });
    }
    {
        const auto timing = timer_.stage("factor");
        parallel_for(groups_.size(), 1, [&](std::size_t g) { groups_[g].factor(); });
    }
    const auto timing = timer_.stage("solve");
    parallel_for(groups_.size(), 1, [&](std::size_t g) { groups_[g].solve(); });
}

solve::PgsResult AdaptiveMethod::solve_contacts(const StepInput& in) {
    const auto timing = timer_.stage("contact");
    return contact_solver_.solve(in, settings_, groups_, group_of_solid_, group_of_body_, body_rates_,
                                 contacts_.points());
}

void AdaptiveMethod::advance(const Model& model, State& state, double dt) {
    for (int i = 0; i < model.bodies.size(); ++i) {
        if (state.type[i] == BodyType::kinematic_body) {
            state.q[i] = scripted_pose(model, state, i, state.time + dt);
            state.rate[i] = scripted_rate(model, i, state.time + dt);
        }
        if (group_of_body_[i] < 0) continue;
        const Vec6 twist = groups_[group_of_body_[i]].body_velocity(i);
        if (!twist.allFinite()) throw StepFailure("a rigid body's velocity is not finite", i);
        bodies_[i].velocity = twist.head<3>();
        bodies_[i].spin = twist.tail<3>();
        warn_of_speed(model, i, dt);
        const auto& fixed = model.bodies.fixed[i];
        const bool held = fixed[3] || fixed[4] || fixed[5];
        model::advance(bodies_[i], held ? Vec3(Vec3::Ones()) : model.bodies.moments_of_inertia(i), dt);
        model::store(bodies_[i], state, i);
    }
    parallel_for(solids_.size(), 1, [&](std::size_t s) { advance_solid(static_cast<int>(s), dt); });
    for (std::size_t s = 0; s < solids_.size(); ++s) {
        state.elastic[s].x = states_[s].x;
        state.elastic[s].v = states_[s].v;
    }
}

// Contacts are sought once a step: a body that goes through its own thickness in one may pass what it should hit.
void AdaptiveMethod::warn_of_speed(const Model& model, int body, double dt) {
    fast_told_.resize(model.bodies.size());
    const double thickness = model.shape_of(body).box.size().minCoeff(),
                 speed = bodies_[body].velocity.norm();
    if (fast_told_[body] || !model.bodies.collides[body] || !(speed * dt > 0.5 * thickness)) return;
    fast_told_[body] = 1;
    warnings_.push_back(
        fmt::format("body '{}' moves by more than half its thickness in a step and may tunnel; set dt to "
                    "{:.2g} or less",
                    model.bodies.name[body], 0.25 * thickness / speed));
}

void AdaptiveMethod::advance_solid(int s, double dt) {
    SolidState& part = states_[s];
    const MixedSystem& group = groups_[group_of_solid_[s]];
    const int drives = static_cast<int>(solids_[s].drives.size());
    for (std::size_t c = 0; c < part.components.size(); ++c) {
        Component& component = part.components[c];
        const Vec6 twist = group.owner_velocity(s, part.first_component + static_cast<int>(c));
        component.state.velocity = twist.head<3>();
        component.state.spin = twist.tail<3>();
        model::advance(component.state, component.moments, dt);
    }
    for (std::size_t k = 0; k < part.x.size(); ++k) {
        const int v = static_cast<int>(k), owner = part.owner[v];
        if (owner < 0) {
            part.v[v] = group.vertex_velocity(s, v);
            part.x[v] += dt * part.v[v];
        } else if (owner < drives) {
            part.v[v] = driven_[s][v];
            part.x[v] += dt * part.v[v];
        } else {
            const model::RigidState& frame = owner < part.first_component
                                                 ? bodies_[solids_[s].holders[owner - drives]]
                                                 : part.components[owner - part.first_component].state;
            part.x[v] = frame.position + frame.rotation * part.local[v];
            part.v[v] = model::velocity_at(frame, part.x[v]);
        }
    }
}

// Strain rates of what is elastic (Eq. 17), and the elastic energy.
void AdaptiveMethod::measure(double dt) {
    elastic_energy_ = 0;
    for (std::size_t s = 0; s < solids_.size(); ++s) {
        SolidState& part = states_[s];
        const ElasticElements& e = solids_[s].elements;
        elastic_energy_ += part.rigid_energy;
        if (part.wholly_rigid()) continue;
        const std::vector<int>& list = part.elastic_list;
        parallel_for(list.size(), 256, [&](std::size_t k) {
            const int i = list[k];
            const Mat3 f = e.deformation(i, part.x);
            part.energy[i] = e.volume[i] * elastic_energy(e.model, e.material[i], f);
            const std::array<double, 6> strain = green_strain(f);
            part.rate[i] = squared_rate(part.strain[i], strain, dt);
            part.strain[i] = strain;
            part.calm[i] = part.rate[i] < settings_.rigid_below ? part.calm[i] + 1 : 0;
            if (part.calm[i] == 0) part.rigid[i] = 0;  // wanted to be, but found no component
        });
        for (int i : list) elastic_energy_ += part.energy[i];
    }
}

void AdaptiveMethod::record(Outputs& outputs, double dt, const solve::PgsResult& solved, StepReport& report) {
    contacts_.remember(resting_.held());
    outputs.contacts.clear();
    double deepest = 1e300;
    for (const auto* list : {&std::as_const(contacts_).points(), &resting_.held()})
        for (const TouchPoint& p : *list) {
            deepest = std::min(deepest, p.distance);
            Contact out;
            out.a = p.b;
            out.b = p.a;
            out.point = p.point;
            out.normal = p.normal;
            out.force = p.impulse / dt;
            out.distance = p.distance;
            outputs.contacts.push_back(out);
        }
    long elements = 0, elastic = 0, unknowns = 0, components = 0;
    double analyse = 0;
    for (std::size_t s = 0; s < solids_.size(); ++s) {
        SolidState& part = states_[s];
        elements += solids_[s].elements.size();
        elastic += part.elastic_elements;
        components += static_cast<long>(part.components.size());
        std::vector<float>& shown = outputs.element_state[s];
        shown.resize(part.rate.size());
        // rigid: 1 + number of the component (driven ones first); a part of one more is the strain rate, true or forecast
        for (std::size_t i = 0; !part.shown && i < part.rate.size(); ++i)
            if (part.element_of[i] >= 0)
                shown[i] = 1.0f + static_cast<float>(part.element_of[i]) + part.forecast[i];
        for (int i : part.elastic_list) shown[i] = shown_rate(part.rate[i]);
        part.shown = true;
    }
    for (const MixedSystem& group : groups_) {
        unknowns += 3 * group.nodes();
        analyse += group.analyse_ms();
    }
    report.contacts = static_cast<int>(outputs.contacts.size());
    report.min_distance = deepest;
    report.iterations = solved.sweeps;
    report.converged = solved.converged;
    report.solver = settings_.adaptive ? "adaptive" : "plain";
    report.metrics = {
        {"elastic_energy", elastic_energy_},
        {"rigid_fraction", elements > 0 ? 1.0 - static_cast<double>(elastic) / elements : 0.0},
        {"components", static_cast<double>(components)},
        {"unknowns", static_cast<double>(unknowns)},
        {"oracles", static_cast<double>(oracles_run_)},
        {"oracles_skipped", static_cast<double>(oracles_skipped_)},
        {"elements_woken", static_cast<double>(woken_)},
        {"elements_hardened", static_cast<double>(hardened_)},
        {"analyse_ms", analyse},
        {"linearisations", static_cast<double>(linearisations_)},
        {"contact_residual", solved.residual},
        {"contacts_held", static_cast<double>(resting_.held().size())},
        {"penetration", deepest < 0 ? -deepest : 0.0},
    };
}

void AdaptiveMethod::save(std::ostream& out) const {
    contacts_.save(out);
    resting_.save(out);
    for (std::size_t s = 0; s < states_.size(); ++s) {
        const SolidState& part = states_[s];
        write_values(out, part.owner);
        write_values(out, part.local);
        write_values(out, part.rigid);
        write_values(out, part.element_of);
        write_values(out, part.calm);
        write_values(out, part.strain);
        write_values(out, part.rate);
        write_value(out, part.elastic_elements);
        write_values(out, part.forecast);
        write_values(out, part.energy);
        write_value(out, static_cast<std::uint64_t>(part.components.size()));
        for (const Component& c : part.components) {
            write_value(out, c.state);
            write_value(out, c.mass);
            write_value(out, c.moments);
            write_value(out, c.damping);
            write_values(out, c.vertices);
            write_values(out, c.internal);
            write_value(out, c.elements);
        }
        write_value(out, loads_[s].known);
        write_values(out, loads_[s].keys);
        write_values(out, loads_[s].impulses);
        write_value(out, loads_[s].spin);
        write_value(out, wait_[s]);
    }
}

namespace {

// Owners are drives, holders and components, in this order.
void expect_owners(const std::vector<int>& owners, const SolidState& part) {
    const int end = part.first_component + static_cast<int>(part.components.size());
    expect_sound(
        std::all_of(owners.begin(), owners.end(), [&](int owner) { return owner >= -1 && owner < end; }));
}

void load_solid(std::istream& in, SolidState& part) {
    const std::size_t vertices = part.x.size(), elements = part.rigid.size();
    read_values(in, part.owner, vertices);
    read_values(in, part.local, vertices);
    read_values(in, part.rigid, elements);
    read_values(in, part.element_of, elements);
    read_numbers(in, part.calm, elements, 0, 1 << 30);
    read_values(in, part.strain, elements);
    read_values(in, part.rate, elements);
    read_value(in, part.elastic_elements);
    read_values(in, part.forecast, elements);
    read_values(in, part.energy, elements);
    std::uint64_t count = 0;
    read_value(in, count);
    expect_sound(count <= elements);
    part.components.resize(count);
    for (Component& c : part.components) {
        read_value(in, c.state);
        read_value(in, c.mass);
        read_value(in, c.moments);
        read_value(in, c.damping);
        read_values(in, c.vertices);
        for (const int v : c.vertices) expect_sound(v >= 0 && static_cast<std::size_t>(v) < vertices);
        read_values(in, c.internal, c.vertices.size());
        read_value(in, c.elements);
    }
    expect_owners(part.owner, part);
    expect_owners(part.element_of, part);
    list_elastic_elements(part);
    ++part.formed;
}

}  // namespace

void AdaptiveMethod::load(std::istream& in) {
    contacts_.load(in);
    resting_.load(in);
    for (std::size_t s = 0; s < states_.size(); ++s) {
        load_solid(in, states_[s]);
        read_value(in, loads_[s].known);
        read_values(in, loads_[s].keys);
        read_values(in, loads_[s].impulses, loads_[s].keys.size());
        read_value(in, loads_[s].spin);
        read_value(in, wait_[s]);
        expect_sound(wait_[s] >= 1 && wait_[s] <= kLongestWait);
    }
    std::fill(dirty_.begin(), dirty_.end(), char{1});
}

}  // namespace tenon::adaptive

namespace tenon {

MethodInfo adaptive_method() {
    return {"adaptive", "elastic solids whose parts become rigid while they do not deform, with contact",
            adaptive::parameters(), adaptive::supports,
            [](const Model& model, const State& state, const Params& params) -> std::unique_ptr<Stepper> {
                return std::make_unique<adaptive::AdaptiveMethod>(model, state, params);
            }};
}

}  // namespace tenon

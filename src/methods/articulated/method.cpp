#include "methods/articulated/method.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "math/binary_io.hpp"
#include "math/parallel.hpp"
#include "methods/articulated/drives.hpp"
#include "methods/articulated/newton_loop.hpp"
#include "methods/articulated/topology.hpp"
#include "model/loads_ahead.hpp"

namespace tenon::articulated {
namespace {

constexpr std::size_t kGrain = 4096;
// A step that does not converge is made in so many parts, and each of these that does not in as many, so many times in all.
constexpr int parts_of_a_part = 4, most_divisions = 3;
constexpr std::size_t kLarge = 5000;  // components from this size on use all threads by themselves

// The affine force of a torque: R^T G is skew, and sum_k a_k x G_k = torque.
Mat34 generalised(const Wrench& wrench, const Mat3& rotation) {
    Mat34 force;
    for (int k = 0; k < 3; ++k) force.col(k) = 0.5 * wrench.torque.cross(Vec3(rotation.col(k)));
    force.col(3) = wrench.force;
    return force;
}

}  // namespace

ArticulatedMethod::ArticulatedMethod(const Model& model, const State& state, const Options& options)
    : options_(options) {
    build(model, state);
}

namespace {

// Empty when no joint has drives.
DriveBranches first_branches(const Model& model) {
    DriveBranches branches;
    for (std::size_t j = 0; j < model.joints.size(); ++j)
        for (const DriveRow& drive : make_drive_rows(model.joints[j], static_cast<int>(j))) {
            branches.resize(model.joints.size());
            branches[j].push_back(static_cast<char>(drive.branch));
        }
    return branches;
}

}  // namespace

void ArticulatedMethod::build(const Model& model, const State& state) {
    const int count = model.bodies.size();
    field_.polar_free = options_.polar_free;
    field_.x = state.q;
    field_.target = state.q;
    field_.dq.assign(count, Mat34::Zero());
    field_.rotation.assign(count, Mat3::Identity());
    field_.stress.assign(count, Mat3::Zero());
    field_.force_stress.assign(count, Mat3::Zero());
    field_.unbalanced.assign(count, Mat34::Zero());
    field_.kind.assign(count, 0);
    field_.moving.assign(count, 0);
    field_.euler.assign(count, 0);
    field_.dense.assign(count, -1);
    field_.kinds.clear();
    scripted_.clear();
    fixed_.clear();
    using Key = std::tuple<double, double, double, double, double, int>;
    std::map<Key, int> known;
    for (int i = 0; i < count; ++i) {
        if (state.type[i] == BodyType::kinematic_body) scripted_.push_back(i);
        if (state.type[i] == BodyType::static_body) fixed_.push_back(i);
        if (!state.dynamic(i)) continue;
        field_.moving[i] = 1;
        const Vec3& moments = model.bodies.second_moments[i];
        const Key key{model.bodies.mass[i],    moments.x(), moments.y(), moments.z(), model.bodies.volume[i],
                      model.bodies.material[i]};
        const auto [found, added] = known.try_emplace(key, static_cast<int>(field_.kinds.size()));
        if (added) {
            const MaterialSpec& material = model.materials[model.bodies.material[i]];
            BodyKind kind = make_kind(model.bodies.mass[i], moments, model.bodies.volume[i], material.young,
                                      std::min(material.poisson, 0.49));
            kind.rigid = !is_elastic(model, i) && !options_.polar_free;
            field_.kinds.push_back(kind);
        }
        field_.kind[i] = found->second;
    }
    scripted_rate_.assign(scripted_.size(), Mat34::Zero());
    components_ = make_components(model, state, options_.solver);
    component_of_.assign(count, -1);
    for (std::size_t c = 0; c < components_.size(); ++c)
        for (int body : components_[c]->bodies) component_of_[body] = static_cast<int>(c);
    if (branches_.empty()) branches_ = first_branches(model);
    euler_left_.assign(count, 0);
    restarted_.assign(count, 0);
    merged_.clear();
    auto contacts = std::make_unique<ContactSet>(model, state, options_.contact);
    contacts_ = std::move(contacts);
    for (const auto& component : components_) contacts_->carry(component->bodies, field_);
    sort_joints(model, state);
    only_chains_ = !contacts_->enabled() && !options_.polar_free && options_.min_iterations <= 1;
    for (const auto& component : components_) only_chains_ = only_chains_ && component->can_sweep();
    keeps_stress_ = false;
    for (const BodyKind& kind : field_.kinds) keeps_stress_ = keeps_stress_ || kind.rigid;
    only_chains_ = only_chains_ && !keeps_stress_;
    field_.joint_move.assign(keeps_stress_ ? count : 0, {});
    field_.predicted.assign(keeps_stress_ ? count : 0, Mat3::Identity());
    matrix_step_ = 0.0;
    if (model.elastic.empty()) return;
    if (!elastic_) elastic_ = std::make_unique<ElasticParts>(model, state, options_.contact);
    field_.coupling.assign(count, Mat34::Zero());
    only_chains_ = false;
}

StepReport ArticulatedMethod::step(const Model& model, State& state, Outputs& outputs, double dt) {
    begin_step(model, state, dt);
    const bool with_history = options_.bdf2 && has_history_ && history_step_ == dt;
    if (!options_.bdf2 || with_history) {
        const Attempt attempt = begin_attempt();
        if (!advance(model, state, dt, state.time + dt, with_history, false)) {
            undo(attempt);
            advance_in_parts(model, state, dt, std::min(parts_of_a_part, options_.start_substeps));
        }
    } else {
        advance_in_parts(model, state, dt, options_.start_substeps);
    }
    {
        auto guard = timer_.stage("outputs");
        write_joints(model, state, outputs);
    }
    judge_energy_loss(model, state, dt);
    return make_report(model, state, outputs);
}

void ArticulatedMethod::begin_step(const Model& model, State& state, double dt) {
    timer_.reset();
    total_ = {};
    total_.converged = true;
    only_swept_ = true;
    warnings_.clear();
    std::fill(restarted_.begin(), restarted_.end(), char{0});
    if (elastic_) elastic_->new_step();
    contacts_->set_whole_step(has_history_ ? dt : 0.0);  // the small steps of the start are no retry
    if (joints_changed(model, state)) build(model, state);
    if (fresh_ && !has_history_) project_rates(model, state);
    fresh_ = false;
}

StepReport ArticulatedMethod::make_report(const Model& model, State& state, Outputs& outputs) {
    StepReport report;
    contacts_->write(field_, outputs);
    report.min_distance = contacts_->min_distance(field_);
    if (elastic_) elastic_->write(field_, outputs, report);
    report.contacts = static_cast<int>(outputs.contacts.size());
    report.joint_residual = total_.residual;
    report.iterations = total_.solves;
    report.converged = total_.converged;
    judge_deformation(model, state);
    judge_impacts(model);
    report.warnings = warnings_;
    if (break_joints(model, state, outputs)) report.warnings.push_back("a joint broke");
    report.phases = timer_.stages();
    report.metrics = {{"solves", static_cast<double>(total_.solves)},
                      {"corrections", static_cast<double>(total_.corrections)},
                      {"substeps", static_cast<double>(total_.substeps)},
                      {"polar_fallbacks", static_cast<double>(total_.fallbacks)},
                      {"strain", total_.strain},
                      {"deformation_max", total_.strain * (2.0 + total_.strain)}};
    if (elastic_) report.metrics.emplace_back("elastic_energy", elastic_->energy(state));
    if (only_swept_) report.metrics.emplace_back("bytes_per_link", sweep_bytes_per_link);
    std::map<std::string, int> solvers;
    for (const Component* component : current_) ++solvers[component->solver_name()];
    for (const auto& [name, count] : solvers)
        report.solver += fmt::format("{}{}{}", report.solver.empty() ? "" : ", ", name,
                                     count > 1 ? fmt::format(" x{}", count) : "");
    return report;
}

// BDF2 needs a step behind it: the first one is made of small implicit Euler steps. So is a step that did not converge as a
// whole, such as that of the tip of a whip.
void ArticulatedMethod::advance_in_parts(const Model& model, State& state, double dt, int parts) {
    std::vector<Mat34> start_q = state.q, start_rate = state.rate;
    const Attempt start = begin_attempt();
    const DriveBranches start_branches = branches_;
    std::stringstream start_contacts;
    if (contacts_->enabled()) contacts_->save(start_contacts);
    if (elastic_) elastic_->mark_start(state);
    try {
        advance_part(model, state, state.time, dt, std::max(1, parts), most_divisions);
    } catch (...) {
        state.q = start_q;
        state.rate = start_rate;
        branches_ = start_branches;
        undo(start);
        if (contacts_->enabled()) contacts_->load(start_contacts);
        if (elastic_) elastic_->go_back(state);
        throw;
    }
    previous_q_ = std::move(start_q);
    previous_rate_ = std::move(start_rate);
    has_history_ = true;
    history_step_ = dt;
    restart_after_parts();
}

// A span of time in `parts` steps of implicit Euler; those that do not converge are divided again, `divisions` - 1 times.
void ArticulatedMethod::advance_part(const Model& model, State& state, double begin, double span, int parts,
                                     int divisions) {
    const double h = span / parts;
    for (int k = 0; k < parts; ++k) {
        const Attempt attempt = begin_attempt();
        if (advance(model, state, h, begin + span * (k + 1) / parts, false, divisions == 1)) {
            ++total_.substeps;
            continue;
        }
        undo(attempt);
        advance_part(model, state, begin + span * k / parts, h, parts_of_a_part, divisions - 1);
    }
}

// What jumped within the step is no history for BDF2: two more steps without.
void ArticulatedMethod::restart_after_parts() {
    for (const Component* component : current_)
        if (options_.bdf2 && component->reached_limit())
            for (int body : component->bodies) euler_left_[body] = std::max(euler_left_[body], 2);
    for (std::size_t i = 0; i < restarted_.size(); ++i)
        if (options_.bdf2 && restarted_[i]) euler_left_[i] = std::max(euler_left_[i], 2);
    if (elastic_) elastic_->end_substeps(options_.bdf2);
}

ArticulatedMethod::Attempt ArticulatedMethod::begin_attempt() const {
    Attempt attempt;
    if (!only_chains_) attempt.euler_left = euler_left_;
    if (keeps_stress_) attempt.force_stress = field_.force_stress;
    if (elastic_) attempt.elastic_euler_left = elastic_->euler_left();
    return attempt;
}

void ArticulatedMethod::undo(const Attempt& attempt) {
    if (!only_chains_) euler_left_ = attempt.euler_left;
    if (keeps_stress_) field_.force_stress = attempt.force_stress;
    if (elastic_) elastic_->set_euler_left(attempt.elastic_euler_left);
}

// Targets, contacts, then each component by itself; the world changes only when all have succeeded.
// False, with the world as it was, when one did not converge and it is not the last try.
bool ArticulatedMethod::advance(const Model& model, State& state, double h, double end_time,
                                bool with_history, bool last_try) {
    set_step_size(h, with_history);
    move_scripted(model, state, end_time);
    if (may_sweep(model, state) && sweep(state, h, with_history)) return true;
    only_swept_ = false;
    {
        auto guard = timer_.stage("targets");
        mark_euler();
        set_targets(model, state, h, end_time, with_history);
        for (const auto& component : components_) refresh(field_, component->bodies);
        if (elastic_) elastic_->begin(model, state, field_, h, end_time, with_history);
    }
    {
        auto guard = timer_.stage("contacts");
        find_contacts(model, state, h);
        choose_contacts();
        merge_touching(model, state);
        const auto& euler = field_.euler;  // impacts change the rule
        if (std::find(euler.begin(), euler.end(), 1) != euler.end())
            set_targets(model, state, h, end_time, with_history);
        if (elastic_) elastic_->begin(model, state, field_, h, end_time, with_history);
    }
    {
        auto guard = timer_.stage("solve");
        solve_components(model, state, end_time, with_history, last_try);
    }
    if (with_history && (restart_at_limits() || restart_at_gains(state, h)))
        return advance(model, state, h, end_time, with_history, last_try);
    if (!add_reports(last_try)) return false;
    auto guard = timer_.stage("commit");
    contacts_->remember();
    for (const Component* component : current_) component->store_branches(branches_);
    commit(model, state, h, with_history);
    if (elastic_) elastic_->commit(state, with_history);
    return true;
}

void ArticulatedMethod::solve_components(const Model& model, const State& state, double end_time,
                                         bool with_history, bool last_try) {
    const StepStart start{
        model,    state,     with_history ? &previous_q_ : nullptr, with_history ? &previous_rate_ : nullptr,
        end_time, &branches_};
    solved_.clear();
    reports_.clear();
    solve_unsolved(start, last_try);
    const auto converged = [](const SolveReport& report) { return report.converged; };
    // what was thought apart and is not: merged and solved again, all else stays as it is
    while ((last_try || std::all_of(reports_.begin(), reports_.end(), converged)) && take_overlaps()) {
        merge_touching(model, state);
        solve_unsolved(start, last_try);
    }
}

// Solves the current components that are not solved yet.
void ArticulatedMethod::solve_unsolved(const StepStart& start, bool last_try) {
    std::map<const Component*, SolveReport> known;
    for (std::size_t c = 0; c < solved_.size(); ++c) known[solved_[c]] = reports_[c];
    int wasted = 0;  // solves of what has been merged since
    for (const auto& [component, report] : known)
        if (std::find(current_.begin(), current_.end(), component) == current_.end())
            wasted = std::max(wasted, report.solves);
    total_.solves += wasted;
    solved_ = current_;
    reports_.assign(current_.size(), {});
    std::vector<char> near(field_.x.size(), 0);  // other bodies
    for (const ContactPoint& c : contacts_->points())
        if (c.both_move) near[c.a] = near[c.b] = 1;
    const auto run = [&](std::size_t c) {
        current_[c]->begin_step(field_, start);
        NewtonLoop loop(options_, field_, *contacts_, *current_[c], touched_[c]);
        if (!last_try) loop.may_give_up();
        const auto& bodies = current_[c]->bodies;
        if (std::any_of(bodies.begin(), bodies.end(), [&](int body) { return near[body]; }))
            loop.near_others();
        reports_[c] = loop.run();
    };
    std::vector<std::size_t> small;
    for (std::size_t c = 0; c < current_.size(); ++c)
        if (const auto found = known.find(current_[c]); found != known.end())
            reports_[c] = found->second;
        else if (current_[c]->bodies.size() >= kLarge)
            run(c);
        else
            small.push_back(c);
    parallel_for(small.size(), 4, [&](std::size_t k) { run(small[k]); });
}

// What the components did, into the step's total. Solves of components are made side by side: the most counts. True when all
// converged, or no smaller steps are left.
bool ArticulatedMethod::add_reports(bool last_try) {
    SolveReport now;
    now.converged = true;
    for (const SolveReport& report : reports_) {
        now.solves = std::max(now.solves, report.solves);
        now.strain = std::max(now.strain, report.strain);
        now.residual = std::max(now.residual, report.residual);
        now.converged = now.converged && report.converged;
        total_.corrections += report.corrections;
        total_.fallbacks += report.fallbacks;
    }
    total_.solves += now.solves;
    if (!now.converged && !last_try) return false;
    total_.strain = std::max(total_.strain, now.strain);
    total_.residual = now.residual;
    total_.converged = total_.converged && now.converged;
    return true;
}

void ArticulatedMethod::set_step_size(double h, bool with_history) {
    const double eta = with_history ? 2.0 * h / 3.0 : h;
    if (field_.etas[0] == eta && field_.etas[1] == h && field_.matrices[0].size() == field_.kinds.size() &&
        matrix_step_ == h)
        return;
    matrix_step_ = h;
    field_.etas[0] = eta;
    field_.etas[1] = h;
    for (int variant = 0; variant < 2; ++variant) {
        field_.matrices[variant].clear();
        for (const BodyKind& kind : field_.kinds)
            field_.matrices[variant].push_back(make_kind_matrix(kind, field_.etas[variant]));
    }
    sweep_kinds_.clear();
    for (const KindMatrix& kind : field_.matrices[0]) sweep_kinds_.push_back(sweep_kind(kind));
}

void ArticulatedMethod::move_scripted(const Model& model, const State& state, double end_time) {
    for (std::size_t k = 0; k < scripted_.size(); ++k) {
        field_.x[scripted_[k]] = scripted_pose(model, state, scripted_[k], end_time);
        scripted_rate_[k] = scripted_rate(model, scripted_[k], end_time);
    }
}

// q~ = q_n + h v_n + h^2 M^-1 f (implicit Euler), or its BDF2 counterpart with eta = 2h/3.
void ArticulatedMethod::set_targets(const Model& model, const State& state, double h, double end_time,
                                    bool with_history) {
    const bool loads = has_external_wrenches(model, state);
    if (loads) wrenches_ahead(model, state, end_time, h, wrenches_);
    field_.load_turn.resize(loads ? field_.x.size() : 0);
    field_.gravity = state.gravity.norm();
    std::atomic<bool> changed{false};
    parallel_for(field_.x.size(), kGrain, [&](std::size_t i) {
        if (!field_.moving[i]) return;
        const int body = static_cast<int>(i);
        const Mat34 &q = state.q[i], &v = state.rate[i];
        if (field_.x[i] != q) changed = true;
        field_.x[i] = q;
        const double eta = field_.eta(body);
        if (with_history && !field_.euler[i])
            field_.target[i] = (4.0 * q - previous_q_[i]) / 3.0 + (eta / 3.0) * (4.0 * v - previous_rate_[i]);
        else
            field_.target[i] = q + h * v;
        field_.target[i].col(3) += eta * eta * state.gravity;
        if (!loads) return;
        const KindMatrix& kind = field_.matrix(body);
        // turned as the body will be at the step's end
        const Mat34 force = generalised(wrenches_[i], safe_polar(field_.target[i].leftCols<3>()).rotation);
        for (int k = 0; k < 3; ++k) field_.load_turn[i].col(k) = force.col(k) / kind.inertia[k];
        field_.target[i].leftCols<3>() += field_.load_turn[i];
        field_.target[i].col(3) += force.col(3) * kind.translation_inverse;
    });
    if (changed) contacts_->wake();
}

void ArticulatedMethod::commit(const Model& model, State& state, double h, bool with_history) {
    contacts_->moved(model, state.q, field_.x);
    parallel_for(field_.x.size(), kGrain, [&](std::size_t i) {
        if (!field_.moving[i]) return;
        const Mat34 q = state.q[i], v = state.rate[i];
        if (with_history && !field_.euler[i])
            state.rate[i] = (field_.x[i] - (4.0 * q - previous_q_[i]) / 3.0) * (1.5 / h);
        else
            state.rate[i] = (field_.x[i] - q) / h;
        state.q[i] = field_.x[i];
        if (with_history) {
            previous_q_[i] = q;
            previous_rate_[i] = v;
        }
    });
    for (int& left : euler_left_) left = std::max(0, left - 1);
    for (std::size_t k = 0; k < scripted_.size(); ++k) {
        const int body = scripted_[k];
        if (with_history) {
            previous_q_[body] = state.q[body];
            previous_rate_[body] = state.rate[body];
        }
        state.q[body] = field_.x[body];
        state.rate[body] = scripted_rate_[k];
    }
}

void ArticulatedMethod::save(std::ostream& out) const {
    write_value(out, has_history_);
    write_value(out, history_step_);
    write_value(out, loss_told_);
    write_value(out, deformation_told_);
    write_values(out, euler_left_);
    for (const std::vector<char>& drives : branches_) write_values(out, drives);
    contacts_->save(out);
    if (elastic_) elastic_->save(out, has_history_);
    if (keeps_stress_) write_values(out, field_.force_stress), write_values(out, field_.joint_move);
    if (!has_history_) return;
    write_values(out, previous_q_);
    write_values(out, previous_rate_);
}

void ArticulatedMethod::load(std::istream& in) {
    read_value(in, has_history_);
    read_value(in, history_step_);
    read_value(in, loss_told_);
    read_value(in, deformation_told_);
    const std::size_t bodies = field_.x.size();
    read_numbers(in, euler_left_, euler_left_.size(), 0, most_euler_steps);
    for (std::vector<char>& drives : branches_) {
        read_values(in, drives, drives.size());
        for (const char branch : drives)
            expect_sound(branch >= 0 && branch <= static_cast<char>(DriveRow::Branch::high));
    }
    contacts_->load(in);
    if (elastic_) elastic_->load(in, has_history_);
    if (keeps_stress_) {
        read_values(in, field_.force_stress, field_.force_stress.size());
        read_values(in, field_.joint_move, field_.joint_move.size());
    }
    if (!has_history_) return;
    read_values(in, previous_q_, bodies);
    read_values(in, previous_rate_, bodies);
}

}  // namespace tenon::articulated

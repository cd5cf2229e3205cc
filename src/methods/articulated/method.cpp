#include "methods/articulated/method.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "math/binary_io.hpp"
#include "math/parallel.hpp"
#include "methods/articulated/joint_outputs.hpp"
#include "methods/articulated/row_component.hpp"
#include "methods/articulated/topology.hpp"

namespace tenon::articulated {
namespace {

constexpr std::size_t kGrain = 4096;
constexpr std::size_t kLarge = 5000;  // components from this size on use all threads by themselves

// The affine force of a torque: R^T G is skew, and sum_k a_k x G_k = torque.
Mat34 generalised(const Wrench& wrench, const Mat3& rotation) {
    Mat34 force;
    for (int k = 0; k < 3; ++k) force.col(k) = 0.5 * wrench.torque.cross(Vec3(rotation.col(k)));
    force.col(3) = wrench.force;
    return force;
}

}  // namespace

ArticulatedMethod::ArticulatedMethod(const World& world, const Options& options) : options_(options) {
    build(world);
}

void ArticulatedMethod::build(const World& world) {
    const int count = world.bodies.size();
    field_.polar_free = options_.polar_free;
    field_.x = world.bodies.q;
    field_.target = world.bodies.q;
    field_.dq.assign(count, Mat34::Zero());
    field_.rotation.assign(count, Mat3::Identity());
    field_.stress.assign(count, Mat3::Zero());
    field_.elastic.assign(count, 0.0);
    known_ = false;
    field_.kind.assign(count, 0);
    field_.moving.assign(count, 0);
    field_.euler.assign(count, 0);
    field_.dense.assign(count, -1);
    field_.kinds.clear();
    scripted_.clear();
    using Key = std::tuple<double, double, double, double, double, int>;
    std::map<Key, int> known;
    for (int i = 0; i < count; ++i) {
        if (world.bodies.type[i] == BodyType::kinematic_body) scripted_.push_back(i);
        if (!world.bodies.dynamic(i)) continue;
        field_.moving[i] = 1;
        const Vec3& moments = world.bodies.second_moments[i];
        const Key key{world.bodies.mass[i],    moments.x(), moments.y(), moments.z(), world.bodies.volume[i],
                      world.bodies.material[i]};
        const auto [found, added] = known.try_emplace(key, static_cast<int>(field_.kinds.size()));
        if (added) {
            const MaterialSpec& material = world.materials[world.bodies.material[i]];
            field_.kinds.push_back(make_kind(world.bodies.mass[i], moments, world.bodies.volume[i],
                                             material.young, std::min(material.poisson, 0.49)));
        }
        field_.kind[i] = found->second;
    }
    scripted_rate_.assign(scripted_.size(), Mat34::Zero());
    components_ = make_components(world, options_.solver);
    component_of_.assign(count, -1);
    for (std::size_t c = 0; c < components_.size(); ++c)
        for (int body : components_[c]->bodies) component_of_[body] = static_cast<int>(c);
    euler_left_.assign(count, 0);
    merged_.clear();
    merged_signature_.clear();
    auto contacts = std::make_unique<ContactSet>(world, options_.contact);
    contacts_ = std::move(contacts);
    joint_was_broken_.resize(world.joints.size());
    for (std::size_t j = 0; j < world.joints.size(); ++j) joint_was_broken_[j] = world.joints[j].broken;
    matrix_step_ = 0.0;
}

StepReport ArticulatedMethod::step(World& world, double dt) {
    timer_.reset();
    total_ = {};
    for (std::size_t j = 0; j < world.joints.size(); ++j)
        if (joint_was_broken_[j] != static_cast<char>(world.joints[j].broken)) {
            build(world);
            break;
        }
    const bool with_history = options_.bdf2 && has_history_ && history_step_ == dt;
    if (!options_.bdf2 || with_history) {
        advance(world, dt, world.time + dt, with_history);
    } else {
        // BDF2 needs a step behind it: the first one is made of small implicit Euler steps
        const std::vector<Mat34> start_q = world.bodies.q, start_rate = world.bodies.rate;
        const int substeps = std::max(1, options_.start_substeps);
        try {
            for (int k = 0; k < substeps; ++k)
                advance(world, dt / substeps, world.time + dt * (k + 1) / substeps, false);
        } catch (...) {
            world.bodies.q = start_q;
            world.bodies.rate = start_rate;
            throw;
        }
        previous_q_ = start_q;
        previous_rate_ = start_rate;
        has_history_ = true;
        history_step_ = dt;
    }
    {
        auto guard = timer_.stage("outputs");
        write_joints(world);
    }
    StepReport report;
    contacts_->write(field_, world);
    report.contacts = static_cast<int>(world.contacts.size());
    report.min_distance = contacts_->min_distance(field_);
    report.joint_residual = total_.residual;
    report.iterations = total_.solves;
    report.converged = total_.converged;
    if (break_joints(world)) report.warnings.push_back("a joint broke");
    report.phases = timer_.stages();
    report.figures = {{"solves", static_cast<double>(total_.solves)},
                      {"halvings", static_cast<double>(total_.halvings)},
                      {"corrections", static_cast<double>(total_.corrections)},
                      {"polar_fallbacks", static_cast<double>(total_.fallbacks)},
                      {"strain", total_.strain}};
    std::map<std::string, int> solvers;
    for (const Component* component : current_) ++solvers[component->solver_name()];
    for (const auto& [name, count] : solvers)
        report.solver += fmt::format("{}{}{}", report.solver.empty() ? "" : ", ", name,
                                     count > 1 ? fmt::format(" x{}", count) : "");
    return report;
}

// Contacts with colliders make the matrices of the bodies they touch dense; impacts are stepped by implicit Euler,
// because BDF2 would carry half the speed from before them on.
void ArticulatedMethod::find_contacts(const World& world, double h) {
    std::fill(field_.dense.begin(), field_.dense.end(), -1);
    if (!contacts_->enabled()) return;
    std::vector<int> impacts;
    contacts_->find(world, field_, h, impacts);
    std::vector<char> hit(components_.size(), 0);
    for (int body : impacts) hit[component_of_[body]] = 1;
    for (const auto& component : components_)
        for (int body : component->bodies) {
            if (hit[component_of_[body]])
                euler_left_[body] = 2;
            else if (euler_left_[body] > 0)
                --euler_left_[body];
            field_.euler[body] = euler_left_[body] > 0;
        }
}

// Components whose links touch each other are solved as one, with their contacts as soft rows.
void ArticulatedMethod::merge_touching(const World& world) {
    std::vector<int> root(components_.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](int i) {
        while (root[i] != i) i = root[i] = root[root[i]];
        return i;
    };
    std::vector<std::uint64_t> signature;
    std::vector<char> merges(components_.size(), 0);
    const auto& points = contacts_->points();
    for (const ContactPoint& c : points) {
        if (!c.both_move) continue;
        const int a = component_of_[c.a], b = component_of_[c.b];
        root[find(b)] = find(a);
        merges[a] = merges[b] = 1;
        signature.push_back((static_cast<std::uint64_t>(c.a) << 32) | static_cast<std::uint32_t>(c.b));
    }
    const bool same = signature == merged_signature_ && !merged_.empty();
    std::map<int, std::vector<int>> contacts_of, bodies_of;  // by root
    for (std::size_t k = 0; k < points.size(); ++k)
        if (points[k].both_move) contacts_of[find(component_of_[points[k].a])].push_back(static_cast<int>(k));
    if (!same) {
        merged_.clear();
        for (std::size_t c = 0; c < components_.size(); ++c)
            if (merges[c]) {
                std::vector<int>& list = bodies_of[find(static_cast<int>(c))];
                list.insert(list.end(), components_[c]->bodies.begin(), components_[c]->bodies.end());
            }
        for (auto& [top, bodies] : bodies_of)
            merged_.push_back(std::make_unique<RowComponent>(world, bodies, joints_among(world, bodies),
                                                             options_.solver, contacts_.get(),
                                                             contacts_of[top]));
        merged_signature_ = signature;
    } else {
        std::size_t number = 0;
        for (const auto& [top, list] : contacts_of)
            static_cast<RowComponent&>(*merged_[number++]).renew_contacts(list);
    }
    current_.clear();
    for (std::size_t c = 0; c < components_.size(); ++c)
        if (!merges[c]) current_.push_back(components_[c].get());
    for (const auto& component : merged_) current_.push_back(component.get());
    touched_.assign(current_.size(), {});
    int dense = 0;
    if (contacts_->enabled())
        for (std::size_t c = 0; c < current_.size(); ++c)
            for (int body : current_[c]->bodies)
                if (contacts_->touches(body)) {
                    touched_[c].push_back(body);
                    field_.dense[body] = dense++;
                }
    if (static_cast<int>(field_.dense_bodies.size()) < dense) field_.dense_bodies.resize(dense);
}

// Matrices, targets, then each component by itself; the world changes only when all have succeeded.
void ArticulatedMethod::advance(World& world, double h, double end_time, bool with_history) {
    {
        auto guard = timer_.stage("targets");
        set_step_size(h, with_history);
        move_scripted(world, end_time);
        set_targets(world, h, end_time, with_history);
    }
    if (!known_)  // rotation and strain of a state that did not come from a step of ours
        for (const auto& component : components_) refresh(field_, component->bodies);
    known_ = false;
    {
        auto guard = timer_.stage("contacts");
        find_contacts(world, h);
        merge_touching(world);
        const auto& euler = field_.euler;  // impacts change the rule
        if (std::find(euler.begin(), euler.end(), 1) != euler.end())
            set_targets(world, h, end_time, with_history);
    }
    {
        auto guard = timer_.stage("solve");
        const StepStart start{world, with_history ? &previous_q_ : nullptr,
                              with_history ? &previous_rate_ : nullptr, end_time};
        reports_.resize(current_.size());
        const auto run = [&](std::size_t c) {
            current_[c]->begin_step(field_, start);
            reports_[c] = solve_component(*current_[c], touched_[c], world.bodies.q, h);
        };
        std::vector<std::size_t> small;
        for (std::size_t c = 0; c < current_.size(); ++c)
            if (current_[c]->bodies.size() >= kLarge)
                run(c);
            else
                small.push_back(c);
        parallel_for(small.size(), 4, [&](std::size_t k) { run(small[k]); });
    }
    SolveReport now;
    for (const SolveReport& report : reports_) {
        now.solves = std::max(now.solves, report.solves);
        now.halvings += report.halvings;
        now.corrections += report.corrections;
        now.fallbacks += report.fallbacks;
        now.strain = std::max(now.strain, report.strain);
        now.residual = std::max(now.residual, report.residual);
        now.converged = now.converged && report.converged;
    }
    total_.solves += now.solves;
    total_.halvings += now.halvings;
    total_.corrections += now.corrections;
    total_.fallbacks += now.fallbacks;
    total_.strain = std::max(total_.strain, now.strain);
    total_.residual = now.residual;
    total_.converged = total_.converged && now.converged;
    auto guard = timer_.stage("commit");
    known_ = true;
    contacts_->remember();
    commit(world, h, with_history);
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
}

void ArticulatedMethod::move_scripted(const World& world, double end_time) {
    for (std::size_t k = 0; k < scripted_.size(); ++k) {
        field_.x[scripted_[k]] = scripted_pose(world, scripted_[k], end_time);
        scripted_rate_[k] = scripted_rate(world, scripted_[k], end_time);
    }
}

// q~ = q_n + h v_n + h^2 M^-1 f (implicit Euler), or its BDF2 counterpart with eta = 2h/3.
void ArticulatedMethod::set_targets(const World& world, double h, double end_time, bool with_history) {
    const bool loads = !world.forces.empty() || world.wind.drag > 0;
    if (loads) external_wrenches(world, end_time, wrenches_);
    std::atomic<bool> changed{false};
    parallel_for(field_.x.size(), kGrain, [&](std::size_t i) {
        if (!field_.moving[i]) return;
        const int body = static_cast<int>(i);
        const Mat34 &q = world.bodies.q[i], &v = world.bodies.rate[i];
        if (field_.x[i] != q) changed = true;
        field_.x[i] = q;
        const double eta = field_.eta(body);
        if (with_history && !field_.euler[i])
            field_.target[i] = (4.0 * q - previous_q_[i]) / 3.0 + (eta / 3.0) * (4.0 * v - previous_rate_[i]);
        else
            field_.target[i] = q + h * v;
        field_.target[i].col(3) += eta * eta * world.gravity;
        if (!loads) return;
        const KindMatrix& kind = field_.matrix(body);
        const Mat34 force = generalised(wrenches_[i], safe_polar(q.leftCols<3>()).rotation);
        for (int k = 0; k < 3; ++k) field_.target[i].col(k) += force.col(k) / kind.inertia[k];
        field_.target[i].col(3) += force.col(3) * kind.translation_inverse;
    });
    if (changed) known_ = false;
}

// One solve, accepted at once if the incremental potential fell; halved until it does otherwise. Further solves
// only while strain is above tolerance and still changing, or motors and limits change sides.
SolveReport ArticulatedMethod::solve_component(Component& component, const std::vector<int>& touched,
                                               const std::vector<Mat34>& last_q, double h) {
    SolveReport report;
    const std::vector<int>& bodies = component.bodies;
    const auto move = [&](double length) {
        parallel_for(bodies.size(), kGrain,
                     [&](std::size_t i) { field_.x[bodies[i]] += length * field_.dq[bodies[i]]; });
    };
    const auto potential = [&](const FieldReport& own) {
        double sum = own.energy + component.soft_energy(field_);
        for (int body : touched) sum += contacts_->energy(field_, body);
        return sum;
    };
    FieldReport state;
    double energy = 0.0;
    bool closed = false, from_start = true;
    std::vector<Mat34> saved_x,
        saved_dq;  // corrections leave the straight path: nonlinear components start over
    // sides may change this often; later solves only close joints and settle strain
    const bool touches = !touched.empty() || component.has_contacts();
    const int limit = touches ? options_.contact.max_iterations : options_.max_iterations;
    for (int iteration = 1;; ++iteration) {
        if (from_start) {  // at first, and whenever a contact, motor or limit has changed sides
            if (iteration > 1) {
                for (int body : bodies) field_.x[body] = last_q[body];
                refresh(field_, bodies);
            }
            state.energy = known_energy(field_, bodies);
            energy = potential(state);
            closed = component.residual(field_) < options_.joint_tolerance;
            predict(field_, bodies);
        }
        contacts_->make_dense(field_, touched);
        component.solve(field_);
        ++report.solves;
        // The step to judge, and to shorten, is the one from the last state. For linear components that is only worked
        // out when the whole step is refused.
        const auto from_last = [&] {
            parallel_for(bodies.size(), kGrain, [&](std::size_t i) {
                const int body = bodies[i];
                field_.dq[body] += field_.x[body] - last_q[body];
                field_.x[body] = last_q[body];
            });
        };
        if (from_start && !component.linear()) from_last();
        if (!component.linear()) {
            saved_x.clear(), saved_dq.clear();
            for (int body : bodies) saved_x.push_back(field_.x[body]), saved_dq.push_back(field_.dq[body]);
        }
        double trial_energy = 0.0;
        bool joined = true;
        for (double length = 1.0, moved = 0.0;; length *= 0.5, ++report.halvings) {
            if (component.linear()) {
                if (from_start &&
                    moved == 1.0) {  // refused: back to where the solve was made, then to the last state
                    move(-1.0);
                    from_last();
                    moved = 0.0;
                }
                move(length - moved);
                moved = length;
            } else {
                for (std::size_t i = 0; i < bodies.size(); ++i)
                    field_.x[bodies[i]] = saved_x[i] + length * saved_dq[i];
                double open = component.residual(field_);
                for (int k = 0; k < options_.max_corrections && open > options_.joint_tolerance;
                     ++k, ++report.corrections) {
                    component.correct(field_);
                    move(1.0);
                    const double before = open;
                    open = component.residual(field_);
                    if (!(open < 2.0 * before)) break;  // too far for corrections: take a shorter step
                }
                joined = open <= 10.0 * options_.joint_tolerance;
            }
            state = refresh(field_, bodies);
            report.fallbacks += state.fallbacks;
            trial_energy = potential(state);
            const bool fell = trial_energy <= energy + 1e-9 * std::abs(energy);
            const bool good =
                std::isfinite(trial_energy) && joined && (fell || !closed || !options_.backtracking);
            if (good || length < 1e-3) break;
        }
        if (!std::isfinite(trial_energy))
            throw StepFailure("the solve gave numbers that are not finite", bodies.front());
        const bool energy_still = trial_energy > energy - 1e-4 * std::abs(energy) && iteration > 1;
        energy = trial_energy;
        bool sides_changed = false;
        if (iteration < limit) {
            sides_changed = component.update_bounds(field_);
            for (int body : touched) sides_changed |= contacts_->update(field_, body, h);
        }
        from_start = sides_changed;
        report.residual = component.residual(field_);
        closed = report.residual < options_.joint_tolerance;
        const bool strained =
            state.strain > options_.strain_tolerance && !energy_still && iteration < options_.max_iterations;
        if (closed && !sides_changed && !strained && iteration >= options_.min_iterations) break;
        if (iteration >= options_.max_iterations + limit) {
            report.converged = false;
            break;
        }
    }
    report.strain = state.strain;
    if (report.residual > 1e3 * options_.joint_tolerance) report.converged = false;
    return report;
}

void ArticulatedMethod::commit(World& world, double h, bool with_history) {
    parallel_for(field_.x.size(), kGrain, [&](std::size_t i) {
        if (!field_.moving[i]) return;
        const Mat34 q = world.bodies.q[i], v = world.bodies.rate[i];
        if (with_history && !field_.euler[i])
            world.bodies.rate[i] = (field_.x[i] - (4.0 * q - previous_q_[i]) / 3.0) * (1.5 / h);
        else
            world.bodies.rate[i] = (field_.x[i] - q) / h;
        world.bodies.q[i] = field_.x[i];
        if (with_history) {
            previous_q_[i] = q;
            previous_rate_[i] = v;
        }
    });
    for (std::size_t k = 0; k < scripted_.size(); ++k) {
        const int body = scripted_[k];
        if (with_history) {
            previous_q_[body] = world.bodies.q[body];
            previous_rate_[body] = world.bodies.rate[body];
        }
        world.bodies.q[body] = field_.x[body];
        world.bodies.rate[body] = scripted_rate_[k];
    }
}

void ArticulatedMethod::write_joints(World& world) {
    for (const Component* component : current_) component->write_forces(field_, world);
    write_joint_coordinates(world);
}

bool ArticulatedMethod::break_joints(World& world) {
    bool broke = false;
    for (Joint& joint : world.joints)
        if (!joint.broken &&
            (joint.force.norm() > joint.spec.break_force || joint.torque.norm() > joint.spec.break_torque)) {
            joint.broken = true;
            joint.force.setZero();
            joint.torque.setZero();
            broke = true;
        }
    return broke;
}

void ArticulatedMethod::save(std::ostream& out) const {
    write_value(out, has_history_);
    write_value(out, history_step_);
    write_values(out, euler_left_);
    contacts_->save(out);
    if (!has_history_) return;
    write_values(out, previous_q_);
    write_values(out, previous_rate_);
}

void ArticulatedMethod::load(std::istream& in) {
    read_value(in, has_history_);
    read_value(in, history_step_);
    read_values(in, euler_left_);
    contacts_->load(in);
    if (!has_history_) return;
    read_values(in, previous_q_);
    read_values(in, previous_rate_);
}

}  // namespace tenon::articulated

// How contacts change what a step solves: bodies with dense matrices, merged components, steps by implicit Euler.
#include <map>
#include <numeric>

#include "math/union_find.hpp"
#include "methods/articulated/method.hpp"
#include "methods/articulated/row_component.hpp"
#include "methods/articulated/topology.hpp"

namespace tenon::articulated {
namespace {

constexpr double most_gain = 0.02;  // of the kinetic energy, in a step

}  // namespace

// Contacts with colliders make the matrices of the bodies they touch dense; impacts are stepped by implicit Euler,
// because BDF2 would carry half the speed from before them on.
void ArticulatedMethod::find_contacts(const Model& model, const State& state, double h) {
    std::fill(field_.dense.begin(), field_.dense.end(), -1);
    if (contacts_->enabled() || elastic_) {
        std::vector<int> impacts;
        contacts_->find(model, state, field_, h, impacts);
        if (elastic_) elastic_->find_contacts(model, state, field_, h, impacts);
        std::vector<char> hit(components_.size(), 0);
        for (int body : impacts) hit[component_of_[body]] = 1;
        if (elastic_) elastic_->spread_impacts(component_of_, hit);
        for (std::size_t c = 0; c < components_.size(); ++c)
            if (hit[c]) restart_history(*components_[c]);
    }
    mark_euler();
}

void ArticulatedMethod::mark_euler() {
    for (std::size_t i = 0; i < euler_left_.size(); ++i) field_.euler[i] = euler_left_[i] > 0;
}

// The step of an impact, whose mean velocity is partly from before it, and two more: then the history is all from after it.
void ArticulatedMethod::restart_history(const Component& component) {
    for (int body : component.bodies) {
        euler_left_[body] = 3;
        restarted_[body] = 1;
    }
}

// True when a component that is stepped by BDF2 has reached a limit: the step has to be made again.
bool ArticulatedMethod::restart_at_limits() {
    bool any = false;
    for (Component* component : current_)
        if (component->reached_limit() && !field_.euler[component->bodies.front()]) {
            restart_history(*component);
            component->restart();
            any = true;
        }
    return any;
}

// The same of components that BDF2 has given energy from nowhere: a loop that snaps through a dead point within a step, say. What a
// script moves or contacts push may gain.
bool ArticulatedMethod::restart_at_gains(const State& state, double h) {
    if (!scripted_.empty() || elastic_) return false;
    bool any = false;
    for (std::size_t c = 0; c < current_.size(); ++c) {
        Component& component = *current_[c];
        if (!reports_[c].converged || !touched_[c].empty() || component.has_contacts()) continue;
        if (field_.euler[component.bodies.front()] || !(gain(component, state, h) > 0.0)) continue;
        restart_history(component);
        any = true;
    }
    return any;
}

// Kinetic energy beyond the work of all forces but those of ideal joints, and beyond what is tolerated, J.
double ArticulatedMethod::gain(const Component& component, const State& state, double h) const {
    double before = 0.0, after = 0.0, work = 0.0, loads = 0.0;
    for (int body : component.bodies) {
        const BodyKind& kind = field_.kinds[field_.kind[body]];
        if (!kind.rigid) return 0.0;
        const Mat34 &q = state.q[body], &x = field_.x[body], &v = state.rate[body];
        const Mat34 now = (x - (4.0 * q - previous_q_[body]) / 3.0) * (1.5 / h);
        const auto energy = [&](const Mat34& rate) {
            double twice = kind.mass * rate.col(3).squaredNorm();
            for (int k = 0; k < 3; ++k) twice += kind.moments[k] * rate.col(k).squaredNorm();
            return 0.5 * twice;
        };
        before += energy(v);
        after += energy(now);
        const Vec3 way = x.col(3) - q.col(3);
        work += kind.mass * state.gravity.dot(way);
        if (field_.load_turn.empty()) continue;
        const Wrench& wrench = wrenches_[body];  // turning by less than rates say at one end of the step
        loads += wrench.force.norm() * way.norm() +
                 wrench.torque.norm() * h * std::max(v.leftCols<3>().norm(), now.leftCols<3>().norm());
    }
    const Component::Work drives = component.drive_work(field_);
    return after - before - work - loads - drives.done - drives.uncertain -
           most_gain * std::max(before, after);
}

// Contacts that press where inertia alone would take the bodies. The others exert nothing unless the solve finds otherwise.
void ArticulatedMethod::choose_contacts() {
    const auto& points = contacts_->points();
    takes_part_.assign(points.size(), 1);
    for (std::size_t k = 0; k < points.size() && !elastic_; ++k)
        takes_part_[k] = !points[k].both_move || points[k].active;
}

// Contacts that were left out and press at the solution take part from now on. True when there are some.
bool ArticulatedMethod::take_overlaps() {
    auto& points = contacts_->points();
    bool more = false;
    for (std::size_t k = 0; k < points.size(); ++k) {
        ContactPoint& c = points[k];
        if (takes_part_[k] || c.normal.dot(ContactSet::separation(c, field_)) >= c.aim) continue;
        takes_part_[k] = 1;
        c.active = more = true;
    }
    return more;
}

// Components whose links touch each other are solved as one, with their contacts as soft rows. Those whose bodies touch as they
// did are kept.
void ArticulatedMethod::merge_touching(const Model& model, const State& state) {
    UnionFind touching(components_.size());
    std::vector<char> merges(components_.size(), 0);
    const auto& points = contacts_->points();
    const auto counts = [&](std::size_t k) { return points[k].both_move && takes_part_[k]; };
    for (std::size_t k = 0; k < points.size(); ++k) {
        if (!counts(k)) continue;
        const int a = component_of_[points[k].a], b = component_of_[points[k].b];
        touching.join(a, b);
        merges[a] = merges[b] = 1;
    }
    struct Group {
        std::vector<int> contacts, bodies;
        std::vector<std::uint64_t> pairs;  // of bodies that touch: they tell which components these are
    };
    std::map<int, Group> groups;  // by root
    for (std::size_t k = 0; k < points.size(); ++k)
        if (counts(k)) {
            Group& group = groups[touching.root(component_of_[points[k].a])];
            group.contacts.push_back(static_cast<int>(k));
            group.pairs.push_back((static_cast<std::uint64_t>(points[k].a) << 32) |
                                  static_cast<std::uint32_t>(points[k].b));
        }
    for (std::size_t c = 0; c < components_.size(); ++c)
        if (merges[c]) {
            std::vector<int>& list = groups[touching.root(static_cast<int>(c))].bodies;
            list.insert(list.end(), components_[c]->bodies.begin(), components_[c]->bodies.end());
        }
    std::map<std::vector<std::uint64_t>, std::unique_ptr<Component>> merged;
    for (auto& [top, group] : groups) {
        auto kept = merged_.find(group.pairs);
        if (kept == merged_.end()) {
            merged[group.pairs] = std::make_unique<RowComponent>(
                model, state, group.bodies, joints_among(model, state, group.bodies), options_.solver,
                contacts_.get(), group.contacts);
        } else {
            static_cast<RowComponent&>(*kept->second).renew_contacts(group.contacts);
            merged[group.pairs] = std::move(kept->second);
        }
    }
    merged_ = std::move(merged);
    current_.clear();
    for (std::size_t c = 0; c < components_.size(); ++c)
        if (!merges[c]) current_.push_back(components_[c].get());
    for (const auto& [top, group] : groups) current_.push_back(merged_[group.pairs].get());
    if (elastic_) elastic_->couple(field_, current_);
    list_touched();
}

// Bodies that touch colliders have dense matrices, at places that do not depend on how components are merged.
void ArticulatedMethod::list_touched() {
    touched_.assign(current_.size(), {});
    if (!contacts_->enabled()) return;
    int dense = 0;
    for (const auto& component : components_)
        for (int body : component->bodies)
            if (contacts_->touches(body)) field_.dense[body] = dense++;
    for (std::size_t c = 0; c < current_.size(); ++c)
        for (int body : current_[c]->bodies)
            if (contacts_->touches(body)) touched_[c].push_back(body);
    if (static_cast<int>(field_.dense_bodies.size()) < dense) field_.dense_bodies.resize(dense);
}

}  // namespace tenon::articulated

// How contacts change what a step solves: bodies with dense matrices, merged components, steps by implicit Euler.
#include <map>
#include <numeric>

#include "math/union_find.hpp"
#include "methods/articulated/method.hpp"
#include "methods/articulated/row_component.hpp"
#include "methods/articulated/topology.hpp"

namespace tenon::articulated {

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

// Components whose links touch each other are solved as one, with their contacts as soft rows.
void ArticulatedMethod::merge_touching(const Model& model, const State& state) {
    UnionFind touching(components_.size());
    std::vector<std::uint64_t> signature;
    std::vector<char> merges(components_.size(), 0);
    const auto& points = contacts_->points();
    for (const ContactPoint& c : points) {
        if (!c.both_move) continue;
        const int a = component_of_[c.a], b = component_of_[c.b];
        touching.join(a, b);
        merges[a] = merges[b] = 1;
        signature.push_back((static_cast<std::uint64_t>(c.a) << 32) | static_cast<std::uint32_t>(c.b));
    }
    const bool same = signature == merged_signature_ && !merged_.empty();
    std::map<int, std::vector<int>> contacts_of, bodies_of;  // by root
    for (std::size_t k = 0; k < points.size(); ++k)
        if (points[k].both_move)
            contacts_of[touching.root(component_of_[points[k].a])].push_back(static_cast<int>(k));
    if (!same) {
        merged_.clear();
        for (std::size_t c = 0; c < components_.size(); ++c)
            if (merges[c]) {
                std::vector<int>& list = bodies_of[touching.root(static_cast<int>(c))];
                list.insert(list.end(), components_[c]->bodies.begin(), components_[c]->bodies.end());
            }
        for (auto& [top, bodies] : bodies_of)
            merged_.push_back(
                std::make_unique<RowComponent>(model, state, bodies, joints_among(model, state, bodies),
                                               options_.solver, contacts_.get(), contacts_of[top]));
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
    if (elastic_) elastic_->couple(field_, current_);
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

}  // namespace tenon::articulated

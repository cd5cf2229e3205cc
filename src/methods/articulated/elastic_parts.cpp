#include "methods/articulated/elastic_parts.hpp"

#include <algorithm>
#include <map>

#include "math/binary_io.hpp"
#include "math/union_find.hpp"

namespace tenon::articulated {

ElasticParts::ElasticParts(const Model& model, const State& state, const ContactOptions& options) {
    for (std::size_t e = 0; e < model.elastic.size(); ++e)
        world_.solids.emplace_back(model, state, static_cast<int>(e));
    world_.contacts = std::make_unique<ElasticContacts>(model, world_.solids, options);
    world_.euler_left.assign(world_.solids.size(), 0);
    world_.restarted.assign(world_.solids.size(), 0);
    hit_.assign(world_.solids.size(), 0);
    previous_ = state.elastic;
}

void ElasticParts::new_step() {
    std::fill(world_.restarted.begin(), world_.restarted.end(), char{0});
}

void ElasticParts::begin(const Model& model, const State& state, const BodyField& field, double h,
                         double end_time, bool with_history) {
    for (ElasticSolid& solid : world_.solids) {
        const bool bdf2 = with_history && world_.euler_left[solid.index] == 0;
        solid.begin_step(model, state, h, end_time, bdf2 ? &previous_[solid.index] : nullptr, field.x);
    }
}

void ElasticParts::find_contacts(const Model& model, const State& state, const BodyField& field, double h,
                                 std::vector<int>& impacts) {
    std::fill(hit_.begin(), hit_.end(), char{0});
    world_.contacts->find(model, state, field, world_.solids, h, hit_, impacts);
}

void ElasticParts::spread_impacts(const std::vector<int>& component_of, std::vector<char>& hit) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const ElasticSolid& solid : world_.solids) {
            char& own = hit_[solid.index];
            for (const ElasticBody::Pin& pin : solid.attached)
                if (char& other = hit[component_of[pin.body]]; other != own) {
                    other = own = 1;
                    changed = true;
                }
        }
    }
    for (std::size_t e = 0; e < hit_.size(); ++e)
        if (hit_[e]) {
            world_.euler_left[e] = 3;
            world_.restarted[e] = 1;
        }
}

void ElasticParts::couple(BodyField& field, std::vector<Component*>& current) {
    const int count = static_cast<int>(current.size()), solids = static_cast<int>(world_.solids.size());
    std::vector<int> component_of(field.x.size(), -1);
    for (int c = 0; c < count; ++c)
        for (int body : current[c]->bodies) component_of[body] = c;
    UnionFind sets(count + solids);
    for (const ElasticSolid& solid : world_.solids)
        for (const ElasticBody::Pin& pin : solid.attached)
            sets.join(count + solid.index, component_of[pin.body]);
    std::map<int, std::vector<int>> contacts_of;
    const auto& points = world_.contacts->points();
    const auto set_of = [&](const ElasticContact& contact, int side) {
        if (contact.solid[side] >= 0) return count + contact.solid[side];
        return component_of[side == 0 ? contact.law.a : contact.law.b];
    };
    for (const ElasticContact& contact : points)
        if (contact.both_move) sets.join(set_of(contact, 0), set_of(contact, 1));
    for (std::size_t k = 0; k < points.size(); ++k)
        contacts_of[sets.root(set_of(points[k], points[k].solid[0] >= 0 ? 0 : 1))].push_back(
            static_cast<int>(k));
    std::map<int, std::vector<int>> solids_of;
    std::map<int, std::vector<Component*>> inner_of;
    for (int e = 0; e < solids; ++e) solids_of[sets.root(count + e)].push_back(e);
    std::vector<Component*> alone;
    for (int c = 0; c < count; ++c) {
        const int set = sets.root(c);
        if (solids_of.count(set)) {
            inner_of[set].push_back(current[c]);
            continue;
        }
        alone.push_back(current[c]);
        // no solid touches it: what one did in an earlier try is over
        for (int body : current[c]->bodies) field.coupling[body].setZero();
    }
    components_.clear();
    for (auto& [set, list] : solids_of)
        components_.push_back(std::make_unique<ElasticComponent>(
            world_, std::move(inner_of[set]), std::move(list), std::move(contacts_of[set])));
    current = std::move(alone);
    for (const auto& component : components_) current.push_back(component.get());
}

void ElasticParts::commit(State& state, bool with_history) {
    world_.contacts->remember();
    for (ElasticSolid& solid : world_.solids) {
        ElasticState& now = state.elastic[solid.index];
        if (with_history) previous_[solid.index] = now;
        for (std::size_t v = 0; v < now.v.size(); ++v) now.v[v] = solid.velocity(static_cast<int>(v));
        now.x = solid.x;
        int& left = world_.euler_left[solid.index];
        left = std::max(0, left - 1);
    }
}

void ElasticParts::mark_start(const State& state) {
    start_ = {state.elastic, world_.euler_left, world_.contacts->forces()};
}

void ElasticParts::go_back(State& state) {
    state.elastic = start_.elastic;
    world_.euler_left = start_.euler_left;
    world_.contacts->set_forces(start_.forces);
}

void ElasticParts::end_substeps(bool bdf2) {
    previous_ = std::move(start_.elastic);
    for (std::size_t e = 0; e < world_.restarted.size(); ++e)
        if (bdf2 && world_.restarted[e]) world_.euler_left[e] = std::max(world_.euler_left[e], 2);
}

double ElasticParts::energy(const State& state) const {
    double sum = 0.0;
    for (const ElasticSolid& solid : world_.solids) sum += solid.energy(state.elastic[solid.index].x);
    return sum;
}

void ElasticParts::write(const BodyField& field, Outputs& outputs, StepReport& report) const {
    world_.contacts->write(field, world_.solids, outputs);
    report.min_distance = std::min(report.min_distance, world_.contacts->min_distance(field, world_.solids));
}

void ElasticParts::save(std::ostream& out, bool with_history) const {
    write_values(out, world_.euler_left);
    world_.contacts->save(out);
    if (!with_history) return;
    for (const ElasticState& body : previous_) {
        write_values(out, body.x);
        write_values(out, body.v);
    }
}

void ElasticParts::load(std::istream& in, bool with_history) {
    read_numbers(in, world_.euler_left, world_.euler_left.size(), 0, most_euler_steps);
    world_.contacts->load(in);
    if (!with_history) return;
    for (ElasticState& body : previous_) {
        read_values(in, body.x, body.x.size());
        read_values(in, body.v, body.v.size());
    }
}

}  // namespace tenon::articulated

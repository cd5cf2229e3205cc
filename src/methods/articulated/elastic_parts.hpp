// The elastic solids of a world between the articulated method's steps: histories, contacts, and which components of jointed
// bodies they are solved with.
#pragma once

#include <iosfwd>
#include <memory>
#include <vector>

#include "methods/articulated/elastic_component.hpp"
#include "tenon/method.hpp"

namespace tenon::articulated {

class ElasticParts {
  public:
    ElasticParts(const Model& model, const State& state, const ContactOptions& options);

    void new_step();
    // Targets of a step to `end_time`, by BDF2 `with_history` but for solids that were hit.
    void begin(const Model& model, const State& state, const BodyField& field, double h, double end_time,
               bool with_history);
    // Contacts of the step; `impacts` receives bodies that are hit.
    void find_contacts(const Model& model, const State& state, const BodyField& field, double h,
                       std::vector<int>& impacts);
    // A hit solid restarts with all components it is attached to, and the other way round. `hit`: by component.
    void spread_impacts(const std::vector<int>& component_of, std::vector<char>& hit);
    // Replaces components that solids are attached to or touch by such that hold both.
    void couple(BodyField& field, std::vector<Component*>& current);
    void commit(State& state, bool with_history);

    // Per solid: implicit Euler steps still to go.
    const std::vector<int>& euler_left() const { return world_.euler_left; }
    void set_euler_left(const std::vector<int>& left) { world_.euler_left = left; }

    // Sub-steps: where they begin, back to there, and what BDF2 goes on from afterwards.
    void mark_start(const State& state);
    void go_back(State& state);
    void end_substeps(bool bdf2);

    double energy(const State& state) const;
    void write(const BodyField& field, Outputs& outputs, StepReport& report) const;
    void save(std::ostream& out, bool with_history) const;
    void load(std::istream& in, bool with_history);

  private:
    ElasticWorld world_;
    std::vector<std::unique_ptr<ElasticComponent>> components_;  // of this step
    std::vector<ElasticState> previous_;                         // one step before the world's state
    std::vector<char> hit_;
    struct Start {
        std::vector<ElasticState> elastic;
        std::vector<int> euler_left;
        ContactForces forces;
    } start_;
};

}  // namespace tenon::articulated

// Rigid bodies with velocity-level contact: impulse decomposition, with FFD and PGS beside it.
#pragma once

#include "math/timer.hpp"
#include "methods/impulse/contact_finder.hpp"
#include "methods/impulse/impacts.hpp"
#include "methods/impulse/settings.hpp"
#include "methods/impulse/sleeping.hpp"
#include "methods/impulse/substeps.hpp"
#include "methods/impulse/sweeps.hpp"
#include "methods/impulse/uneven_islands.hpp"
#include "tenon/method.hpp"

namespace tenon::impulse {

class ImpulseMethod final : public Stepper {
  public:
    ImpulseMethod(const Model& model, const State& state, const Params& params);

    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

    // The contact problem of the last step, solved: for measurements.
    const ContactProblem& problem() const { return problem_; }

  private:
    int substeps() const;

    // The stages of a step, in their order.
    void gather_bodies(const Model& model, const State& state, double dt);
    void apply_forces(const Model& model, const State& state, double dt);
    void find_contacts(const Model& model, const State& state, double dt);
    void build_problem();
    void resolve_impacts(const State& state, double dt);
    SolveReport solve_contacts(const State& state);
    void correct_positions();
    void find_mean_motion();
    void integrate(const Model& model, State& state, double dt);
    void wake_sleepers(const Model& model, const State& state, double dt);
    void record_contacts(Outputs& outputs, double dt, StepReport& report);
    void fall_asleep(const Model& model, State& state, double dt);
    void record(const Model& model, State& state, Outputs& outputs, double dt, const SolveReport& solved,
                StepReport& report);

    Settings settings_;
    ContactFinder finder_;
    Sleeping sleeping_;
    Impacts impacts_;
    SubstepSolver substep_solver_;
    Sweeper sweeper_;
    UnevenIslands uneven_;
    StageTimer timer_;

    ContactProblem problem_;
    std::vector<int> source_;  // contact of the problem -> contact of the finder
    std::vector<Vec3> centers_;
    std::vector<Twist> pseudo_, mean_;
    std::vector<Vec3> normal_;  // of the surface that a body slides on
    int impact_count_ = 0;
    bool corrected_ = false, solved_directly_ = false;
    double missing_load_ = 0.0;  // of bodies that differ much in mass, left to the sweeps
    std::vector<char> awake_, held_, movable_, active_, motion_;
    std::vector<int> first_contact_;  // of each manifold in the problem; its count is known from the next
    std::vector<double> speed_;
    std::vector<Wrench> wrenches_;
    double slop_ = 0.0, tolerance_ = 0.0, smallest_ = 0.0;
    Vec3 correction_momentum_ = Vec3::Zero();
};

}  // namespace tenon::impulse

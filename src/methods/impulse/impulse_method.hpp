// Rigid bodies with velocity-level contact: impulse decomposition, with FFD and PGS beside it.
#pragma once

#include "math/timer.hpp"
#include "methods/impulse/contact_finder.hpp"
#include "methods/impulse/impacts.hpp"
#include "methods/impulse/settings.hpp"
#include "methods/impulse/sleeping.hpp"
#include "methods/impulse/substeps.hpp"
#include "methods/impulse/sweeps.hpp"
#include "tenon/method.hpp"

namespace tenon::impulse {

class ImpulseMethod final : public Method {
  public:
    ImpulseMethod(const World& world, const Params& params);

    StepReport step(World& world, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

    // The contact problem of the last step, solved: for measurements.
    const ContactProblem& problem() const { return problem_; }

  private:
    int substeps() const { return settings_.solver == Solver::gauss_seidel ? settings_.substeps : 1; }

    // The stages of a step, in their order.
    void gather_bodies(const World& world, double dt);
    void apply_forces(const World& world, double dt);
    void find_contacts(const World& world, double dt);
    void build_problem();
    void resolve_impacts(const World& world, double dt);
    SolveReport solve_contacts(const World& world);
    void correct_positions();
    void find_mean_motion();
    void integrate(World& world, double dt);
    void wake_sleepers(const World& world, double dt);
    void record_contacts(World& world, double dt, StepReport& report);
    void fall_asleep(World& world, double dt);
    void record(World& world, double dt, const SolveReport& solved, StepReport& report);

    Settings settings_;
    ContactFinder finder_;
    Sleeping sleeping_;
    Impacts impacts_;
    SubstepSolver substep_solver_;
    Sweeper sweeper_;
    StageTimer timer_;

    ContactProblem problem_;
    std::vector<int> source_;  // contact of the problem -> contact of the finder
    std::vector<Vec3> centers_;
    std::vector<Twist> pseudo_, mean_;
    std::vector<Vec3> normal_;  // of the surface that a body slides on
    int impact_count_ = 0;
    bool corrected_ = false;
    std::vector<char> awake_, held_, movable_, active_, motion_;
    std::vector<int> first_contact_;  // of each manifold in the problem; its count is known from the next
    std::vector<double> speed_;
    std::vector<Wrench> wrenches_;
    double slop_ = 0.0, tolerance_ = 0.0, smallest_ = 0.0;
    Vec3 correction_momentum_ = Vec3::Zero();
};

}  // namespace tenon::impulse

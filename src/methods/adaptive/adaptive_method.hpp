// Elastic solids that pay only for what deforms: rigid components come and go (Algorithm 1).
#pragma once

#include "math/timer.hpp"
#include "methods/adaptive/components.hpp"
#include "methods/adaptive/contact_solve.hpp"
#include "methods/adaptive/oracle.hpp"
#include "methods/adaptive/resting.hpp"
#include "tenon/method.hpp"

namespace tenon::adaptive {

class AdaptiveMethod final : public Stepper {
  public:
    AdaptiveMethod(const Model& model, const State& state, const Params& params);

    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    // The stages of a step, in their order.
    void gather(const Model& model, const State& state, double dt);
    void rigidify(const Model& model, const State& state);
    void find_contacts(const Model& model, const State& state, double dt);
    void elastify(const Model& model, const State& state, double dt);
    void drive(const Model& model, const State& state, double dt);
    solve::PgsResult solve_velocities(const StepInput& in);
    solve::PgsResult newton(const StepInput& in, int most, const std::vector<Vec3>& stretch);
    void solve_forces(const StepInput& in);
    solve::PgsResult solve_contacts(const StepInput& in);
    void advance(const Model& model, State& state, double dt);
    void measure(double dt);
    void record(Outputs& outputs, double dt, const solve::PgsResult& solved, StepReport& report);

    void make_groups(const Model& model, const State& state);
    void form(const Model& model, const State& state, int solid);
    int wake(int solid);
    bool struck(int solid) const;
    void find_due_forecasts(const Model& model, const State& state, double dt);
    bool same_loads(const Model& model, const State& state, int solid, double dt);
    void contact_loads(const Model& model, int solid, double dt, std::vector<Vec3>& impulse) const;
    double forecast_impulse(const Model& model, const TouchPoint& point, double dt) const;
    void warn_of_speed(const Model& model, int body, double dt);
    void advance_solid(int solid, double dt);

    Settings settings_;
    std::vector<Solid> solids_;
    std::vector<SolidState> states_;
    std::vector<Oracle> oracles_;
    std::vector<MixedSystem> groups_;
    std::vector<char> dirty_;  // groups whose unknowns have changed
    std::vector<char> due_;    // solids to forecast in this step
    std::vector<int> wait_;    // of solids: times steps_before_rigid between looks for calm elements
    std::vector<int> group_of_solid_, group_of_body_;
    Contacts contacts_;
    RestingContacts resting_;
    ContactSolver contact_solver_;
    StageTimer timer_;

    std::vector<model::RigidState> bodies_;
    std::vector<Vec6> body_rates_;  // of bodies that are not dynamic
    std::vector<Mat34> poses_;
    std::vector<Wrench> wrenches_;
    std::vector<std::vector<Vec3>> driven_, given_;

    // What a wholly rigid solid was loaded with when it was last looked at.
    struct Load {
        bool known = false;
        std::vector<std::uint64_t> keys;
        std::vector<Vec3> impulses;  // in the component's frame
        Vec3 spin = Vec3::Zero();
    };
    std::vector<Load> loads_;
    int linearisations_ = 0;
    int oracles_run_ = 0, oracles_skipped_ = 0, woken_ = 0, hardened_ = 0;
    std::vector<std::string> warnings_;
    std::vector<char> fast_told_;  // of bodies: their speed was warned of
    double elastic_energy_ = 0.0, least_edge_ = 0.0, step_ = 0.0;
};

}  // namespace tenon::adaptive

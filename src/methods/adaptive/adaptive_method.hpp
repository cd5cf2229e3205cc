// Elastic solids that pay only for what deforms: rigid components come and go (Algorithm 1).
#pragma once

#include "math/timer.hpp"
#include "methods/adaptive/components.hpp"
#include "methods/adaptive/contact_solve.hpp"
#include "methods/adaptive/oracle.hpp"
#include "methods/adaptive/resting.hpp"
#include "tenon/method.hpp"

namespace tenon::adaptive {

class AdaptiveMethod final : public Method {
  public:
    AdaptiveMethod(const World& world, const Params& params);

    StepReport step(World& world, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    // The stages of a step, in their order.
    void gather(const World& world, double dt);
    void rigidify(const World& world);
    void find_contacts(const World& world, double dt);
    void elastify(const World& world, double dt);
    void drive(const World& world, double dt);
    solve::PgsResult solve_velocities(const StepInput& in);
    solve::PgsResult newton(const StepInput& in, int most, const std::vector<Vec3>& stretch);
    void solve_forces(const StepInput& in);
    solve::PgsResult solve_contacts(const StepInput& in);
    void advance(World& world, double dt);
    void measure(double dt);
    void record(World& world, double dt, const solve::PgsResult& solved, StepReport& report);

    void make_groups(const World& world);
    void form(const World& world, int solid);
    int wake(int solid);
    bool struck(int solid) const;
    void find_due_forecasts(const World& world, double dt);
    bool same_loads(const World& world, int solid, double dt);
    void contact_loads(const World& world, int solid, double dt, std::vector<Vec3>& impulse) const;
    double forecast_impulse(const World& world, const TouchPoint& point, double dt) const;
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

    std::vector<world::RigidState> bodies_;
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
    double elastic_energy_ = 0.0, least_edge_ = 0.0, step_ = 0.0;
};

}  // namespace tenon::adaptive

// Volume contact constraints: contact from intersection volumes at any resolution.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "math/timer.hpp"
#include "methods/volume/contact_problem.hpp"
#include "methods/volume/contacts.hpp"
#include "methods/volume/motion.hpp"
#include "tenon/method.hpp"

namespace tenon {

MethodInfo volume_method();

namespace volume {

struct Settings {
    double pixel = 0.0;                   // m; 0: from the bodies' sizes
    int cell_pixels = 8;                  // 0: one volume per pair
    std::string response = "constraint";  // or penalty (Eq. 15)
    double penalty = 1e9;                 // Pa/m^3
    double viscous = 0.0;                 // N s/m^5, viscous friction
    bool forces_at_center = false;
    int stabilisation_loops = 8;
    int sweeps = 500;
    double tolerance = 1e-5;  // m/s
    int refine = 2;           // halvings of the pixel for thin bodies
    bool self_contact = true;
    std::optional<CutSpec> cut;
};

Settings read_settings(const Params& params);
double choose_pixel(const Model& model, const State& state);

class VolumeMethod final : public Stepper {
  public:
    VolumeMethod(const Model& model, const State& state, const Settings& settings);

    StepReport step(const Model& model, State& state, Outputs& outputs, double dt) override;
    void save(std::ostream& out) const override;
    void load(std::istream& in) override;

  private:
    // The impulse of a contact in the last step, from which the next one starts.
    struct CachedImpulse {
        std::array<int, 6> key;  // bodies and cell; the last is 0, so that checkpoints hold no padding
        Vec3 impulse;
    };

    void solve_velocities(const Model& model, const State& state, StageTimer& timer, StepReport& report);
    void apply_penalties(const Model& model, const State& state, double dt, StageTimer& timer);
    void stabilise(const Model& model, const State& state, StageTimer& timer, StepReport& report);
    void limit_change(const Model& model, double most);
    void warm_start();
    void cache_impulses();
    Vec3 impulse_of(std::size_t contact) const;  // on body b
    void report_contacts(Outputs& outputs, double dt, StepReport& report) const;
    void warn(const Model& model, const State& state, double dt, StepReport& report) const;

    Settings settings_;
    Motion motion_;
    ContactFinder finder_;
    std::vector<VolumeContact> contacts_;  // at the start of the step, which carry the forces
    std::vector<VolumeContact> now_;       // at the positions being corrected
    std::vector<double> impulse_;          // three rows of each contact
    std::vector<double> change_;           // of velocities or positions
    std::vector<CachedImpulse> cache_;     // sorted by key
};

}  // namespace volume
}  // namespace tenon

// Volume contact constraints: contact from intersection volumes at any resolution.
#pragma once

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
    int sweeps = 200;
    double tolerance = 1e-9;  // m/s
    bool self_contact = true;
};

Settings read_settings(const Params& params);
double choose_pixel(const World& world);

class VolumeMethod final : public Method {
  public:
    VolumeMethod(const World& world, const Settings& settings);

    StepReport step(World& world, double dt) override;
    void save(std::ostream&) const override {}  // everything lives in the world
    void load(std::istream&) override {}

  private:
    void solve_velocities(const World& world, StepReport& report);
    void apply_penalties(const World& world, double dt);
    void stabilise(const World& world, StepReport& report);
    void report_contacts(World& world, double dt, StepReport& report) const;
    void warn(const World& world, double dt, StepReport& report) const;

    Settings settings_;
    Motion motion_;
    ContactFinder finder_;
    std::vector<VolumeContact> contacts_;  // at the start of the step, which carry the forces
    std::vector<VolumeContact> now_;       // at the positions being corrected
    std::vector<double> impulse_;          // per row of the velocity problem
    std::vector<int> normal_row_;          // of each contact
    solve::Pgs pgs_;
};

}  // namespace volume
}  // namespace tenon

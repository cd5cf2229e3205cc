// Gathers the report of a run, one step at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "run/run_file.hpp"
#include "run/run_loop.hpp"

namespace tenon::run {

// A closed scene exchanges momentum with nothing: no scenery to touch, no joint to the world, no forces.
bool is_closed(const Model& model, const State& state);

class ReportBuilder {
  public:
    // The row of step 0 describes the start; `world` must be in that state.
    ReportBuilder(const Simulation& simulation, const StepRow& start);
    ReportBuilder(const Scene& scene, const Model& model, const State& state, const StepRow& start);

    void add(const StepRow& row);
    void warn(const std::string& text);  // each text once
    Report finish(const std::string& status, double wall_seconds) const;

  private:
    using Sums = std::vector<std::pair<std::string, double>>;
    void note_unconverged(const StepRow& row);
    static void accumulate(Sums& sums, const Sums& values);

    Report report_;
    std::vector<double> wall_ms_;
    Sums phases_, metrics_;
    double iterations_ = 0, contacts_ = 0;
    double time_ = 0;
    bool closed_ = false;
    bool first_order_ = false;  // affine's implicit Euler, where BDF2 could be taken
    Vec3 start_momentum_ = Vec3::Zero(), weight_ = Vec3::Zero();
    double size_ = 0;              // m, of the largest body that moves
    double lag_ = 0;               // of the motion: what a first-order integrator is behind
    double integrator_whole_ = 0;  // J, the integrator's share of steps whose forces are all known
    double total_mass_ = 0, momentum_change_ = 0, momentum_scale_ = 0;
};

// Energies, momenta and time of a world; step and report are the caller's.
StepRow measure(const Model& model, const State& state, const StepReport& report, double wall_ms);

}  // namespace tenon::run

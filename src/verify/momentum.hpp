// Momenta and energies of the frames: against the recorded steps, against each other, against the positions.
#pragma once

#include <string>
#include <vector>

#include "run/run_file.hpp"
#include "verify/facts.hpp"
#include "verify/findings.hpp"
#include "verify/verify.hpp"

namespace tenon::verify {

struct Measures {
    Vec3 linear = Vec3::Zero(), angular = Vec3::Zero();
    double kinetic = 0.0, gravity = 0.0;
    double mass = 0.0;
    double size_linear = 0.0, size_angular = 0.0, size_gravity = 0.0;  // sums of the bodies' absolute shares
};

class MomentumAudit {
  public:
    MomentumAudit(const run::RunReader& run, const SceneFacts& facts);

    // Frames in order. Findings are appended to the result.
    void add(long index, const run::Frame& frame, const Options& options, Result& result,
             FindingList& findings);
    void finish(Result& result, FindingList& findings);

  private:
    Measures measure(const run::Frame& frame) const;
    void compare_with_step(long index, const run::Frame& frame, const Measures& now, const Options& options,
                           Result& result, FindingList& findings);
    void follow_positions(const run::Frame& frame);
    void follow_energy(const Measures& now, double energy, long index, double time, Result& result,
                       FindingList& findings);
    bool moves_freely(std::size_t body, double time) const;

    const run::RunReader& run_;
    Vec3 gravity_;
    const SceneFacts& facts_;
    std::vector<run::StepRow> steps_;
    Vec3 start_ = Vec3::Zero();
    double start_time_ = 0.0, scale_ = 0.0;
    bool started_ = false, exchanged_ = false;
    double lowest_gravity_ = 0.0, highest_gravity_ = 0.0, largest_kinetic_ = 0.0;
    double size_ = 0.0;  // of the largest body
    long last_frame_ = 0;
    struct Past {
        long step = -1000;  // far from any real one
        double time = 0.0;
        std::vector<Vec3> x, v;
    };
    Past before_, last_;  // the two frames before, when one step apart
    double mismatch_ = 0.0;
    std::size_t samples_ = 0, exact_ = 0;
};

}  // namespace tenon::verify

// Runs a scene from start to end: steps, records, reports, stops cleanly when asked.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "run/energy_shares.hpp"
#include "run/run_file.hpp"
#include "tenon/simulation.hpp"

namespace tenon::run {

// How many pairs of triangles of different bodies intersect, exactly: the verifier's (verify/verify.hpp).
using IntersectionCounter = std::function<long(const Model&, const State&)>;

struct RunOptions {
    std::string output;             // run file; empty: none
    std::string report;             // JSON report file; empty: none
    double fps = 60.0;              // recorded frames per simulated second ...
    int record_every = 0;           // ... or every n-th step, when positive
    bool record_path = false;       // keep each accepted straight piece
    double checkpoint_every = 0.0;  // simulated seconds; 0: by wall time only
    double checkpoint_wall = 30.0;  // seconds of work that a kill may cost; 0: only at the end
    std::string dump_failure;       // where to write a small scene of the first step that fails
    std::string resume;             // run file to go on from
    std::string hand_over;          // run file whose state at the time `from` is the start
    double from = 0.0;
    std::function<void(const std::string&)> preparing;  // told what a hand-over is at, round by round
    bool estimate_error = false;                        // by a second run of twice the step: error_shadow.hpp
    const std::atomic<bool>* stop = nullptr;            // set by Ctrl-C; also ends a long step
    IntersectionCounter count_intersections;            // for expectations about intersections
    std::function<void(Simulation&)> before_step;       // may set State::pushes
};

struct Progress {
    long step = 0, steps = 0;
    double time = 0.0, wall_seconds = 0.0, eta_seconds = 0.0;
    const StepReport* last = nullptr;
};

struct ExpectResult {
    std::string text;  // "block x = 1.232 m, wanted 1.23 +- 0.0123"
    bool held = false;
};

struct Report {
    std::string scene, method, status;  // status: done | stopped | failed
    std::string failure;                // why a step failed, and at which body
    double dt = 0, simulated_seconds = 0, wall_seconds = 0;
    long steps = 0;
    int threads = 1, bodies = 0, joints = 0;
    long triangles = 0, tets = 0, dofs = 0;
    double ms_mean = 0, ms_p50 = 0, ms_p95 = 0, ms_max = 0;
    double iterations_mean = 0, iterations_max = 0, contacts_mean = 0, contacts_max = 0;
    double min_distance = 1e300, joint_residual_max = 0, energy_start = 0, energy_end = 0, momentum_drift = 0;
    std::vector<std::pair<std::string, double>> phases_ms;  // mean per step
    std::vector<std::pair<std::string, double>> metrics;    // mean per step
    EnergyShares books;                                     // sums over the steps
    double books_open_most = 0;                             // largest sum of what is unexplained, at any time
    double books_kinetic = 0;                               // largest kinetic energy
    double error_estimate = 0;  // m, largest over the run; not a number when it was not asked for
    // Of the energy that was exchanged or moved about: what the books do not explain. Not a number without books.
    double unexplained_share() const;
    double peak_memory_mb = 0;
    long unconverged_steps = 0;
    std::vector<std::string> unconverged;  // the first of them: step, time and what the method says
    std::string dumped;                    // the scene that reproduces the failure, where one was written
    std::string solver;
    std::vector<std::string> warnings;
    std::vector<ExpectResult> expect;
    std::string to_json() const;
};

Report run_scene(Scene scene, const RunOptions& options,
                 const std::function<void(const Progress&)>& progress = {});

// Whether the scene's `expect` entries hold, each at its time or at the end.
class ExpectChecker {
  public:
    // `start` is at the first moment of the run. Throws InputError for entries that name nothing.
    explicit ExpectChecker(const Simulation& start, IntersectionCounter count_intersections = {});
    void after_step(const Simulation& now, const StepReport& report);
    std::vector<ExpectResult> results(const Simulation& end) const;
    std::string skipped(const Simulation& end) const;  // what is expected after the end; empty: nothing

    // What was recorded before a run was resumed, in order.
    void replay(const Frame& frame);
    void replay(const StepReport& report);

  private:
    struct Data;
    bool reached(const Simulation& end, std::size_t index) const;

    std::shared_ptr<Data> data_;
};

}  // namespace tenon::run

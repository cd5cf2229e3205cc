// Runs of scenes with the affine method, measured.
#pragma once

#include <map>
#include <string>

#include "bench/bench.hpp"
#include "tenon/simulation.hpp"

namespace tenon::bench {

struct Measured {
    double ms_per_step =
        0;  // CPU time on one thread, so that a busy machine changes little; wall time on more
    double iterations = 0, solves = 0, solve_ms = 0, min_distance = 1e300;
    std::map<std::string, double> phases;  // ms a step
    double culling_share = 0;              // of candidates and CCD in the step, both in wall time
    long intersections = 0, unconverged = 0;
};

Scene builtin_scene(const std::string& name, const std::map<std::string, ParamValue>& values);

double cpu_seconds_of(const std::function<void()>& work);

// How often each affine case is repeated for its median.
int repeats_of(const Options& options);

// One run of so many steps, after some that do not count; then the median of several by their time, with the median of their shares.
Measured measure(const Scene& scene, int steps, int before = 0);
Measured median_of(std::vector<Measured> runs);
Measured measure_median(const Scene& scene, int steps, const Options& options, int before = 0);

// A row with times, counts and quality.
Row affine_row(const std::string& name, const Scene& scene, const Measured& m);

// The parts of the affine bench that have files of their own.
void affine_table(const Options& options);      // the paper's Table 2, phases, threads
void affine_ablations(const Options& options);  // energies, culling, assembly

}  // namespace tenon::bench

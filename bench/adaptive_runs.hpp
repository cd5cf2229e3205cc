// Runs of the adaptive method beside its plain run, step by step, so that both see the same machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "tenon/simulation.hpp"

namespace tenon::bench {

using Given = std::map<std::string, ParamValue>;

struct AdaptiveRun {
    Simulation simulation;
    std::vector<double> ms, contact_ms, rigid;  // of each step
    double cpu_ms = 0;             // processor time of all steps, which a busy machine does not change
    std::vector<double> solve_ms;  // of each step: from the layout of unknowns to contact
    std::vector<double> height;    // of the first solid's centre of mass after each step
    std::vector<double> energy;    // kinetic, of gravity and elastic, after each step
    std::map<std::string, double> stage_ms;  // in all
    std::map<std::string, double> figure_sum;

    explicit AdaptiveRun(const Scene& scene) : simulation(scene) {}
    StepReport step();
    void forget_times();
    double total() const;
    double total_without_contact() const;
    int steps() const { return static_cast<int>(ms.size()); }
};

// Largest distance of a vertex, and of the centres of mass, over the size of their body; of all steps compared.
struct AdaptiveError {
    double vertex = 0, center = 0;
    std::vector<double> until;  // `vertex` after each step
    void compare(const Simulation& a, const Simulation& b);
};

struct PairResult {
    double adaptive_ms = 0, plain_ms = 0;  // per step
    double total = 0, mean = 0, nc_total = 0, nc_mean = 0;
    double cpu_total = 0;  // by processor time
    AdaptiveError error;
};

// Runs both to the end (or `share` of it) of the scene.
PairResult run_pair(AdaptiveRun& adaptive, AdaptiveRun& plain, double share = 1.0);

double middle_height(const Simulation& simulation);  // of the first solid's centre of mass
Vec3 center_of_all(const Simulation& simulation);    // centre of mass of all solids
// Highest point of all solids, and the height of the box around them.
double highest_point(const Simulation& simulation);
double height_of_all(const Simulation& simulation);
// The largest change of a run's energy since its first step: the scale of differences. The zero of gravity's is arbitrary.
double energy_scale(const AdaptiveRun& run);
std::size_t tetrahedra(const Simulation& simulation);
Row adaptive_row(const std::string& name, const std::string& method, const Simulation& simulation);
Scene adaptive_scene_of(const std::string& name, Given given, bool adaptive);

// How far apart plain runs end that begin up to a tenth of a millimetre apart (`NAME-twin`), and what plain and adaptive runs from several
// starts have in common where one run is chance (`NAME-starts`).
void adaptive_chaos(const Options& options);

// Figs. 4 to 7 of the paper as SVG files in `adaptive-figures/`.
void adaptive_figures(const Options& options);

}  // namespace tenon::bench

// What the impulse benchmarks share.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "tenon/tenon.hpp"

namespace tenon::bench::impulse_parts {

using Values = std::map<std::string, ParamValue>;

// Wall clock and the processor time of this process: the second does not suffer from other work on the machine.
struct Cost {
    double wall_ms = 0, cpu_ms = 0;
    Cost& operator+=(const Cost& other) {
        wall_ms += other.wall_ms;
        cpu_ms += other.cpu_ms;
        return *this;
    }
};
Cost cost_of(const std::function<void()>& work);

// A built-in scene with sleeping off.
Scene scene_of(const std::string& name, const Values& values, const Values& method = {});
Row row_of(const std::string& name, const std::string& method = "impulse");

double figure(const StepReport& report, const std::string& name);
double phase(const StepReport& report, const std::string& name);

std::vector<Vec3> places(const State& state);
double mean_distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b);

struct SolverChoice {
    const char *label, *brief;
    Values params;
};
// The default, the paper's, and the two the paper compares with.
const std::vector<SolverChoice>& solver_choices();

// The cases, each in the file of its name.
void beside_bullet(const Options& options, const std::string& name, const Scene& scene, int size,
                   double seconds);                                                 // impulse_beside.cpp
void wall_beside_bullet(const Options& options, int blocks, double seconds);        // impulse_beside.cpp
void hulls_beside_bullet(const Options& options, int pieces, double seconds);       // impulse_beside.cpp
void rest_is_rest(const Options& options, int pieces, bool hulls, double seconds);  // impulse_beside.cpp
void pyramid_stands(const Options& options, const std::string& name, int rows, double dt,
                    double seconds);                                      // impulse_beside.cpp
void figure_6(const Options& options, int pieces, double seconds);        // impulse_paper.cpp
void table_2(const Options& options);                                     // impulse_paper.cpp
void compare_solvers(const Options& options, int cubes);                  // impulse_solvers.cpp
void energy_of_piles(const Options& options, int piles);                  // impulse_solvers.cpp
void scaling(const Options& options, const std::vector<int>& sizes);      // impulse_sizes.cpp
void threads(const Options& options, int cubes);                          // impulse_sizes.cpp
void broad_phase(const Options& options, const std::vector<int>& sizes);  // impulse_sizes.cpp

}  // namespace tenon::bench::impulse_parts

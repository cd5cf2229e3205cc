// The parameters of the adaptive method.
#pragma once

#include "tenon/method.hpp"

namespace tenon::adaptive {

enum class Preconditioner { cholesky, incomplete, jacobi };

struct Settings {
    bool adaptive = true;
    double rigid_below = 1e-5;    // tau_R, squared strain rate in 1/s^2
    double elastic_above = 1e-4;  // tau_E
    int steps_before_rigid = 5;
    int smallest_component = 10;
    Preconditioner preconditioner = Preconditioner::cholesky;
    bool skip_oracle = true;
    double oracle_interval = 0.02;
    double horizon = 0.0;     // s that forecasts look ahead where nothing has just struck
    double compliance = 0.0;  // gamma, s/kg; 0: from each body's weight
    double baumgarte = 0.2;   // k_b h
    int sweeps = 80;
    double tolerance = 0.0;
    int field_cells = 40;
    int newton = 1;
};

std::vector<ParamInfo> parameters();
Settings read_settings(const Params& params);
// How exact velocities have to be, in m/s: `tolerance`, or what changes strain rates by sqrt(tau_R) / 1000.
double velocity_tolerance(const Settings& settings, double h, double gravity, double least_edge);
std::optional<Unsupported> supports(const Scene& scene);

}  // namespace tenon::adaptive

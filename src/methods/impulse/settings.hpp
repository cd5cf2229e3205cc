// The parameters of the impulse method.
#pragma once

#include "tenon/method.hpp"

namespace tenon::impulse {

enum class Solver { gauss_seidel, decomposition, ffd, pgs };

struct Settings {
    Solver solver = Solver::gauss_seidel;
    int substeps = 6;
    double contact_frequency = 0.0;  // Hz; 0: a tenth of the sub-step's rate, or more
    bool energy_limit = true;
    int sweeps = 0;          // 0: by the number of contacts
    double tolerance = 0.0;  // m/s; 0: 1e-5 of what gravity adds in a step
    int iterations = 5;      // of pgs
    bool warm_start = true;
    bool accelerate = true;
    double restitution_threshold = 0.0;
    double slop = 0.0;
    double correction = 0.2;
    int correction_sweeps = 4;
    bool sleeping = true;
    double sleep_speed = 0.0;
    double sleep_time = 0.5;
    int field_cells = 40;
};

const char* name_of(Solver solver);
std::vector<ParamInfo> parameters();
Settings read_settings(const Params& params);
std::optional<Unsupported> supports(const Scene& scene);

}  // namespace tenon::impulse

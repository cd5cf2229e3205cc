// What `tenon sweep` was asked, and the function that does it.
#pragma once

#include <string>
#include <vector>

namespace tenon::app {

struct SweepRequest {
    std::vector<std::string> words;  // [action] and the plan
    std::string plan;
    std::string folder;              // of the sweep; empty: the plan's name with .sweep
    std::string output;              // of merge and plot
    std::vector<std::string> tasks;  // "7", "0-9"
    std::vector<std::string> results;
    int processes = 0, threads = 1;
    double memory = 0.0;      // MB, of all runs together
    std::string on, program;  // a Dask scheduler, and the program's name on its workers
    bool json = false, quiet = false, all = false;
};
int sweep_verb(const SweepRequest& request);

}  // namespace tenon::app

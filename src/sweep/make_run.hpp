// One run of a sweep: simulate, verify where asked to, take the results.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "run/run_loop.hpp"
#include "sweep/task_file.hpp"

namespace tenon::sweep {

// What the program lends to the library: the verifier is a library of its own.
struct Tools {
    std::string version;
    run::IntersectionCounter count_intersections;
    std::function<std::string(const run::RunReader&, bool allow_unconverged)> verify;  // a verdict as JSON
    const std::atomic<bool>* stop = nullptr;
};

// Never throws for what is wrong with the run: that is its result. Nothing when it was told to stop.
std::optional<TaskResult> make_run(const Plan& plan, const Task& task, const Folder& folder,
                                   const Tools& tools);

// Loads one run of every scene with every method for no steps at all, and looks for the results' series in it.
// Throws InputError that names the place in the plan. A run that fails alone is a row of the table, no bad plan.
void rehearse(const Plan& plan, const std::vector<Task>& tasks, const Folder& folder, const Tools& tools);

// Paths of the plain entries of a JSON object: "status", "energy.end".
std::vector<std::string> field_paths(const std::string& json);

}  // namespace tenon::sweep

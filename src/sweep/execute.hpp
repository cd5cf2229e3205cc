// Makes the runs of a sweep in processes of this machine or on a Dask cluster.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "sweep/make_run.hpp"

namespace tenon::sweep {

struct Sweep {
    Plan plan;
    std::vector<Task> tasks;
    Folder folder;
};

struct Execution {
    int processes = 1;
    int threads = 1;         // of each run
    bool again = false;      // also those that have a result
    double memory_mb = 0.0;  // of each run; 0: no limit
    std::string program;     // this program, to be started again
    std::string cluster;     // address of a Dask scheduler; empty: this machine
    std::string helper;      // the Python file that talks to it
    std::string
        remote_program;  // the program's name on the workers; empty: this one's path, or `tenon` there
    const std::atomic<bool>* stop = nullptr;
    std::function<void(long finished, long all)> progress;
};

struct Tally {
    long done = 0, unconverged = 0, failed = 0, stopped = 0;
};

// The given tasks. A run whose process dies is a failed one.
Tally execute(const Sweep& sweep, const std::vector<long>& tasks, const Execution& how);

// The other side: takes task numbers, one a line, from `in`, and answers each with a line on `out`. Returns when `in`
// ends, or after enough work for a fresh process to cost nothing beside it.
void serve_tasks(const Sweep& sweep, const Tools& tools, int in, int out);

}  // namespace tenon::sweep

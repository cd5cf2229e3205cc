// One process of a sweep: makes the runs it is told, one after the other.
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include <fmt/format.h>

#include "sweep/execute.hpp"
#include "sweep/line_pipe.hpp"

namespace tenon::sweep {
namespace {

// A process that has worked this long makes room for a fresh one: its start costs nothing beside that.
constexpr double long_work_seconds = 3.0;

double worked_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// The peak of memory is that of the process: each run starts from what is in use.
void reset_peak_memory() {
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";
}

// "done 0.013", "failed 0.2", "stopped 0" or, when another process makes this run, "busy 0".
std::string answer(const Sweep& sweep, const Task& task, bool again, const Tools& tools) {
    const TaskLock lock(sweep.folder, task);
    if (!lock.held()) return "busy 0";
    if (!again)  // another runner on this folder may have been faster
        if (const std::optional<TaskResult> there = sweep.folder.read(task)) return there->status + " 0";
    const std::optional<TaskResult> result = make_run(sweep.plan, task, sweep.folder, tools);
    if (!result) return "stopped 0";
    sweep.folder.write(task, *result);
    return fmt::format("{} {}", result->status, result->wall_seconds);
}

}  // namespace

void serve_tasks(const Sweep& sweep, const Tools& tools, int in, int out) {
    LineReader reader(in);
    while (!(tools.stop && tools.stop->load())) {
        const std::optional<std::string> line = reader.line();
        if (!line) {
            if (!reader.fill()) return;
            continue;
        }
        const long number = std::strtol(line->c_str(), nullptr, 10);
        if (number < 0 || number >= static_cast<long>(sweep.tasks.size())) return;
        const std::string reply =
            answer(sweep, sweep.tasks[static_cast<std::size_t>(number)], line->ends_with("again"), tools);
        const bool last = worked_seconds() > long_work_seconds;
        if (!write_all(out, fmt::format("{} {}{}\n", number, reply, last ? " last" : "")) || last) return;
        reset_peak_memory();
    }
}

}  // namespace tenon::sweep

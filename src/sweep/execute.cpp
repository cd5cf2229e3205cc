#include "sweep/execute.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "sweep/dask.hpp"
#include "sweep/line_pipe.hpp"
#include "sweep/order.hpp"

namespace tenon::sweep {
namespace {

using Clock = std::chrono::steady_clock;

// One worker process and what it is doing.
struct Worker {
    std::unique_ptr<Child> child;
    long task = -1;
    Clock::time_point started;
    bool killed_for_time = false;
};

class LocalRunner {
  public:
    LocalRunner(const Sweep& sweep, const std::vector<long>& tasks, const Execution& how)
        : sweep_(sweep), how_(how), order_(sweep.tasks, tasks), all_(static_cast<long>(tasks.size())) {}

    Tally run() {
        workers_.resize(static_cast<std::size_t>(std::clamp<long>(how_.processes, 1, std::max(1L, all_))));
        if (all_ > static_cast<long>(workers_.size())) learn_lengths();  // else there is nothing to order
        while (!stopping()) {
            for (Worker& worker : workers_) feed(worker);
            if (!any_busy()) break;
            listen();
            end_late_runs();
        }
        if (stopping()) stop_all();
        return tally_;
    }

  private:
    bool stopping() const { return how_.stop && how_.stop->load(); }
    bool any_busy() const {
        return std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.task >= 0; });
    }
    const Task& task_of(const Worker& worker) const {
        return sweep_.tasks[static_cast<std::size_t>(worker.task)];
    }

    // Of a sweep that goes on, what its finished runs took is known.
    void learn_lengths() {
        constexpr std::size_t enough = 2000;
        std::size_t known = 0;
        for (const Task& task : sweep_.tasks) {
            if (known >= enough) return;
            const std::optional<TaskResult> result = sweep_.folder.read(task);
            if (!result) continue;
            order_.note(task.number, result->wall_seconds);
            ++known;
        }
    }

    std::vector<std::string> command() const {
        std::vector<std::string> words = {how_.program, "sweep",
                                          "worker",     sweep_.plan.file,
                                          "--folder",   sweep_.folder.path(),
                                          "--threads",  std::to_string(how_.threads)};
        if (how_.memory_mb > 0) {
            words.push_back("--memory");
            words.push_back(fmt::format("{}", how_.memory_mb));
        }
        return words;
    }

    // OpenBLAS, which a peer of the benchmarks brings along, starts threads with the program. Under a small limit of
    // memory such a thread asks for its buffer again and again, and the process waits for it at its end.
    static std::vector<std::string> environment() { return {"OPENBLAS_NUM_THREADS=1"}; }

    void feed(Worker& worker) {
        if (worker.task >= 0 || order_.empty()) return;
        if (!worker.child) worker.child = std::make_unique<Child>(command(), environment());
        worker.task = order_.next();
        worker.started = Clock::now();
        worker.killed_for_time = false;
        // a process that is gone shows by its closed output
        worker.child->say(std::to_string(worker.task) + (how_.again ? " again" : ""));
    }

    void listen() {
        std::vector<pollfd> handles;
        std::vector<Worker*> owners;
        for (Worker& worker : workers_)
            if (worker.child) {
                handles.push_back({worker.child->output(), POLLIN, 0});
                owners.push_back(&worker);
            }
        if (::poll(handles.data(), handles.size(), 200) <= 0) return;
        for (std::size_t i = 0; i < handles.size(); ++i) {
            if (handles[i].revents == 0) continue;
            if (!owners[i]->child->reader().fill()) {
                process_ended(*owners[i]);
                continue;
            }
            while (owners[i]->child)
                if (const auto line = owners[i]->child->reader().line())
                    take(*owners[i], *line);
                else
                    break;
        }
    }

    // "TASK STATUS SECONDS [last]"
    void take(Worker& worker, const std::string& line) {
        std::istringstream words(line);
        long number = -1;
        std::string status, last;
        double seconds = 0;
        words >> number >> status >> seconds >> last;
        if (number != worker.task) return;
        if (status == "done") ++tally_.done;
        if (status == "unconverged") ++tally_.unconverged;
        if (status == "failed") ++tally_.failed;
        if (status == "stopped" || status == "busy") ++tally_.stopped;
        if (seconds > 0) order_.note(number, seconds);
        worker.task = -1;
        if (last == "last") {
            worker.child->close_input();
            worker.child->wait();
            worker.child.reset();
        }
        report();
    }

    // A process that died in the middle of a run: the run is a row with that reason.
    void process_ended(Worker& worker) {
        const int status = worker.child->wait();
        worker.child.reset();
        if (worker.task < 0) return;
        const Task& task = task_of(worker);
        TaskResult result;
        result.status = "failed";
        result.wall_seconds = std::chrono::duration<double>(Clock::now() - worker.started).count();
        result.reason = worker.killed_for_time
                            ? fmt::format("took longer than {:g} s", sweep_.plan.seconds_limit)
                            : "the run's process " + end_in_words(status);
        worker.task = -1;
        if (stopping()) return;
        sweep_.folder.write(task, result);
        sweep_.folder.remove_lock(task);
        ++tally_.failed;
        report();
    }

    void end_late_runs() {
        if (sweep_.plan.seconds_limit <= 0) return;
        for (Worker& worker : workers_) {
            if (worker.task < 0 || worker.killed_for_time) continue;
            const double seconds = std::chrono::duration<double>(Clock::now() - worker.started).count();
            if (seconds < sweep_.plan.seconds_limit) continue;
            worker.killed_for_time = true;
            worker.child->send(SIGKILL);
        }
    }

    void stop_all() {
        for (Worker& worker : workers_) {
            if (!worker.child) continue;
            worker.child->close_input();
            worker.child->send(SIGTERM);
            worker.child->wait();
            worker.child.reset();
        }
    }

    void report() const {
        if (how_.progress)
            how_.progress(tally_.done + tally_.unconverged + tally_.failed + tally_.stopped, all_);
    }

    const Sweep& sweep_;
    const Execution& how_;
    Order order_;
    long all_;
    std::vector<Worker> workers_;
    Tally tally_;
};

// Equal runs (a list may name one twice) are made once.
std::vector<long> distinct(const Sweep& sweep, const std::vector<long>& tasks) {
    std::set<std::string> keys;
    std::vector<long> kept;
    for (const long number : tasks)
        if (keys.insert(sweep.tasks[static_cast<std::size_t>(number)].key).second) kept.push_back(number);
    return kept;
}

}  // namespace

Tally execute(const Sweep& sweep, const std::vector<long>& tasks, const Execution& how) {
    const std::vector<long> pending = distinct(sweep, tasks);
    if (pending.empty()) return {};
    std::signal(SIGPIPE, SIG_IGN);  // a process that is gone is noticed by its output
    return how.cluster.empty() ? LocalRunner(sweep, pending, how).run()
                               : execute_on_dask(sweep, pending, how);
}

}  // namespace tenon::sweep

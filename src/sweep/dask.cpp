#include "sweep/dask.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sweep/line_pipe.hpp"
#include "sweep/order.hpp"
#include "tenon/error.hpp"

namespace tenon::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The deepest folder that holds all files: below it they keep their places, so that relative paths stay true.
fs::path common_folder(const std::vector<std::string>& files) {
    fs::path common = fs::path(files[0]).parent_path();
    for (const std::string& file : files) {
        const fs::path path(file);
        while (std::mismatch(common.begin(), common.end(), path.begin(), path.end()).first != common.end())
            common = common.parent_path();
    }
    return common;
}

// Debian's Python is the one with Debian's packages; another may stand first in PATH.
std::string python() {
    if (const char* named = std::getenv("TENON_PYTHON")) return named;
    std::error_code error;
    return fs::exists("/usr/bin/python3", error) ? "/usr/bin/python3" : "python3";
}

// What the helper has to know.
json job_of(const Sweep& sweep, const std::vector<long>& tasks, const Execution& how) {
    const std::vector<std::string> files = files_of(sweep.plan);
    const fs::path common = common_folder(files);
    json job;
    job["scheduler"] = how.cluster;
    job["program"] = how.remote_program.empty() ? how.program : how.remote_program;
    job["plan"] = fs::absolute(sweep.plan.file).lexically_normal().lexically_relative(common).string();
    for (const std::string& file : files)
        job["files"][fs::path(file).lexically_relative(common).string()] = file;
    job["threads"] = how.threads;
    job["memory"] = how.memory_mb;
    job["tasks"] = json::array();
    Order order(sweep.tasks, tasks);
    while (!order.empty()) {
        const Task& task = sweep.tasks[static_cast<std::size_t>(order.next())];
        const fs::path result = sweep.folder.result_file(task);
        std::error_code error;
        fs::create_directories(result.parent_path(), error);
        job["tasks"].push_back({{"task", task.number},
                                {"file", fs::absolute(result).string()},
                                {"name", result.lexically_relative(sweep.folder.path()).string()}});
    }
    return job;
}

class DaskRunner {
  public:
    DaskRunner(const Sweep& sweep, const std::vector<long>& tasks, const Execution& how)
        : sweep_(sweep), how_(how), all_(static_cast<long>(tasks.size())), child_({python(), how.helper}) {
        child_.say(job_of(sweep, tasks, how).dump());
    }

    Tally run() {
        bool open = true;
        while (open && !(how_.stop && how_.stop->load())) {
            pollfd handle{child_.output(), POLLIN, 0};
            if (::poll(&handle, 1, 200) <= 0) continue;
            open = child_.reader().fill();
            while (const auto line = child_.reader().line()) take(*line);
        }
        if (open) {  // told to stop
            child_.send(SIGTERM);
            return tally_;
        }
        const int status = child_.wait();
        if (!complaint_.empty()) throw InputError("", "--on " + how_.cluster, complaint_, cure_);
        if (status != 0)
            throw InputError("", "--on " + how_.cluster, "the helper in Python " + end_in_words(status),
                             "its words are above");
        return tally_;
    }

  private:
    // "done TASK", "failed TASK REASON", or "error PROBLEM | CURE" when nothing can be done at all.
    void take(const std::string& line) {
        std::istringstream words(line);
        std::string kind, rest;
        words >> kind;
        if (kind == "error") {
            std::getline(words >> std::ws, rest);
            const std::size_t bar = rest.find(" | ");
            complaint_ = rest.substr(0, bar);
            if (bar != std::string::npos) cure_ = rest.substr(bar + 3);
            return;
        }
        long number = -1;
        words >> number;
        std::getline(words >> std::ws, rest);
        if (number < 0 || number >= static_cast<long>(sweep_.tasks.size())) return;
        const Task& task = sweep_.tasks[static_cast<std::size_t>(number)];
        std::optional<TaskResult> result = sweep_.folder.read(task);
        if (kind == "failed" || !result) {
            result.emplace();
            result->status = "failed";
            result->reason = kind == "failed" ? rest
                                              : "the worker's program gave the result of another task: it is "
                                                "another version";
            sweep_.folder.write(task, *result);
        }
        sweep_.folder.remove_lock(task);
        count(*result);
    }

    void count(const TaskResult& result) {
        if (result.status == "done") ++tally_.done;
        if (result.status == "unconverged") ++tally_.unconverged;
        if (result.status == "failed") ++tally_.failed;
        if (how_.progress) how_.progress(tally_.done + tally_.unconverged + tally_.failed, all_);
    }

    const Sweep& sweep_;
    const Execution& how_;
    long all_;
    Child child_;
    Tally tally_;
    std::string complaint_, cure_;
};

}  // namespace

Tally execute_on_dask(const Sweep& sweep, const std::vector<long>& tasks, const Execution& how) {
    std::error_code error;
    if (!fs::exists(how.helper, error))
        throw InputError(how.helper, "", "is missing", "install the program with its share folder");
    return DaskRunner(sweep, tasks, how).run();
}

}  // namespace tenon::sweep

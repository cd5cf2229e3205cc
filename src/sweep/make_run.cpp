#include "sweep/make_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <new>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "run/series.hpp"
#include "tenon/error.hpp"

namespace tenon::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool needs_run_file(const Plan& plan) {
    return plan.keep_runs ||
           std::any_of(plan.results.begin(), plan.results.end(), [](const ResultSpec& result) {
               return result.kind == ResultSpec::Kind::series || result.kind == ResultSpec::Kind::verify;
           });
}

bool verifies(const Plan& plan) {
    return std::any_of(plan.results.begin(), plan.results.end(),
                       [](const ResultSpec& result) { return result.kind == ResultSpec::Kind::verify; });
}

// The run's file goes when its results are taken.
class RunFile {
  public:
    RunFile(const Plan& plan, const Task& task, const Folder& folder) : keep_(plan.keep_runs) {
        if (!needs_run_file(plan)) return;
        path_ = keep_ ? folder.run_file(task) : folder.scratch_file(task);
        std::error_code error;
        fs::create_directories(fs::path(path_).parent_path(), error);
    }
    ~RunFile() {
        if (keep_ || path_.empty()) return;
        std::error_code error;
        for (const char* ending : {"", "-wal", "-shm", ".partial"}) fs::remove(path_ + ending, error);
    }
    RunFile(const RunFile&) = delete;
    RunFile& operator=(const RunFile&) = delete;
    const std::string& path() const { return path_; }

  private:
    bool keep_;
    std::string path_;
};

Cell statistic(const run::Series& series, const std::string& which) {
    const std::vector<double>& values = series.value;
    long best = -1, count = 0;
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) continue;
        const auto here = static_cast<long>(i);
        const bool lower = which.ends_with("min") && best >= 0 && values[i] < values[best];
        const bool higher = which.ends_with("max") && best >= 0 && values[i] > values[best];
        if (best < 0 || which == "last" || lower || higher) best = here;
        sum += values[i];
        ++count;
    }
    if (count == 0) return {};
    if (which == "mean") return sum / static_cast<double>(count);
    return which.starts_with("time_of") ? series.time[best] : values[best];
}

Cell field(const json& object, const std::string& path) {
    const json* at = &object;
    // a name may hold dots ("phases_ms.NAME"): the longest key that fits is taken at each level
    std::string rest = path;
    while (!rest.empty()) {
        if (!at->is_object()) return {};
        std::size_t end = rest.size();
        while (end != std::string::npos && !at->contains(rest.substr(0, end)))
            end = end == 0 ? std::string::npos : rest.rfind('.', end - 1);
        if (end == std::string::npos) return {};
        at = &at->at(rest.substr(0, end));
        rest = end == rest.size() ? "" : rest.substr(end + 1);
    }
    if (at->is_boolean()) return at->get<bool>() ? 1.0 : 0.0;
    if (at->is_number()) return at->get<double>();
    if (at->is_string()) return at->get<std::string>();
    return {};
}

void take_results(const Plan& plan, const run::Report& report, const std::string& run_file,
                  const Tools& tools, TaskResult& result) {
    std::optional<run::RunReader> reader;
    if (!run_file.empty()) reader.emplace(run_file);
    if (verifies(plan)) result.verdict = tools.verify(*reader, plan.allow_unconverged);
    const json report_json = json::parse(result.report);
    const json verdict = result.verdict.empty() ? json() : json::parse(result.verdict);
    std::vector<std::string> names;
    for (const ResultSpec& spec : plan.results)
        if (spec.kind == ResultSpec::Kind::series) names.push_back(spec.field);
    const std::vector<run::Series> series =
        names.empty() ? std::vector<run::Series>{} : run::read_series(*reader, names);
    std::size_t next = 0;
    for (const ResultSpec& spec : plan.results) {
        Cell cell;
        if (spec.kind == ResultSpec::Kind::series)
            cell = statistic(series[next++], spec.statistic);
        else if (spec.kind == ResultSpec::Kind::report)
            cell = field(report_json, spec.field);
        else if (spec.kind == ResultSpec::Kind::verify)
            cell = field(verdict, spec.field);
        else
            cell =
                std::all_of(report.expect.begin(), report.expect.end(), [](const auto& e) { return e.held; })
                    ? 1.0
                    : 0.0;
        result.values.emplace_back(spec.name, std::move(cell));
    }
}

run::RunOptions options_of(const Plan& plan, const std::string& run_file, const Tools& tools) {
    run::RunOptions options;
    options.output = run_file;
    options.fps = plan.fps;
    options.record_every = plan.record_every;
    options.checkpoint_wall = 0;
    options.stop = tools.stop;
    options.count_intersections = tools.count_intersections;
    return options;
}

// False when it was told to stop.
bool simulate(const Plan& plan, const Task& task, const std::string& run_file, const Tools& tools,
              TaskResult& result) {
    Scene scene = load_scene(scene_source(plan, task.scene), task.overrides);
    const run::Report report = run::run_scene(std::move(scene), options_of(plan, run_file, tools));
    if (report.status == "stopped") return false;
    result.report = report.to_json();
    if (report.status == "failed") {
        result.status = "failed";
        result.reason = report.failure;
        return true;
    }
    const bool unconverged = report.unconverged_steps > 0 && !plan.allow_unconverged;
    result.status = unconverged ? "unconverged" : "done";
    if (unconverged)
        result.reason =
            fmt::format("{} of {} steps did not converge", report.unconverged_steps, report.steps);
    take_results(plan, report, run_file, tools, result);
    return true;
}

// The same words wherever the run was made.
void fail(TaskResult& result, const std::string& reason) {
    result.status = "failed";
    result.reason = reason;
    result.values.clear();
}

std::string without(std::string text, const std::string& part, const std::string& instead) {
    for (std::size_t at = part.empty() ? std::string::npos : text.find(part); at != std::string::npos;
         at = text.find(part, at + instead.size()))
        text.replace(at, part.size(), instead);
    return text;
}

}  // namespace

std::optional<TaskResult> make_run(const Plan& plan, const Task& task, const Folder& folder,
                                   const Tools& tools) {
    const auto start = std::chrono::steady_clock::now();
    const RunFile file(plan, task, folder);
    TaskResult result;
    try {
        if (!simulate(plan, task, file.path(), tools, result)) return {};
    } catch (const std::bad_alloc&) {
        fail(result, "not enough memory for the run");
    } catch (const std::exception& error) {
        fail(result, error.what());
    }
    // a row says the same in whatever folder the run was made
    result.reason = without(result.reason, scene_source(plan, task.scene), task.scene);
    result.reason = without(result.reason, file.path(), "the run's file");
    result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

std::vector<std::string> field_paths(const std::string& text) {
    std::vector<std::string> paths;
    const auto walk = [&](const auto& self, const json& object, const std::string& prefix) -> void {
        for (const auto& [name, value] : object.items()) {
            if (value.is_object()) self(self, value, prefix + name + ".");
            if (!value.is_structured()) paths.push_back(prefix + name);
        }
    };
    walk(walk, json::parse(text), "");
    return paths;
}

}  // namespace tenon::sweep

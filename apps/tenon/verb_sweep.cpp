// `tenon sweep`: many runs over parameters, on this machine or a Dask cluster.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/common.hpp"
#include "apps/tenon/html.hpp"
#include "apps/tenon/progress.hpp"
#include "apps/tenon/verb_sweep.hpp"
#include "math/parallel.hpp"
#include "math/whole_file.hpp"
#include "sweep/execute.hpp"
#include "sweep/plots.hpp"
#include "sweep/table.hpp"
#include "tenon/error.hpp"
#include "tenon/params.hpp"
#include "verify/verify.hpp"

namespace tenon::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

sweep::Tools tools() {
    sweep::Tools made;
    made.version = TENON_VERSION;
    made.count_intersections = verify::count_intersections;
    made.verify = [](const run::RunReader& reader, bool allow_unconverged) {
        verify::Options options;
        options.allow_unconverged = allow_unconverged;
        return verify::verify_run(reader, options).to_json();
    };
    made.stop = &stop_on_interrupt();
    return made;
}

sweep::KnownFields known_fields() {
    return {sweep::field_paths(run::Report{}.to_json()), sweep::field_paths(verify::Result{}.to_json())};
}

sweep::Sweep load(const SweepRequest& request) {
    sweep::Plan plan = sweep::read_plan(request.plan, known_fields());
    std::vector<sweep::Task> tasks = sweep::make_tasks(plan, TENON_VERSION);
    const std::string folder =
        request.folder.empty() ? fs::path(request.plan).replace_extension(".sweep").string() : request.folder;
    return {std::move(plan), std::move(tasks), sweep::Folder(folder)};
}

// The rehearsal leaves nothing in the sweep's folder.
void rehearse(const sweep::Sweep& sweep) {
    std::string pattern = (fs::temp_directory_path() / "tenon-sweep-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw InputError(pattern, "", "cannot make a folder", "check TMPDIR");
    const sweep::Folder folder(pattern);
    folder.make();
    std::error_code error;
    try {
        sweep::rehearse(sweep.plan, sweep.tasks, folder, tools());
    } catch (...) {
        fs::remove_all(pattern, error);
        throw;
    }
    fs::remove_all(pattern, error);
}

// "3,7-9" and several of them.
std::vector<long> chosen_tasks(const SweepRequest& request, long count) {
    std::vector<long> chosen;
    for (const std::string& words : request.tasks) {
        const char* at = words.data();
        const char* const end = at + words.size();
        const auto refuse = [&](const std::string& problem) {
            throw InputError("", "--task " + words, problem,
                             fmt::format("give numbers from 0 to {}, such as 7 or 0-9 or 3,5", count - 1));
        };
        long first = 0;
        const auto read = std::from_chars(at, end, first);
        if (read.ec != std::errc() || read.ptr == at) refuse("is no number");
        long last = first;
        if (read.ptr != end) {
            const auto rest = std::from_chars(read.ptr + 1, end, last);
            if (*read.ptr != '-' || rest.ec != std::errc() || rest.ptr != end || last < first)
                refuse("is no range");
        }
        if (first < 0 || last >= count) refuse(fmt::format("is not among the {} runs of the plan", count));
        for (long k = first; k <= last; ++k) chosen.push_back(k);
    }
    return chosen;
}

std::string words_of(const sweep::Table& table) {
    std::string text = fmt::format("{} runs", table.rows.size());
    for (const char* status : {"done", "unconverged", "failed", "killed", "running", "waiting"})
        if (const long count = table.count(status); count > 0) text += fmt::format(", {} {}", count, status);
    return text;
}

void say_failures(const sweep::Table& table) {
    constexpr int listed = 5;
    int said = 0;
    for (const sweep::Row& row : table.rows) {
        if (row.status != "failed" && row.status != "unconverged" && row.status != "killed") continue;
        if (said++ == listed) {
            std::cerr << "  ...\n";
            return;
        }
        std::cerr << shown(fmt::format("  task {} {}: {}", row.task->number, row.status, row.result.reason))
                  << "\n";
    }
}

void write_tables(const sweep::Sweep& sweep, const sweep::Table& table) {
    sweep::write_sqlite(sweep, table, sweep.folder.file("results.sqlite"));
    write_whole_file(sweep.folder.file("results.csv"), sweep::to_csv(sweep, table));
}

// An entry of /proc/meminfo or /proc/PID/status, in MB; 0 where there is none.
double memory_entry_mb(const std::string& file, const std::string& name) {
    std::ifstream in(file);
    std::string word;
    while (in >> word)
        if (word == name + ":") {
            double kilobytes = 0;
            in >> kilobytes;
            return kilobytes / 1024;
        }
    return 0;
}

double free_memory_mb() {
    return memory_entry_mb("/proc/meminfo", "MemAvailable");
}

// The limit is on what is asked for beyond what the program itself takes at its start.
void limit_memory(double mb) {
    const double all = mb + memory_entry_mb("/proc/self/status", "VmData");
    rlimit limit{};
    ::getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(all * 1024 * 1024));
    ::setrlimit(RLIMIT_DATA, &limit);
}

std::string this_program() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? "tenon" : program.string();
}

sweep::Execution execution_of(const SweepRequest& request) {
    sweep::Execution how;
    const int cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
    how.threads = request.threads;
    how.processes =
        request.processes > 0 ? request.processes : std::max(1, cores / std::max(1, request.threads));
    const double memory = request.memory > 0 ? request.memory : 0.9 * free_memory_mb();
    how.memory_mb = request.on.empty() ? memory / how.processes : request.memory;
    how.program = this_program();
    how.cluster = request.on;
    how.remote_program = request.program;
    how.helper =
        (fs::path(how.program).parent_path().parent_path() / "share" / "tenon" / "dask_sweep.py").string();
    how.stop = &stop_on_interrupt();
    return how;
}

int exit_code(const sweep::Table& table) {
    return table.count("done") == static_cast<long>(table.rows.size()) ? 0 : 1;
}

// Of a few tasks: a job of thousands does not read the results of all the others.
int exit_code(const sweep::Sweep& sweep, const std::vector<long>& chosen) {
    const auto done = [&](long k) {
        const auto result = sweep.folder.read(sweep.tasks[static_cast<std::size_t>(k)]);
        return result && result->status == "done";
    };
    return std::all_of(chosen.begin(), chosen.end(), done) ? 0 : 1;
}

// `run` and `retry`: those without a result, or those that failed; of all or of the chosen ones.
int run_action(const SweepRequest& request, bool retry) {
    const sweep::Sweep sweep = load(request);
    const std::vector<long> chosen = chosen_tasks(request, static_cast<long>(sweep.tasks.size()));
    if (chosen.empty() && !retry) rehearse(sweep);
    if (!request.on.empty() && sweep.plan.keep_runs)
        throw InputError(request.plan, "keep_runs", "cannot be had with --on: runs stay on no worker",
                         "leave keep_runs away, or run on this machine");
    sweep.folder.make();
    if (chosen.empty()) write_whole_file(sweep.folder.file("plan.json"), sweep.plan.text);
    std::vector<long> pending;
    const auto consider = [&](long number) {
        const sweep::Task& task = sweep.tasks[static_cast<std::size_t>(number)];
        const std::optional<sweep::TaskResult> result = sweep.folder.read(task);
        const bool failed =
            result ? result->status == "failed" : sweep.folder.lock_state(task) == sweep::Folder::Lock::left;
        if (retry ? failed : !result) pending.push_back(number);
    };
    if (chosen.empty())
        for (long k = 0; k < static_cast<long>(sweep.tasks.size()); ++k) consider(k);
    else
        for (const long k : chosen) consider(k);
    ProgressBar bar(request.quiet || request.json);
    sweep::Execution how = execution_of(request);
    how.progress = [&](long finished, long all) {
        bar.show(static_cast<double>(finished) / static_cast<double>(std::max(1L, all)),
                 fmt::format("run {}/{}", finished, all));
    };
    how.again = retry;
    sweep::execute(sweep, pending, how);
    bar.clear();
    if (!chosen.empty() && request.quiet) return exit_code(sweep, chosen);
    const sweep::Table table = sweep::collect(sweep);
    if (chosen.empty()) write_tables(sweep, table);
    if (request.json)
        std::cout << ordered_json{{"runs", table.rows.size()},
                                  {"made", pending.size()},
                                  {"folder", sweep.folder.path()}}
                         .dump()
                  << "\n";
    else if (!request.quiet)
        std::cout << shown(sweep.plan.name) << ": " << words_of(table)
                  << fmt::format(" ({} made now)\n", pending.size());
    if (!request.quiet && chosen.empty()) {
        say_failures(table);
        if (!request.json) std::cout << "  written  " << sweep.folder.file("results.csv") << " and .sqlite\n";
    }
    return chosen.empty() ? exit_code(table) : exit_code(sweep, chosen);
}

std::string count_words(const sweep::Plan& plan, std::size_t all) {
    std::string text = fmt::format("{} runs", all);
    const std::size_t others = std::max<std::size_t>(1, plan.scenes.size()) *
                               std::max<std::size_t>(1, plan.methods.size()) *
                               std::max<std::size_t>(1, plan.seeds.size());
    text += fmt::format(": {} scene{}", plan.scenes.size(), plan.scenes.size() == 1 ? "" : "s");
    if (!plan.methods.empty()) text += fmt::format(" x {} methods", plan.methods.size());
    if (!plan.seeds.empty()) text += fmt::format(" x {} seeds", plan.seeds.size());
    return text + fmt::format(" x {} samples", all / others);
}

int plan_action(const SweepRequest& request) {
    const sweep::Sweep sweep = load(request);
    rehearse(sweep);
    const std::vector<std::string> columns = sweep::parameter_columns(sweep.plan);
    if (request.json) {
        ordered_json all = ordered_json::array();
        for (const sweep::Task& task : sweep.tasks) {
            ordered_json one = {{"task", task.number}, {"scene", task.scene}, {"key", task.key}};
            one["set"] = ordered_json::object();
            for (const Override& entry : task.overrides) one["set"][entry.key] = entry.value;
            all.push_back(std::move(one));
        }
        std::cout << all.dump(2, ' ', false, ordered_json::error_handler_t::replace) << "\n";
        return 0;
    }
    constexpr std::size_t shown_rows = 20;
    std::vector<std::vector<std::string>> rows = {{"task", "scene"}};
    rows[0].insert(rows[0].end(), columns.begin(), columns.end());
    for (const sweep::Task& task : sweep.tasks) {
        if (rows.size() > shown_rows && !request.all) break;
        std::vector<std::string>& row = rows.emplace_back();
        row = {std::to_string(task.number), shown(task.scene)};
        for (const sweep::Cell& cell : task.values) row.push_back(shown(sweep::plain_text(cell)));
    }
    std::cout << shown(sweep.plan.name) << ": " << count_words(sweep.plan, sweep.tasks.size()) << "\n"
              << text_table(rows);
    if (rows.size() - 1 < sweep.tasks.size())
        std::cout << fmt::format("  ... and {} more (--all shows them)\n",
                                 sweep.tasks.size() - rows.size() + 1);
    std::cout << "results\n";
    std::vector<std::vector<std::string>> results;
    for (const sweep::ResultSpec& result : sweep.plan.results)
        results.push_back({result.name, result.expression});
    std::cout << text_table(results) << "folder\n  " << sweep.folder.path() << "\n";
    return 0;
}

int status_action(const SweepRequest& request) {
    const sweep::Sweep sweep = load(request);
    const sweep::Table table = sweep::collect(sweep);
    if (request.json) {
        ordered_json all = {{"runs", table.rows.size()}};
        for (const char* status : {"done", "unconverged", "failed", "killed", "running", "waiting"})
            all[status] = table.count(status);
        std::cout << all.dump(2) << "\n";
    } else {
        std::cout << shown(sweep.plan.name) << ": " << words_of(table) << "\n";
        say_failures(table);
    }
    return exit_code(table);
}

int merge_action(const SweepRequest& request) {
    const sweep::Sweep sweep = load(request);
    const sweep::Table table = sweep::collect(sweep);
    sweep.folder.make();
    write_tables(sweep, table);
    if (!request.output.empty()) write_text(request.output, sweep::to_csv(sweep, table));
    if (!request.quiet && request.output != "-")
        std::cout << shown(sweep.plan.name) << ": " << words_of(table) << "\n  written  "
                  << sweep.folder.file("results.csv") << " and .sqlite\n";
    return 0;
}

int plot_action(const SweepRequest& request) {
    const sweep::Sweep sweep = load(request);
    const sweep::Table table = sweep::collect(sweep);
    const sweep::Pictures pictures = sweep::draw(sweep, table, request.results);
    if (pictures.curves.empty() && pictures.maps.empty())
        throw InputError(
            request.plan, "", "has nothing to draw yet",
            "a plot needs finished runs, a result that is a number and a parameter with two values or more");
    HtmlPage page(sweep.plan.name, words_of(table));
    if (!pictures.curves.empty()) {
        page.heading("Response curves");
        page.plots(pictures.curves);
    }
    if (!pictures.maps.empty()) {
        page.heading("Heat maps");
        page.plots(pictures.maps);
    }
    if (pictures.left_out > 0)
        page.paragraph(
            fmt::format("{} more pictures are left out: name results with --results.", pictures.left_out));
    const std::string output = request.output.empty() ? sweep.folder.file("plots.html") : request.output;
    write_text(output, page.text());
    if (!request.quiet && output != "-") std::cout << output << "\n";
    return 0;
}

// A process of `run`: ends with it, and stays within its share of the memory.
int worker_action(const SweepRequest& request) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (request.memory > 0) limit_memory(request.memory);
    set_threads(request.threads);
    const sweep::Sweep sweep = load(request);
    sweep::serve_tasks(sweep, tools(), STDIN_FILENO, STDOUT_FILENO);
    return 0;
}

}  // namespace

int sweep_verb(const SweepRequest& asked) {
    static const std::vector<std::string> actions = {"run", "plan", "status", "retry", "merge", "plot"};
    SweepRequest request = asked;
    std::string action = "run";
    if (asked.words.size() == 2) action = asked.words[0];
    request.plan = asked.words.back();
    if (asked.words.size() == 1 && std::find(actions.begin(), actions.end(), request.plan) != actions.end() &&
        !fs::exists(request.plan))
        throw InputError("", request.plan, "names no plan",
                         "write tenon sweep " + request.plan + " PLAN.json");
    if (action != "worker" && std::find(actions.begin(), actions.end(), action) == actions.end())
        throw InputError("", action, "is nothing a sweep can do",
                         "one of run, plan, status, retry, merge, plot");
    if (!asked.tasks.empty() && action != "run" && action != "retry")
        throw InputError("", "--task", "is for run and retry", "leave it away");
    if (!asked.on.empty() && action != "run" && action != "retry")
        throw InputError("", "--on", "is for run and retry", "leave it away");
    if (action == "plan") return plan_action(request);
    if (action == "status") return status_action(request);
    if (action == "merge") return merge_action(request);
    if (action == "plot") return plot_action(request);
    if (action == "worker") return worker_action(request);
    return run_action(request, action == "retry");
}

}  // namespace tenon::app

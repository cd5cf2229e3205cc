// `tenon bench`: benchmarks as text or JSON lines.
#include <fstream>
#include <iostream>
#include <optional>

#include <fmt/format.h>

#include "apps/tenon/bench_line.hpp"
#include "bench/bench.hpp"
#include "bench/history.hpp"
#include "math/parallel.hpp"
#include "math/whole_file.hpp"
#include "tenon/error.hpp"
#include "tenon/params.hpp"

namespace tenon::app {
namespace {

// What became worse, in words; 1 when something did.
int verdict(const bench::History& history, const std::vector<std::string>& worse,
            const BenchRequest& request) {
    if (history.known() == 0)
        throw InputError(request.compare, "--compare", "has none of the cases that were measured",
                         "compare the same benchmark, sizes and number of threads");
    std::cerr << history.summary() << "\n";
    for (const std::string& line : worse) std::cerr << "FAIL " << line << "\n";
    if (worse.empty())
        std::cerr << fmt::format("PASS nothing is worse by more than {:g} %\n", 100 * request.tolerance);
    return worse.empty() ? 0 : 1;
}

}  // namespace

int bench_verb(const BenchRequest& request) {
    if (request.list) {
        for (const bench::Bench& bench : bench::all_benches())
            fmt::print("{:<14} {}\n", bench.name, bench.summary);
        return 0;
    }
    set_threads(request.threads);
    bench::Options options;
    options.only = request.only;
    options.quick = request.quick;
    options.repeats = request.repeats;
    options.plots = request.plots;
    if (!request.plots.empty()) make_folder_of(request.plots + "/");
    int rows = 0;
    std::optional<bench::History> history;
    if (!request.compare.empty()) {
        history.emplace(request.compare);
        history->check_sizes(request.quick);
    }
    std::ofstream saved;
    if (!request.save.empty()) {
        make_folder_of(request.save);
        saved.open(request.save);
        if (!saved)
            throw InputError(request.save, "--save", "cannot be written", "name a file in a folder of yours");
        saved << bench::history_header(TENON_VERSION, options, request.threads).to_json() << std::endl;
    }
    std::vector<std::string> worse;
    options.print = [&](const bench::Row& measured) {
        ++rows;
        if (saved.is_open()) saved << measured.to_json() << std::endl;
        bench::Row row = measured;
        if (history) {
            bench::Comparison beside = history->compare(measured, request.tolerance);
            row = std::move(beside.row);
            worse.insert(worse.end(), beside.worse.begin(), beside.worse.end());
        }
        std::cout << (request.json ? row.to_json() : row.to_text()) << std::endl;
    };
    options.note = [&](const std::string& text) { std::cerr << text << "\n"; };
    bool found = false;
    std::vector<std::string> names;
    for (const bench::Bench& bench : bench::all_benches()) {
        names.push_back(bench.name);
        if (!request.name.empty() && bench.name != request.name) continue;
        found = true;
        bench.run(options);
    }
    if (!found)
        throw InputError("", request.name, "no benchmark of this name", suggestion(request.name, names));
    if (rows == 0 && !request.only.empty())
        throw InputError("", "--only " + request.only, "no case of this name",
                         suggestion(request.only, options.cases));
    if (!history) return 0;
    return verdict(*history, worse, request);
}

}  // namespace tenon::app

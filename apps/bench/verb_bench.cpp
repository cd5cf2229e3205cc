// `tenon bench`: benchmarks as text or JSON lines.
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
    if (!request.compare.empty()) history.emplace(request.compare);
    options.print = [&](const bench::Row& measured) {
        ++rows;
        const bench::Row row = history ? history->beside(measured) : measured;
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
    return 0;
}

}  // namespace tenon::app

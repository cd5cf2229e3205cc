// `tenon import`, `tenon schema`, `tenon bench`.
#include <iostream>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "bench/bench.hpp"
#include "math/parallel.hpp"
#include "tenon/error.hpp"
#include "tenon/params.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::app {

int import_verb(const ImportRequest& request) {
    const Scene scene = import_rigid_ipc(request.file, request.mesh_root);
    write_text(request.output, write_scene(scene) + "\n");
    return 0;
}

int schema_verb(const SchemaRequest& request) {
    write_text(request.output, scene_schema() + "\n");
    return 0;
}

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
    options.print = [&](const bench::Row& row) {
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
    return 0;
}

}  // namespace tenon::app

// Table 2 of the affine paper with our phases beside its numbers, and two threads beside one.
#include <thread>

#include <fmt/format.h>

#include "bench/affine_measure.hpp"
#include "math/parallel.hpp"

namespace tenon::bench {
namespace {

struct TableCase {
    const char* name;
    const char* scene;
    std::map<std::string, ParamValue> values;
    int steps;
    double paper_iterations, paper_ms;  // at h = 1/100, on the paper's machine
    bool large = false;                 // not in a quick run
};

const ParamValue paper_size = std::string("paper");

std::vector<TableCase> table_cases() {
    return {{"wrecking-ball", "wrecking-ball", {{"preset", paper_size}}, 10, 8.8, 140, true},
            {"chain-net-8", "chain-net", {{"preset", paper_size}, {"n", 8.0}}, 5, 2.1, 59, true},
            {"card-house", "card-house", {{"preset", paper_size}}, 10, 9.8, 86, true},
            {"screw", "screw", {{"preset", paper_size}}, 10, 4.1, 87, true},
            {"arch", "arch", {{"preset", paper_size}}, 20, 1.9, 8.7},
            {"pendulum", "pendulum", {}, 20, 4.1, 7},
            {"octopus", "octopus", {{"preset", paper_size}}, 20, 4.6, 50, true}};
}

Row phase_row(const TableCase& c, const Scene& scene, const Measured& m) {
    Row row = affine_row(std::string("table2-") + c.name, scene, m);
    for (const auto& [name, ms] : m.phases) row.set("ms_" + name, ms);
    row.set("culling_and_ccd_share", m.culling_share);
    row.set("paper_iterations", c.paper_iterations).set("paper_ms_per_step", c.paper_ms);
    return row;
}

void run_steps(const Scene& scene, int steps) {
    Simulation simulation(scene);
    for (int s = 0; s < steps; ++s) simulation.step();
}

void threads_row(const std::string& name, const Scene& scene, int steps, const Options& options) {
    // One thread, two, and two runs side by side that share nothing, which is what the machine's second core can give:
    // in turn, so that all see the same machine.
    std::vector<double> ratios, two_ms, limits;
    for (int k = 0; k < repeats_of(options); ++k) {
        set_threads(1);
        const double one = seconds_of([&] { run_steps(scene, steps); });
        set_threads(2);
        const double two = seconds_of([&] { run_steps(scene, steps); });
        set_threads(1);
        const double beside = seconds_of([&] {
            std::thread other([&] { run_steps(scene, steps); });
            run_steps(scene, steps);
            other.join();
        });
        ratios.push_back(one / two);
        two_ms.push_back(1e3 / steps * two);
        limits.push_back(2.0 * one / beside);
    }
    Row row;
    row.set("bench", "affine").set("case", "threads-" + name).set("engine", "tenon").set("method", "affine");
    row.set("size", static_cast<double>(scene.bodies.size())).set("threads", 2).set("dt", scene.dt);
    row.set("ms_per_step", median(two_ms)).set("speedup", median(ratios));
    row.set("two_runs_speedup", median(limits));
    options.print(row);
}

}  // namespace

void affine_table(const Options& options) {
    for (const TableCase& c : table_cases()) {
        const std::string name = std::string("table2-") + c.name;
        if (!options.wants(name) || (options.quick && c.large)) continue;
        Scene scene = builtin_scene(c.scene, c.values);
        scene.dt = 0.01;
        options.print(phase_row(c, scene, measure_median(scene, c.steps, options)));
    }
    const std::tuple<const char*, const char*, std::map<std::string, ParamValue>, int> parallel[] = {
        {"wall-560", "wrecking-ball", {{"blocks", 560.0}, {"chain", false}}, 20},
        {"chain-net-8", "chain-net", {{"preset", paper_size}, {"n", 8.0}}, 20},
        {"card-house", "card-house", {{"preset", paper_size}}, 10}};
    for (const auto& [name, scene_name, values, steps] : parallel) {
        if (!options.wants(std::string("threads-") + name) || options.quick) continue;
        Scene scene = builtin_scene(scene_name, values);
        scene.dt = 0.01;
        threads_row(name, scene, steps, options);
    }
}

}  // namespace tenon::bench

// Table 2 of the affine paper with our phases beside its numbers, and two threads beside one.
#include <latch>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "bench/affine_measure.hpp"
#include "math/parallel.hpp"

namespace tenon::bench {
namespace {

// Of the paper's table at h = 1/100, on its machine, in ms; `candidates` is its "Cons.".
struct PaperTimes {
    double iterations, assemble, solve, ccd, candidates, other, step;
};

struct TableCase {
    const char* name;
    const char* scene;
    std::map<std::string, ParamValue> values;
    int before, steps;  // not measured, and measured
    PaperTimes paper;
    bool large = false;  // not in a quick run
};

const ParamValue paper_size = std::string("paper");

// Whole films, as the paper's, but for the largest: of the big net the ball's first tenths of a second in it, of the
// gears twenty steps.
std::vector<TableCase> table_cases() {
    return {{"wrecking-ball",
             "wrecking-ball",
             {{"preset", paper_size}},
             0,
             300,
             {8.8, 23, 53, 28, 31, 8, 140},
             true},
            {"chain-net-8",
             "chain-net",
             {{"preset", paper_size}, {"n", 8.0}},
             0,
             150,
             {2.1, 11, 6, 16, 17, 9, 59},
             true},
            {"chain-net-16",
             "chain-net",
             {{"preset", paper_size}, {"n", 16.0}},
             30,
             20,
             {13.5, 130, 241, 410, 430, 62, 780},
             true},
            {"card-house", "card-house", {{"preset", paper_size}}, 0, 200, {9.8, 14, 24, 9, 35, 4, 86}, true},
            {"screw", "screw", {{"preset", paper_size}}, 0, 300, {4.1, 0.4, 0.1, 39, 39, 9, 87}, true},
            {"arch", "arch", {{"preset", paper_size}}, 0, 200, {1.9, 2, 2, 1, 2, 2, 8.7}},
            {"pendulum", "pendulum", {}, 0, 200, {4.1, 1, 0.1, 3, 3, 1, 7}},
            {"octopus", "octopus", {{"preset", paper_size}}, 0, 100, {4.6, 12, 2, 20, 19, 5, 50}, true},
            {"gear-train",
             "gear-train",
             {{"preset", paper_size}},
             0,
             20,
             {16.7, 4300, 4, 5400, 6000, 211, 11700},
             true},
            {"spiky-pile",
             "spiky-pile",
             {{"preset", paper_size}},
             0,
             200,
             {6.3, 3, 0.2, 2300, 560, 74, 2800},
             true}};
}

Row phase_row(const TableCase& c, const Scene& scene, const Measured& m) {
    Row row = affine_row(std::string("table2-") + c.name, scene, m);
    row.set("steps", c.steps);
    for (const auto& [name, ms] : m.phases) row.set("ms_" + name, ms);
    row.set("culling_and_ccd_share", m.culling_share);
    const PaperTimes& paper = c.paper;
    row.set("paper_ms_per_step", paper.step).set("paper_iterations", paper.iterations);
    row.set("paper_ms_assemble", paper.assemble).set("paper_ms_solve", paper.solve);
    row.set("paper_ms_ccd", paper.ccd).set("paper_ms_candidates", paper.candidates);
    row.set("paper_ms_other", paper.other);
    return row;
}

struct ThreadsCase {
    const char* name;
    const char* scene;
    std::map<std::string, ParamValue> values;
    int before, steps;  // steps until the scene is at work, and those measured
    double dt = 0.01;
};

std::vector<ThreadsCase> threads_cases() {
    return {{"wall-560", "wrecking-ball", {{"blocks", 560.0}, {"chain", false}}, 0, 20},
            {"chain-net-8", "chain-net", {{"preset", paper_size}, {"n", 8.0}}, 30, 20},
            {"chain-net-16", "chain-net", {{"preset", paper_size}, {"n", 16.0}}, 30, 6},
            {"card-house", "card-house", {{"preset", paper_size}}, 0, 10},
            {"arch", "arch", {{"preset", paper_size}}, 0, 20},
            {"screw-50", "screw", {{"preset", paper_size}, {"dt", 0.02}}, 60, 30, 0.02},
            {"gear-train", "gear-train", {{"preset", paper_size}}, 5, 8},
            {"spiky-pile", "spiky-pile", {{"preset", paper_size}}, 40, 20},
            {"hybrid-drop",
             "hybrid-drop",
             {{"ships", 2.0}, {"helicopters", 5.0}, {"cell", 0.02}, {"detail", 120.0}},
             25,
             6}};
}

// A run that has got to the first of the measured steps.
std::unique_ptr<Simulation> begun(const ThreadsCase& c, const Scene& scene) {
    set_threads(2);
    auto simulation = std::make_unique<Simulation>(scene);
    for (int s = 0; s < c.before; ++s) simulation->step();
    return simulation;
}

// Times of the same steps in several runs. A step's time is the median of its runs: what else goes on in the machine lasts
// for some steps only.
struct StepTimes {
    std::vector<std::vector<double>> ms;  // by step, then by run
    std::map<std::string, std::vector<double>> phases;

    explicit StepTimes(const ThreadsCase& c) : ms(c.steps) {}
    void run(Simulation& simulation) {
        std::map<std::string, double> sums;
        for (std::vector<double>& step : ms) {
            StepReport report;
            step.push_back(1e3 * seconds_of([&] { report = simulation.step(); }));
            for (const auto& [name, time] : report.phases)
                sums[name] += time / static_cast<double>(ms.size());
        }
        for (const auto& [name, time] : sums) phases[name].push_back(time);
    }
    double per_step() const {
        double sum = 0.0;
        for (const std::vector<double>& step : ms) sum += median(step);
        return sum / static_cast<double>(ms.size());
    }
};

void threads_row(const ThreadsCase& c, const Options& options) {
    Scene scene = builtin_scene(c.scene, c.values);
    scene.dt = c.dt;
    // One thread, two, and two runs side by side that share nothing, which is what the machine's second core can give:
    // in turn, so that all see the same machine.
    StepTimes one(c), two(c), beside(c), other(c);
    for (int k = 0; k < repeats_of(options); ++k) {
        const auto alone = begun(c, scene), together = begun(c, scene), left = begun(c, scene),
                   right = begun(c, scene);
        set_threads(1);
        one.run(*alone);
        set_threads(2);
        two.run(*together);
        set_threads(1);
        std::latch both(2);
        std::thread second([&] {
            both.arrive_and_wait();
            other.run(*left);
        });
        both.arrive_and_wait();
        beside.run(*right);
        second.join();
    }
    Row row;
    row.set("bench", "affine").set("case", std::string("threads-") + c.name);
    row.set("engine", "tenon").set("method", "affine").set("size", static_cast<double>(scene.bodies.size()));
    row.set("threads", 2).set("dt", scene.dt);
    row.set("ms_per_step", two.per_step()).set("one_thread_ms_per_step", one.per_step());
    row.set("speedup", one.per_step() / two.per_step());
    row.set("two_runs_speedup", 2.0 * one.per_step() / std::max(beside.per_step(), other.per_step()));
    // Those within a Newton solve are summed over the islands: of islands side by side, the times of both threads.
    for (const auto& [name, ms] : two.phases)
        row.set("ms_" + name, median(ms)).set("one_thread_ms_" + name, median(one.phases[name]));
    options.print(row);
}

}  // namespace

void affine_table(const Options& options) {
    for (const TableCase& c : table_cases()) {
        const std::string name = std::string("table2-") + c.name;
        if (!options.wants(name) || (options.quick && c.large)) continue;
        Scene scene = builtin_scene(c.scene, c.values);
        scene.dt = 0.01;
        const int steps = options.quick ? std::min(c.steps, 20) : c.steps;
        options.print(phase_row(c, scene, measure_median(scene, steps, options, c.before)));
    }
    for (const ThreadsCase& c : threads_cases())
        if (options.wants(std::string("threads-") + c.name) && !options.quick) threads_row(c, options);
}

}  // namespace tenon::bench

#include "bench/affine_measure.hpp"

#include <algorithm>
#include <ctime>

#include "math/parallel.hpp"
#include "tenon/builtin.hpp"
#include "verify/verify.hpp"

namespace tenon::bench {

Scene builtin_scene(const std::string& name, const std::map<std::string, ParamValue>& values) {
    return make_builtin(*find_builtin(name), values);
}

double cpu_seconds_of(const std::function<void()>& work) {
    const std::clock_t start = std::clock();
    work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

int repeats_of(const Options& options) {
    return options.quick ? 1 : std::max(5, options.repeats);
}

Measured measure(const Scene& scene, int steps, int before) {
    Simulation simulation(scene);
    for (int k = 0; k < before; ++k) simulation.step();
    Measured out;
    double cpu = 0.0, wall = 0.0;
    for (int k = 0; k < steps; ++k) {
        StepReport report;
        cpu += cpu_seconds_of([&] { wall += seconds_of([&] { report = simulation.step(); }); });
        out.iterations += report.iterations;
        out.unconverged += !report.converged;
        out.min_distance = std::min(out.min_distance, report.min_distance);
        for (const auto& [name, value] : report.metrics)
            if (name == "solves") out.solves += value;
        for (const auto& [name, value] : report.phases) out.phases[name] += value / steps;
    }
    out.ms_per_step = 1e3 * (thread_count() == 1 ? cpu : wall) / steps;
    out.culling_share = (out.phases["candidates"] + out.phases["ccd"]) * steps / (1e3 * wall);
    out.iterations /= steps;
    out.solves /= steps;
    out.solve_ms = out.solves > 0 ? out.phases["solve"] / out.solves : 0.0;
    out.intersections = verify::count_intersections(simulation.model(), simulation.state());
    return out;
}

Measured measure_median(const Scene& scene, int steps, const Options& options, int before) {
    std::vector<Measured> runs;
    for (int k = 0; k < repeats_of(options); ++k) runs.push_back(measure(scene, steps, before));
    return median_of(std::move(runs));
}

Measured median_of(std::vector<Measured> runs) {
    std::sort(runs.begin(), runs.end(),
              [](const Measured& a, const Measured& b) { return a.ms_per_step < b.ms_per_step; });
    Measured out = runs[runs.size() / 2];
    std::vector<double> shares;
    for (const Measured& run : runs) shares.push_back(run.culling_share);
    out.culling_share = median(shares);
    return out;
}

Row affine_row(const std::string& name, const Scene& scene, const Measured& m) {
    Row row;
    row.set("bench", "affine").set("case", name).set("engine", "tenon").set("method", "affine");
    row.set("size", static_cast<double>(scene.bodies.size())).set("threads", thread_count());
    row.set("dt", scene.dt).set("ms_per_step", m.ms_per_step).set("iterations", m.iterations);
    row.set("solves", m.solves).set("ms_per_solve", m.solve_ms);
    if (m.min_distance < 1e299) row.set("min_distance", m.min_distance);  // else nothing came into contact
    row.set("max_penetration", 0.0).set("intersections", static_cast<double>(m.intersections));
    row.set("unconverged", static_cast<double>(m.unconverged));
    return row;
}

}  // namespace tenon::bench

// The impulse method: beside Bullet, solver against solver, over sizes and threads.
#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "bench/impulse_bullet.hpp"
#include "bench/impulse_parts.hpp"

namespace tenon::bench {
namespace impulse_parts {

static double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Cost cost_of(const std::function<void()>& work) {
    const double start = cpu_seconds();
    Cost cost;
    cost.wall_ms = 1e3 * seconds_of(work);
    cost.cpu_ms = 1e3 * (cpu_seconds() - start);
    return cost;
}

Scene scene_of(const std::string& name, const Values& values, const Values& method) {
    Scene scene = make_builtin(*find_builtin(name), values);
    scene.method_params["sleeping"] = false;
    for (const auto& [key, value] : method) scene.method_params[key] = value;
    return scene;
}

double figure(const StepReport& report, const std::string& name) {
    for (const auto& [key, value] : report.metrics)
        if (key == name) return value;
    return 0;
}

double phase(const StepReport& report, const std::string& name) {
    for (const auto& [key, value] : report.phases)
        if (key == name) return value;
    return 0;
}

Row row_of(const std::string& name, const std::string& method) {
    Row row;
    row.set("bench", "impulse").set("case", name).set("engine", "tenon").set("method", method);
    return row;
}

std::vector<Vec3> places(const State& state) {
    std::vector<Vec3> out;
    for (int i = 0; i < static_cast<int>(state.q.size()); ++i)
        if (state.dynamic(i)) out.push_back(state.q[i].col(3));
    return out;
}

double mean_distance(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]).norm();
    return sum / static_cast<double>(std::max<std::size_t>(1, a.size()));
}

const std::vector<SolverChoice>& solver_choices() {
    static const std::vector<SolverChoice> choices = {
        {"gauss-seidel, sub-steps", "gauss-seidel", {}},
        {"gauss-seidel, one step", "one step", {{"substeps", 1.0}}},
        {"decomposition", "decomposition", {{"solver", std::string("decomposition")}}},
        {"ffd", "ffd", {{"solver", std::string("ffd")}}},
        {"pgs, 5 iterations", "pgs", {{"solver", std::string("pgs")}}}};
    return choices;
}

}  // namespace impulse_parts

namespace {

using namespace impulse_parts;

void run(const Options& options) {
    const bool quick = options.quick;
    if (options.wants("cubes"))
        beside_bullet(options, "cubes",
                      make_builtin(*find_builtin("cubes"), {{"cubes", quick ? 216.0 : 5000.0}}),
                      quick ? 216 : 5000, quick ? 1.0 : 4.0);
    if (options.wants("chess"))
        beside_bullet(options, "chess",
                      make_builtin(*find_builtin("chess"), {{"pieces", quick ? 40.0 : 320.0}}),
                      quick ? 40 : 320, quick ? 1.0 : 3.0);
    if (options.wants("hulls")) hulls_beside_bullet(options, quick ? 40 : 320, quick ? 1.0 : 3.0);
    if (options.wants("wall")) wall_beside_bullet(options, quick ? 48 : 560, quick ? 0.5 : 2.0);
    if (options.wants("pyramid-100"))
        pyramid_stands(options, "pyramid-100", quick ? 10 : 90, 1.0 / 100, quick ? 1.0 : 10.0);
    if (options.wants("pyramid-60"))
        pyramid_stands(options, "pyramid-60", quick ? 10 : 90, 1.0 / 60, quick ? 1.0 : 10.0);
    if (options.wants("rest-hulls") && BulletScene::available())
        rest_is_rest(options, quick ? 40 : 320, true, quick ? 2.0 : 8.0);
    if (options.wants("rest-chess")) rest_is_rest(options, quick ? 40 : 320, false, quick ? 2.0 : 8.0);
    figure_6(options, quick ? 40 : 320, quick ? 0.8 : 2.8);
    table_2(options);
    if (options.wants("solvers")) compare_solvers(options, quick ? 216 : 2000);
    if (options.wants("energy")) energy_of_piles(options, quick ? 500 : 10000);
    if (options.wants("scaling"))
        scaling(options, quick ? std::vector<int>{125, 343} : std::vector<int>{216, 1000, 5000, 12000});
    if (options.wants("threads")) threads(options, quick ? 216 : 5000);
    if (options.wants("broad-stacked") || options.wants("broad-scattered"))
        broad_phase(options,
                    quick ? std::vector<int>{1000, 4000} : std::vector<int>{1000, 5000, 25000, 100000});
}

}  // namespace

Bench impulse_bench() {
    return {"impulse", "contact impulses beside Bullet; Fig. 6, Table II; solvers, energy, sizes, threads",
            run};
}

}  // namespace tenon::bench

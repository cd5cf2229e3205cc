// The impulse method: beside Bullet, solver against solver, over sizes and threads.
#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "bench/impulse_bullet.hpp"
#include "bench/impulse_parts.hpp"
#include "math/parallel.hpp"
#include "methods/impulse/contact_finder.hpp"

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

State with_poses_of(const Simulation& simulation, const BulletScene& peer) {
    State state;
    state.assign_without_memory(simulation.state());
    for (std::size_t i = 0; i < state.q.size(); ++i) state.q[i] = peer.pose(static_cast<int>(i));
    return state;
}

// Deepest penetration at given poses, found by the same code for every engine.
double deepest(const Model& model, const State& state) {
    impulse::ContactFinder finder(model, {});
    finder.find(model, state, std::vector<impulse::Twist>(state.q.size()),
                std::vector<char>(state.q.size(), 1), 0.0);
    double depth = 0;
    for (const impulse::ManifoldContact& c : finder.contacts()) depth = std::max(depth, -c.distance);
    return depth;
}

// What one engine did: means over windows of 25 steps, the costliest and the last.
struct Track {
    static constexpr int window = 25;
    Cost total, current, peak, last;
    int steps = 0, contacts = 0, most_contacts = 0;
    double worst = 0, end = 0;
    double own = 0;  // by a peer's own contacts, which may be of other shapes than ours
    std::vector<Vec3> before_end;

    void add(const Cost& cost, int count) {
        total += cost;
        current += cost;
        contacts = count;
        most_contacts = std::max(most_contacts, count);
        if (++steps % window) return;
        last = {current.wall_ms / window, current.cpu_ms / window};
        if (last.cpu_ms > peak.cpu_ms) peak = last;
        current = {};
    }
    void print(const Options& options, const std::string& name, const std::string& engine, int size,
               int threads, double drift) const {
        Row row;
        row.set("bench", "impulse").set("case", name).set("engine", engine);
        if (engine == "tenon") row.set("method", "impulse");
        row.set("size", size).set("threads", threads).set("ms_per_step", total.wall_ms / steps);
        row.set("cpu_ms_per_step", total.cpu_ms / steps)
            .set("cpu_ms_peak", peak.cpu_ms)
            .set("cpu_ms_end", last.cpu_ms);
        row.set("contacts_max", most_contacts).set("contacts_end", contacts);
        row.set("max_penetration", worst).set("penetration_end", end).set("drift_last_half_second", drift);
        if (engine != "tenon") row.set("max_penetration_by_own_contacts", own);
        options.print(row);
    }
};

// The same scene in both engines, step by step in turn, one thread each, sleeping off.
void beside_bullet(const Options& options, const std::string& name, const std::string& parameter, int size,
                   double seconds) {
    set_threads(1);
    Simulation simulation(scene_of(name, {{parameter, static_cast<double>(size)}, {"seconds", seconds}}));
    std::unique_ptr<BulletScene> bullet;
    if (BulletScene::available())
        bullet = std::make_unique<BulletScene>(simulation.model(), simulation.state());
    else
        options.note("Bullet is not installed: only our own numbers");
    Track ours, theirs;
    const int steps = static_cast<int>(std::lround(seconds / simulation.dt()));
    std::vector<Vec3> ours_then, theirs_then;
    for (int s = 1; s <= steps; ++s) {
        StepReport report;
        const Cost cost = cost_of([&] { report = simulation.step(); });
        ours.add(cost, report.contacts);
        if (bullet) {
            PeerStep step;
            const Cost peer = cost_of([&] { step = bullet->step(simulation.dt()); });
            theirs.add(peer, step.contacts);
            theirs.own = std::max(theirs.own, step.penetration);
        }
        if (s == steps - 50) {
            ours_then = places(simulation.state());
            if (bullet) theirs_then = places(with_poses_of(simulation, *bullet));
        }
        if (s % 10 && s != steps) continue;
        ours.end = deepest(simulation.model(), simulation.state());
        ours.worst = std::max(ours.worst, ours.end);
        if (!bullet) continue;
        theirs.end = deepest(simulation.model(), with_poses_of(simulation, *bullet));
        theirs.worst = std::max(theirs.worst, theirs.end);
    }
    ours.print(options, name, "tenon", size, 1, mean_distance(ours_then, places(simulation.state())));
    if (bullet) {
        theirs.print(options, name, "bullet", size, 1,
                     mean_distance(theirs_then, places(with_poses_of(simulation, *bullet))));
        options.note(fmt::format(
            "{}: {:.2f}x as fast as Bullet in processor time at the peak, {:.2f}x at the end; "
            "penetration {:.2g} mm against {:.2g} mm at worst, {:.2g} mm against {:.2g} mm at the end",
            name, theirs.peak.cpu_ms / ours.peak.cpu_ms, theirs.last.cpu_ms / ours.last.cpu_ms,
            1e3 * ours.worst, 1e3 * theirs.worst, 1e3 * ours.end, 1e3 * theirs.end));
    }
    set_threads(0);
}

void run(const Options& options) {
    const bool quick = options.quick;
    if (options.wants("cubes"))
        beside_bullet(options, "cubes", "cubes", quick ? 216 : 5000, quick ? 1.0 : 4.0);
    if (options.wants("chess"))
        beside_bullet(options, "chess", "pieces", quick ? 40 : 320, quick ? 1.0 : 3.0);
    if (options.wants("fig6")) figure_6(options, quick ? 40 : 320, quick ? 0.8 : 2.8);
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

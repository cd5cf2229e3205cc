// Cost over sizes and threads: sweeps, whole steps, the broad phase.
#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include "bench/impulse_parts.hpp"
#include "geometry/broad_phase.hpp"
#include "math/parallel.hpp"
#include "methods/impulse/impulse_method.hpp"
#include "methods/impulse/sweeps.hpp"

namespace tenon::bench::impulse_parts {
namespace {

// Boxes on a lattice that touch their neighbours, or thrown about at one box per twenty volumes.
std::vector<Box3> boxes_of(int count, bool stacked, std::mt19937& random) {
    std::uniform_real_distribution<double> uniform(-0.5, 0.5);
    const int side = static_cast<int>(std::ceil(std::cbrt(count)));
    const double extent = std::cbrt(20.0 * count);
    std::vector<Box3> boxes(count);
    for (int i = 0; i < count; ++i) {
        const double x = uniform(random), y = uniform(random), z = uniform(random);
        const Vec3 center =
            stacked ? Vec3(Vec3(i % side, i / side % side, i / side / side) + 0.02 * Vec3(x, y, z))
                    : Vec3(extent * Vec3(x, y, z));
        boxes[i].lo = center - Vec3::Constant(0.5);
        boxes[i].hi = center + Vec3::Constant(0.5);
    }
    return boxes;
}

void broad_phase_case(const Options& options, int count, bool stacked) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Box3> boxes = boxes_of(count, stacked, random);
    std::vector<Vec3> velocity(count);
    for (Vec3& v : velocity)
        v = (stacked ? 0.001 : 0.05) * Vec3(uniform(random), uniform(random), uniform(random));
    geometry::BroadPhase phase;
    std::vector<geometry::ItemPair> pairs;
    std::vector<double> times;
    for (int step = 0; step < 40; ++step) {
        for (int i = 0; i < count; ++i) {
            boxes[i].lo += velocity[i];
            boxes[i].hi += velocity[i];
        }
        times.push_back(cost_of([&] { phase.find_pairs(boxes, pairs); }).wall_ms);
    }
    Row row = row_of(stacked ? "broad-stacked" : "broad-scattered", "broad phase");
    row.set("size", count).set("threads", 1).set("ms_per_step", median(times));
    row.set("ns_per_body", 1e6 * median(times) / count)
        .set("pairs", static_cast<double>(pairs.size()))
        .set("rebuilds", phase.rebuilds());
    options.print(row);
}

}  // namespace

// Cost per contact and sweep of the solver alone, over sizes.
void scaling(const Options& options, const std::vector<int>& sizes) {
    constexpr int sweeps = 20;
    for (int cubes : sizes) {
        Simulation simulation(scene_of("cubes", {{"cubes", static_cast<double>(cubes)}}));
        for (int s = 0; s < 100; ++s) simulation.step();
        const auto& method = dynamic_cast<const impulse::ImpulseMethod&>(
            simulation.method().stepper(simulation.model(), simulation.state()));
        std::vector<Vec3> centers;
        for (const Mat34& q : simulation.state().q) centers.push_back(q.col(3));
        impulse::SweepSettings settings;
        settings.max_sweeps = sweeps;
        settings.tolerance = 0;
        const int contacts = static_cast<int>(method.problem().contacts.size());
        for (int threads : {1, 2}) {
            set_threads(threads);
            std::vector<double> times, prepare;
            for (int repeat = 0; repeat < std::max(5, options.repeats); ++repeat) {
                impulse::ContactProblem problem = method.problem();
                impulse::Sweeper sweeper;
                prepare.push_back(cost_of([&] { sweeper.prepare(problem, centers, settings); }).wall_ms);
                const Cost cost = cost_of([&] { sweeper.solve(problem); });
                times.push_back(threads == 1 ? cost.cpu_ms : cost.wall_ms);
            }
            Row row = row_of("scaling");
            row.set("size", cubes).set("threads", threads).set("contacts", contacts);
            row.set("ns_per_contact_and_sweep",
                    1e6 * median(times) / (contacts * static_cast<double>(sweeps)))
                .set("ms_prepare", median(prepare));
            options.print(row);
        }
        set_threads(0);
    }
}

// The same steps with one and with two threads, taken in turn so that both see the same machine.
void threads(const Options& options, int cubes) {
    Simulation settled(scene_of("cubes", {{"cubes", static_cast<double>(cubes)}}));
    for (int s = 0; s < 100; ++s) settled.step();
    std::stringstream state;
    settled.save(state);
    std::vector<std::unique_ptr<Simulation>> simulations;
    for (int k = 0; k < 2; ++k) {
        simulations.push_back(std::make_unique<Simulation>(settled.scene()));
        std::istringstream in(state.str());
        simulations.back()->load(in);
    }
    constexpr int steps = 60;
    std::vector<double> times[2];
    std::map<std::string, double> phases[2];
    for (int s = 0; s < steps; ++s)
        for (int k = 0; k < 2; ++k) {
            set_threads(1 + k);
            StepReport report;
            times[k].push_back(cost_of([&] { report = simulations[k]->step(); }).wall_ms);
            for (const auto& [name, ms] : report.phases) phases[k][name] += ms / steps;
        }
    set_threads(0);
    for (int k = 0; k < 2; ++k) {
        Row row = row_of("threads");
        row.set("size", cubes).set("threads", 1 + k).set("ms_per_step", median(times[k]));
        row.set("speedup", median(times[0]) / median(times[k]));
        for (const auto& [name, ms] : phases[k]) row.set("ms_" + name, ms);
        options.print(row);
    }
}

// Pairs of overlapping boxes that move from step to step, for piles and for scattered bodies.
void broad_phase(const Options& options, const std::vector<int>& sizes) {
    set_threads(1);
    for (int size : sizes) {
        if (options.wants("broad-stacked")) broad_phase_case(options, size, true);
        if (options.wants("broad-scattered")) broad_phase_case(options, size, false);
    }
    set_threads(0);
}

}  // namespace tenon::bench::impulse_parts

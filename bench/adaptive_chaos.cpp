// Scenes whose end is chance: what a little at the start does to a plain run, and how plain and adaptive runs agree
// on average over several starts.
#include <algorithm>
#include <cmath>
#include <random>

#include "bench/adaptive_runs.hpp"

namespace tenon::bench {
namespace {

constexpr double kStarts = 0.005;  // metres that solids are moved by at most, to the sides

// What is compared, at the end of a run.
struct Outcome {
    Vec3 center = Vec3::Zero();
    double energy = 0, top = 0;
};

void move_solids(Simulation& simulation, double most, unsigned seed) {
    std::mt19937 random(seed);
    for (ElasticState& body : simulation.state().elastic) {
        Vec3 by = Vec3::Zero();
        by.x() = most * (2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1);
        for (Vec3& x : body.x) x += by;
    }
}

Outcome run_to_end(AdaptiveRun& run) {
    const int steps = static_cast<int>(run.simulation.scene().seconds / run.simulation.dt() + 0.5);
    for (int i = 0; i < steps; ++i) run.step();
    return {center_of_all(run.simulation), run.energy.back(), highest_point(run.simulation)};
}

void twin(const Options& options, const std::string& scene, double apart, const Given& given = {},
          const std::string& ending = "-twin") {
    AdaptiveRun one(adaptive_scene_of(scene, given, false)), other(adaptive_scene_of(scene, given, false));
    move_solids(other.simulation, apart, 1);
    const PairResult r = run_pair(one, other, options.quick ? 0.1 : 1.0);
    const Simulation &a = one.simulation, &b = other.simulation;
    Row row = adaptive_row(scene + ending, "plain", a);
    row.set("steps", one.steps()).set("moved_m", apart).set("error", r.error.vertex);
    row.set("center_of_all",
            (center_of_all(a) - center_of_all(b)).norm() / bounds(a.model(), a.state()).diagonal());
    row.set("energy_difference", std::abs(one.energy.back() - other.energy.back()) / energy_scale(one));
    row.set("height_difference", std::abs(highest_point(a) - highest_point(b)) / height_of_all(a));
    options.print(row);
}

// Means over all starts, their differences, the standard error of the difference that chance alone would leave, and how far
// single runs differ (root of the mean square).
void starts(const Options& options, const std::string& scene, const std::string& name, const Given& given,
            int count) {
    std::vector<Outcome> differences;
    double size = 0, energy = 0, height = 0;
    Row row;
    for (int k = 0; k < count; ++k) {
        AdaptiveRun plain(adaptive_scene_of(scene, given, false)),
            adaptive(adaptive_scene_of(scene, given, true));
        for (AdaptiveRun* run : {&plain, &adaptive})
            move_solids(run->simulation, kStarts, static_cast<unsigned>(k + 1));
        const Outcome p = run_to_end(plain), a = run_to_end(adaptive);
        differences.push_back({a.center - p.center, a.energy - p.energy, a.top - p.top});
        size += bounds(plain.simulation.model(), plain.simulation.state()).diagonal() / count;
        energy += energy_scale(plain) / count;
        height += height_of_all(plain.simulation) / count;
        if (k == 0) row = adaptive_row(name, "adaptive", plain.simulation);
    }
    Outcome mean, spread, square;
    for (const Outcome& d : differences) {
        square.center += d.center.cwiseAbs2() / count;
        square.energy += d.energy * d.energy / count;
        square.top += d.top * d.top / count;
        mean.center += d.center / count;
        mean.energy += d.energy / count;
        mean.top += d.top / count;
    }
    for (const Outcome& d : differences) {
        spread.center += (d.center - mean.center).cwiseAbs2();
        spread.energy += (d.energy - mean.energy) * (d.energy - mean.energy);
        spread.top += (d.top - mean.top) * (d.top - mean.top);
    }
    const double of = count * std::max(1, count - 1);
    row.set("starts", count).set("moved_m", kStarts);
    row.set("center_of_all", mean.center.norm() / size)
        .set("center_standard_error", std::sqrt(spread.center.sum() / of) / size);
    row.set("energy_difference", std::abs(mean.energy) / energy)
        .set("energy_standard_error", std::sqrt(spread.energy / of) / energy);
    row.set("height_difference", std::abs(mean.top) / height)
        .set("height_standard_error", std::sqrt(spread.top / of) / height);
    row.set("center_single", std::sqrt(square.center.sum()) / size)
        .set("energy_single", std::sqrt(square.energy) / energy)
        .set("height_single", std::sqrt(square.top) / height);
    options.print(row);
}

}  // namespace

// Only when asked for by these names, or by none: `--only forest` means the table's row.
void adaptive_chaos(const Options& options) {
    const auto asked = [&](const std::string& scene, const std::string& ending) {
        return options.wants(scene + ending) &&
               (options.only.empty() || options.only.find(ending) != std::string::npos);
    };
    for (const char* scene : {"pachinko", "forest", "blob"})
        if (asked(scene, "-twin"))
            for (double apart : {1e-9, 1e-6, 1e-4}) twin(options, scene, apart);
    if (asked("pachinko", "-starts"))
        starts(options, "pachinko", "pachinko-starts", {}, options.quick ? 2 : 32);
    // Minutes, so by name only: all pills and pegs of the paper's scene in a coarse mesh, until they rest; and the paper's mesh.
    if (options.only.empty()) return;
    const Given coarse{{"pills", 90.0}, {"columns", 10.0}, {"rows", 10.0}, {"seconds", 9.0}};
    if (asked("pachinko", "-coarse-twin")) twin(options, "pachinko", 1e-9, coarse, "-coarse-twin");
    if (asked("pachinko", "-coarse-starts"))
        starts(options, "pachinko", "pachinko-coarse-starts", coarse, options.quick ? 2 : 8);
    if (asked("pachinko", "-paper-twin"))
        twin(options, "pachinko", 1e-6, {{"preset", std::string("paper")}}, "-paper-twin");
}

}  // namespace tenon::bench

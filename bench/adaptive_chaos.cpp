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

void move_solids(World& world, double most, unsigned seed) {
    std::mt19937 random(seed);
    for (ElasticBody& body : world.elastic) {
        Vec3 by = Vec3::Zero();
        by.x() = most * (2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1);
        for (Vec3& x : body.x) x += by;
    }
}

Outcome run_to_end(AdaptiveRun& run) {
    const int steps = static_cast<int>(run.simulation.scene().seconds / run.simulation.dt() + 0.5);
    for (int i = 0; i < steps; ++i) run.step();
    return {center_of_all(run.simulation.world()), run.energy.back(), highest_point(run.simulation.world())};
}

void twin(const Options& options, const std::string& scene, double apart, const Given& given = {}) {
    AdaptiveRun one(adaptive_scene_of(scene, given, false)), other(adaptive_scene_of(scene, given, false));
    move_solids(other.simulation.world(), apart, 1);
    const PairResult r = run_pair(one, other, options.quick ? 0.1 : 1.0);
    const World &a = one.simulation.world(), &b = other.simulation.world();
    Row row = adaptive_row(scene + "-twin", "plain", a);
    row.set("steps", one.steps()).set("moved_m", apart).set("error", r.error.vertex);
    row.set("center_of_all", (center_of_all(a) - center_of_all(b)).norm() / a.bounds().diagonal());
    row.set("energy_difference", std::abs(one.energy.back() - other.energy.back()) / energy_scale(one));
    row.set("height_difference", std::abs(highest_point(a) - highest_point(b)) / height_of_all(a));
    options.print(row);
}

// Means over all starts, their differences, and the standard error of the difference that chance alone would leave.
void starts(const Options& options, const std::string& scene) {
    const int count = options.quick ? 2 : 32;
    std::vector<Outcome> differences;
    double size = 0, energy = 0, height = 0;
    Row row;
    for (int k = 0; k < count; ++k) {
        AdaptiveRun plain(adaptive_scene_of(scene, {}, false)), adaptive(adaptive_scene_of(scene, {}, true));
        for (AdaptiveRun* run : {&plain, &adaptive})
            move_solids(run->simulation.world(), kStarts, static_cast<unsigned>(k + 1));
        const Outcome p = run_to_end(plain), a = run_to_end(adaptive);
        differences.push_back({a.center - p.center, a.energy - p.energy, a.top - p.top});
        size += plain.simulation.world().bounds().diagonal() / count;
        energy += energy_scale(plain) / count;
        height += height_of_all(plain.simulation.world()) / count;
        if (k == 0) row = adaptive_row(scene + "-starts", "adaptive", plain.simulation.world());
    }
    Outcome mean, spread;
    for (const Outcome& d : differences) {
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
        if (asked(scene, "-twin") && options.only.find("-paper-twin") == std::string::npos)
            for (double apart : {1e-9, 1e-6, 1e-4}) twin(options, scene, apart);
    // Two plain runs at the paper's size take ten minutes: by name only.
    if (!options.only.empty() && asked("pachinko", "-paper-twin"))
        twin(options, "pachinko", 1e-6, {{"preset", std::string("paper")}});
    if (asked("pachinko", "-starts")) starts(options, "pachinko");
}

}  // namespace tenon::bench

// `tenon untangle` on random piles, judged by what comes after it: `affine` accepts the scene, runs it and the exact
// verifier finds nothing.
#include <algorithm>
#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "bench/volume_cases.hpp"
#include "methods/volume/untangle.hpp"
#include "model/initial_check.hpp"
#include "run/run_loop.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/state.hpp"
#include "verify/verify.hpp"

namespace tenon::bench {
namespace {

constexpr int kSteps = 50;

struct Outcome {
    int bodies = 0;
    bool untangled = false, ran = false, clean = false;
    double seconds = 0, overlap = 0, moved = 0, moved_mean = 0;
    long intersections = 0, unproven = 0;
    std::string trouble;
};

// The scene goes through its file form, as it does between `tenon untangle` and `tenon run`.
void run_and_verify(const Scene& scene, Outcome& outcome) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                       fmt::format("tenon-untangle-{}.tenon", std::random_device()());
    Scene parsed = parse_scene(write_scene(scene), scene.name, "", {});
    parsed.method = "affine";
    parsed.method_params.clear();
    parsed.seconds = kSteps * parsed.dt;
    run::RunOptions options;
    options.output = file.string();
    options.record_every = 1;
    options.record_path = true;  // every accepted piece of motion, so that nothing between frames is a guess
    try {
        const run::Report report = run::run_scene(parsed, options);
        outcome.ran = report.status == "done";
        outcome.trouble = report.failure;
        const verify::Result result = verify::verify_run(run::RunReader(file.string()));
        outcome.clean = result.clean();
        outcome.intersections = result.intersections;
        outcome.unproven = result.unproven;
        if (!result.clean() && !result.findings.empty()) outcome.trouble = result.findings[0].text;
    } catch (const InputError& error) {
        outcome.trouble = error.what();
    }
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
}

// The pile of a seed; the next seed's if by chance nothing overlaps in it.
Scene overlapping_pile(int& seed, int bodies) {
    for (;; ++seed) {
        Scene scene =
            make_builtin(*find_builtin("overlapping-pile"),
                         {{"bodies", static_cast<double>(bodies)}, {"seed", static_cast<double>(seed)}});
        const Model model = compile(scene);
        if (!model::check_initial_state(model, initial_state(model)).problems.empty()) return scene;
    }
}

Outcome try_pile(int& seed, int bodies) {
    Outcome outcome;
    outcome.bodies = bodies;
    Scene scene = overlapping_pile(seed, bodies);
    volume::UntangleReport report;
    outcome.seconds = seconds_of([&] { report = volume::untangle(scene, {}); });
    outcome.untangled = report.clean();
    outcome.overlap = report.overlap_depth;
    for (const auto& moved : report.moved) {
        outcome.moved = std::max(outcome.moved, moved.distance);
        outcome.moved_mean += moved.distance / bodies;
    }
    if (!report.remaining.empty()) outcome.trouble = report.remaining[0];
    if (outcome.untangled) run_and_verify(scene, outcome);
    return outcome;
}

}  // namespace

void untangle_piles(const Options& options) {
    const int piles = options.quick ? 5 : 100;
    int untangled = 0, ran = 0, clean = 0;
    std::vector<double> ratio, mean_ratio, seconds;
    for (int i = 0, seed = 1; i < piles; ++i, ++seed) {
        const Outcome outcome = try_pile(seed, 5 + 45 * i / std::max(1, piles - 1));
        untangled += outcome.untangled, ran += outcome.ran, clean += outcome.clean;
        ratio.push_back(outcome.moved / outcome.overlap);
        mean_ratio.push_back(outcome.moved_mean / outcome.overlap);
        seconds.push_back(outcome.seconds);
        if (options.note)
            options.note(
                fmt::format("seed {}: {} bodies, {:.2f} s, overlap {:.3f} m, moved {:.3f} m at most, {:.3f} "
                            "m on average{}{}{}",
                            seed, outcome.bodies, outcome.seconds, outcome.overlap, outcome.moved,
                            outcome.moved_mean, outcome.clean ? ", clean" : ", NOT CLEAN",
                            outcome.trouble.empty() ? "" : ": ", outcome.trouble));
    }
    Row row;
    row.set("bench", std::string("volume")).set("case", std::string("untangle"));
    row.set("engine", std::string("tenon")).set("method", std::string("untangle, then affine"));
    row.set("size", piles).set("untangled", untangled).set("ran_50_steps", ran).set("verified_clean", clean);
    row.set("moved_over_overlap_median", median(ratio));
    row.set("moved_over_overlap_max", *std::max_element(ratio.begin(), ratio.end()));
    row.set("mean_moved_over_overlap_median", median(mean_ratio));
    row.set("seconds_median", median(seconds));
    row.set("seconds_max", *std::max_element(seconds.begin(), seconds.end()));
    options.print(row);
}

}  // namespace tenon::bench

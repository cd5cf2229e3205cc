// Random scenes through every method: each ends converged, clean by the verifier, and the same on one thread and two and after
// a stop in the middle. TENON_SOAK_SCENES, TENON_SOAK_SEED and TENON_SOAK_BODIES make it longer; a failure is shrunk and
// written.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>

#include "math/parallel.hpp"
#include "run/diff.hpp"
#include "run/failure_scene.hpp"
#include "run/run_loop.hpp"
#include "run/small_world.hpp"
#include "soak/random_scene.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"
#include "verify/verify.hpp"

namespace tenon::soak {
namespace {

using test::TemporaryFolder;

constexpr double longest_step_ms = 20'000;

long asked_for(const char* name, long otherwise) {
    const char* text = std::getenv(name);
    return text ? std::atol(text) : otherwise;
}

run::Report run_once(const Scene& scene, const std::string& file, int threads, long stop_after = -1) {
    set_threads(threads);
    run::RunOptions options;
    options.output = file;
    options.record_every = 1;
    options.record_path = scene.method == "affine";
    std::atomic<bool> stop{false};
    options.stop = &stop;
    run::Report report =
        run::run_scene(scene, options, [&](const run::Progress& now) { stop = now.step == stop_after; });
    if (report.status != "stopped") return report;
    stop = false;
    options.resume = file;
    return run::run_scene(scene, options);
}

// Methods that find contacts once a step overlap by what bodies go in one: falling from the top of the scene, or as thrown.
double deepest_step(const Scene& scene) {
    double fastest = 0.0, highest = 0.0;
    for (const BodySpec& body : scene.bodies) {
        fastest = std::max(fastest, body.linear_velocity.norm());
        highest = std::max(highest, body.position.y());
    }
    for (const ElasticSpec& body : scene.elastic) {
        fastest = std::max(fastest, body.linear_velocity.norm());
        highest = std::max(highest, body.position.y());
    }
    return 1.5 * scene.dt * std::sqrt(fastest * fastest + 2 * 9.81 * highest);
}

// What is wrong with a scene's run, in words; "" when nothing is.
std::string trouble(const Scene& scene) {
    const TemporaryFolder folder;
    try {
        const run::Report report = run_once(scene, folder / "a.tenon", 1);
        if (report.status != "done") return "failed: " + report.failure;
        if (report.unconverged_steps > 0) return report.unconverged[0] + " did not converge";
        if (report.ms_max > longest_step_ms) return "a step took " + std::to_string(report.ms_max) + " ms";
        verify::Options options;
        if (scene.method != "affine") options.penetration_allowance = deepest_step(scene);
        const verify::Result verdict = verify::verify_run(run::RunReader(folder / "a.tenon"), options);
        if (!verdict.clean())
            return "not clean: " + verdict.findings[0].kind + ", " + verdict.findings[0].text;
        run_once(scene, folder / "b.tenon", 2, report.steps / 2);
        const run::RunDifference d =
            run::diff_runs(run::RunReader(folder / "a.tenon"), run::RunReader(folder / "b.tenon"));
        if (!d.same) return "differs on two threads with a stop in the middle: " + d.text;
    } catch (const InputError& error) {
        return std::string("refused: ") + error.what();
    }
    return {};
}

// Leaves out bodies, half of them at first, as long as something is still wrong; for two minutes at most.
Scene shrunk(Scene scene) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    for (std::size_t chunk = std::max<std::size_t>(1, scene.bodies.size() / 2); chunk > 0; chunk /= 2)
        for (std::size_t begin = 0; begin < scene.bodies.size();) {
            if (std::chrono::steady_clock::now() > end) return scene;
            std::vector<char> keep(scene.bodies.size(), 1);
            for (std::size_t i = begin; i < std::min(begin + chunk, keep.size()); ++i) keep[i] = 0;
            const Scene smaller = run::keep_only(scene, keep);
            if (!smaller.bodies.empty() && !trouble(smaller).empty())
                scene = smaller;
            else
                begin += chunk;
        }
    return scene;
}

class Soak : public testing::TestWithParam<const char*> {};

TEST_P(Soak, RandomScenes) {
    const std::string method = GetParam();
    const long scenes = asked_for("TENON_SOAK_SCENES", 8), first = asked_for("TENON_SOAK_SEED", 1);
    Range range;
    range.most_bodies = static_cast<int>(asked_for("TENON_SOAK_BODIES", range.most_bodies));
    if (!std::getenv("TENON_SOAK_SCENES"))
        range.most_bodies = 8, range.steps = 15, range.smallest = 0.01, range.largest = 10;
    int failures = 0;
    for (long seed = first; seed < first + scenes; ++seed) {
        const Scene scene = random_scene(static_cast<std::uint64_t>(seed), method, range);
        const std::string problem = trouble(scene);
        if (problem.empty()) continue;
        const std::string file = testing::TempDir() + "soak-" + method + "-" + std::to_string(seed) + ".json";
        std::ofstream(file) << write_scene(++failures <= 3 ? shrunk(scene) : scene);
        ADD_FAILURE() << method << ", seed " << seed << ": " << problem << "\n  written to " << file;
    }
    set_threads(0);
    std::cout << method << ": seeds " << first << " to " << first + scenes - 1 << ", " << failures
              << " in trouble\n";
}

INSTANTIATE_TEST_SUITE_P(Methods, Soak,
                         testing::Values("affine", "articulated", "impulse", "volume", "adaptive"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tenon::soak

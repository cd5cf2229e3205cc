// The affine method: free flight, the wall of blocks beside Bullet, and what its choices cost.
#include <cmath>

#include <fmt/format.h>

#include "bench/affine_bullet.hpp"
#include "bench/affine_bullet_scenes.hpp"
#include "bench/affine_measure.hpp"
#include "math/parallel.hpp"

namespace tenon::bench {
namespace {

void free_flight(const Options& options) {
    Scene scene;
    scene.gravity = Vec3(0, -9.81, 0);
    const Scene one = builtin_scene("free-flight", {});
    scene.geometries = one.geometries;
    const int count = options.quick ? 1000 : 10000;
    for (int i = 0; i < count; ++i) {
        BodySpec body = one.bodies[0];
        body.name = fmt::format("body{}", i);
        body.position = Vec3(i % 100, 0, i / 100) * 2.0;
        body.collides = false;
        scene.add_body(body);
    }
    Simulation simulation(scene);
    simulation.step();
    const int steps = 20;
    const double seconds = seconds_of([&] {
        for (int k = 0; k < steps; ++k) simulation.step();
    });
    Row row;
    row.set("bench", "affine").set("case", "free-flight").set("engine", "tenon").set("method", "affine");
    row.set("size", count).set("threads", 1).set("ms_per_step", 1e3 * seconds / steps);
    row.set("us_per_body_step", 1e6 * seconds / steps / count);
    options.print(row);
}

constexpr double wall_seconds = 0.3;  // the ball hits after 0.03 s

Scene wall_scene(int blocks, double rate) {
    Scene scene = builtin_scene("wrecking-ball", {{"blocks", double(blocks)}, {"chain", false}});
    scene.dt = 1.0 / rate;
    return scene;
}

void wall(const Options& options) {
    const std::vector<int> sizes = options.quick ? std::vector<int>{14} : std::vector<int>{14, 140, 560};
    for (const int blocks : sizes)
        for (const double rate : {100.0, 240.0, 1000.0}) {
            const Scene scene = wall_scene(blocks, rate);
            const std::string name = fmt::format("wall-{}-{:.0f}Hz", blocks, rate);
            if (!options.wants(name)) continue;
            const int steps = static_cast<int>((options.quick ? 0.1 : wall_seconds) * rate);
            // In turn, so that all see the same machine.
            std::vector<Measured> runs;
            std::vector<BulletRun> peers[2];
            std::vector<double> ratios;
            for (int k = 0; k < repeats_of(options); ++k) {
                runs.push_back(measure(scene, steps));
                for (const bool hulls : {false, true})
                    if (const auto peer = bullet_wall(scene, steps, hulls)) peers[hulls].push_back(*peer);
                if (!peers[1].empty())
                    ratios.push_back(runs.back().ms_per_step / peers[1].back().ms_per_step);
            }
            const Measured ours = median_of(std::move(runs));
            Row row = affine_row(name, scene, ours);
            row.set("cpu_s_per_second", ours.ms_per_step * 1e-3 * rate);
            if (!ratios.empty()) row.set("times_hulls", median(ratios));
            options.print(row);
            for (const bool hulls : {false, true})
                if (!peers[hulls].empty())
                    options.print(bullet_row(name, scene, hulls, median_of(peers[hulls])));
        }
}

// Halves Bullet's step until it sinks less than a millimetre, and says what that costs a simulated second.
void bullet_until_tight(const Options& options) {
    const int blocks = options.quick ? 14 : 560;
    for (const bool hulls : {false, true})
        for (double rate = 1000.0; rate <= 32000.0; rate *= 2.0) {
            const std::string name = fmt::format("tight-{}-{:.0f}Hz", blocks, rate);
            if (!options.wants(name)) continue;
            const Scene scene = wall_scene(blocks, rate);
            const double seconds = options.quick ? 0.05 : 0.1;
            const auto peer = bullet_wall(scene, static_cast<int>(seconds * rate), hulls);
            if (!peer) return;
            options.print(bullet_row(name, scene, hulls, *peer));
            if (peer->deepest < 1e-3) break;
        }
}

void run(const Options& options) {
    const int before = thread_count();
    set_threads(1);
    if (options.wants("free-flight")) free_flight(options);
    wall(options);
    if (options.wants("tight")) bullet_until_tight(options);
    friction_scenes(options);
    affine_table(options);
    affine_ablations(options);
    set_threads(before);
}

}  // namespace

Bench affine_bench() {
    return {"affine",
            "affine bodies with barrier contact: beside Bullet, the paper's table, threads, ablations", run};
}

}  // namespace tenon::bench

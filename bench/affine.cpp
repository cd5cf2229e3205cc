// The affine method: free flight, the wall of blocks beside Bullet, and what its choices cost.
#include <cmath>

#include <fmt/format.h>

#include "bench/affine_bullet.hpp"
#include "bench/affine_bullet_scenes.hpp"
#include "bench/bench.hpp"
#include "geometry/overlap.hpp"
#include "math/parallel.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"
#include "verify/verify.hpp"

namespace tenon::bench {
namespace {

Scene scene_of(const std::string& name, const std::map<std::string, ParamValue>& values) {
    return make_builtin(*find_builtin(name), values);
}

struct Measured {
    double ms_per_step = 0, iterations = 0, solves = 0, solve_ms = 0, min_distance = 1e300;
    long intersections = 0, unconverged = 0;
};

Measured measure(const Scene& scene, int steps) {
    Simulation simulation(scene);
    Measured out;
    double total = 0.0;
    for (int k = 0; k < steps; ++k) {
        StepReport report;
        total += seconds_of([&] { report = simulation.step(); });
        out.iterations += report.iterations;
        out.unconverged += !report.converged;
        out.min_distance = std::min(out.min_distance, report.min_distance);
        for (const auto& [name, value] : report.figures)
            if (name == "solves") out.solves += value;
        for (const auto& [name, value] : report.phases)
            if (name == "solve") out.solve_ms += value;
    }
    out.ms_per_step = 1e3 * total / steps;
    out.iterations /= steps;
    out.solve_ms = out.solves > 0 ? out.solve_ms / out.solves : 0.0;
    out.solves /= steps;
    out.intersections = verify::count_intersections(simulation.world());
    return out;
}

Row tenon_row(const std::string& name, const Scene& scene, const Measured& m) {
    Row row;
    row.set("bench", "affine").set("case", name).set("engine", "tenon").set("method", "affine");
    row.set("size", static_cast<double>(scene.bodies.size())).set("threads", thread_count());
    row.set("dt", scene.dt).set("ms_per_step", m.ms_per_step).set("iterations", m.iterations);
    row.set("solves", m.solves).set("ms_per_solve", m.solve_ms).set("min_distance", m.min_distance);
    row.set("max_penetration", 0.0).set("intersections", static_cast<double>(m.intersections));
    row.set("unconverged", static_cast<double>(m.unconverged));
    return row;
}

void free_flight(const Options& options) {
    Scene scene;
    scene.gravity = Vec3(0, -9.81, 0);
    const Scene one = scene_of("free-flight", {});
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

void wall(const Options& options) {
    const std::vector<int> sizes = options.quick ? std::vector<int>{14} : std::vector<int>{14, 140, 560};
    for (const int blocks : sizes)
        for (const double rate : {100.0, 240.0, 1000.0}) {
            Scene scene = scene_of("wrecking-ball", {{"blocks", double(blocks)}, {"chain", false}});
            scene.dt = 1.0 / rate;
            const std::string name = fmt::format("wall-{}-{:.0f}Hz", blocks, rate);
            if (!options.wants(name)) continue;
            const int steps = static_cast<int>((options.quick ? 0.1 : 0.3) * rate);
            options.print(tenon_row(name, scene, measure(scene, steps)));
            for (const bool hulls : {false, true})
                if (!bullet_wall(name, scene, steps, hulls, options)) break;
        }
}

// The energies that can keep bodies rigid, on the same scene.
void energies_ablation(const Options& options) {
    for (const char* energy : {"orthogonality", "arap", "neo-hookean"}) {
        Scene scene = scene_of("gear-pair", {});
        scene.method_params["energy"] = std::string(energy);
        Row row = tenon_row(std::string("energy-") + energy, scene, measure(scene, options.quick ? 10 : 50));
        options.print(row);
    }
}

// Culling on two entangled bodies: block trees, the overlap of their boxes at one level, and a tree inside it.
void culling_ablation(const Options& options) {
    Scene scene =
        scene_of("entangled-pair", options.quick
                                       ? std::map<std::string, ParamValue>{}
                                       : std::map<std::string, ParamValue>{{"preset", std::string("paper")}});
    scene.dt = 0.01;
    const World world = build_world(scene);
    const geometry::SurfaceTree a(world.shape_of(0).mesh, world.shape_of(0).all_edges);
    const geometry::SurfaceTree b(world.shape_of(1).mesh, world.shape_of(1).all_edges);
    Mat34 qa = world.bodies.q[0], qb = world.bodies.q[1];
    qa.col(3).x() += 0.4;  // spikes between spikes
    qb.col(3).x() -= 0.4;
    const std::pair<const char*, geometry::OverlapMethod> methods[] = {
        {"block-trees", geometry::OverlapMethod::blocks},
        {"one-level", geometry::OverlapMethod::region},
        {"local-tree", geometry::OverlapMethod::region_tree}};
    for (const auto& [name, method] : methods) {
        if (std::string(name) == "one-level" && !options.quick) continue;  // quadratic in the crowd
        geometry::OverlapScratch scratch;
        geometry::Candidates found;
        geometry::OverlapStats stats;
        const double seconds = seconds_of([&] {
            geometry::find_candidates(geometry::posed(a, qa), geometry::posed(b, qb), 1e-3, scratch, found,
                                      method, &stats);
        });
        Row row;
        row.set("bench", "affine").set("case", std::string("culling-") + name).set("engine", "tenon");
        row.set("size", static_cast<double>(world.shape_of(0).mesh.triangles.size() +
                                            world.shape_of(1).mesh.triangles.size()));
        row.set("threads", 1).set("ms_per_step", 1e3 * seconds);
        row.set("box_tests", static_cast<double>(stats.node_tests + stats.box_tests));
        row.set("candidates", static_cast<double>(found.size()));
        options.print(row);
    }
}

void run(const Options& options) {
    const int before = thread_count();
    set_threads(1);
    if (options.wants("free-flight")) free_flight(options);
    wall(options);
    friction_scenes(options);
    if (options.wants("energy")) energies_ablation(options);
    if (options.wants("culling")) culling_ablation(options);
    set_threads(before);
}

}  // namespace

Bench affine_bench() {
    return {"affine", "affine bodies with barrier contact, beside Bullet; energies and culling compared",
            run};
}

}  // namespace tenon::bench

// The volume method's scenes in the columns of the paper's Table 1, what detail costs, and grid cells against points.
#include <algorithm>
#include <ctime>
#include <map>

#include <fmt/format.h>

#include "bench/volume_cases.hpp"
#include "math/parallel.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon::bench {
namespace {

struct Case {
    std::string name, scene;
    std::map<std::string, ParamValue> given;
    double from, steps;             // s of simulated time before the measured steps, so that bodies touch
    double paper_per_second;        // iterations per second in the paper, 0: not given
    std::string method = "volume";  // impulse: signed distances
};

long triangles_of(const Model& model) {
    long sum = 0;
    for (int i = 0; i < model.bodies.size(); ++i)
        sum += static_cast<long>(model.shape_of(i).mesh.triangles.size());
    for (const ElasticBody& body : model.elastic)
        sum += static_cast<long>(body.embedded.triangles.empty() ? body.surface.size()
                                                                 : body.embedded.triangles.size());
    return sum;
}

// Runs a scene for some steps; means over them, in the columns of Table 1. The paper's detection times hold the images
// of the stabilisation too, and so do these.
Row measure(const Case& which) {
    Scene scene = make_builtin(*find_builtin(which.scene), which.given);
    if (which.method != "volume") {
        scene.method = which.method;
        scene.method_params.clear();
    }
    double setup = 0;
    std::unique_ptr<Simulation> simulation;
    setup = seconds_of([&] {
        simulation = std::make_unique<Simulation>(scene);
        simulation->step();
    });
    while (simulation->time() < which.from) simulation->step();
    std::map<std::string, double> sums;
    double contacts = 0, most_contacts = 0, depth = 0, unconverged = 0;
    const std::clock_t cpu_before = std::clock();
    const double seconds = seconds_of([&] {
        for (int i = 0; i < which.steps; ++i) {
            const StepReport report = simulation->step();
            for (const auto& [stage, ms] : report.phases) sums[stage] += ms / which.steps;
            for (const auto& [name, value] : report.metrics) sums[name] += value / which.steps;
            contacts += static_cast<double>(report.contacts) / which.steps;
            most_contacts = std::max(most_contacts, static_cast<double>(report.contacts));
            unconverged += report.converged ? 0 : 1;
            if (report.min_distance < 1e299) depth = std::max(depth, -report.min_distance);
        }
    });
    // of all threads: on a machine with other work to do, the better measure of cost
    const double cpu = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC;
    const Model& model = simulation->model();
    Row row;
    row.set("bench", std::string("volume")).set("case", which.name).set("engine", std::string("tenon"));
    row.set("method", which.method)
        .set("size", static_cast<double>(model.bodies.size() + model.elastic.size()));
    row.set("threads", thread_count()).set("ms_per_step", 1e3 * seconds / which.steps);
    row.set("cpu_ms_per_step", 1e3 * cpu / which.steps);
    row.set("triangles", static_cast<double>(triangles_of(model)));
    if (which.method == "volume")
        row.set("ldi_rays", sums["ldi_rays"])
            .set("ldi_layers", sums["ldi_layers"])
            .set("ldi_triangles", sums["ldi_triangles"]);
    row.set("contacts", contacts).set("contacts_max", most_contacts);
    if (which.method == "volume")
        for (const char* stage :
             {"collision_detection", "contact_modelling", "mechanical_motion", "constraint_solver"})
            row.set(std::string(stage) + "_ms", sums[stage]);
    row.set("per_second", which.steps / seconds);
    if (which.paper_per_second > 0) row.set("paper_per_second", which.paper_per_second);
    row.set("setup_seconds", setup).set("max_penetration", depth).set("unconverged_steps", unconverged);
    return row;
}

std::vector<Case> table_1(bool quick) {
    const auto text = [](const char* value) { return ParamValue(std::string(value)); };
    const double steps = quick ? 10 : 40;
    std::vector<Case> cases = {
        {"octopuses", "octopuses", {{"count", 3.0}, {"detail", quick ? 10.0 : 28.0}}, 0.4, steps, 15.6},
        {"grasping", "grasp", {{"subdivisions", quick ? 3.0 : 4.0}}, 0.5, steps, 54.0},
        {"snake-mono", "snake", {{"contacts", text("mono")}}, 0.2, steps, 109},
    };
    for (const auto& [pixels, paper] : {std::pair{16.0, 104.0}, {8.0, 91.9}, {4.0, 65.3}})
        cases.push_back({fmt::format("snake-cells-{:.0f}", pixels),
                         "snake",
                         {{"cell_pixels", pixels}},
                         0.2,
                         steps,
                         paper});
    if (quick) {
        cases.push_back({"medical", "organs", {}, 0.3, steps, 13.3});
        cases.push_back({"toys-4", "soft-toys", {}, 0.3, steps, 0});
        return cases;
    }
    cases.push_back({"medical",
                     "organs",
                     {{"organs", 6.0}, {"subdivisions", 6.0}, {"cell_size", 0.06}},
                     0.3,
                     steps,
                     13.3});
    for (const auto& [toys, paper] : {std::pair{10.0, 7.29}, {20.0, 2.44}, {40.0, 0.88}})
        cases.push_back({fmt::format("toys-{:.0f}", toys),
                         "soft-toys",
                         {{"toys", toys}, {"detail", 30.0}},
                         1.0,
                         20,
                         paper});
    return cases;
}

// The same contact with 5K and 343K triangles a body, and signed distances on the same pair.
std::vector<Case> detail(bool quick) {
    const double from = 0.35, steps = quick ? 10 : 60;
    std::vector<Case> cases = {
        {"detailed-pair-5k", "detailed-pair", {{"detail", 16.0}}, from, steps, 0},
        {"detailed-pair-5k-distances", "detailed-pair", {{"detail", 16.0}}, from, steps, 0, "impulse"}};
    if (!quick) {
        cases.push_back({"detailed-pair-343k", "detailed-pair", {{"detail", 131.0}}, from, steps, 41.1});
        cases.push_back({"detailed-pair-343k-distances",
                         "detailed-pair",
                         {{"detail", 131.0}},
                         from,
                         steps,
                         56.7,
                         "impulse"});
    }
    return cases;
}

void run(const Options& options) {
    for (const auto& cases : {table_1(options.quick), detail(options.quick)})
        for (const Case& which : cases)
            if (options.wants(which.name)) options.print(measure(which));
    if (options.wants("separation")) separation_by_cells(options);
    if (options.wants("friction-cells")) friction_by_cells(options);
    if (options.wants("untangle")) untangle_piles(options);
}

}  // namespace

Bench volume_bench() {
    return {"volume",
            "the scenes of Table 1 in its columns, the cost of detail, Figs. 6 and 7, random piles untangled",
            run};
}

}  // namespace tenon::bench

// The volume method's scenes in the columns of the paper's Table 1, what detail costs, and grid cells against points.
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
    int steps;
    double paper_per_second;  // iterations per second in the paper, 0: not given
};

// Runs a scene for some steps; means over them.
Row measure(const Case& which) {
    Simulation simulation(make_builtin(*find_builtin(which.scene), which.given));
    std::map<std::string, double> sums;
    double contacts = 0, most_contacts = 0, depth = 0;
    const double seconds = seconds_of([&] {
        for (int i = 0; i < which.steps; ++i) {
            const StepReport report = simulation.step();
            for (const auto& [stage, ms] : report.phases) sums[stage] += ms / which.steps;
            for (const auto& [name, value] : report.figures) sums[name] += value / which.steps;
            contacts += static_cast<double>(report.contacts) / which.steps;
            most_contacts = std::max(most_contacts, static_cast<double>(report.contacts));
            if (report.min_distance < 1e299) depth = std::max(depth, -report.min_distance);
        }
    });
    const World& world = simulation.world();
    long triangles = 0;
    for (int i = 0; i < world.bodies.size(); ++i)
        triangles += static_cast<long>(world.shape_of(i).mesh.triangles.size());
    for (const ElasticBody& body : world.elastic)
        triangles += static_cast<long>(body.embedded.triangles.empty() ? body.surface.size()
                                                                       : body.embedded.triangles.size());
    Row row;
    row.set("bench", std::string("volume")).set("case", which.name).set("engine", std::string("tenon"));
    row.set("method", std::string("volume"))
        .set("size", static_cast<double>(world.bodies.size() + world.elastic.size()));
    row.set("threads", thread_count()).set("ms_per_step", 1e3 * seconds / which.steps);
    row.set("triangles", static_cast<double>(triangles))
        .set("contacts", contacts)
        .set("contacts_max", most_contacts);
    for (const char* stage :
         {"collision_detection", "mechanical_motion", "constraint_solver", "stabilisation"})
        row.set(std::string(stage) + "_ms", sums[stage]);
    row.set("ldi_rays", sums["ldi_rays"]).set("per_second", which.steps / seconds);
    if (which.paper_per_second > 0) row.set("paper_per_second", which.paper_per_second);
    row.set("max_penetration", depth);
    return row;
}

void run(const Options& options) {
    const int steps = options.quick ? 10 : 60;
    const auto text = [](const char* value) { return ParamValue(std::string(value)); };
    std::vector<Case> cases = {
        {"medical", "organs", {{"cell_size", options.quick ? 0.1 : 0.06}}, steps, 13.3},
        {"octopuses", "octopuses", {}, steps, 15.6},
        {"grasping", "grasp", {}, steps, 54.0},
        {"snake-mono", "snake", {{"contacts", text("mono")}}, steps, 109},
        {"snake-multi", "snake", {{"cell_pixels", 8.0}}, steps, 91.9},
        {"snake-fine", "snake", {{"cell_pixels", 4.0}}, steps, 65.3},
        {"detailed-pair-5k", "detailed-pair", {{"detail", 16.0}}, 90, 0},
        {"toys-10", "soft-toys", {{"toys", 10.0}, {"detail", 20.0}}, steps, 7.29},
    };
    if (!options.quick) {
        cases.push_back({"detailed-pair-346k", "detailed-pair", {{"detail", 131.0}}, 90, 41.1});
        cases.push_back({"toys-20", "soft-toys", {{"toys", 20.0}, {"detail", 20.0}}, steps, 2.44});
        cases.push_back({"toys-40", "soft-toys", {{"toys", 40.0}, {"detail", 20.0}}, steps, 0.88});
    }
    for (const Case& which : cases)
        if (options.wants(which.name)) options.print(measure(which));
    if (options.wants("untangle")) untangle_piles(options);
}

}  // namespace

Bench volume_bench() {
    return {"volume", "the scenes of Table 1 in its columns; the cost of detail", run};
}

}  // namespace tenon::bench

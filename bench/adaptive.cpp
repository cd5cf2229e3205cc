// The adaptive method against its own plain run: the columns of the paper's Table 1, error against plain, alternatives for
// the oracle, and the cost against the number of tetrahedra.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/bench.hpp"
#include "math/parallel.hpp"
#include "tenon/builtin.hpp"
#include "tenon/simulation.hpp"

namespace tenon::bench {
namespace {

using Given = std::map<std::string, ParamValue>;

// One run, step by step beside the other, so that both see the same machine.
struct Run {
    Simulation simulation;
    std::vector<double> ms, contact_ms;
    double oracle_ms = 0, assemble_ms = 0, factor_ms = 0, rigid = 0, woken = 0;
    int oracles = 0, skipped = 0;

    explicit Run(const Scene& scene) : simulation(scene) {}
    void step() {
        StepReport report;
        ms.push_back(1e3 * seconds_of([&] { report = simulation.step(); }));
        double contact = 0;
        for (const auto& [stage, value] : report.phases) {
            if (stage == "contact" || stage == "collide") contact += value;
            if (stage == "oracle") oracle_ms += value;
            if (stage == "assemble") assemble_ms += value;
            if (stage == "factor") factor_ms += value;
        }
        contact_ms.push_back(contact);
        for (const auto& [name, value] : report.figures) {
            if (name == "rigid_fraction") rigid += value;
            if (name == "elements_woken") woken += value;
            if (name == "oracles") oracles += static_cast<int>(value);
            if (name == "oracles_skipped") skipped += static_cast<int>(value);
        }
    }
    double total() const {
        double sum = 0;
        for (double m : ms) sum += m;
        return sum;
    }
    double total_without_contact() const {
        double sum = 0;
        for (std::size_t i = 0; i < ms.size(); ++i) sum += ms[i] - contact_ms[i];
        return sum;
    }
};

// Largest distance of a vertex, and of the centres of mass, over the size of their body.
struct Error {
    double vertex = 0, center = 0;
    void compare(const World& a, const World& b) {
        for (std::size_t e = 0; e < a.elastic.size(); ++e) {
            Box3 box;
            Vec3 ca = Vec3::Zero(), cb = Vec3::Zero();
            double mass = 0, worst = 0;
            const ElasticBody &p = a.elastic[e], &q = b.elastic[e];
            for (std::size_t v = 0; v < p.x.size(); ++v) {
                box.add(p.rest[v]);
                worst = std::max(worst, (p.x[v] - q.x[v]).norm());
                ca += p.vertex_mass[v] * p.x[v];
                cb += p.vertex_mass[v] * q.x[v];
                mass += p.vertex_mass[v];
            }
            const double size = box.size().maxCoeff();
            vertex = std::max(vertex, worst / size);
            center = std::max(center, (ca - cb).norm() / mass / size);
        }
    }
};

std::size_t tetrahedra(const World& world) {
    std::size_t sum = 0;
    for (const ElasticBody& body : world.elastic) sum += body.tets.size();
    return sum;
}

Row start_row(const std::string& name, const std::string& method, const World& world) {
    Row row;
    row.set("bench", std::string("adaptive")).set("case", name).set("engine", std::string("tenon"));
    row.set("method", method).set("size", static_cast<double>(tetrahedra(world)));
    row.set("threads", thread_count());
    return row;
}

struct Case {
    std::string scene;
    Given given;
    double paper_total, paper_mean, paper_nc_total, paper_nc_mean;  // speed-ups of Table 1; 0: not given
};

void table_row(const Options& options, const Case& which, double share) {
    Given given = which.given;
    const auto scene_with = [&](bool adaptive) {
        given["adaptive"] = adaptive;
        return make_builtin(*find_builtin(which.scene), given);
    };
    Run adaptive(scene_with(true)), plain(scene_with(false));
    const int steps =
        std::max(5, static_cast<int>(share * adaptive.simulation.scene().seconds / adaptive.simulation.dt()));
    Error error;
    for (int i = 0; i < steps; ++i) {
        adaptive.step();
        plain.step();
        error.compare(plain.simulation.world(), adaptive.simulation.world());
    }
    double mean = 0, nc_mean = 0;
    for (int i = 0; i < steps; ++i) {
        mean += plain.ms[i] / adaptive.ms[i] / steps;
        nc_mean += (plain.ms[i] - plain.contact_ms[i]) /
                   std::max(1e-6, adaptive.ms[i] - adaptive.contact_ms[i]) / steps;
    }
    const Energies a = energies(adaptive.simulation.world()), p = energies(plain.simulation.world());
    Row row = start_row(which.scene, "adaptive", adaptive.simulation.world());
    row.set("ms_per_step", adaptive.total() / steps).set("plain_ms_per_step", plain.total() / steps);
    row.set("steps", steps).set("adaptive_s", 1e-3 * adaptive.total()).set("plain_s", 1e-3 * plain.total());
    row.set("total_speedup", plain.total() / adaptive.total()).set("mean_speedup", mean);
    row.set("nc_total_speedup", plain.total_without_contact() / adaptive.total_without_contact());
    row.set("nc_mean_speedup", nc_mean);
    if (which.paper_total > 0)
        row.set("paper_total", which.paper_total)
            .set("paper_mean", which.paper_mean)
            .set("paper_nc_total", which.paper_nc_total)
            .set("paper_nc_mean", which.paper_nc_mean);
    row.set("oracle_ms", adaptive.oracle_ms / steps)
        .set("oracles", adaptive.oracles)
        .set("oracles_skipped", adaptive.skipped)
        .set("rigid_share", adaptive.rigid / steps);
    row.set("error", error.vertex).set("center_error", error.center);
    row.set("energy_difference", std::abs(a.gravity - p.gravity) / std::max(1e-12, std::abs(p.gravity)));
    options.print(row);
}

void table(const Options& options) {
    std::vector<Case> cases = {{"octopus-soft", {}, 4.30, 5.81, 4.29, 7.00},
                               {"blob", {}, 2.09, 9.10, 1.81, 5.74},
                               {"wheel", {}, 11.49, 16.43, 9.74, 12.39},
                               {"forest", {}, 8.29, 9.24, 8.27, 9.21},
                               {"pachinko", {}, 10.96, 13.24, 5.23, 5.63},
                               {"cantilever", {}, 0, 0, 0, 0},
                               {"mattress", {}, 0, 0, 0, 0}};
    if (!options.quick)
        for (Case& c : cases)
            if (c.paper_total > 0) c.given["preset"] = std::string("paper");
    for (const Case& c : cases)
        if (options.wants(c.scene)) table_row(options, c, options.quick ? 0.1 : 1.0);
}

// How the forecast's preconditioner changes the result: what stays rigid, what it costs, how far it is from plain.
void ablation(const Options& options) {
    if (!options.wants("oracle")) return;
    for (const std::string kind : {"jacobi", "incomplete", "cholesky"}) {
        Scene scene = make_builtin(*find_builtin("mattress"), {{"cell", options.quick ? 0.2 : 0.12}});
        scene.method_params["preconditioner"] = kind;
        Scene reference = scene;
        reference.method_params["adaptive"] = false;
        Run adaptive(scene), plain(reference);
        Error error;
        const int steps = options.quick ? 60 : 200;
        for (int i = 0; i < steps; ++i) {
            adaptive.step();
            plain.step();
            error.compare(plain.simulation.world(), adaptive.simulation.world());
        }
        Row row = start_row("oracle-" + kind, "adaptive", adaptive.simulation.world());
        row.set("ms_per_step", adaptive.total() / steps).set("plain_ms_per_step", plain.total() / steps);
        row.set("oracle_ms", adaptive.oracle_ms / steps).set("rigid_share", adaptive.rigid / steps);
        row.set("elements_woken", adaptive.woken).set("error", error.vertex);
        options.print(row);
    }
}

void cost(const Options& options) {
    if (!options.wants("cost")) return;
    std::vector<double> cells{0.05, 0.0225};
    if (!options.quick) cells.push_back(0.0101);
    for (double cell : cells) {
        Run plain(make_builtin(*find_builtin("cantilever"),
                               {{"cell", cell}, {"adaptive", false}, {"push_at", 0.0}}));
        const int steps = cell > 0.03 ? 40 : cell > 0.015 ? 10 : 4;
        plain.step();  // orders and analyses
        const double first = plain.ms[0];
        plain.ms.clear();
        plain.assemble_ms = plain.factor_ms = 0;
        for (int i = 0; i < steps; ++i) plain.step();
        const World& world = plain.simulation.world();
        Row row = start_row(fmt::format("cost-{}", tetrahedra(world)), "plain", world);
        row.set("ms_per_step", plain.total() / steps).set("first_step_ms", first);
        row.set("us_per_tetrahedron", 1e3 * plain.total() / steps / static_cast<double>(tetrahedra(world)));
        row.set("assemble_share", plain.assemble_ms / plain.total());
        row.set("factor_share", plain.factor_ms / plain.total());
        options.print(row);
    }
}

void run(const Options& options) {
    table(options);
    ablation(options);
    cost(options);
}

}  // namespace

Bench adaptive_bench() {
    return {"adaptive", "plain against adaptive in Table 1's columns, error, oracle, cost of tetrahedra",
            run};
}

}  // namespace tenon::bench

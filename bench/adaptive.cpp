// The adaptive method against its own plain run: the columns of the paper's Table 1, error against plain, alternatives for
// the oracle, what a wholly rigid solid costs, the worst case, and the cost against the number of tetrahedra.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/adaptive_runs.hpp"
#include "scene/builtin/adaptive_scene_parts.hpp"

namespace tenon::bench {
namespace {

struct Case {
    std::string scene;
    double paper_total, paper_mean, paper_nc_total, paper_nc_mean;  // speed-ups of Table 1; 0: not given
};

// "assemble 1.2, factor 3.4": milliseconds per step of every stage that shows.
std::string stages_of(const AdaptiveRun& run) {
    std::string text;
    for (const auto& [stage, ms] : run.stage_ms)
        if (ms > 0.002 * run.total())
            text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", stage, ms / run.steps());
    return text;
}

void table_row(const Options& options, const Case& which, bool small, Given given = {}) {
    if (!options.quick && !small && which.paper_total > 0) given["preset"] = std::string("paper");
    AdaptiveRun adaptive(adaptive_scene_of(which.scene, given, true));
    AdaptiveRun plain(adaptive_scene_of(which.scene, given, false));
    const PairResult r = run_pair(adaptive, plain, options.quick ? 0.1 : 1.0);
    const int steps = adaptive.steps();
    const Simulation &a = adaptive.simulation, &p = plain.simulation;
    Row row = adaptive_row(which.scene + (small ? "-small" : ""), "adaptive", a);
    row.set("tau_R", std::get<double>(adaptive.simulation.scene().method_params.at("tau_R")));
    row.set("ms_per_step", r.adaptive_ms).set("plain_ms_per_step", r.plain_ms).set("steps", steps);
    row.set("cpu_ms_per_step", adaptive.cpu_ms / steps).set("plain_cpu_ms_per_step", plain.cpu_ms / steps);
    row.set("adaptive_s", 1e-3 * adaptive.total()).set("plain_s", 1e-3 * plain.total());
    row.set("total_speedup", r.total).set("mean_speedup", r.mean);
    row.set("nc_total_speedup", r.nc_total).set("nc_mean_speedup", r.nc_mean).set("cpu_speedup", r.cpu_total);
    if (which.paper_total > 0)
        row.set("paper_total", which.paper_total)
            .set("paper_mean", which.paper_mean)
            .set("paper_nc_total", which.paper_nc_total)
            .set("paper_nc_mean", which.paper_nc_mean);
    row.set("oracle_ms", adaptive.stage_ms["oracle"] / steps)
        .set("oracles", adaptive.figure_sum["oracles"])
        .set("oracles_skipped", adaptive.figure_sum["oracles_skipped"])
        .set("rigid_share", adaptive.figure_sum["rigid_fraction"] / steps);
    row.set("error", r.error.vertex).set("center_error", r.error.center);
    if (which.scene ==
        "wheel") {  // it has tipped when its centre has sunk by a fifth; where it then rolls is chance
        std::size_t tips = 0;
        while (tips < plain.height.size() && plain.height[tips] > 0.8 * plain.height[0]) ++tips;
        if (tips > 0) row.set("error_until_tipped", r.error.until[tips - 1]);
        row.set("tips_at_s", static_cast<double>(tips) * plain.simulation.dt());
    }
    row.set("center_of_all", (center_of_all(a) - center_of_all(p)).norm() /
                                 std::max(1e-12, bounds(p.model(), p.state()).diagonal()));
    row.set("energy_difference",
            std::abs(adaptive.energy.back() - plain.energy.back()) / energy_scale(plain));
    row.set("height_difference", std::abs(highest_point(a) - highest_point(p)) / height_of_all(p));
    row.set("stages_ms", stages_of(adaptive)).set("plain_stages_ms", stages_of(plain));
    options.print(row);
}

// The adaptive run whole; the plain step from where it is, forty times on the way. The third plain step counts: the first
// orders unknowns, and its contacts have no impulses to start from. Processor times.
void sampled_row(const Options& options, const Case& which) {
    Given given;
    if (!options.quick && which.paper_total > 0) given["preset"] = std::string("paper");
    AdaptiveRun adaptive(adaptive_scene_of(which.scene, given, true));
    AdaptiveRun plain(adaptive_scene_of(which.scene, given, false));
    const int steps = static_cast<int>(adaptive.simulation.scene().seconds / adaptive.simulation.dt() + 0.5);
    const int stride = std::max(1, steps / (options.quick ? 4 : 40));
    double plain_ms = 0, plain_contact = 0;
    std::vector<double> ratios;
    for (int i = 0; i < steps; ++i) {
        const double before = adaptive.cpu_ms;
        if (i % stride == stride / 2) {
            plain.simulation.state().assign_without_memory(adaptive.simulation.state());
            for (int k = 0; k < 3; ++k) {
                plain.cpu_ms = 0;
                plain.step();
            }
            plain_ms += plain.cpu_ms;
            plain_contact += plain.cpu_ms * plain.contact_ms.back() / plain.ms.back();
        }
        adaptive.step();
        if (i % stride == stride / 2)
            ratios.push_back(plain.cpu_ms / std::max(1e-3, adaptive.cpu_ms - before));
    }
    const double samples = static_cast<double>(ratios.size()), plain_total = plain_ms / samples * steps;
    double contact = 0, wall = 0;
    for (int i = 0; i < steps; ++i) {
        contact += adaptive.contact_ms[i];
        wall += adaptive.ms[i];
    }
    Row row = adaptive_row(which.scene + "-sampled", "adaptive", adaptive.simulation);
    row.set("ms_per_step", adaptive.cpu_ms / steps).set("plain_ms_per_step", plain_ms / samples);
    row.set("steps", steps).set("plain_samples", samples);
    row.set("total_speedup", plain_total / adaptive.cpu_ms).set("median_speedup", median(ratios));
    row.set("nc_total_speedup",
            (plain_ms - plain_contact) / samples * steps / (adaptive.cpu_ms * (1 - contact / wall)));
    row.set("paper_total", which.paper_total).set("paper_nc_total", which.paper_nc_total);
    row.set("oracle_ms", adaptive.stage_ms["oracle"] / steps * adaptive.cpu_ms / wall)
        .set("rigid_share", adaptive.figure_sum["rigid_fraction"] / steps);
    row.set("stages_ms", stages_of(adaptive));
    options.print(row);
}

void table(const Options& options) {
    const std::vector<Case> cases = {{"octopus-soft", 4.30, 5.81, 4.29, 7.00},
                                     {"blob", 2.09, 9.10, 1.81, 5.74},
                                     {"wheel", 11.49, 16.43, 9.74, 12.39},
                                     {"forest", 8.29, 9.24, 8.27, 9.21},
                                     {"pachinko", 10.96, 13.24, 5.23, 5.63},
                                     {"cantilever", 0, 0, 0, 0},
                                     {"mattress", 0, 0, 0, 0}};
    const bool small =
        options.only.find("-small") != std::string::npos;  // whole, but at the scenes' own size
    const bool sampled = options.only.find("-sampled") != std::string::npos;
    const bool table1 =  // with the paper's thresholds: by name only
        options.wants("pachinko-table1") && options.only.find("-table1") != std::string::npos;
    for (const Case& c : cases)
        if (table1 && c.scene == "pachinko")
            table_row(options, c, false, {{"tau_R", 7e-3}, {"tau_E", 7e-2}});
        else if (options.only.find("-thresholds") != std::string::npos &&
                 options.wants(c.scene + "-thresholds"))
            for (double tau : {7e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7})
                table_row(options, c, true, {{"tau_R", tau}, {"tau_E", 10 * tau}});
        else if (sampled && options.wants(c.scene + "-sampled"))
            sampled_row(options, c);
        else if (!sampled && options.wants(c.scene + (small ? "-small" : "")))
            table_row(options, c, small);
}

// How the forecast's preconditioner changes the result: what stays rigid, what it costs, how far it is from plain.
void ablation(const Options& options) {
    if (!options.wants("oracle")) return;
    for (const std::string kind : {"jacobi", "incomplete", "cholesky"}) {
        Scene scene = adaptive_scene_of("mattress", {{"cell", options.quick ? 0.2 : 0.12}}, true);
        scene.method_params["preconditioner"] = kind;
        Scene reference = scene;
        reference.method_params["adaptive"] = false;
        AdaptiveRun adaptive(scene), plain(reference);
        const PairResult r = run_pair(adaptive, plain, options.quick ? 0.3 : 1.0);
        Row row = adaptive_row("oracle-" + kind, "adaptive", adaptive.simulation);
        row.set("ms_per_step", r.adaptive_ms).set("plain_ms_per_step", r.plain_ms);
        row.set("oracle_ms", adaptive.stage_ms["oracle"] / adaptive.steps())
            .set("rigid_share", adaptive.figure_sum["rigid_fraction"] / adaptive.steps());
        row.set("elements_woken", adaptive.figure_sum["elements_woken"]).set("error", r.error.vertex);
        options.print(row);
    }
}

void cost(const Options& options) {
    if (!options.wants("cost")) return;
    std::vector<double> cells{0.05, 0.0225};
    if (!options.quick) cells.push_back(0.0101);
    for (double cell : cells) {
        AdaptiveRun plain(adaptive_scene_of("cantilever", {{"cell", cell}, {"push_at", 0.0}}, false));
        const int steps = cell > 0.03 ? 100 : cell > 0.015 ? 20 : 4;
        plain.step();  // orders and analyses
        const double first = plain.ms[0], analysed = plain.figure_sum["analyse_ms"];
        plain.forget_times();
        for (int i = 0; i < steps; ++i) plain.step();
        const Simulation& simulation = plain.simulation;
        const double count = static_cast<double>(tetrahedra(simulation));
        Row row = adaptive_row(fmt::format("cost-{}", tetrahedra(simulation)), "plain", simulation);
        row.set("ms_per_step", plain.total() / steps).set("first_step_ms", first);
        row.set("us_per_tetrahedron", 1e3 * plain.total() / steps / count);
        row.set("assemble_share", plain.stage_ms["assemble"] / plain.total());
        row.set("factor_share", plain.stage_ms["factor"] / plain.total());
        row.set("analyse_ms", analysed).set("later_analyse_ms", plain.figure_sum["analyse_ms"] - analysed);
        options.print(row);
    }
}

Scene one_box(bool elastic, double height) {
    Scene scene;
    scene.method = "adaptive";
    scene.dt = 0.01;
    scene.method_params["tau_R"] = 1e-4;
    add_floor(scene);
    const int foam = scene.add_material(soft_material("foam", 200, 1e6, 0.3, 0.0, 0.05));
    if (elastic) {
        ElasticSpec box = elastic_spec(scene, "box", box_spec({0.4, 0.4, 0.4}), foam, 0.06, {0, height, 0});
        scene.elastic.push_back(box);
    } else {
        BodySpec box = body_spec(scene, "box", box_spec({0.4, 0.4, 0.4}), {0, height, 0});
        box.material = foam;
        scene.add_body(box);
    }
    return scene;
}

// Solve and contact of a solid of many tetrahedra that is wholly rigid, and of a rigid body of the same shape and mass.
void rigid(const Options& options) {
    if (!options.wants("rigid")) return;
    for (const bool resting : {false, true}) {
        const double height = resting ? 0.2 : 1000.0;
        AdaptiveRun solid(one_box(true, height)), body(one_box(false, height));
        StepReport a, b;
        for (int i = 0; i < 150; ++i) {
            a = solid.step();
            b = body.step();
        }
        const int steps = 1000;
        const double share = solid.rigid.back();
        const double oracles = solid.figure_sum["oracles"], held = solid.figure_sum["contacts_held"];
        solid.forget_times();
        body.forget_times();
        for (int i = 0; i < steps; ++i) {  // in turn: both see the same machine
            a = solid.step();
            b = body.step();
        }
        const double solid_us = 1e3 * median(solid.solve_ms), body_us = 1e3 * median(body.solve_ms);
        Row row = adaptive_row(resting ? "rigid-resting" : "rigid-flying", "adaptive", solid.simulation);
        row.set("rigid_share", share).set("solve_contact_us", solid_us).set("body_us", body_us);
        row.set("contacts", a.contacts).set("body_contacts", b.contacts).set("ratio", solid_us / body_us);
        row.set("contacts_held", (solid.figure_sum["contacts_held"] - held) / steps);
        row.set("oracle_us", 1e3 * solid.stage_ms["oracle"] / steps);
        row.set("oracles_in_steps", solid.figure_sum["oracles"] - oracles);
        options.print(row);
    }
}

// A beam without damping that swings throughout: hardly anything to gain.
void worst(const Options& options) {
    if (!options.wants("worst")) return;
    const Given given{{"cell", options.quick ? 0.05 : 0.025},
                      {"damping", 0.0},
                      {"young", 5e5},
                      {"push_at", 0.0},
                      {"seconds", options.quick ? 0.5 : 2.0}};
    AdaptiveRun adaptive(adaptive_scene_of("cantilever", given, true));
    AdaptiveRun plain(adaptive_scene_of("cantilever", given, false));
    const PairResult r = run_pair(adaptive, plain);
    Row row = adaptive_row("worst", "adaptive", adaptive.simulation);
    row.set("ms_per_step", r.adaptive_ms).set("plain_ms_per_step", r.plain_ms);
    row.set("slower_by", 1 / r.cpu_total - 1);
    row.set("rigid_share", adaptive.figure_sum["rigid_fraction"] / adaptive.steps())
        .set("error", r.error.vertex);
    options.print(row);
}

void run(const Options& options) {
    table(options);
    ablation(options);
    cost(options);
    rigid(options);
    worst(options);
    adaptive_chaos(options);
    if (options.wants("figures")) adaptive_figures(options);
}

}  // namespace

Bench adaptive_bench() {
    return {
        "adaptive",
        "plain against adaptive in Table 1's columns, error, oracle, cost of tetrahedra, the paper's figures",
        run};
}

}  // namespace tenon::bench

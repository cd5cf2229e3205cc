// The paper's Figs. 4 to 7 from our own runs, as SVG files.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "bench/adaptive_runs.hpp"
#include "export/svg_plot.hpp"

namespace tenon::bench {
namespace {

std::string path_of(const Options& options, const std::string& name) {
    return (std::filesystem::path(options.plots.empty() ? "adaptive-figures" : options.plots) / name)
        .string();
}

struct Sweep {
    std::string title;
    std::vector<std::pair<std::string, Given>> runs;  // label and parameters
};

// Rigid share over time, one line a run; error and speed-up against plain as rows.
exporting::PlotPanel sweep_panel(const Options& options, const Sweep& sweep, const Given& common) {
    exporting::PlotPanel panel;
    panel.title = sweep.title;
    panel.x_label = "time [s]";
    panel.y_label = "rigid share";
    for (const auto& [label, own] : sweep.runs) {
        Given given = common;
        for (const auto& [name, value] : own) given[name] = value;
        AdaptiveRun adaptive(adaptive_scene_of("cantilever", given, true));
        AdaptiveRun plain(adaptive_scene_of("cantilever", given, false));
        const PairResult r = run_pair(adaptive, plain);
        exporting::PlotLine line;
        line.label = label;
        for (int i = 0; i < adaptive.steps(); ++i) {
            line.x.push_back((i + 1) * adaptive.simulation.dt());
            line.y.push_back(adaptive.rigid[i]);
        }
        panel.lines.push_back(std::move(line));
        Row row = adaptive_row("fig4 " + sweep.title + " " + label, "adaptive", adaptive.simulation);
        row.set("ms_per_step", r.adaptive_ms).set("cpu_speedup", r.cpu_total).set("error", r.error.vertex);
        options.print(row);
    }
    return panel;
}

void figure_4(const Options& options) {
    const Given common{{"flat", true},
                       {"cell", options.quick ? 0.04 : 0.02},
                       {"push_at", 0.0},
                       {"seconds", options.quick ? 2.0 : 4.0}};
    const std::vector<Sweep> sweeps = {
        {"threshold tau_E (tau_R = tau_E / 100)",
         {{"1e-1", {{"tau_E", 1e-1}, {"tau_R", 1e-3}}},
          {"1e-3", {{"tau_E", 1e-3}, {"tau_R", 1e-5}}},
          {"1e-5", {{"tau_E", 1e-5}, {"tau_R", 1e-7}}}}},
        {"damping alpha_1",
         {{"0.005 s", {{"damping", 0.005}}},
          {"0.02 s", {{"damping", 0.02}}},
          {"0.08 s", {{"damping", 0.08}}}}},
        {"resolution",
         {{"cell 0.1 m", {{"cell", 0.1}}}, {"0.04 m", {{"cell", 0.04}}}, {"0.02 m", {{"cell", 0.02}}}}},
        {"stiffness",
         {{"1e6 Pa", {{"young", 1e6}}}, {"5e6 Pa", {{"young", 5e6}}}, {"2.5e7 Pa", {{"young", 2.5e7}}}}}};
    exporting::PlotPage page;
    page.title = "What rigidifies when: four sweeps of the cantilever";
    for (const Sweep& sweep : sweeps) page.panels.push_back(sweep_panel(options, sweep, common));
    exporting::write_plot(page, path_of(options, "fig4-sweeps.svg"));
}

void figure_5(const Options& options) {
    exporting::PlotLine error, cost;
    error.label = "largest error / length";
    cost.label = "adaptive time / plain time";
    error.markers = cost.markers = true;
    for (double tau : {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0}) {
        const Given given{
            {"flat", true}, {"cell", options.quick ? 0.04 : 0.02}, {"tau_E", tau}, {"tau_R", 0.1 * tau}};
        AdaptiveRun adaptive(adaptive_scene_of("cantilever", given, true));
        AdaptiveRun plain(adaptive_scene_of("cantilever", given, false));
        const PairResult r = run_pair(adaptive, plain);
        error.x.push_back(tau);
        error.y.push_back(r.error.vertex);
        cost.x.push_back(tau);
        cost.y.push_back(1 / r.cpu_total);
        Row row = adaptive_row(fmt::format("fig5 tau_E {:g}", tau), "adaptive", adaptive.simulation);
        row.set("ms_per_step", r.adaptive_ms).set("cpu_speedup", r.cpu_total).set("error", r.error.vertex);
        options.print(row);
    }
    exporting::PlotPanel panel;
    panel.title = "Error and cost against the threshold";
    panel.x_label = "tau_E [1/s^2]";
    panel.y_label = "relative to length and to the plain run";
    panel.log_x = panel.log_y = true;
    panel.lines = {error, cost};
    exporting::PlotPage page;
    page.title = "The trade-off between error and speed";
    page.columns = 1;
    page.panels = {panel};
    exporting::write_plot(page, path_of(options, "fig5-trade-off.svg"));
}

// Wheels that roll, lean and fall: when the centre has sunk to half its height.
void figure_7(const Options& options) {
    exporting::PlotPanel panel;
    panel.title = "Height of the wheel's centre";
    panel.x_label = "time [s]";
    panel.y_label = "height [m]";
    const double seconds = options.quick ? 0.6 : 4.5;
    for (double tau : {0.0, 5e-4, 5e-3, 5e-2, 0.5}) {
        Given given{{"seconds", seconds}};
        if (tau > 0) given["tau_E"] = tau, given["tau_R"] = 0.1 * tau;
        AdaptiveRun run(adaptive_scene_of("wheel", given, tau > 0));
        exporting::PlotLine line;
        line.label = tau > 0 ? fmt::format("tau_E = {:g}", tau) : "plain";
        line.dashed = tau == 0;
        double fallen = -1;
        const int steps = static_cast<int>(seconds / run.simulation.dt() + 0.5);
        for (int i = 0; i < steps; ++i) {
            run.step();
            line.x.push_back((i + 1) * run.simulation.dt());
            line.y.push_back(middle_height(run.simulation));
            if (fallen < 0 && line.y.back() < 0.2) fallen = line.x.back();
        }
        Row row = adaptive_row("fig7 " + line.label, tau > 0 ? "adaptive" : "plain", run.simulation);
        row.set("ms_per_step", run.total() / steps)
            .set("fallen_at_s", fallen)
            .set("end_height", line.y.back());
        options.print(row);
        panel.lines.push_back(std::move(line));
    }
    exporting::PlotPage page;
    page.title = "Rolling wheels with different thresholds";
    page.columns = 1;
    page.panels = {panel};
    exporting::write_plot(page, path_of(options, "fig7-wheels.svg"));
}

// Strain rates of elastic elements and forecasts of rigid ones, at three times of the octopus' fall.
void figure_6(const Options& options) {
    AdaptiveRun run(adaptive_scene_of("octopus-soft", {{"cell", options.quick ? 0.13 : 0.1}}, true));
    exporting::PlotPage page;
    page.title = "Strain rates: true of elastic elements, forecast of rigid ones";
    double next = 0.4;
    while (run.simulation.time() < 2.2) {
        run.step();
        if (run.simulation.time() < next) continue;
        next += 0.6;
        exporting::PlotPanel panel;
        panel.title = fmt::format("t = {:.2f} s", run.simulation.time());
        panel.x_label = "log10 of the squared strain rate [1/s^2]";
        panel.y_label = "elements";
        exporting::PlotHistogram elastic{"elastic, true", {}, 32}, rigid{"rigid, forecast", {}, 32};
        for (float state : run.simulation.outputs().element_state[0])
            (state < 1 ? elastic : rigid).values.push_back(16 * (state - std::floor(state)) - 10);
        if (rigid.values.empty()) panel.title += ", all elastic: true rates";
        if (elastic.values.empty()) panel.title += ", all rigid: forecasts";
        if (!elastic.values.empty()) panel.histograms.push_back(elastic);
        if (!rigid.values.empty()) panel.histograms.push_back(rigid);
        page.panels.push_back(std::move(panel));
    }
    exporting::write_plot(page, path_of(options, "fig6-histograms.svg"));
}

}  // namespace

void adaptive_figures(const Options& options) {
    std::filesystem::create_directories(path_of(options, ""));
    figure_4(options);
    figure_5(options);
    figure_6(options);
    figure_7(options);
    options.note("the figures are in " + path_of(options, ""));
}

}  // namespace tenon::bench

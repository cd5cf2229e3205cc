#include "apps/tenon/plots.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tenon::app {
namespace {

constexpr std::size_t most_joints = 6;  // lines on the panel of joint forces

bool has_values(const run::Series& series) {
    return std::any_of(series.value.begin(), series.value.end(),
                       [](double v) { return std::isfinite(v) && v != 0; });
}

// Adds a panel of those series that exist and are not zero throughout.
void add(std::vector<exporting::PlotPanel>& panels, const run::RunReader& reader,
         const std::vector<std::string>& known, const std::vector<std::string>& wanted,
         const std::string& title, bool log_y = false) {
    std::vector<std::string> names;
    for (const std::string& name : wanted)
        if (std::find(known.begin(), known.end(), name) != known.end()) names.push_back(name);
    if (names.empty()) return;
    std::vector<run::Series> series = run::read_series(reader, names);
    std::erase_if(series, [](const run::Series& s) { return !has_values(s); });
    if (series.empty()) return;
    exporting::PlotPanel panel = panel_of(series, title);
    panel.log_y = log_y;
    panels.push_back(std::move(panel));
}

std::vector<std::string> starting_with(const std::vector<std::string>& names, const std::string& start) {
    std::vector<std::string> found;
    for (const std::string& name : names)
        if (name.starts_with(start)) found.push_back(name);
    return found;
}

// The joints that carry most, by their largest force.
std::vector<run::Series> strongest_joints(const run::RunReader& reader) {
    std::vector<std::string> names;
    for (const auto& joint : reader.joints()) names.push_back("joint." + joint.name + ".force");
    if (names.empty() || names.size() > 2000) return {};
    std::vector<run::Series> series = run::read_series(reader, names);
    std::erase_if(series, [](const run::Series& s) { return !has_values(s); });
    const auto peak = [](const run::Series& s) {
        double most = 0;
        for (double v : s.value)
            if (std::isfinite(v)) most = std::max(most, v);
        return most;
    };
    std::stable_sort(series.begin(), series.end(),
                     [&](const auto& a, const auto& b) { return peak(a) > peak(b); });
    if (series.size() > most_joints) series.resize(most_joints);
    return series;
}

// Energy with what was lost stacked upon it: the top is the start plus what forces, motors and scripts put in.
void add_energy_books(std::vector<exporting::PlotPanel>& panels, const run::RunReader& reader,
                      const std::vector<std::string>& known) {
    static const std::vector<std::string> losses = {"friction", "impact", "damping", "correction",
                                                    "integrator"},
                                          sources = {"forces", "motors", "scripts"};
    if (std::find(known.begin(), known.end(), "figure.energy.integrator") == known.end()) return;
    exporting::PlotPanel panel;
    panel.title = "Energy books: what is left, and what it was lost to, stacked";
    panel.x_label = "time [s]";
    panel.y_label = "[J]";
    const run::Series energy = run::read_series(reader, {"energy"})[0];
    exporting::PlotLine top{"energy", energy.time, energy.value};
    exporting::PlotLine in{"start + forces + motors + scripts", energy.time, energy.value, false, true};
    if (energy.value.empty()) return;
    std::fill(in.y.begin(), in.y.end(), energy.value[0]);
    const auto add_running_sum = [&](const std::string& share, std::vector<double>& to) {
        const run::Series series = run::read_series(reader, {"figure.energy." + share})[0];
        double sum = 0;
        for (std::size_t i = 0; i < std::min(to.size(), series.value.size()); ++i) {
            if (std::isfinite(series.value[i])) sum += series.value[i];
            to[i] += sum;
        }
        return has_values(series);
    };
    panel.lines.push_back(top);
    for (const std::string& share : losses)
        if (add_running_sum(share, top.y)) {
            top.label = "+ " + share;
            panel.lines.push_back(top);
        }
    for (const std::string& share : sources) add_running_sum(share, in.y);
    panel.lines.push_back(in);
    panels.push_back(std::move(panel));
}

// Squared strain rates that the adaptive method recorded with its elements, over frames of the whole run.
void add_strain_rates(std::vector<exporting::PlotPanel>& panels, const run::RunReader& reader) {
    if (reader.meta("method") != "adaptive" || reader.elastic().empty()) return;
    constexpr long frames = 30;
    exporting::PlotHistogram elastic{"elastic, true", {}, 32}, rigid{"rigid, forecast", {}, 32};
    const long count = reader.frame_count();
    for (long k = 0; k < std::min(frames, count); ++k) {
        const run::Frame frame = reader.frame(k * count / std::min(frames, count));
        for (const std::vector<float>& states : frame.element_state)
            for (float state : states)  // see docs/adaptive.md
                if (const float part = state - std::floor(state); part > 0)
                    (state < 1 ? elastic : rigid).values.push_back(16 * part - 10);
    }
    exporting::PlotPanel panel;
    panel.title = "Strain rates of elements";
    panel.x_label = "log10 of the squared strain rate [1/s^2]";
    panel.y_label = "elements";
    for (exporting::PlotHistogram* one : {&elastic, &rigid})
        if (!one->values.empty()) panel.histograms.push_back(std::move(*one));
    if (!panel.histograms.empty()) panels.push_back(std::move(panel));
}

}  // namespace

exporting::PlotPanel panel_of(const std::vector<run::Series>& series, const std::string& title) {
    exporting::PlotPanel panel;
    panel.title = title;
    panel.x_label = "time [s]";
    for (const run::Series& one : series) {
        if (panel.y_label.empty() && !one.unit.empty()) panel.y_label = fmt::format("[{}]", one.unit);
        exporting::PlotLine line;
        line.label = one.name;
        line.x = one.time;
        line.y = one.value;
        panel.lines.push_back(std::move(line));
    }
    return panel;
}

std::vector<exporting::PlotPanel> standard_panels(const run::RunReader& reader) {
    const std::vector<std::string> known = run::step_series_names(reader);
    std::vector<exporting::PlotPanel> panels;
    add(panels, reader, known, {"kinetic", "gravity", "elastic", "energy"}, "Energy");
    add_energy_books(panels, reader, known);
    add(panels, reader, known, {"px", "py", "pz"}, "Linear momentum");
    add(panels, reader, known, {"lx", "ly", "lz"}, "Angular momentum about the origin");
    add(panels, reader, known, {"contacts"}, "Contacts");
    add(panels, reader, known, {"min_distance"}, "Smallest distance", true);
    add(panels, reader, known, {"iterations"}, "Iterations per step");
    add(panels, reader, known, {"joint_residual"}, "Largest joint residual", true);
    if (const std::vector<run::Series> joints = strongest_joints(reader); !joints.empty())
        panels.push_back(panel_of(joints, "Forces of the joints that carry most"));
    std::vector<std::string> times = {"wall_ms"};
    for (const std::string& phase : starting_with(known, "phase.")) times.push_back(phase);
    add(panels, reader, known, times, "Time per step and stage");
    for (const std::string& figure : starting_with(known, "figure."))
        if (!figure.starts_with("figure.energy.")) add(panels, reader, known, {figure}, figure.substr(7));
    add_strain_rates(panels, reader);
    return panels;
}

}  // namespace tenon::app

// `tenon plot`: energies, momenta, contacts, iterations, timings and joint forces of a run as one HTML or SVG file.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/common.hpp"
#include "apps/tenon/html.hpp"
#include "apps/tenon/pictures.hpp"
#include "apps/tenon/plots.hpp"
#include "apps/tenon/summary.hpp"
#include "run/series.hpp"
#include "tenon/error.hpp"

namespace tenon::app {
namespace {

std::vector<exporting::PlotPanel> panels_of(const PlotRequest& request, const run::RunReader& reader) {
    if (request.series.empty()) return standard_panels(reader);
    std::vector<exporting::PlotPanel> panels;
    for (const run::Series& series : run::read_series(reader, request.series))
        panels.push_back(panel_of({series}, series.name));
    return panels;
}

// What `tenon verify --json` found, in a line.
void add_verdict(HtmlPage& page, const std::string& file) {
    const nlohmann::json verdict = nlohmann::json::parse(read_text(file), nullptr, false);
    if (!verdict.is_object())
        throw InputError(file, "", "holds no JSON object", "give what 'tenon verify' printed");
    const bool clean = verdict.value("clean", false);
    std::vector<std::pair<std::string, std::string>> rows;
    for (const auto& [name, value] : verdict.items())
        if (value.is_number() || value.is_boolean() || value.is_string())
            rows.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    page.heading("Verification");
    page.verdict(clean, clean ? "The independent exact check found nothing wrong."
                              : "The independent exact check found something wrong.");
    page.facts(rows);
}

std::string page_of(const PlotRequest& request, const run::RunReader& reader,
                    const std::vector<exporting::PlotPanel>& panels) {
    const run::Report report = report_from_json(reader.meta("report"));
    HtmlPage page(report.scene.empty() ? stem(request.run) : report.scene,
                  report.method.empty() ? "run in progress"
                                        : fmt::format("method {}, {}", report.method, report.status));
    for (const run::ExpectResult& result : report.expect) page.verdict(result.held, result.text);
    if (request.pictures > 0) {
        const Subject subject(request.run);
        render::RenderOptions options;
        const int columns = std::min(3, request.pictures), rows = (request.pictures + columns - 1) / columns;
        options.width = columns == 1 ? 1280 : 640;
        options.height = columns == 1 ? 720 : 400;
        page.picture(
            render::encode_png(run_sheet(subject, columns, rows, options, subject.stage(options, {}))),
            "Frames spread over the run, from the first to the last");
    }
    if (!report.method.empty()) {
        page.heading("Report");
        page.facts(report_rows(report));
    }
    if (!request.verdict.empty()) add_verdict(page, request.verdict);
    page.heading("Over time");
    std::vector<std::string> svgs;
    for (const exporting::PlotPanel& panel : panels) svgs.push_back(exporting::panel_svg(panel));
    page.plots(svgs);
    return page.text();
}

}  // namespace

int plot_verb(const PlotRequest& request) {
    const run::RunReader reader(request.run);
    if (request.list) {
        for (const std::string& name : run::step_series_names(reader)) std::cout << shown(name) << "\n";
        std::cout << "body.NAME.{x,y,z,vx,vy,vz,speed,wx,wy,wz,spin}  "
                     "joint.NAME.{q0,v0,motor0,limit0,force,torque,fx,...}\n";
        return 0;
    }
    if (!request.csv.empty()) {
        write_text(request.csv,
                   run::series_csv(reader,
                                   request.series.empty() ? run::step_series_names(reader) : request.series));
        if (request.output.empty()) return 0;
    }
    const std::string output = request.output.empty() ? stem(request.run) + ".html" : request.output;
    const std::vector<exporting::PlotPanel> panels = panels_of(request, reader);
    if (output.ends_with(".html")) {
        write_text(output, page_of(request, reader, panels));
    } else {
        if (request.pictures > 0 || !request.verdict.empty())
            throw InputError(output, "", "pictures and verdicts need an HTML page",
                             "choose a file that ends in .html");
        exporting::PlotPage page;
        page.title = stem(request.run);
        page.panels = panels;
        exporting::write_plot(page, output);
    }
    std::cout << output << "\n";
    return 0;
}

}  // namespace tenon::app

// `tenon compare`: one scene with several methods, one table and one page.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/common.hpp"
#include "apps/tenon/html.hpp"
#include "apps/tenon/pictures.hpp"
#include "apps/tenon/plots.hpp"
#include "apps/tenon/progress.hpp"
#include "apps/tenon/summary.hpp"
#include "run/run_loop.hpp"
#include "run/series.hpp"
#include "tenon/error.hpp"
#include "tenon/method.hpp"
#include "verify/verify.hpp"

namespace tenon::app {
namespace {

struct Entry {
    std::string method;
    std::string refusal;  // why the method cannot do this scene
    std::string file;     // its run
    std::optional<run::Report> report;
    double apart = 0.0;  // largest distance of a body's centre from the first method's, at the end
};

// A folder for the runs that vanishes with the command.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "tenon-compare-XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw InputError(pattern, "", "cannot make a folder for the runs", "check TMPDIR");
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

Entry run_method(const CompareRequest& request, const std::string& method, const TemporaryFolder& folder) {
    Entry entry;
    entry.method = method;
    SceneRequest with = request.scene;
    with.method = method;
    const Scene scene = load_requested(with);
    const MethodInfo& info = find_method(method, {"", "--methods"});
    if (const auto unsupported = info.supports(scene)) {
        entry.refusal = unsupported->path + ": " + unsupported->problem;
        return entry;
    }
    run::RunOptions options;
    options.output = entry.file = folder.file(method + ".tenon");
    options.stop = &stop_on_interrupt();
    options.count_intersections = verify::count_intersections;
    ProgressBar bar(request.quiet || request.json);
    entry.report = run::run_scene(scene, options, [&](const run::Progress& progress) { bar.show(progress); });
    return entry;
}

void measure_distances(std::vector<Entry>& entries) {
    std::optional<run::Frame> reference;
    for (Entry& entry : entries) {
        if (!entry.report) continue;
        const run::RunReader reader(entry.file);
        const run::Frame last = reader.frame(reader.frame_count() - 1);
        if (!reference) reference = last;
        for (std::size_t i = 0; i < std::min(last.q.size(), reference->q.size()); ++i)
            entry.apart = std::max(entry.apart, (last.q[i].col(3) - reference->q[i].col(3)).norm());
    }
}

std::vector<std::vector<std::string>> table_of(const std::vector<Entry>& entries) {
    std::vector<std::vector<std::string>> rows = {{"method", "status", "ms/step", "95 %", "iterations",
                                                   "contacts", "min distance", "joint residual", "energy end",
                                                   "expected", "apart, m"}};
    for (const Entry& entry : entries) {
        if (!entry.report) {
            rows.push_back({entry.method, "cannot: " + entry.refusal});
            continue;
        }
        const run::Report& report = *entry.report;
        const auto held =
            std::count_if(report.expect.begin(), report.expect.end(), [](const auto& e) { return e.held; });
        rows.push_back(
            {entry.method, report.status, fmt::format("{:.3g}", report.ms_mean),
             fmt::format("{:.3g}", report.ms_p95), fmt::format("{:.3g}", report.iterations_mean),
             fmt::format("{:.4g}", report.contacts_mean),
             report.min_distance < 1e299 ? fmt::format("{:.2e}", report.min_distance) : "none",
             fmt::format("{:.2e}", report.joint_residual_max), fmt::format("{:.5g}", report.energy_end),
             report.expect.empty() ? "no word" : fmt::format("{} of {}", held, report.expect.size()),
             fmt::format("{:.3g}", entry.apart)});
    }
    return rows;
}

// The same quantity of every method on one panel.
std::vector<exporting::PlotPanel> common_panels(const std::vector<Entry>& entries) {
    std::vector<exporting::PlotPanel> panels;
    const std::vector<std::pair<std::string, std::string>> wanted = {{"energy", "Total energy"},
                                                                     {"kinetic", "Kinetic energy"},
                                                                     {"contacts", "Contacts"},
                                                                     {"iterations", "Iterations per step"},
                                                                     {"wall_ms", "Time per step"}};
    for (const auto& [name, title] : wanted) {
        std::vector<run::Series> series;
        for (const Entry& entry : entries) {
            if (!entry.report) continue;
            const run::RunReader reader(entry.file);
            series.push_back(run::read_series(reader, {name})[0]);
            series.back().name = entry.method;
        }
        if (!series.empty()) panels.push_back(panel_of(series, title));
    }
    return panels;
}

void write_page(const std::string& file, const std::string& scene, const std::vector<Entry>& entries) {
    HtmlPage page(scene, "the same scene with several methods");
    page.table(table_of(entries));
    page.paragraph(
        "'apart' is the largest distance between a body's centre and where the first method has it at the "
        "end.");
    page.heading("Over time");
    std::vector<std::string> svgs;
    for (const exporting::PlotPanel& panel : common_panels(entries))
        svgs.push_back(exporting::panel_svg(panel));
    page.plots(svgs);
    for (const Entry& entry : entries) {
        page.heading(entry.method);
        if (!entry.report) {
            page.verdict(false, "cannot simulate this scene: " + entry.refusal);
            continue;
        }
        for (const run::ExpectResult& result : entry.report->expect) page.verdict(result.held, result.text);
        if (entry.report->status == "failed") page.verdict(false, entry.report->failure);
        render::RenderOptions options;
        options.width = 560;
        options.height = 350;
        page.picture(render::encode_png(run_sheet(Subject(entry.file), 3, 1, options, {})),
                     "start, middle and end");
    }
    write_text(file, page.text());
}

}  // namespace

int compare_verb(const CompareRequest& request) {
    std::vector<std::string> methods = request.methods;
    if (methods.empty())
        for (const MethodInfo& method : all_methods()) methods.push_back(method.name);
    for (const std::string& method : methods) find_method(method, {"", "--methods"});
    const TemporaryFolder folder;
    std::vector<Entry> entries;
    for (const std::string& method : methods) {
        entries.push_back(run_method(request, method, folder));
        if (stop_on_interrupt().load()) break;
    }
    measure_distances(entries);
    const std::string name = stem(request.scene.scene);
    const std::string output = request.output.empty() ? name + "-compare.html" : request.output;
    if (request.json) {
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const Entry& entry : entries) {
            nlohmann::ordered_json one = {{"method", entry.method}};
            if (entry.report) {
                one["apart"] = entry.apart;
                one["report"] = nlohmann::ordered_json::parse(entry.report->to_json());
            } else {
                one["refused"] = entry.refusal;
            }
            all.push_back(one);
        }
        std::cout << all.dump(2) << "\n";
    } else if (!request.quiet) {
        std::cout << name << "\n" << text_table(table_of(entries));
    }
    write_page(output, name, entries);
    if (!request.json && !request.quiet) std::cout << "  written  " << output << "\n";
    const bool good = std::all_of(entries.begin(), entries.end(),
                                  [](const Entry& entry) { return !entry.report || passed(*entry.report); });
    const bool any =
        std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.report.has_value(); });
    return good && any ? 0 : 1;
}

}  // namespace tenon::app

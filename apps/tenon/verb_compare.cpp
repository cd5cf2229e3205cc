// `tenon compare`: one scene with several methods, steps or parameters, one table and one page.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/common.hpp"
#include "apps/tenon/compare_variants.hpp"
#include "apps/tenon/html.hpp"
#include "apps/tenon/pictures.hpp"
#include "apps/tenon/plots.hpp"
#include "apps/tenon/progress.hpp"
#include "apps/tenon/summary.hpp"
#include "run/run_error.hpp"
#include "run/run_loop.hpp"
#include "run/series.hpp"
#include "tenon/error.hpp"
#include "tenon/method.hpp"
#include "verify/verify.hpp"

namespace tenon::app {
namespace {

struct Entry {
    Variant variant;
    std::string refusal;  // why the method cannot do this scene, or not from this start
    std::string file;     // its run
    std::optional<run::Report> report;
    std::optional<run::RunError> error;  // from the reference; none for the reference itself
    std::string reference;               // the label of the run it is measured against
    double reference_dt = 0.0;           // 0: a run that was named
    std::optional<double> order;         // from this step and the next larger one
    bool pass = false;
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

// Frames at the same times in all runs, where their steps allow it: as many steps apart as the largest step needs.
int record_every(double dt, double largest) {
    const double spacing = largest * std::max(1.0, std::round(1.0 / (60.0 * largest)));
    const double steps = spacing / dt;
    return std::abs(steps - std::round(steps)) < 1e-6 * steps ? static_cast<int>(std::round(steps)) : 0;
}

// What cannot be simulated is told in its column; the others go on.
Entry run_variant(const CompareRequest& request, const Variant& variant, const Scene& scene, double largest,
                  const std::string& file) {
    Entry entry;
    entry.variant = variant;
    const MethodInfo& info = find_method(scene.method, {"", "--methods"});
    if (const auto unsupported = info.supports(scene)) {
        entry.refusal = unsupported->path + ": " + unsupported->problem;
        return entry;
    }
    run::RunOptions options;
    options.output = entry.file = file;
    options.record_every = record_every(scene.dt, largest);
    options.stop = &stop_on_interrupt();
    options.count_intersections = verify::count_intersections;
    ProgressBar bar(request.quiet || request.json);
    try {
        entry.report =
            run::run_scene(scene, options, [&](const run::Progress& progress) { bar.show(progress); });
    } catch (const InputError& error) {
        entry.refusal = error.what();
    }
    return entry;
}

bool done(const Entry& entry) {
    return entry.report && entry.report->status == "done";
}

// Of the same group the run of the smallest step; where steps do not differ, the first of all that ended well.
const Entry* reference_of(const Entry& entry, const std::vector<Entry>& entries) {
    const Entry* finest = nullptr;
    bool differ = false;
    for (const Entry& other : entries) {
        if (!done(other) || other.variant.group != entry.variant.group) continue;
        differ = differ || other.report->dt != entry.report->dt;
        if (!finest || other.report->dt < finest->report->dt) finest = &other;
    }
    if (differ) return finest;
    const auto first = std::find_if(entries.begin(), entries.end(), done);
    return first == entries.end() ? nullptr : &*first;
}

void measure_errors(std::vector<Entry>& entries, const std::string& named) {
    for (Entry& entry : entries) {
        if (!entry.report) continue;
        if (!named.empty()) {
            entry.error = run::run_error(run::RunReader(entry.file), run::RunReader(named));
            entry.reference = stem(named);
            continue;
        }
        const Entry* const reference = reference_of(entry, entries);
        if (!reference || reference == &entry) continue;
        entry.error = run::run_error(run::RunReader(entry.file), run::RunReader(reference->file));
        entry.reference = reference->variant.label;
        entry.reference_dt = reference->report->dt < entry.report->dt ? reference->report->dt : 0.0;
    }
}

// Each step beside the next larger one of its group.
void find_orders(std::vector<Entry>& entries) {
    for (Entry& entry : entries) {
        if (!entry.error) continue;
        const Entry* coarser = nullptr;
        for (const Entry& other : entries)
            if (other.error && other.variant.group == entry.variant.group &&
                other.report->dt > entry.report->dt * (1 + 1e-9) &&
                (!coarser || other.report->dt < coarser->report->dt))
                coarser = &other;
        if (coarser)
            entry.order = run::observed_order(coarser->report->dt, coarser->error->largest, entry.report->dt,
                                              entry.error->largest, entry.reference_dt);
    }
}

void judge(std::vector<Entry>& entries, const std::optional<double>& within) {
    for (Entry& entry : entries)
        entry.pass =
            entry.report && passed(*entry.report) &&
            (!within || !entry.error || (entry.error->frames > 0 && entry.error->largest <= *within));
}

std::vector<std::vector<std::string>> table_of(const std::vector<Entry>& entries) {
    std::vector<std::vector<std::string>> rows = {{"", "verdict", "status", "ms/step", "95 %", "iterations",
                                                   "contacts", "min distance", "joint residual", "energy end",
                                                   "expected"}};
    for (const Entry& entry : entries) {
        if (!entry.report) {
            rows.push_back({entry.variant.label, "none", "cannot: " + entry.refusal});
            continue;
        }
        const run::Report& report = *entry.report;
        const auto held =
            std::count_if(report.expect.begin(), report.expect.end(), [](const auto& e) { return e.held; });
        rows.push_back(
            {entry.variant.label, entry.pass ? "PASS" : "FAIL", report.status,
             fmt::format("{:.3g}", report.ms_mean), fmt::format("{:.3g}", report.ms_p95),
             fmt::format("{:.3g}", report.iterations_mean), fmt::format("{:.4g}", report.contacts_mean),
             report.min_distance < 1e299 ? fmt::format("{:.2e}", report.min_distance) : "none",
             fmt::format("{:.2e}", report.joint_residual_max), fmt::format("{:.5g}", report.energy_end),
             report.expect.empty() ? "none" : fmt::format("{} of {}", held, report.expect.size())});
    }
    return rows;
}

bool any_error(const std::vector<Entry>& entries) {
    return std::any_of(entries.begin(), entries.end(),
                       [](const Entry& entry) { return entry.error.has_value(); });
}

std::vector<std::vector<std::string>> errors_of(const std::vector<Entry>& entries) {
    std::vector<std::vector<std::string>> rows = {
        {"", "against", "dt, s", "largest error, m", "of", "at the end, m", "order"}};
    for (const Entry& entry : entries) {
        if (!entry.report) continue;
        const std::string dt = fmt::format("{:g}", entry.report->dt);
        if (!entry.error) {
            rows.push_back({entry.variant.label, "is the reference", dt});
            continue;
        }
        const run::RunError& error = *entry.error;
        rows.push_back(
            {entry.variant.label, entry.reference, dt,
             error.frames > 0 ? fmt::format("{:.3g}", error.largest) : "none",
             error.worst.empty() ? "none" : shown(error.worst),
             error.frames > 0 ? fmt::format("{:.3g} at {:.4g} s", error.at_end, error.end_time) : "none",
             entry.order ? fmt::format("{:.2f}", *entry.order) : ""});
    }
    return rows;
}

// The same quantity of every variant on one panel.
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
            series.back().name = entry.variant.label;
        }
        if (!series.empty()) panels.push_back(panel_of(series, title));
    }
    exporting::PlotPanel errors;
    errors.title = "Error against the reference";
    errors.x_label = "time [s]";
    errors.y_label = "[m]";
    errors.log_y = true;
    for (const Entry& entry : entries)
        if (entry.error && entry.error->largest > 0)
            errors.lines.push_back({entry.variant.label, entry.error->time, entry.error->each});
    if (!errors.lines.empty()) panels.push_back(std::move(errors));
    return panels;
}

// All pictures from one place, so that what differs is the motion.
void add_pictures(HtmlPage& page, const std::vector<Entry>& entries) {
    render::RenderOptions options;
    options.width = 480;
    options.height = 300;
    std::optional<render::Stage> stage;
    page.heading("Side by side");
    std::vector<PictureCard> cards;
    for (const Entry& entry : entries) {
        PictureCard card;
        card.title = entry.variant.label;
        if (!entry.report) {
            card.bad.push_back("cannot simulate this scene: " + entry.refusal);
        } else {
            const Subject subject(entry.file);
            if (!stage) stage = subject.stage(options, {});
            card.png = render::encode_png(run_sheet(subject, 2, 2, options, *stage));
            for (const run::ExpectResult& result : entry.report->expect)
                (result.held ? card.good : card.bad).push_back(result.text);
            if (entry.report->status == "failed") card.bad.push_back(entry.report->failure);
            if (entry.error && !entry.error->note.empty()) card.notes.push_back(entry.error->note);
        }
        cards.push_back(std::move(card));
    }
    page.cards(cards);
}

void write_page(const std::string& file, const std::string& scene, const std::vector<Entry>& entries) {
    HtmlPage page(scene, fmt::format("{} runs of the same scene", entries.size()));
    page.table(table_of(entries));
    if (any_error(entries)) {
        page.heading("Errors and convergence");
        page.table(errors_of(entries));
        page.paragraph(
            "The error of a body is the largest distance of a corner of its box from where the reference has "
            "it; "
            "of an elastic body, that of its vertices. The order p is that of an error C h^p, from this step "
            "and "
            "the next larger one; where the reference is a run of a smaller step, its own error is allowed "
            "for.");
    }
    add_pictures(page, entries);
    page.heading("Over time");
    std::vector<std::string> svgs;
    for (const exporting::PlotPanel& panel : common_panels(entries))
        svgs.push_back(exporting::panel_svg(panel));
    page.plots(svgs);
    write_text(file, page.text());
}

nlohmann::ordered_json json_of(const Entry& entry) {
    nlohmann::ordered_json one = {{"label", entry.variant.label}};
    if (entry.variant.request.method) one["method"] = *entry.variant.request.method;
    if (!entry.report) {
        one["refused"] = entry.refusal;
        return one;
    }
    one["pass"] = entry.pass;
    if (entry.error) {
        one["reference"] = entry.reference;
        one["error"] = {{"largest", entry.error->largest}, {"body", entry.error->worst},
                        {"at_end", entry.error->at_end},   {"end_time", entry.error->end_time},
                        {"frames", entry.error->frames},   {"note", entry.error->note}};
        if (entry.order) one["order"] = *entry.order;
    }
    one["report"] = nlohmann::ordered_json::parse(entry.report->to_json());
    return one;
}

// Every scene is read before the first is run: a key that is not there must not be told after an hour.
std::vector<Entry> run_variants(const CompareRequest& request, const std::vector<Variant>& variants,
                                const TemporaryFolder& folder) {
    std::vector<Scene> scenes;
    double largest = 0;
    for (const Variant& variant : variants) {
        scenes.push_back(load_requested(variant.request));
        largest = std::max(largest, scenes.back().dt);
    }
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < variants.size() && !stop_on_interrupt().load(); ++i)
        entries.push_back(
            run_variant(request, variants[i], scenes[i], largest, folder.file(fmt::format("{}.tenon", i))));
    return entries;
}

}  // namespace

int compare_verb(const CompareRequest& request) {
    std::vector<std::string> methods = request.methods;
    if (methods.empty() && request.vary.empty())
        for (const MethodInfo& method : all_methods()) methods.push_back(method.name);
    const std::vector<Variant> variants = variants_of(request.scene, methods, request.vary);
    if (!request.reference.empty())
        (void)run::RunReader(request.reference);  // said before the runs, not after
    const TemporaryFolder folder;
    std::vector<Entry> entries = run_variants(request, variants, folder);
    measure_errors(entries, request.reference);
    find_orders(entries);
    judge(entries, request.within);
    const std::string name = stem(request.scene.scene);
    const std::string output = request.output.empty() ? name + "-compare.html" : request.output;
    if (request.json) {
        nlohmann::ordered_json all = nlohmann::ordered_json::array();
        for (const Entry& entry : entries) all.push_back(json_of(entry));
        std::cout << all.dump(2) << "\n";
    } else if (!request.quiet) {
        std::cout << name << "\n" << text_table(table_of(entries));
        if (any_error(entries)) std::cout << "\n" << text_table(errors_of(entries));
    }
    write_page(output, name, entries);
    if (!request.json && !request.quiet) std::cout << "  written  " << output << "\n";
    const bool good = std::all_of(entries.begin(), entries.end(),
                                  [](const Entry& entry) { return !entry.report || entry.pass; });
    const bool any =
        std::any_of(entries.begin(), entries.end(), [](const Entry& e) { return e.report.has_value(); });
    return good && any ? 0 : 1;
}

}  // namespace tenon::app

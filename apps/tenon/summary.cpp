#include "apps/tenon/summary.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/common.hpp"

namespace tenon::app {
namespace {

using Json = nlohmann::ordered_json;

// Where energy came from and went: what is more than a thousandth of what was exchanged, and what is unexplained.
std::string energy_books_row(const run::Report& report) {
    const double share = report.unexplained_share(), turnover = report.books.turnover;
    if (!std::isfinite(share)) return {};
    std::string text;
    const auto say = [&](const char* name, double value) {
        if (std::abs(value) < 1e-3 * turnover) return;
        text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", name, value);
    };
    say("forces", report.books.forces);
    say("motors", report.books.motors);
    say("scripts", report.books.scripts);
    say("friction", -report.books.friction);
    say("impact", -report.books.impact);
    say("damping", -report.books.damping);
    say("correction", -report.books.correction);
    say("integrator", -report.books.integrator);
    return fmt::format("{}{}unexplained {:.2g} of {:.4g} J exchanged", text, text.empty() ? "" : " J; ",
                       share, turnover);
}

}  // namespace

bool passed(const run::Report& report) {
    return report.status == "done" &&
           std::all_of(report.expect.begin(), report.expect.end(), [](const auto& e) { return e.held; });
}

std::vector<std::pair<std::string, std::string>> report_rows(const run::Report& report) {
    std::vector<std::pair<std::string, std::string>> rows;
    std::string size = fmt::format("{} bodies", short_count(report.bodies));
    if (report.triangles > 0)
        size += fmt::format(", {} triangles", short_count(static_cast<double>(report.triangles)));
    if (report.tets > 0)
        size += fmt::format(", {} tetrahedra", short_count(static_cast<double>(report.tets)));
    if (report.joints > 0) size += fmt::format(", {} joints", short_count(report.joints));
    rows.emplace_back("size", size);
    rows.emplace_back(
        "steps", fmt::format("{} of {:g} s: {:.4g} s simulated in {}, {} thread{}", report.steps, report.dt,
                             report.simulated_seconds, short_seconds(report.wall_seconds), report.threads,
                             report.threads == 1 ? "" : "s"));
    rows.emplace_back("ms/step", fmt::format("mean {:.3g}, median {:.3g}, 95 % below {:.3g}, max {:.3g}",
                                             report.ms_mean, report.ms_p50, report.ms_p95, report.ms_max));
    if (!report.phases_ms.empty()) {
        std::string phases;
        for (const auto& [name, ms] : report.phases_ms) {
            if (ms < 0.005 * report.ms_mean) continue;
            phases += fmt::format("{}{} {:.3g}", phases.empty() ? "" : ", ", name, ms);
        }
        if (!phases.empty()) rows.emplace_back("phases, ms", phases);
    }
    if (report.iterations_max > 0)
        rows.emplace_back(
            "iterations",
            fmt::format("mean {:.3g}, max {:g}{}", report.iterations_mean, report.iterations_max,
                        report.unconverged_steps > 0
                            ? fmt::format("; {} steps did not converge", report.unconverged_steps)
                            : ""));
    if (report.contacts_max > 0) {
        std::string contacts =
            fmt::format("mean {:.4g}, max {:g}", report.contacts_mean, report.contacts_max);
        if (report.min_distance < 1e299)
            contacts += fmt::format("; smallest distance {:.3g} m", report.min_distance);
        rows.emplace_back("contacts", contacts);
    }
    if (report.joints > 0)
        rows.emplace_back("joints", fmt::format("largest residual {:.3g}", report.joint_residual_max));
    rows.emplace_back("energy", fmt::format("{:.6g} J at the start, {:.6g} J at the end", report.energy_start,
                                            report.energy_end));
    if (const std::string books = energy_books_row(report); !books.empty()) rows.emplace_back("books", books);
    if (std::isfinite(report.error_estimate))
        rows.emplace_back("error",
                          fmt::format("positions off by {:.2g} m at most, estimated from steps of {:g} s",
                                      report.error_estimate, 2 * report.dt));
    if (std::isfinite(report.momentum_drift))  // of closed systems only
        rows.emplace_back("momentum", fmt::format("drifts by {:.3g} of its size", report.momentum_drift));
    if (!report.solver.empty()) rows.emplace_back("solver", report.solver);
    rows.emplace_back("memory", fmt::format("{:.0f} MB at most", report.peak_memory_mb));
    return rows;
}

std::string summary(const run::Report& report) {
    std::string text = fmt::format("{} with {}: {}\n", shown(report.scene), report.method, report.status);
    for (const auto& [name, value] : report_rows(report)) text += fmt::format("  {:<10} {}\n", name, value);
    for (const run::ExpectResult& result : report.expect)
        text += fmt::format("  {:<10} {}\n", result.held ? "PASS" : "FAIL", shown(result.text));
    return text;
}

run::Report report_from_json(const std::string& text) {
    run::Report report;
    const Json j = Json::parse(text, nullptr, false);
    if (!j.is_object()) return report;
    const auto number = [](const Json& object, const char* key, double fallback) {
        const auto found = object.find(key);
        return found != object.end() && found->is_number() ? found->get<double>() : fallback;
    };
    const auto object = [&](const char* key) {
        return j.contains(key) && j[key].is_object() ? j[key] : Json::object();
    };
    report.scene = j.value("scene", "");
    report.method = j.value("method", "");
    report.status = j.value("status", "");
    report.failure = j.value("failure", "");
    report.solver = j.value("solver", "");
    report.dt = number(j, "dt", 0);
    report.simulated_seconds = number(j, "simulated_seconds", 0);
    report.wall_seconds = number(j, "wall_seconds", 0);
    report.steps = static_cast<long>(number(j, "steps", 0));
    report.threads = static_cast<int>(number(j, "threads", 1));
    report.bodies = static_cast<int>(number(j, "bodies", 0));
    report.joints = static_cast<int>(number(j, "joints", 0));
    report.triangles = static_cast<long>(number(j, "triangles", 0));
    report.tets = static_cast<long>(number(j, "tets", 0));
    const Json ms = object("ms_per_step"), iterations = object("iterations_per_step");
    report.ms_mean = number(ms, "mean", 0);
    report.ms_p50 = number(ms, "p50", 0);
    report.ms_p95 = number(ms, "p95", 0);
    report.ms_max = number(ms, "max", 0);
    report.iterations_mean = number(iterations, "mean", 0);
    report.iterations_max = number(iterations, "max", 0);
    report.contacts_mean = number(object("contacts"), "mean", 0);
    report.contacts_max = number(object("contacts"), "max", 0);
    report.min_distance = number(j, "min_distance", 1e300);
    report.joint_residual_max = number(j, "joint_residual_max", 0);
    report.energy_start = number(object("energy"), "start", 0);
    report.energy_end = number(object("energy"), "end", 0);
    report.momentum_drift = number(j, "momentum_drift", std::nan(""));
    report.error_estimate = number(j, "error_estimate", std::nan(""));
    const Json books = object("energy_books");
    std::vector<std::pair<std::string, double>> shares;
    for (const auto& [name, value] : books.items())
        if (value.is_number()) shares.emplace_back("energy." + name, value.get<double>());
    report.books = run::shares_of(shares);
    report.books_open_most = report.books_kinetic = 0;
    if (books.contains("unexplained_share") && report.books.turnover > 0)
        report.books_open_most = number(books, "unexplained_share", 0) * report.books.turnover;
    report.peak_memory_mb = number(j, "peak_memory_mb", 0);
    report.unconverged_steps = static_cast<long>(number(j, "unconverged_steps", 0));
    const Json phases = object("phases_ms");
    for (const auto& [name, value] : phases.items())
        if (value.is_number()) report.phases_ms.emplace_back(name, value.get<double>());
    if (j.contains("expect") && j["expect"].is_array())
        for (const auto& entry : j["expect"])
            report.expect.push_back({entry.value("text", ""), entry.value("held", false)});
    return report;
}

}  // namespace tenon::app

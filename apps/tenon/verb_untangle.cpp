// `tenon untangle`: an overlapping start becomes a feasible one.
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/common.hpp"
#include "apps/tenon/progress.hpp"
#include "math/interrupt.hpp"
#include "methods/volume/untangle.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::app {
namespace {

std::string to_json(const volume::UntangleReport& report) {
    nlohmann::ordered_json json;
    json["clean"] = report.clean();
    json["rounds"] = report.rounds;
    json["margin"] = report.margin;
    json["pixel"] = report.pixel;
    json["overlap_depth"] = report.overlap_depth;
    json["moved"] = nlohmann::ordered_json::array();
    for (const auto& moved : report.moved)
        json["moved"].push_back(
            {{"body", moved.body}, {"distance", moved.distance}, {"degrees", moved.degrees}});
    json["remaining"] = report.remaining;
    const auto pairs = [](const std::vector<volume::UntangleReport::Names>& names) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const auto& [a, b] : names) list.push_back({a, b});
        return list;
    };
    json["parted"] = pairs(report.parted);
    json["linked"] = pairs(report.linked);
    return json.dump(2);
}

void say(const volume::UntangleReport& report, const std::string& output) {
    constexpr std::size_t most = 12;
    fmt::print("{} bodies moved, {} rounds, margin {:.3g} m; deepest overlap {:.3g} m\n", report.moved.size(),
               report.rounds, report.margin, report.overlap_depth);
    for (std::size_t i = 0; i < std::min(most, report.moved.size()); ++i)
        fmt::print("  {:<20} {:.4g} m, {:.3g} degrees\n", shown(report.moved[i].body),
                   report.moved[i].distance, report.moved[i].degrees);
    if (report.moved.size() > most) fmt::print("  and {} more\n", report.moved.size() - most);
    for (const auto& [a, b] : report.parted)
        fmt::print("  taken through each other: '{}' and '{}'\n", shown(a), shown(b));
    for (const std::string& problem : report.remaining)
        fmt::print("  cannot be undone: {}\n", shown(problem));
    for (const auto& [a, b] : report.linked)
        fmt::print("  cannot be undone: '{}' and '{}' are linked; they no longer overlap\n", shown(a),
                   shown(b));
    fmt::print("written {}\n", output);
}

}  // namespace

int untangle_verb(const UntangleRequest& request) {
    Scene scene = load_requested(request.scene);
    volume::UntangleOptions options;
    options.margin = request.margin;
    options.pixel = request.pixel;
    if (!request.quiet && !request.json)
        options.progress = [](int round, double depth, int contacts) {
            if (round % 10 == 9)
                fmt::print(stderr, "round {}: {} contacts, {:.3g} m deep\n", round + 1, contacts, depth);
        };
    volume::UntangleReport report;
    try {
        const InterruptScope scope(&stop_on_interrupt());
        report = volume::untangle(scene, options);
    } catch (const Interrupted&) {
        std::cerr << "stopped: nothing was written\n";
        return 1;
    }
    write_scene_file(request.output, scene);
    if (request.json)
        std::cout << to_json(report) << "\n";
    else if (!request.quiet)
        say(report, request.output);
    return report.clean() ? 0 : 1;
}

}  // namespace tenon::app

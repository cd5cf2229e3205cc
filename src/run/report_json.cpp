#include <cmath>

#include <nlohmann/json.hpp>

#include "run/run_loop.hpp"

namespace tenon::run {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN or infinity: what does not apply is null.
Json number(double value) {
    return std::isfinite(value) && std::abs(value) < 1e299 ? Json(value) : Json(nullptr);
}

Json numbers(const std::vector<std::pair<std::string, double>>& values) {
    Json object = Json::object();
    for (const auto& [name, value] : values) object[name] = number(value);
    return object;
}

}  // namespace

std::string Report::to_json() const {
    Json json;
    json["scene"] = scene;
    json["method"] = method;
    json["status"] = status;
    if (!failure.empty()) json["failure"] = failure;
    json["dt"] = number(dt);
    json["steps"] = steps;
    json["simulated_seconds"] = number(simulated_seconds);
    json["wall_seconds"] = number(wall_seconds);
    json["threads"] = threads;
    json["bodies"] = bodies;
    json["triangles"] = triangles;
    json["tets"] = tets;
    json["joints"] = joints;
    json["dofs"] = dofs;
    json["ms_per_step"] = {
        {"mean", number(ms_mean)}, {"p50", number(ms_p50)}, {"p95", number(ms_p95)}, {"max", number(ms_max)}};
    json["iterations_per_step"] = {{"mean", number(iterations_mean)}, {"max", number(iterations_max)}};
    json["contacts"] = {{"mean", number(contacts_mean)}, {"max", number(contacts_max)}};
    json["min_distance"] = number(min_distance);
    json["joint_residual_max"] = number(joint_residual_max);
    json["energy"] = {{"start", number(energy_start)}, {"end", number(energy_end)}};
    if (steps > 0 && std::isfinite(unexplained_share())) {
        Json& account = json["energy_books"];
        for (const auto& [name, value] : run::by_name(books)) account[name.substr(7)] = number(value);
        account["unexplained_share"] = number(unexplained_share());
    }
    if (std::isfinite(error_estimate)) json["error_estimate"] = number(error_estimate);
    json["momentum_drift"] = number(momentum_drift);
    json["phases_ms"] = numbers(phases_ms);
    json["figures"] = numbers(metrics);
    json["peak_memory_mb"] = number(peak_memory_mb);
    json["unconverged_steps"] = unconverged_steps;
    if (!unconverged.empty()) json["unconverged"] = unconverged;
    if (!dumped.empty()) json["dumped"] = dumped;
    json["solver"] = solver;
    json["warnings"] = warnings;
    json["expect"] = Json::array();
    for (const ExpectResult& result : expect)
        json["expect"].push_back({{"text", result.text}, {"held", result.held}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::run

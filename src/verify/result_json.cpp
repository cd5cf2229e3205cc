#include <cmath>

#include <nlohmann/json.hpp>

#include "verify/verify.hpp"

namespace tenon::verify {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
    return std::isfinite(value) && std::abs(value) < 1e299 ? Json(value) : Json(nullptr);
}

Json number_or_null(double value) {
    return value < 0 ? Json(nullptr) : number(value);
}

Json finding_json(const Finding& finding) {
    Json json;
    json["kind"] = finding.kind;
    json["frame"] = finding.frame;
    json["time"] = number(finding.time);
    if (!finding.a.empty()) json["a"] = finding.a;
    if (!finding.b.empty()) json["b"] = finding.b;
    if (finding.triangle_a >= 0) json["triangles"] = {finding.triangle_a, finding.triangle_b};
    if (finding.amount != 0) json["amount"] = number(finding.amount);
    if (finding.times > 1) json["times"] = finding.times;
    json["text"] = finding.text;
    return json;
}

}  // namespace

std::string Result::to_json() const {
    Json json;
    json["file"] = file;
    json["scene"] = scene;
    json["method"] = method;
    json["status"] = status;
    json["clean"] = clean();
    json["proven"] = proven();
    json["scene_rebuilt"] = scene_rebuilt;
    json["motion_checked"] = motion_checked;
    json["frames"] = frames;
    json["steps_between_frames"] = {{"min", steps_between_min}, {"max", steps_between_max}};
    json["unconverged_steps"] = unconverged_steps;
    json["pushed"] = pushed;
    json["path_recorded"] = path_recorded;
    json["body_pairs_tested"] = body_pairs;
    json["elastic"] = {
        {"pairs_tested", elastic_pairs}, {"self_tested", self_tests}, {"path_recorded", elastic_path}};
    json["jointed_pairs"] = {{"checked", jointed_checked}, {"ignored", jointed_ignored}};
    json["intersections"] = intersections;
    json["chord_hits"] = chord_hits;
    json["unproven"] = unproven;
    json["unexplained"] = unexplained;
    json["touching_at_start"] = touching_at_start;
    json["contained_at_start"] = contained_at_start;
    json["penetration"] = {{"pairs", penetrations},
                           {"max", number(penetration_max)},
                           {"allowance", number(penetration_allowance)},
                           {"unit", allowance_relative ? "of the smaller body" : "m"}};
    json["joints_open"] = joints_open;
    json["joint_residual_max"] = number(joint_residual_max);
    json["limits_passed"] = limits_passed;
    json["limit_excess_max"] = number(limit_excess_max);
    json["momentum_errors"] = momentum_errors;
    json["momentum_drift"] = number_or_null(momentum_drift);
    json["momentum_mismatch"] = number(momentum_mismatch);
    json["velocity_errors"] = velocity_errors;
    json["velocity_mismatch"] = number_or_null(velocity_mismatch);
    json["unexplained_path"] = number_or_null(unexplained_path);
    json["energy"] = {{"start", number(energy_start)},
                      {"end", number(energy_end)},
                      {"max", number(energy_max)},
                      {"rise", number_or_null(energy_rise)}};
    json["energy_errors"] = energy_errors;
    json["record_errors"] = record_errors;
    json["script_deviation"] = number(script_deviation);
    json["inverted"] = inverted;
    json["deformed"] = deformed;
    json["deformation_max"] = number(deformation_max);
    json["warnings"] = warnings;
    json["seconds"] = number(seconds);
    json["findings"] = Json::array();
    for (const Finding& finding : findings) json["findings"].push_back(finding_json(finding));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::verify

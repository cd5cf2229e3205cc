// `tenon scenes`: the built-in scenes, and all about one of them.
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/common.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"

namespace tenon::app {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(const ParamValue& value) {
    if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const double* number = std::get_if<double>(&value)) return fmt::format("{:g}", *number);
    if (const std::string* text = std::get_if<std::string>(&value)) return *text;
    std::string list;
    for (double entry : std::get<std::vector<double>>(value))
        list += fmt::format("{}{:g}", list.empty() ? "" : ",", entry);
    return "[" + list + "]";
}

Json as_json(const ParamValue& value) {
    return std::visit([](const auto& v) { return Json(v); }, value);
}

Json as_json(const BuiltinScene& scene) {
    Json parameters = Json::array();
    for (const ParamInfo& info : scene.parameters) {
        Json entry = {{"name", info.name}, {"default", as_json(info.fallback)}, {"help", info.help}};
        if (!info.unit.empty()) entry["unit"] = info.unit;
        if (!info.choices.empty()) entry["choices"] = info.choices;
        if (const auto paper = scene.paper_values.find(info.name); paper != scene.paper_values.end())
            entry["paper"] = as_json(paper->second);
        parameters.push_back(entry);
    }
    return {{"name", scene.name},     {"family", scene.family},     {"summary", scene.summary},
            {"source", scene.source}, {"look_for", scene.look_for}, {"parameters", parameters}};
}

void show_list() {
    std::string family;
    for (const BuiltinScene& scene : builtin_scenes()) {
        if (scene.family != family) {
            fmt::print("{}{}\n", family.empty() ? "" : "\n", scene.family);
            family = scene.family;
        }
        fmt::print("  {:<20} {}\n", scene.name, scene.summary);
    }
    fmt::print(
        "\n'tenon scenes NAME' shows one's parameters and what to expect; 'tenon run NAME' runs it.\n");
}

void show_one(const BuiltinScene& scene) {
    fmt::print("{}: {}\n", scene.name, scene.summary);
    fmt::print("  from      {}\n  look for  {}\n  method    {} by default\n", scene.source, scene.look_for,
               scene.family);
    std::vector<std::vector<std::string>> rows = {{"parameter", "default", "paper", "what it is"}};
    for (const ParamInfo& info : scene.parameters) {
        const auto paper = scene.paper_values.find(info.name);
        std::string help = info.help;
        if (!info.unit.empty()) help += fmt::format(" [{}]", info.unit);
        if (!info.choices.empty()) help += fmt::format(": {}", fmt::join(info.choices, " | "));
        rows.push_back({info.name, shown(info.fallback),
                        paper == scene.paper_values.end() ? "" : shown(paper->second), help});
    }
    if (rows.size() > 1) std::cout << text_table(rows);
    fmt::print("\nexample: tenon run {}", scene.name);
    if (!scene.parameters.empty())
        fmt::print(" --set {}={}", scene.parameters[0].name, shown(scene.parameters[0].fallback));
    if (!scene.paper_values.empty()) fmt::print("      (the paper's size: --set preset=paper)");
    fmt::print("\n");
}

}  // namespace

int scenes_verb(const ScenesRequest& request) {
    if (request.name.empty()) {
        if (!request.json) {
            show_list();
            return 0;
        }
        Json all = Json::array();
        for (const BuiltinScene& scene : builtin_scenes()) all.push_back(as_json(scene));
        std::cout << all.dump(2) << "\n";
        return 0;
    }
    const BuiltinScene* scene = find_builtin(request.name);
    if (!scene) {
        std::vector<std::string> names;
        for (const BuiltinScene& known : builtin_scenes()) names.push_back(known.name);
        throw InputError("", request.name, "no built-in scene of this name", suggestion(request.name, names));
    }
    if (request.json)
        std::cout << as_json(*scene).dump(2) << "\n";
    else
        show_one(*scene);
    return 0;
}

}  // namespace tenon::app

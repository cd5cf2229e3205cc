#include "render/scene_hints.hpp"

#include <nlohmann/json.hpp>

namespace tenon::render {

SceneHints scene_hints(const std::string& scene_json) {
    using nlohmann::json;
    // everything but these keys is dropped while parsing: a million bodies cost no memory
    const json::parser_callback_t keep = [](int depth, json::parse_event_t event, json& value) {
        return event != json::parse_event_t::key || depth != 1 || value == "up" || value == "camera" ||
               value == "portrait";
    };
    SceneHints hints;
    const json scene = json::parse(scene_json, keep, false);
    if (!scene.is_object()) return hints;
    if (const auto up = scene.find("up"); up != scene.end() && up->is_string()) hints.up = *up;
    if (const auto portrait = scene.find("portrait"); portrait != scene.end() && portrait->is_number())
        hints.camera["portrait"] = {portrait->get<double>()};
    const auto camera = scene.find("camera");
    if (camera == scene.end() || !camera->is_object()) return hints;
    for (const auto& [name, value] : camera->items()) {
        std::vector<double>& numbers = hints.camera[name];
        if (value.is_number()) numbers.push_back(value);
        if (value.is_array())
            for (const json& entry : value)
                if (entry.is_number()) numbers.push_back(entry);
    }
    return hints;
}

}  // namespace tenon::render

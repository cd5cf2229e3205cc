#include "render/scene_hints.hpp"

#include <nlohmann/json.hpp>

namespace tenon::render {
namespace {

using nlohmann::json;

std::vector<double> numbers_of(const json& owner, const char* name) {
    std::vector<double> numbers;
    const auto found = owner.find(name);
    if (found != owner.end() && found->is_array())
        for (const json& entry : *found)
            if (entry.is_number()) numbers.push_back(entry);
    return numbers;
}

// Run files hold scenes as `tenon` writes them: rotations are quaternions w, x, y, z. Anything else has no regions.
MaterialRegions regions_of(const json& body) {
    MaterialRegions result;
    const auto list = body.find("regions");
    if (list == body.end() || !list->is_array() || body.contains("rotation_euler")) return result;
    if (const auto p = numbers_of(body, "position"); p.size() == 3)
        result.pose.position = Vec3(p[0], p[1], p[2]);
    if (const auto r = numbers_of(body, "rotation"); r.size() == 4)
        result.pose.rotation = Quat(r[0], r[1], r[2], r[3]).normalized();
    for (const json& entry : *list) {
        if (!entry.is_object()) continue;
        const std::vector<double> lo = numbers_of(entry, "lo"), hi = numbers_of(entry, "hi");
        const auto material = entry.find("material");
        if (lo.size() != 3 || hi.size() != 3) continue;
        result.boxes.push_back({Vec3(lo[0], lo[1], lo[2]), Vec3(hi[0], hi[1], hi[2]),
                                material != entry.end() && material->is_string()
                                    ? material->get<std::string>()
                                    : std::string()});
    }
    return result;
}

void add_regions(const json& scene, SceneHints& hints) {
    const auto elastic = scene.find("elastic");
    if (elastic == scene.end() || !elastic->is_array()) return;
    for (std::size_t i = 0; i < elastic->size(); ++i) {
        const json& body = (*elastic)[i];
        if (!body.is_object()) continue;
        const auto name = body.find("name");
        MaterialRegions regions = regions_of(body);
        if (!regions.boxes.empty())
            hints.regions.emplace(name != body.end() && name->is_string() ? name->get<std::string>()
                                                                          : "elastic-" + std::to_string(i),
                                  std::move(regions));
    }
}

}  // namespace

SceneHints scene_hints(const std::string& scene_json) {
    // everything but these keys is dropped while parsing: a million bodies cost no memory
    const json::parser_callback_t keep = [](int depth, json::parse_event_t event, json& value) {
        return event != json::parse_event_t::key || depth != 1 || value == "up" || value == "camera" ||
               value == "portrait" || value == "elastic";
    };
    SceneHints hints;
    const json scene = json::parse(scene_json, keep, false);
    if (!scene.is_object()) return hints;
    if (const auto up = scene.find("up"); up != scene.end() && up->is_string()) hints.up = *up;
    if (const auto portrait = scene.find("portrait"); portrait != scene.end() && portrait->is_number())
        hints.camera["portrait"] = {portrait->get<double>()};
    add_regions(scene, hints);
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

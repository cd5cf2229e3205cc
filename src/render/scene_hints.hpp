// What pictures need to know from a scene's JSON, without reading the rest of it (its meshes may be elsewhere).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tenon::render {

struct SceneHints {
    std::string up = "y";
    std::map<std::string, std::vector<double>> camera;
};

SceneHints scene_hints(const std::string& scene_json);

}  // namespace tenon::render

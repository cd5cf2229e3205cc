// What pictures need to know from a scene's JSON, without reading the rest of it (its meshes may be elsewhere).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tenon/types.hpp"

namespace tenon::render {

// Boxes of an elastic body, in the frame of its mesh, that are made of other materials.
struct MaterialRegions {
    struct Box {
        Vec3 lo = Vec3::Zero(), hi = Vec3::Zero();
        std::string material;
    };
    Pose pose;  // of the mesh at the start
    std::vector<Box> boxes;
};

struct SceneHints {
    std::string up = "y";
    std::map<std::string, std::vector<double>> camera;
    std::map<std::string, MaterialRegions> regions;  // by the body's name
};

SceneHints scene_hints(const std::string& scene_json);

}  // namespace tenon::render

// Scenes as JSON: reading with errors that name the place, writing, and the published schema.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tenon/scene.hpp"

namespace tenon {

// A `--set key=value`: any scene or method parameter by its path ("method.dhat", "bodies[2].mass", "gravity").
struct Override {
    std::string key;
    std::string value;  // JSON, or plain text
};

Scene read_scene(const std::string& file, const std::vector<Override>& overrides = {});
Scene parse_scene(const std::string& json_text, const std::string& file_name, const std::string& base_folder,
                  const std::vector<Override>& overrides = {});

// A scene file or a built-in by name: for a built-in, overrides that name one of its parameters set it.
Scene load_scene(const std::string& file_or_name, const std::vector<Override>& overrides = {});

// JSON that reads back as the same scene. Paths of meshes inside `base_folder` are written relative to it.
std::string write_scene(const Scene& scene, const std::string& base_folder = {});
std::string scene_schema();  // JSON Schema (draft 2020-12)

// A scene of the rigid-ipc project as a Tenon scene. `mesh_root` is where its mesh paths are relative to;
// empty: found beside the file. `warnings` gets what has no counterpart here, each by its path.
Scene import_rigid_ipc(const std::string& file, const std::string& mesh_root = {},
                       std::vector<std::string>* warnings = nullptr);

}  // namespace tenon

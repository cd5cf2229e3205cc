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

// Something in a foreign file that the scene says otherwise, or not at all.
struct ImportLoss {
    enum class Kind {
        left_out,      // has no counterpart here
        approximated,  // is in the scene, but not exactly as it was
        converted,     // means the same in other words; listed so that nobody looks for it
    };
    std::string file;
    int line = 0;         // 0 where the format has no lines
    std::string element;  // "joint 'elbow'"
    Kind kind = Kind::left_out;
    std::string what, why;
};

struct ImportOptions {
    std::string mesh_root;  // where package:// and relative mesh paths are looked for; empty: beside the file
    bool visual_geometry = false;  // bodies take the geometry that is shown instead of the one that collides
    bool free_base = false;        // URDF: the root link is not fixed in the world
};

struct ImportedScene {
    Scene scene;
    std::vector<ImportLoss> losses;
};

// Robots. Files are taken to be hostile: size, depth and time are bounded. Throws InputError with the line.
ImportedScene import_urdf(const std::string& file, const ImportOptions& options = {});
ImportedScene import_mjcf(const std::string& file, const ImportOptions& options = {});

// Any format that can be imported, told apart by content: URDF, MJCF, rigid-ipc's JSON.
ImportedScene import_scene(const std::string& file, const ImportOptions& options = {});

std::string losses_json(const std::vector<ImportLoss>& losses);

// Like ones together, each with where it is; for people.
std::string losses_text(const std::vector<ImportLoss>& losses);

}  // namespace tenon

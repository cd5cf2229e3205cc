// `tenon new`: a scene to edit, commented, or any built-in scene as a file.
#include "apps/tenon/verb_new.hpp"

#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/tenon/common.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::app {
namespace {

namespace fs = std::filesystem;

// Keys that begin with # are comments, so that the file is plain JSON for every other program too.
constexpr const char* commented_scene = R"json({{
  "#": "A scene for Tenon: SI units, y is up. Keys that begin with # are comments. docs/scene.md names every key.",
  "tenon": 1,
  "name": {0},
  "gravity": [0, -9.81, 0],
  "seconds": 2,
  "method": {{
    "#": "affine: contact without overlap. Others: articulated (joints), impulse (fast), volume, adaptive (soft)",
    "type": "affine",
    "dt": 0.005
  }},
  "materials": {{
    "steel": {{"density": 7850, "friction": 0.4}},
    "rubber": {{"density": 1100, "friction": 0.9, "#": "kg/m^3; friction is dimensionless"}}
  }},
  "bodies": [
    {{
      "#": "a floor that does not move; sizes are full lengths, positions are of the middle",
      "name": "floor", "type": "static", "position": [0, -0.1, 0],
      "shape": {{"type": "box", "size": [4, 0.2, 4]}}, "material": "steel"
    }},
    {{
      "#": "a post for the arm",
      "name": "post", "type": "static", "position": [0, 0.8, 0],
      "shape": {{"type": "box", "size": [0.1, 1.5, 0.1]}}, "material": "steel"
    }},
    {{
      "#": "a stand for the block",
      "name": "stand", "type": "static", "position": [0.2, 0.4, 0.15],
      "shape": {{"type": "cylinder", "radius": 0.06, "length": 0.74}}, "material": "steel"
    }},
    {{
      "#": "it hangs from the post by a hinge, swings down and strikes the block",
      "name": "arm", "position": [-0.3, 1.4, 0.15],
      "shape": {{"type": "box", "size": [0.6, 0.08, 0.08]}}, "material": "steel"
    }},
    {{
      "#": "shapes: box, sphere, cylinder, capsule, cone, torus, gear and more; or \"mesh\": \"part.obj\"",
      "name": "block", "position": [0.2, 0.871, 0.15], "linear_velocity": [0, 0, 0],
      "shape": {{"type": "box", "size": [0.2, 0.2, 0.2]}}, "material": "rubber"
    }}
  ],
  "joints": [
    {{
      "#": "points and axes are in the world, at the start; types: ball, hinge, prismatic, fixed, universal ...",
      "name": "hinge", "type": "hinge", "bodies": ["post", "arm"], "point": [0, 1.4, 0.15], "axis": [0, 0, 1]
    }}
  ],
  "expect": [
    {{
      "#": "what must come out, checked after the run",
      "body": "block", "quantity": "x", "min": 0.5, "note": "the arm has struck the block off its stand"
    }},
    {{"quantity": "intersections", "max": 0, "note": "nothing passes through anything"}}
  ]
}}
)json";

std::string comment_of(const BuiltinScene& builtin) {
    std::string text = fmt::format("The built-in scene '{}': {}.", builtin.name, builtin.summary);
    if (!builtin.look_for.empty()) text += " Look for: " + builtin.look_for + ".";
    return text + " Keys that begin with # are comments; docs/scene.md names every key.";
}

// A comment as the first entry of a scene's JSON object.
std::string with_comment(const std::string& json, const std::string& comment) {
    const std::size_t open = json.find('{');
    return json.substr(0, open + 1) + "\n  \"#\": " + nlohmann::json(comment).dump() + "," +
           json.substr(open + 1);
}

std::string text_of(const NewRequest& request, const std::string& name, const std::string& folder) {
    if (request.from.empty()) return fmt::format(commented_scene, nlohmann::json(name).dump());
    if (is_run_file(request.from))
        throw InputError(request.from, "--from", "is a run file", "name a scene file or a built-in scene");
    Scene scene = load_scene(request.from);
    scene.name = name;
    const BuiltinScene* builtin = find_builtin(request.from);
    const std::string comment =
        builtin ? comment_of(*builtin)
                : fmt::format("From {}. Keys that begin with # are comments.", request.from);
    return with_comment(write_scene(scene, folder), comment) + "\n";
}

}  // namespace

int new_verb(const NewRequest& request) {
    const std::string file = request.name.ends_with(".json") ? request.name : request.name + ".json";
    const std::string name = stem(file), folder = fs::path(file).parent_path().string();
    std::error_code error;
    if (name.empty()) throw InputError("", "NAME", "is empty", "write tenon new my-scene");
    if (fs::exists(file, error))
        throw InputError(file, "", "exists already", "choose another name, or remove it first");
    const std::string text = text_of(request, name, folder.empty() ? "." : folder);
    if (!folder.empty()) fs::create_directories(folder, error);
    write_text(file, text);
    if (!request.quiet) std::cout << fmt::format("{0}\n  tenon check {0}\n  tenon run {0}\n", file);
    return 0;
}

}  // namespace tenon::app

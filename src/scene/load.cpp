#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "scene/overrides.hpp"
#include "scene/reader.hpp"
#include "scene/value.hpp"
#include "tenon/builtin.hpp"
#include "tenon/error.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {

Scene parse_scene(const std::string& json_text, const std::string& file_name, const std::string& base_folder,
                  const std::vector<Override>& overrides) {
    scene::Value root = scene::parse_json(json_text, file_name);
    scene::apply_overrides(root, overrides, file_name);
    return scene::Reader(file_name, base_folder).read(root);
}

Scene read_scene(const std::string& file, const std::vector<Override>& overrides) {
    scene::Value root = scene::parse_json(scene::read_text_file(file), file);
    scene::apply_overrides(root, overrides, file);
    Scene made = scene::Reader(file, std::filesystem::path(file).parent_path().string()).read(root);
    made.file = file;
    if (!root.find("name")) made.name = std::filesystem::path(file).stem().string();
    return made;
}

namespace {

// Whether all keys are about the scene as a whole.
bool concern_header(const Scene& made, const std::vector<Override>& overrides) {
    static const std::vector<std::string> keys = {"name", "up",   "gravity", "seconds", "method",
                                                  "dt",   "wind", "camera",  "portrait"};
    return made.materials[0].name == "default" &&
           std::all_of(overrides.begin(), overrides.end(), [](const Override& entry) {
               const std::string first = entry.key.substr(0, entry.key.find_first_of(".["));
               return std::find(keys.begin(), keys.end(), first) != keys.end();
           });
}

// Such keys are set without writing out the bodies: a million of them stay where they are.
Scene with_header(Scene made, const std::string& name, const std::vector<Override>& overrides) {
    Scene header;
    header.name = made.name;
    header.up = made.up;
    header.gravity = made.gravity;
    header.seconds = made.seconds;
    header.dt = made.dt;
    header.method = made.method;
    header.method_params = made.method_params;
    header.wind = made.wind;
    header.camera = made.camera;
    scene::Value root = scene::parse_json(write_scene(header), name);
    scene::apply_overrides(root, overrides, name);
    header = scene::Reader(name, "").read_header_only(root);
    made.name = header.name;
    made.up = header.up;
    made.gravity = header.gravity;
    made.seconds = header.seconds;
    made.dt = header.dt;
    made.method = header.method;
    made.method_params = header.method_params;
    made.wind = header.wind;
    made.camera = header.camera;
    return made;
}

Scene load_builtin(const BuiltinScene& builtin, const std::vector<Override>& overrides) {
    std::map<std::string, ParamValue> own;
    std::vector<Override> others;
    for (const Override& entry : overrides) {
        const ParamInfo* parameter = nullptr;
        for (const ParamInfo& info : builtin.parameters)
            if (info.name == entry.key) parameter = &info;
        if (parameter)
            own[entry.key] = scene::override_param(entry, parameter->fallback, builtin.name);
        else if (entry.key == "preset")
            own[entry.key] = entry.value;
        else
            others.push_back(entry);
    }
    Scene made = make_builtin(builtin, own);
    if (others.empty()) return made;
    try {
        return concern_header(made, others) ? with_header(std::move(made), builtin.name, others)
                                            : parse_scene(write_scene(made), builtin.name, "", others);
    } catch (const InputError& error) {
        // A mistyped parameter of the scene itself is more likely than a path of the format.
        const auto wrong = std::find_if(others.begin(), others.end(), [&](const Override& entry) {
            return error.path() == "--set " + entry.key && entry.key.find_first_of(".[") == std::string::npos;
        });
        if (wrong == others.end()) throw;
        std::vector<std::string> names = {"preset", "dt", "seconds", "gravity", "method"};
        for (const ParamInfo& info : builtin.parameters) names.push_back(info.name);
        throw InputError(builtin.name, error.path(), "no parameter of this scene",
                         suggestion(wrong->key, names));
    }
}

// A file of the same folder that may have been meant.
std::string similar_file(const std::string& missing) {
    constexpr int most = 10000;  // files that are looked at
    const std::filesystem::path path(missing);
    std::vector<std::string> names;
    std::error_code error;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    for (std::filesystem::directory_iterator entry(folder, error), end;
         !error && entry != end && static_cast<int>(names.size()) < most; entry.increment(error))
        names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    const std::string hint = suggestion(path.filename().string(), names);
    return hint.starts_with("did you mean") ? hint : "check the path";
}

}  // namespace

Scene load_scene(const std::string& file_or_name, const std::vector<Override>& overrides) {
    if (const BuiltinScene* builtin = find_builtin(file_or_name)) return load_builtin(*builtin, overrides);
    std::error_code error;
    if (std::filesystem::exists(file_or_name, error)) return read_scene(file_or_name, overrides);
    if (file_or_name.find_first_of("/.") != std::string::npos)
        throw InputError(file_or_name, "", "no such file", similar_file(file_or_name));
    std::vector<std::string> names;
    for (const BuiltinScene& scene : builtin_scenes()) names.push_back(scene.name);
    throw InputError(file_or_name, "", "is neither a file nor a built-in scene",
                     suggestion(file_or_name, names) + "; 'tenon scenes' lists them");
}

}  // namespace tenon

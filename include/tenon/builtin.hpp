// The built-in scenes: every experiment of the papers, by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tenon/params.hpp"
#include "tenon/scene.hpp"

namespace tenon {

struct BuiltinScene {
    std::string name;
    std::string family;  // the method it comes from, which is also its default method
    std::string summary;
    std::string source;                              // paper and figure
    std::string look_for;                            // what a person should see
    std::vector<ParamInfo> parameters;               // sized to run in seconds
    std::map<std::string, ParamValue> paper_values;  // what `preset=paper` changes
    Scene (*make)(const Params&) = nullptr;
};

// One list per family, each in its own file under src/scene/builtin/.
std::vector<BuiltinScene> affine_scenes();
std::vector<BuiltinScene> articulated_scenes();
std::vector<BuiltinScene> impulse_scenes();
std::vector<BuiltinScene> volume_scenes();
std::vector<BuiltinScene> adaptive_scenes();

const std::vector<BuiltinScene>& builtin_scenes();
const BuiltinScene* find_builtin(const std::string& name);  // nullptr when there is none

// `given` may hold preset=paper besides the scene's own parameters. Throws InputError.
Scene make_builtin(const BuiltinScene& scene, const std::map<std::string, ParamValue>& given);

}  // namespace tenon

// `--set key=value`: changes to a scene's JSON tree before it is checked.
#pragma once

#include <string>
#include <vector>

#include "scene/value.hpp"
#include "tenon/params.hpp"
#include "tenon/scene_io.hpp"

namespace tenon::scene {

// JSON where it parses as such, otherwise plain text.
Value override_value(const std::string& text);
ParamValue override_param(const Override& entry, const ParamValue& like, const std::string& scene);

// `file` names the scene in errors. Paths that the format has no place for fail with a suggestion.
void apply_overrides(Value& root, const std::vector<Override>& overrides, const std::string& file);

}  // namespace tenon::scene

// The attributes that each element of MJCF may have, in any of the format's versions.
#pragma once

#include <string_view>

#include "scene/import/xml.hpp"

namespace tenon::scene {

// Refuses attributes that MuJoCo does not know, with the nearest one it does. Elements that are not read are not checked.
void check_mjcf_attributes(const XmlElement& element);

}  // namespace tenon::scene

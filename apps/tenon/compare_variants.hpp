// What `tenon compare` varies: every combination of the values given, each a scene of its own.
#pragma once

#include <string>
#include <vector>

#include "apps/tenon/verbs.hpp"

namespace tenon::app {

struct Variant {
    SceneRequest request;
    std::string label;  // "affine, dt 0.01": what tells it from the others
    std::string group;  // the label without the time step: variants of one group differ in it alone
};

// `vary` holds KEY=VALUE,VALUE,...; keys are method, dt, seconds or the path of any scene or method parameter, as for
// --set. Throws InputError for what is no such text, for a key or a value given twice and for too many combinations.
std::vector<Variant> variants_of(const SceneRequest& scene, const std::vector<std::string>& methods,
                                 const std::vector<std::string>& vary);

}  // namespace tenon::app

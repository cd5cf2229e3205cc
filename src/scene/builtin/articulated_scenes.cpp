// Built-in scenes of the articulated family.
#include "tenon/builtin.hpp"

namespace tenon {

std::vector<BuiltinScene> articulated_scenes() {
    return {};
}

}  // namespace tenon

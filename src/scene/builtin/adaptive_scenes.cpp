// Built-in scenes of the adaptive family.
#include "tenon/builtin.hpp"

namespace tenon {

std::vector<BuiltinScene> adaptive_scenes() {
    return {};
}

}  // namespace tenon

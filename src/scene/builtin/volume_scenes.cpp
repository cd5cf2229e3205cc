// Built-in scenes of the volume family.
#include "tenon/builtin.hpp"

namespace tenon {

std::vector<BuiltinScene> volume_scenes() {
    return {};
}

}  // namespace tenon

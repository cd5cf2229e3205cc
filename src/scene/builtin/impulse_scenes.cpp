// Built-in scenes of the impulse family.
#include "tenon/builtin.hpp"

namespace tenon {

std::vector<BuiltinScene> impulse_scenes() {
    return {};
}

}  // namespace tenon

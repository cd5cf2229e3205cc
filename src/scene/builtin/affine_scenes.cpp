// Built-in scenes of the affine family.
#include "tenon/builtin.hpp"

namespace tenon {

std::vector<BuiltinScene> affine_scenes() {
    return {};
}

}  // namespace tenon

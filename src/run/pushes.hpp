// Forces that came from outside the scene while it ran (a body dragged in the viewer), as the run file keeps them.
#pragma once

#include <string>
#include <vector>

#include "run/run_file.hpp"

namespace tenon::run {

std::string push_key(long step);  // "push.12": the forces during the step that ends as step 12
std::string pushes_to_json(const std::vector<ForceSpec>& pushes);

// Those of a step; none when nothing pushed. Throws InputError when the file's text is no such list.
std::vector<ForceSpec> pushes_of(const RunReader& reader, long step);

}  // namespace tenon::run

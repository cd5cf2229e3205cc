// The moment that shows a built-in scene best.
#pragma once

#include <string>

namespace tenon {

// As a share of the scene's length, 0 to 1; the middle where nothing better is known.
double portrait_share(const std::string& scene);

}  // namespace tenon

// Short texts on pictures, in a plain stroke font.
#pragma once

#include <string>

#include "render/image.hpp"

namespace tenon::render {

// Digits, lower-case letters and . = - : / + ( ) space; other characters leave a gap. `height` in pixels.
void draw_text(Image& image, const std::string& text, double x, double y, double height, Pixel color);
double text_width(const std::string& text, double height);

}  // namespace tenon::render
